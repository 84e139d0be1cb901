import { setImmediate as macrotask, setTimeout as pause } from 'node:timers/promises';
import type { VirtualClock } from '../simulator/clock.ts';

/** Lets virtual time pass until `work` has ended: what is due happens once all that came of the one before has run. */
export async function drive<Result>(clock: VirtualClock, work: Promise<Result>): Promise<Result> {
  const ended = { is: false };
  const end = (): void => void (ended.is = true);
  work.then(end, end);
  for (;;) {
    await macrotask();
    if (ended.is) return await work;
    // Nothing is due: what is waited for is real, such as a file.
    if (!(await clock.step(Infinity))) await pause(1);
  }
}
