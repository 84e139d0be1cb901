import DataLoader from 'dataloader';
import { unlessAborted } from '../../runtime/unless-aborted.ts';

interface One<Asked> {
  asked: Asked;
  signal: AbortSignal;
  /** Resolved when it is sent. */
  sent: PromiseWithResolvers<void>;
}

/**
 * Asks for many at once: what is asked while a call is on its way goes together with the next. What is given up before
 * it is sent is not sent; after that its answer is waited for, so that what follows is asked after it.
 *
 * @param send gives an answer for each, in their order; where it fails all fail. It has a time-out of its own
 * @param most in one call
 */
export function sendTogether<Asked, Answer>(
  send: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
  most = Infinity,
): (asked: Asked, signal: AbortSignal) => Promise<Answer> {
  let sending: Promise<unknown> = Promise.resolve();

  async function sendWanted(all: readonly One<Asked>[]): Promise<(Answer | Error)[]> {
    const wanted = all.filter(({ signal }) => !signal.aborted);
    for (const { sent } of wanted) sent.resolve();
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
  return async (asked, signal) => {
    const one = { asked, signal, sent: Promise.withResolvers<void>() };
    const answer = loader.load(one);
    // It is awaited where it was sent, and is none where it was not.
    answer.catch(() => undefined);
    await unlessAborted(one.sent.promise, signal);
    return await answer;
  };
}

/** The same for each of many: what is asked of one goes together. @param send is given the first that was asked of it */
export function sendTogetherByKey<Of, Asked, Answer>(
  keyOf: (of: Of) => string,
  send: (of: Of, asked: readonly Asked[]) => Promise<readonly Answer[]>,
  most = Infinity,
): (of: Of, asked: Asked, signal: AbortSignal) => Promise<Answer> {
  const senders = new Map<string, { ask: ReturnType<typeof sendTogether<Asked, Answer>>; users: number }>();
  return async (of, asked, signal) => {
    const key = keyOf(of);
    const sender = senders.get(key) ?? { ask: sendTogether((all) => send(of, all), most), users: 0 };
    senders.set(key, sender);
    sender.users += 1;
    try {
      return await sender.ask(asked, signal);
    } finally {
      sender.users -= 1;
      if (sender.users === 0) senders.delete(key);
    }
  };
}
