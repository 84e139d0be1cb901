import type { ErrorCode } from '../../contracts/errors.ts';

/** Losing the race against somebody who changes the same server is normal; losing it this often is not. */
const maxSurprises = 10;

/** What only says that the server is not as it was thought to be. */
const surprising: ReadonlySet<ErrorCode | null> = new Set<ErrorCode>(['InstanceBusy', 'InstanceNotFound', 'MigrationNotFound', 'MigrationNotAbortable', 'MigrationRefused']);

/**
 * Decides what a run does after a move has failed. Pure.
 *
 * @param surprises how many such failures were looked into before
 * @returns `fail`: it concerns Nova as a whole, and is for the parent to wait out
 */
export function planAfterFailure(code: ErrorCode | null, surprises: number): 'awaitLift' | 'lookAgain' | 'fail' {
  if (code === 'Stopped') return 'awaitLift';
  return surprising.has(code) && surprises < maxSurprises ? 'lookAgain' : 'fail';
}
