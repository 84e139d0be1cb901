import type { Move } from './plan.ts';
import type { LastMove } from './plan-wind-down.ts';

/** The move as a person reads it in the Web UI and in `drover describe`. */
export function describeMove(move: Move | LastMove): string {
  switch (move.do) {
    case 'migrateLive':
      return 'Asking Nova to move it live';
    case 'migrateCold':
      return 'Asking Nova to move it cold';
    case 'awaitMigration':
      return `Waiting for ${move.migration.type} ${move.migration.id}`;
    case 'abort':
      return `Aborting migration ${move.migration.id}`;
    case 'forceComplete':
      return `Making Nova finish migration ${move.migration.id}, as consented`;
    case 'confirm':
      return `Confirming cold migration ${move.migrationId}`;
    case 'awaitIdle':
      return 'Waiting for another operation on it';
    case 'end':
      return move.message ?? move.outcome;
  }
}
