import type { Resources } from '../placement/types.ts';

/** A server to be placed. */
export interface PackItem {
  id: string;
  needs: Resources;
  /** Ids of the bins that the scheduler's rules allow; null: all. */
  allowed: ReadonlySet<string> | null;
  /** Groups whose members share no bin, or not more than `most`. */
  apart: readonly { group: string; most: number }[];
}

/** A target host. */
export interface PackBin {
  id: string;
  /**
   * What is left, by resource class. A class that is not there is not this bin's to limit (a shared storage pool, a
   * device below it).
   */
  free: Resources;
  /** How many members of each group it has. */
  members: Readonly<Record<string, number>>;
}

interface Packing {
  /** Bin id by item id. */
  placed: Map<string, string>;
  /** Item ids, in the order given. */
  unplaced: string[];
}

/**
 * Whether a whole set fits at once: first-fit-decreasing over several orders, the best of which counts. What it places
 * does fit together; what it leaves over might still fit in an order it has not tried, so a user may
 * accept that. Deterministic.
 */
export function pack(items: readonly PackItem[], bins: readonly PackBin[]): Packing {
  let best: Packing | null = null;
  for (const order of orders(items, bins)) {
    const packing = firstFit(order, bins);
    if (best === null || packing.placed.size > best.placed.size) best = packing;
    if (best.placed.size === items.length) break;
  }
  const placed = best?.placed ?? new Map<string, string>();
  return { placed, unplaced: items.map(({ id }) => id).filter((id) => !placed.has(id)) };
}

/** What is left in each bin after a packing. */
export function bookInto(bins: readonly PackBin[], items: readonly PackItem[], { placed }: Packing): PackBin[] {
  const open = bins.map(copyOf);
  const byId = new Map(open.map((bin) => [bin.id, bin]));
  for (const item of items) {
    const bin = byId.get(placed.get(item.id) ?? '');
    if (bin !== undefined) put(item, bin);
  }
  return open;
}

/** One after the other: mostly the first places all. */
function* orders(items: readonly PackItem[], bins: readonly PackBin[]): Generator<PackItem[]> {
  const total: Resources = {};
  for (const { free } of bins)
    for (const [name, amount] of Object.entries(free)) total[name] = (total[name] ?? 0) + amount;
  const share = ({ needs }: PackItem): number =>
    Math.max(
      0,
      ...Object.entries(needs).map(([name, amount]) =>
        total[name] === undefined ? 0 : amount / Math.max(total[name], 1),
      ),
    );
  const choice = ({ allowed }: PackItem): number => allowed?.size ?? Number.MAX_SAFE_INTEGER;
  const by = (...keys: ((item: PackItem) => number)[]): PackItem[] =>
    items
      .map((item) => ({ item, keys: keys.map((key) => key(item)) }))
      .sort(
        (a, b) =>
          a.keys.map((key, index) => key - (b.keys[index] ?? 0)).find((difference) => difference !== 0) ??
          (a.item.id < b.item.id ? -1 : 1),
      )
      .map(({ item }) => item);
  const larger = (item: PackItem): number => -share(item);
  yield by(choice, larger);
  yield by(larger, choice);
  yield by((item) => -(item.needs['MEMORY_MB'] ?? 0));
  yield by((item) => -(item.needs['VCPU'] ?? item.needs['PCPU'] ?? 0));
}

function firstFit(items: readonly PackItem[], bins: readonly PackBin[]): Packing {
  const open = bins.map(copyOf);
  const placed = new Map<string, string>();
  const unplaced: string[] = [];
  // Bins only fill up: where one did not fit, none of its shape will. Else thousands of items would each try all full
  // bins again.
  const begins = new Map<string, number>();
  const shape = shapes();
  for (const item of items) {
    const key = shape(item);
    let index = begins.get(key) ?? 0;
    while (index < open.length && !fits(item, open[index]!)) index += 1;
    begins.set(key, index);
    const bin = open[index];
    if (bin === undefined) {
      unplaced.push(item.id);
      continue;
    }
    put(item, bin);
    placed.set(item.id, bin.id);
  }
  return { placed, unplaced };
}

/** A text for all that decides where an item fits. */
function shapes(): (item: PackItem) => string {
  const sets = new Map<ReadonlySet<string> | null, number>();
  return ({ needs, allowed, apart }) => {
    const set = sets.get(allowed) ?? sets.set(allowed, sets.size).size - 1;
    return JSON.stringify([needs, set, apart]);
  };
}

type OpenBin = { id: string; free: Resources; members: Record<string, number> };

const copyOf = ({ id, free, members }: PackBin): OpenBin => ({ id, free: { ...free }, members: { ...members } });

const fits = ({ needs, allowed, apart }: PackItem, { id, free, members }: OpenBin): boolean =>
  (allowed === null || allowed.has(id)) &&
  Object.entries(needs).every(([name, amount]) => free[name] === undefined || amount <= free[name]) &&
  apart.every(({ group, most }) => (members[group] ?? 0) < most);

function put({ needs, apart }: PackItem, bin: OpenBin): void {
  for (const [name, amount] of Object.entries(needs)) if (bin.free[name] !== undefined) bin.free[name] -= amount;
  for (const { group } of apart) bin.members[group] = (bin.members[group] ?? 0) + 1;
}
