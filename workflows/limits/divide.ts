/** What the division needs to know of one consumer. */
export interface Claim {
  /** How many it could use. */
  want: number;
  /** What it was granted last. */
  allowance: number;
  /** What it may be using before its next report: the most of what it uses and of every answer that it may still go by. */
  hold: number;
  /** RFC 3339. */
  deadline: string | null;
  joinedMs: number;
  /** Its place in the queue while consumers outnumber the slots: lower goes first. */
  place: number;
}

/**
 * Max-min fair shares of `slots`: none gets less than another that wants as much, but for one that cannot be halved; nothing is left
 * over while one wants more. Where one slot more or less must be decided, the nearer deadline has it, then the first to join; where
 * consumers outnumber the slots, the place in the queue comes before both.
 *
 * @returns the share of each claim, in the order given
 */
export function fairShares(slots: number, claims: readonly Claim[]): number[] {
  const shares = claims.map(() => 0);
  const open = (): number[] => [...claims.keys()].filter((index) => shares[index]! < claims[index]!.want);
  for (let left = Math.max(0, slots), wanting = open(); left > 0 && wanting.length > 0; wanting = open()) {
    // As many whole levels as all that still want can have, without passing the least want.
    const least = Math.min(...wanting.map((index) => claims[index]!.want - shares[index]!));
    const level = Math.min(least, Math.floor(left / wanting.length));
    const lucky = level > 0 ? wanting : precedence(claims, wanting, isOutnumbered(slots, claims)).slice(0, left);
    for (const index of lucky) shares[index]! += Math.max(1, level);
    left -= lucky.length * Math.max(1, level);
  }
  return shares;
}

/** Whether there are fewer slots than consumers that want one: then they alternate. */
export const isOutnumbered = (slots: number, claims: readonly Claim[]): boolean =>
  slots < claims.filter(({ want }) => want > 0).length;

/**
 * Divides `slots` anew. An allowance is lowered only where another needs it or the limit does; what was lowered is granted elsewhere
 * only once its holder cannot use it any more (`hold`). So the holds never exceed the slots by what is decided here; where they exceed
 * them already, they drain.
 *
 * @param slots what the limit leaves for these claims; may be negative
 * @returns the new allowance of each claim, in the order given
 */
export function divide(slots: number, claims: readonly Claim[]): number[] {
  const shares = fairShares(slots, claims);
  const free = slots - sum(claims.map(({ hold }) => hold));
  const missing = sum(claims.map(({ allowance }, index) => Math.max(0, shares[index]! - allowance)));
  const allowances = claims.map(({ allowance }, index) =>
    missing > free ? Math.min(allowance, shares[index]!) : allowance,
  );
  return raise(claims, shares, allowances, free);
}

/** Hands out what is free, lowest first. To raise one to what it holds anyway takes nothing from the others. */
function raise(claims: readonly Claim[], shares: readonly number[], before: readonly number[], free: number): number[] {
  const allowances = before.map((allowance, index) =>
    Math.max(allowance, Math.min(shares[index]!, claims[index]!.hold)),
  );
  const ranked = precedence(claims, [...claims.keys()], true);
  for (let left = free; left > 0; left -= 1) {
    const short = ranked.filter((index) => allowances[index]! < shares[index]!);
    if (short.length === 0) break;
    const next = short.reduce((lowest, index) => (allowances[index]! < allowances[lowest]! ? index : lowest));
    allowances[next]! += 1;
  }
  return allowances;
}

function precedence(claims: readonly Claim[], indexes: readonly number[], byPlace: boolean): number[] {
  return indexes.toSorted((a, b) => compare(claims[a]!, claims[b]!, byPlace) || a - b);
}

function compare(a: Claim, b: Claim, byPlace: boolean): number {
  return (byPlace ? a.place - b.place : 0) || ascending(dueMs(a), dueMs(b)) || a.joinedMs - b.joinedMs;
}

/** A deadline that cannot be read is none. */
function dueMs({ deadline }: Claim): number {
  const atMs = Date.parse(deadline ?? '');
  return Number.isNaN(atMs) ? Infinity : atMs;
}

const ascending = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
