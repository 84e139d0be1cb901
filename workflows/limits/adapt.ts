import type { AllowanceObservation, MigrationPace } from '../../contracts/allowance.ts';

/**
 * What is known of how migrations of a region slow each other down, and what has come of it. Plain
 * data, pure functions.
 */
export interface Adaptation {
  /** The limit in force. */
  limit: number;
  /** Bytes per second of the fastest pace, forgotten slowly: networks change. */
  bestPace: number;
  /** Observations in a row that say that it is too much, or that there is room. */
  slow: number;
  roomy: number;
  /** Why it is not what the settings say: what was done last, and why. Null: it is. */
  reason: string | null;
}

/** A pace below this share of the best is slow, and above the other there is room for one more. */
const slowShare = 0.5;
const roomyShare = 0.7;

/** How many observations in a row must agree. Where no pace is known, it takes longer to raise it again. */
const slowTimes = 3;
const roomyTimes = 2;
const unknownTimes = 4;

/** Of the best pace, from one observation to the next: at 30 s it is halved in 17 minutes, so that no mistake lasts. */
const remembered = 0.98;

/** Fewer say nothing of the region: one guest, or one host, may be slow by itself. */
const fewestMigrations = 2;
const fewestHosts = 2;

/**
 * The limit after an observation. It is lowered by a quarter while migrations copy at less than half of the best pace,
 * all of them together, and raised by one when they copy well again, or nothing says that they do not; never above what
 * the settings say, nor below their least.
 *
 * @returns null: the settings leave no room for it
 */
export function adapt(before: Adaptation | null, world: AllowanceObservation): Adaptation | null {
  const least = Math.min(world.leastLimit ?? world.limit, world.limit);
  if (least >= world.limit) return null;
  const known = before ?? { limit: world.limit, bestPace: 0, slow: 0, roomy: 0, reason: null };
  const limit = Math.min(world.limit, Math.max(least, known.limit));
  const kept = { ...known, limit, reason: limit === world.limit ? null : known.reason };
  const pace = usablePace(world.pace);
  if (pace === null) return raise({ ...kept, slow: 0, roomy: kept.roomy + 1 }, world, unknownTimes, null);
  const { bytesPerSecond } = pace;
  const bestPace = Math.max(bytesPerSecond, kept.bestPace * remembered);
  if (bytesPerSecond < slowShare * bestPace)
    return lower({ ...kept, bestPace, roomy: 0, slow: kept.slow + 1 }, pace, least);
  const isRoomy = bytesPerSecond >= roomyShare * bestPace;
  return raise({ ...kept, bestPace, slow: 0, roomy: isRoomy ? kept.roomy + 1 : 0 }, world, roomyTimes, pace);
}

const usablePace = (pace: MigrationPace | null | undefined): MigrationPace | null =>
  pace && pace.migrations >= fewestMigrations && pace.hosts >= fewestHosts && pace.bytesPerSecond > 0 ? pace : null;

function lower(now: Adaptation, pace: MigrationPace, least: number): Adaptation {
  if (now.slow < slowTimes || now.limit <= least) return now;
  const limit = Math.max(least, now.limit - Math.max(1, Math.floor(now.limit / 4)));
  return {
    ...now,
    limit,
    slow: 0,
    reason: `lowered, as ${describePace(pace)}, less than half of the ${mebibytes(now.bestPace)} that they had`,
  };
}

function raise(now: Adaptation, world: AllowanceObservation, times: number, pace: MigrationPace | null): Adaptation {
  if (now.limit >= world.limit) return { ...now, limit: world.limit, roomy: 0, reason: null };
  if (now.roomy < times) return now;
  const limit = now.limit + 1;
  if (limit >= world.limit) return { ...now, limit, roomy: 0, reason: null };
  const why = pace === null ? 'nothing shows that migrations slow each other down' : `${describePace(pace)} again`;
  return { ...now, limit, roomy: 0, reason: `raised, as ${why}` };
}

const describePace = ({ migrations, hosts, bytesPerSecond }: MigrationPace): string =>
  `${migrations} migrations from ${hosts} hosts copy ${mebibytes(bytesPerSecond)} each`;

const mebibytes = (bytesPerSecond: number): string => `${Math.round(bytesPerSecond / 1_048_576)} MiB/s`;
