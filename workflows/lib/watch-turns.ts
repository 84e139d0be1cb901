import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { messages } from '../../contracts/messages.ts';
import { explain } from './failures.ts';
import { retryAfterMs } from './retry.ts';

export interface TurnsOfWatch<Turn extends { wanted: boolean }> {
  /** What the query tells: kept up to date, and begun by the caller. */
  progress: { lastTurn: Turn | null; waitingFor: string };
  /** As it is called in sentences. */
  name: string;
  /** One turn, as an activity. */
  take: () => Promise<Turn>;
  describe: (turn: Turn) => string;
}

/**
 * Watches something for good: one long activity after the other, so that the history tells of turns and never of what is watched. A turn
 * that fails is tried again, ever later; `retryNow` does so at once.
 *
 * @returns whether it shall go on as a new run; false: nobody wants it any more
 * @throws InvalidInput, and the cancel of the run
 */
export async function watchInTurns<Turn extends { wanted: boolean }>({
  progress,
  name,
  take,
  describe,
}: TurnsOfWatch<Turn>): Promise<boolean> {
  let retryNow = false;
  setHandler(defineQuery<typeof progress>(messages.progress), () => progress);
  const hurry = (): string => {
    retryNow = true;
    return `${name} goes on at once, if it waits`;
  };
  setHandler(defineUpdate<string>(messages.retryNow), hurry);
  setHandler(defineSignal(messages.retryNow), () => void hurry());
  let failures = 0;
  for (;;) {
    try {
      const turn = await take();
      if (!turn.wanted) return false;
      progress.lastTurn = turn;
      setCurrentDetails(describe(turn));
      failures = 0;
    } catch (error) {
      const { code, message } = explain(error);
      if (code === 'InvalidInput') throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
      // A cancel ends the run at the next wait.
      failures += 1;
      retryNow = false;
      progress.waitingFor = `another try: ${message}`;
      await condition(() => retryNow, retryAfterMs(failures));
      progress.waitingFor = 'the end of its turn';
    }
    if (workflowInfo().continueAsNewSuggested) return true;
  }
}
