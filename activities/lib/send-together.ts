import DataLoader from 'dataloader';
import { unlessAborted } from '../../runtime/unless-aborted.ts';

interface One<Asked> {
  asked: Asked;
  signal: AbortSignal;
}

/**
 * Asks for many at once: what is asked while a call is on its way goes together with the next. What was given up before
 * it is sent is not sent.
 *
 * @param send gives an answer for each, in their order; where it fails all fail
 * @param most in one call
 */
export function sendTogether<Asked, Answer>(
  send: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
  most = Infinity,
): (asked: Asked, signal: AbortSignal) => Promise<Answer> {
  let sending: Promise<unknown> = Promise.resolve();

  async function sendWanted(all: readonly One<Asked>[]): Promise<(Answer | Error)[]> {
    const wanted = all.filter(({ signal }) => !signal.aborted);
    const answers = wanted.length === 0 ? [] : await send(wanted.map(({ asked }) => asked));
    const byOne = new Map(wanted.map((one, index) => [one, answers[index] as Answer]));
    return all.map((one) => (byOne.has(one) ? (byOne.get(one) as Answer) : new Error('it was given up')));
  }

  const loader = new DataLoader<One<Asked>, Answer>(
    (all) => {
      const answers = sendWanted(all);
      sending = answers.catch(() => undefined);
      return answers;
    },
    { cache: false, maxBatchSize: most, batchScheduleFn: (dispatch) => void sending.then(dispatch) },
  );
  return (asked, signal) => unlessAborted(loader.load({ asked, signal }), signal);
}
