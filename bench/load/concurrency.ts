import { setTimeout as delay } from 'node:timers/promises';

/** Does the same to every item, so many at once; the results in the items' order. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  act: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await act(item, index);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

/**
 * Edits one object at a steady rate; few at once, as kube-apiserver lets writers of one object wait for each other.
 * @returns the rate that was kept, in edits a second
 */
export async function editSteadily(
  count: number,
  everyMs: number,
  edit: (index: number) => Promise<unknown>,
): Promise<number> {
  const startedMs = performance.now();
  await mapConcurrently(Array.from({ length: count }), 4, async (_, index) => {
    await delay(Math.max(0, startedMs + index * everyMs - performance.now()));
    await edit(index);
  });
  return (count / (performance.now() - startedMs)) * 1_000;
}
