import type { MigrateInstanceResult } from '../../contracts/eviction/migrate-instance.ts';
import type { Move, Progress, Wish } from './plan.ts';

export type LastMove =
  | Extract<Move, { do: 'abort' | 'awaitMigration' | 'confirm' }>
  | { do: 'end'; outcome: MigrateInstanceResult['outcome']; message: string | null };

/**
 * Decides the next move for a server whose run was cancelled, so that it is left in a described state: back on its source, on its target,
 * or confirmed there. Nova aborts live migrations only; a cold one runs to its end. Pure; each branch is a row of the table test.
 */
export function planWindDown(
  { sourceHost }: Pick<Wish, 'sourceHost'>,
  { observation, lastEnd, ownCold }: Progress,
): LastMove {
  const { instance, migration } = observation;
  if (instance === null) return { do: 'end', outcome: 'gone', message: null };
  if (migration !== null && migration.status !== 'finished' && migration.sourceHost === sourceHost) {
    if (migration.type === 'live-migration') return { do: 'abort', migration };
    // It was waited for as long as its size allows.
    const stuck = lastEnd?.stuck ?? null;
    if (stuck !== null)
      return {
        do: 'end',
        outcome: 'stopped',
        message: `the eviction was stopped; ${migration.type} ${migration.id} is stuck (${stuck})`,
      };
    return { do: 'awaitMigration', migration };
  }
  if (instance.status === 'VERIFY_RESIZE' && ownCold !== null) return { do: 'confirm', migrationId: ownCold };
  if (instance.host !== null && instance.host !== sourceHost) return { do: 'end', outcome: 'moved', message: null };
  return { do: 'end', outcome: 'stopped', message: 'the eviction was stopped' };
}
