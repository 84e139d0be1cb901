import { labClock } from '../../lab/clock.ts';

/** Most polls cost Nova some of the processor that the test waits for. */
const pauseMs = 250;
/** The deadlines are those of an idle machine; beside the other flows, Nova has half a processor. */
const patience = 2;

/**
 * Waits for a condition: polls until the answer is no string, and returns it. A string says what was observed instead;
 * the last one is in the failure. The poll may throw meanwhile.
 *
 * @param signal nothing is waited for any more once it is aborted
 */
export async function until<Result>(
  what: string,
  deadlineMs: number,
  observe: () => Promise<Result | string> | Result | string,
  signal?: AbortSignal,
): Promise<Exclude<Result, string | null>> {
  const clock = labClock();
  const endMs = clock.now() + patience * deadlineMs;
  for (let observed = 'nothing'; ;) {
    try {
      const result = await observe();
      if (typeof result !== 'string' && result !== null) return result as Exclude<Result, string | null>;
      observed = String(result);
    } catch (error) {
      observed = error instanceof Error ? error.message : String(error);
    }
    signal?.throwIfAborted();
    if (clock.now() > endMs)
      throw new Error(`waited ${(patience * deadlineMs) / 1000} s for ${what}; last observed: ${observed}`);
    await clock.sleep(pauseMs);
  }
}
