import { condition, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { asSignal, messages, progressQuery } from '../../contracts/messages.ts';
import { explain, invalidInput } from './failures.ts';
import { retryAfterMs } from './retry.ts';

export interface SystemWorkflow<Round extends { wanted: boolean }> {
  /** What the query answers: kept up to date, and begun by the caller. */
  progress: { lastRound: Round | null; waitingFor: string };
  /** As it is called in sentences. */
  name: string;
  /** One round, as an activity. */
  execute: () => Promise<Round>;
  describe: (round: Round) => string;
}

/**
 * A system workflow never ends: one long activity after the other, so that the history has rounds and never what is
 * watched. A round that fails is tried again, ever later; `retryNow` does so at once, also where it came while the
 * round that fails was under way.
 *
 * @returns whether it shall continue as a new run; false: it is not wanted any more
 * @throws InvalidInput, and the cancel of the run
 */
export async function runRounds<Round extends { wanted: boolean }>({
  progress,
  name,
  execute,
  describe,
}: SystemWorkflow<Round>): Promise<boolean> {
  const inRound = 'the end of its round';
  let isAsked = false;
  setHandler(progressQuery<typeof progress>(), () => progress);
  const retry = (): string => {
    isAsked = true;
    return `${name} begins its next round at once, if it waits or its round fails`;
  };
  setHandler(messages.retryNow, retry);
  setHandler(asSignal(messages.retryNow), () => void retry());
  let failures = 0;
  for (;;) {
    isAsked = false;
    progress.waitingFor = inRound;
    try {
      const round = await execute();
      if (!round.wanted) return false;
      progress.lastRound = round;
      setCurrentDetails(describe(round));
      failures = 0;
    } catch (error) {
      const { code, message } = explain(error);
      if (code === 'InvalidInput') throw invalidInput(message);
      failures += 1;
      progress.waitingFor = `another attempt: ${message}`;
      // A cancel ends the run here.
      await condition(() => isAsked, retryAfterMs(failures));
    }
    if (workflowInfo().continueAsNewSuggested) return true;
  }
}
