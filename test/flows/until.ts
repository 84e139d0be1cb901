import { labClock } from '../../lab/clock.ts';

/** Most looks cost Nova some of the processor that the test waits for. */
const pauseMs = 250;
/** The deadlines are those of an idle machine; beside the other flows, Nova has half a processor. */
const patience = 2;

/**
 * Waits for a fact: looks until the answer is no string, and returns it. A string says what was seen instead; the last one is in the
 * failure. Looking may throw meanwhile.
 *
 * @param signal nothing is waited for any more once it is aborted
 */
export async function until<Fact>(
  what: string,
  deadlineMs: number,
  look: () => Promise<Fact | string> | Fact | string,
  signal?: AbortSignal,
): Promise<Exclude<Fact, string | null>> {
  const clock = labClock();
  const endMs = clock.now() + patience * deadlineMs;
  for (let seen = 'nothing'; ;) {
    try {
      const fact = await look();
      if (typeof fact !== 'string' && fact !== null) return fact as Exclude<Fact, string | null>;
      seen = String(fact);
    } catch (error) {
      seen = error instanceof Error ? error.message : String(error);
    }
    signal?.throwIfAborted();
    if (clock.now() > endMs)
      throw new Error(`waited ${(patience * deadlineMs) / 1000} s for ${what}; last seen: ${seen}`);
    await clock.sleep(pauseMs);
  }
}
