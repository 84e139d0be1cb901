/** The same items in an order that the seed decides: mulberry32 drives a Fisher–Yates shuffle. */
export function shuffle<Item>(items: readonly Item[], seed: number): Item[] {
  const shuffled = [...items];
  let state = seed >>> 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other] as Item, shuffled[last] as Item];
  }
  return shuffled;
}

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
