import type { Migration } from '../../contracts/eviction/instance.ts';
import type { MigrationSubject, ReportMigration } from '../../contracts/eviction/migrate-instance.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Keeps a Migration object current while an activity waits. */
export interface ProgressReporter {
  /** Shows the latest, in its own time: nothing waits for it, and the next one repairs a failure. */
  show(migration: Migration): void;
  /** Shows the end. @throws what the report throws: the end must be observed, so Temporal tries the activity again */
  finish(migration: Migration | null, message: string | null): Promise<void>;
}

/** The object is written at most this often … */
const everyMs = 2_000;
/** … and only for what people notice. */
const noticeablePercent = 1;

export function createProgressReporter(
  report: ReportMigration,
  subject: MigrationSubject,
  clock: Clock,
  signal: AbortSignal,
): ProgressReporter {
  let writing: Promise<void> | null = null;
  let shown: { key: string; atMs: number } | null = null;
  const write = (migration: Migration | null, message: string | null): Promise<void> =>
    report(
      { subject, migration, startedAt: migration?.createdAt ?? new Date(clock.now()).toISOString(), message },
      signal,
    );

  return {
    show(migration) {
      const key = keyOf(migration);
      if (writing !== null || shown?.key === key || (shown !== null && clock.now() - shown.atMs < everyMs)) return;
      shown = { key, atMs: clock.now() };
      writing = write(migration, null)
        .catch(() => (shown = null))
        .then(() => void (writing = null));
    },
    async finish(migration, message) {
      await writing;
      await write(migration, message);
    },
  };
}

const keyOf = ({ id, status, targetHost, ...counters }: Migration): string => {
  const total = (counters.memoryTotalBytes ?? 0) + (counters.diskTotalBytes ?? 0);
  const remaining = (counters.memoryRemainingBytes ?? 0) + (counters.diskRemainingBytes ?? 0);
  const percent = total === 0 ? 0 : Math.floor((100 * (total - remaining)) / total / noticeablePercent);
  return JSON.stringify([id, status, targetHost, percent]);
};
