import { whileBeating } from '../../lib/wait.ts';
import type { SafetyTools } from './tools.ts';

/** For the answer to be sent, before Temporal's time-out. */
const stopMs = 10_000;

/**
 * Does it again and again for one round: until it has something to tell, the attempt is nearly over, or
 * the worker leaves.
 *
 * @param details of each heartbeat
 * @param once after how many ms it is done again; null: the round is over
 * @throws what `once` throws, and the cancel of the activity
 */
export async function watchForRound(
  tools: Pick<SafetyTools, 'scope' | 'clock' | 'leaving'>,
  details: () => unknown,
  once: () => Promise<number | null>,
): Promise<void> {
  const { scope, clock, leaving } = tools;
  const over = AbortSignal.any([scope.signal, leaving]);
  const leftMs = (): number => scope.deadlineMs - stopMs - clock.now();
  await whileBeating(tools, details, async () => {
    for (;;) {
      const againMs = await once();
      if (againMs === null || leftMs() <= 0) return;
      await clock.sleep(Math.min(againMs, leftMs()), over).catch(() => undefined);
      scope.signal.throwIfAborted();
      if (leaving.aborted || leftMs() <= 0) return;
    }
  });
}
