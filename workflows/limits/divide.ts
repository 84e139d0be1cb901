/** What the division needs to know of one consumer. */
export interface Claim {
  /** How many it could use. */
  want: number;
  /** How many its host takes at once; Infinity: as many as it wants. */
  most: number;
  /** What it was granted last. */
  allowance: number;
  /**
   * What it may be using before its next report: the most of what it uses and of every answer that it may still go by.
   */
  hold: number;
  /** See {@link classOf}. */
  class: DeadlineClass;
  /** RFC 3339. */
  deadline: string | null;
  joinedMs: number;
  /** Its place in the queue while consumers outnumber the slots: lower goes first. */
  place: number;
}

/** 0: its deadline is minutes away; 1: hours, or it has passed; 2: the rest. */
export type DeadlineClass = 0 | 1 | 2;

const urgentMs = 15 * 60_000;
const dueMs = 2 * 60 * 60_000;

/**
 * One whose deadline has passed is served after those that can still make it. A deadline that cannot be read is none.
 */
export function classOf(deadline: string | null, nowMs: number): DeadlineClass {
  const leftMs = deadlineMs(deadline) - nowMs;
  if (leftMs >= 0 && leftMs <= urgentMs) return 0;
  return leftMs <= dueMs ? 1 : 2;
}

/** Of what a class could have, this share is left to those after it, and one at least: no class starves. */
const shareOfOthers = 1 / 4;

/**
 * Where a class cannot have a slot for each, all queue for them, and one class passes the other as far as this many
 * places of the queue.
 */
const placesAhead = 20;

/** Claims that share slots as equals. */
export interface Tier {
  indexes: readonly number[];
  slots: number;
}

/**
 * What each class of deadlines has, those that are served first in front. Where there is not one slot for each, all
 * that remain queue.
 */
export function tiersOf(slots: number, claims: readonly Claim[]): Tier[] {
  const wanting = [...claims.keys()].filter((index) => wanted(claims[index]!) > 0);
  const tiers: Tier[] = [];
  let left = Math.max(0, slots);
  let rest = wanting;
  for (const level of [0, 1, 2] as const) {
    const indexes = rest.filter((index) => claims[index]!.class === level);
    const others = rest.filter((index) => claims[index]!.class !== level);
    if (indexes.length === 0) continue;
    const kept = Math.min(wantedBy(others, claims), Math.max(1, Math.floor(left * shareOfOthers)));
    if (others.length === 0 || left - kept < indexes.length) return [...tiers, { indexes: rest, slots: left }];
    const taken = Math.min(wantedBy(indexes, claims), left - kept);
    tiers.push({ indexes, slots: taken });
    left -= taken;
    rest = others;
  }
  return tiers;
}

const wanted = ({ want, most }: Claim): number => Math.min(want, most);

const wantedBy = (indexes: readonly number[], claims: readonly Claim[]): number =>
  sum(indexes.map((index) => wanted(claims[index]!)));

/**
 * Fair shares of `slots`: the nearest class of deadlines first, but for what is left to the others; within a class
 * max-min fair. There none gets less than another that wants as much, but for one that cannot be halved; nothing is
 * left over while one wants more. Where one slot more or less must be decided, the nearer deadline has it, then the
 * first to join; where consumers outnumber the slots, the place in the queue comes before both.
 *
 * @returns the share of each claim, in the order given
 */
export function fairShares(slots: number, claims: readonly Claim[]): number[] {
  const shares = claims.map(() => 0);
  for (const tier of tiersOf(slots, claims)) shareAmong(tier, claims, shares);
  return shares;
}

function shareAmong(tier: Tier, claims: readonly Claim[], shares: number[]): void {
  const missing = (index: number): number => wanted(claims[index]!) - shares[index]!;
  const open = (): number[] => tier.indexes.filter((index) => missing(index) > 0);
  for (let left = tier.slots, wanting = open(); left > 0 && wanting.length > 0; wanting = open()) {
    // As many whole levels as all that still want can have, without passing the least want.
    const level = Math.min(...wanting.map(missing), Math.floor(left / wanting.length));
    const lucky = level > 0 ? wanting : precedence(claims, wanting, isOutnumbered(tier)).slice(0, left);
    for (const index of lucky) shares[index]! += Math.max(1, level);
    left -= lucky.length * Math.max(1, level);
  }
}

/** Whether there are fewer slots than consumers that want one: then they alternate. */
export const isOutnumbered = ({ indexes, slots }: Tier): boolean => slots < indexes.length;

/**
 * Divides `slots` anew. An allowance is lowered only where another needs it, or the limit or the host does; what was
 * lowered is granted elsewhere only once its holder cannot use it any more (`hold`). So the holds never exceed the
 * slots by what is decided here; where they exceed them already, they drain.
 *
 * @param slots what the limit leaves for these claims; may be negative
 * @returns the new allowance of each claim, in the order given
 */
export function divide(slots: number, claims: readonly Claim[]): number[] {
  const shares = fairShares(slots, claims);
  const free = slots - sum(claims.map(({ hold }) => hold));
  const missing = sum(claims.map(({ allowance }, index) => Math.max(0, shares[index]! - allowance)));
  const allowances = claims.map(({ allowance, most }, index) =>
    Math.min(missing > free ? Math.min(allowance, shares[index]!) : allowance, most),
  );
  return raise(tiersOf(slots, claims), claims, shares, allowances, free);
}

/**
 * Hands out what is free, the nearest class first, and within it lowest first. To raise one to what it holds anyway
 * takes nothing from the others.
 */
function raise(
  tiers: readonly Tier[],
  claims: readonly Claim[],
  shares: readonly number[],
  before: readonly number[],
  free: number,
): number[] {
  const allowances = before.map((allowance, index) =>
    Math.max(allowance, Math.min(shares[index]!, claims[index]!.hold)),
  );
  let left = free;
  for (const { indexes } of tiers) {
    const ranked = precedence(claims, indexes, true);
    for (; left > 0; left -= 1) {
      const short = ranked.filter((index) => allowances[index]! < shares[index]!);
      if (short.length === 0) break;
      const next = short.reduce((lowest, index) => (allowances[index]! < allowances[lowest]! ? index : lowest));
      allowances[next]! += 1;
    }
  }
  return allowances;
}

function precedence(claims: readonly Claim[], indexes: readonly number[], byPlace: boolean): number[] {
  return indexes.toSorted((a, b) => compare(claims[a]!, claims[b]!, byPlace) || a - b);
}

function compare(a: Claim, b: Claim, byPlace: boolean): number {
  return (
    (byPlace ? placeAmongAll(a) - placeAmongAll(b) : 0) ||
    ascending(deadlineMs(a.deadline), deadlineMs(b.deadline)) ||
    a.joinedMs - b.joinedMs
  );
}

/** Within a class it is the place; where classes queue for one slot, the later class is behind. */
export const placeAmongAll = (claim: Pick<Claim, 'place' | 'class'>): number => claim.place + placesAhead * claim.class;

/** A deadline that cannot be read is none. */
function deadlineMs(deadline: string | null): number {
  const atMs = Date.parse(deadline ?? '');
  return Number.isNaN(atMs) ? Infinity : atMs;
}

const ascending = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
