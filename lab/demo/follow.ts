import { setTimeout as delay } from 'node:timers/promises';
import { formatDuration } from '../progress.ts';
import type { StoryContext } from './story.ts';

/** Far more than any of it takes. */
export const patienceMs = 180_000;

/** Says what changes, until it is there. Returns what is not. */
export async function follow(
  { say, interrupted: signal }: StoryContext,
  what: string,
  look: () => Promise<{ isThere: boolean; words: string }>,
): Promise<string[]> {
  const startedMs = performance.now();
  let said = '';
  while (performance.now() - startedMs < patienceMs) {
    const { isThere, words } = await look();
    if (words !== said) say(`${formatDuration(performance.now() - startedMs).padStart(8)}  ${words}`);
    said = words;
    if (isThere) return [];
    await delay(1_000, undefined, { signal });
  }
  return [`after ${formatDuration(patienceMs)} there is ${said}, and should be ${what}`];
}
