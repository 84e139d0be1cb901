import type { EventKind } from './schedule.ts';
import { eventKinds } from './schedule.ts';

/** A run of so many minutes is evidence. Fewer show that the simulator works. */
export const evidenceMinutes = 60;

/** A quarter of what an idle machine runs: a slow one, on which others are at work, runs as many. */
const leastPerMinute = 10;

/**
 * What this process has had of the processors. Beside other stages it gets a twentieth of one, and an hour of the
 * clock would be three minutes of schedules.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export interface Enough {
  /** Schedules that there have to be. */
  least: number;
  /** How many there are too few. */
  missing: number;
  /** What has happened in none; of fewer schedules than are evidence nothing is asked. */
  missingKinds: readonly EventKind[];
  /** A sentence each. */
  complaints: readonly string[];
}

/** Whether so many schedules are what so many minutes promise. Pure. */
export function judgeAmount(
  minutes: number,
  { schedules, happened }: { schedules: number; happened: ReadonlyMap<EventKind, number> },
): Enough {
  const least = minutes * leastPerMinute;
  const missing = Math.max(0, least - schedules);
  const missingKinds = minutes < evidenceMinutes ? [] : eventKinds.filter((kind) => (happened.get(kind) ?? 0) === 0);
  return {
    least,
    missing,
    missingKinds,
    complaints: [
      ...(missing > 0
        ? [`${schedules} schedules in ${minutes} minutes of a processor; at least ${least} have to be`]
        : []),
      ...(missingKinds.length > 0 ? [`never happened in any schedule: ${missingKinds.join(', ')}`] : []),
    ],
  };
}
