import { openRandom } from './random.ts';

/** The same items in an order that the seed decides (Fisher–Yates). */
export function shuffle<Item>(items: readonly Item[], seed: number): Item[] {
  const shuffled = [...items];
  const random = openRandom(seed);
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = random.between(0, last);
    [shuffled[last], shuffled[other]] = [shuffled[other] as Item, shuffled[last] as Item];
  }
  return shuffled;
}

/**
 * What has passed with the very sources that are there: one in twenty is run again, which the seed decides, every value of
 * `by` as equally as it can be.
 */
export const sampleAgain = <Item>(passed: readonly Item[], seed: number, by: (item: Item) => string): Item[] =>
  sample(passed, Math.ceil(passed.length / 20), seed, by);

/** So many of the items that every value of `by` is there as equally as it can be. */
export function sample<Item>(items: readonly Item[], count: number, seed: number, by: (item: Item) => string): Item[] {
  const groups = [...Map.groupBy(shuffle(items, seed), by).values()];
  const taken: Item[] = [];
  for (let turn = 0; taken.length < Math.min(count, items.length); turn += 1) {
    for (const group of groups) {
      const item = group[turn];
      if (item !== undefined && taken.length < count) taken.push(item);
    }
  }
  return taken;
}
