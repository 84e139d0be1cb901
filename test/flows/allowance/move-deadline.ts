import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { deadlineTimer } from '../../../workflows/lib/timer.ts';

/**
 * Sets a deadline, and another one when the signal `move` comes. Resolves to what is due in the end, and when that was.
 */
export async function moveDeadline(firstMs: number, thenMs: number | null): Promise<{ due: boolean; afterMs: number }> {
  let moved = false;
  setHandler(defineSignal('move'), () => void (moved = true));
  const startMs = Date.now();
  const timer = deadlineTimer('A deadline that moves');
  timer.set(startMs + firstMs);
  await condition(() => moved);
  for (let times = 0; times < 3; times += 1) timer.set(thenMs === null ? null : startMs + thenMs);
  if (thenMs !== null) await condition(() => timer.due());
  return { due: timer.due(), afterMs: Date.now() - startMs };
}
