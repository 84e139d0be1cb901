import type { ErrorCode } from '../../contracts/errors.ts';

/** Losing the race against somebody who changes the same server is normal; losing it this often is not. */
const maxSurprises = 10;

/** What only says that the server is not as it was thought to be. */
const surprising: ReadonlySet<ErrorCode | null> = new Set<ErrorCode>([
  'InstanceBusy',
  'InstanceNotFound',
  'MigrationNotFound',
  'MigrationNotAbortable',
  'MigrationRefused',
]);

/**
 * Decides what a run does after a move has failed. Pure; each branch is a row of the table test.
 *
 * @param run.surprises how many such failures were looked into before
 * @param run.mayFail   nothing is in flight, and nobody has cancelled: what concerns Nova as a whole is for the parent to wait out
 * @returns `waitOut`: look again after a pause
 */
export function planAfterFailure(
  code: ErrorCode | null,
  { surprises, mayFail }: { surprises: number; mayFail: boolean },
): 'awaitLift' | 'lookAgain' | 'waitOut' | 'fail' {
  if (code === 'Stopped') return 'awaitLift';
  if (surprising.has(code) && surprises < maxSurprises) return 'lookAgain';
  return mayFail ? 'fail' : 'waitOut';
}
