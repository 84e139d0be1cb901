import type { ErrorCode } from '../../contracts/errors.ts';
import { abortFaults, confirmFaults, forceCompleteFaults, serverActionFaults, serviceFaults, type Faults } from './faults.ts';

/** Nova's own words, as it wrote them in the lab. */
const words = {
  gone: 'Instance 1 could not be found.',
  task: "Cannot 'os-migrateLive' instance 1 while it is in task_state migrating",
  state: "Cannot 'os-migrateLive' instance 1 while it is in vm_state suspended",
  locked: 'Instance 1 is locked',
  notReady: 'Instance 1 is not ready',
  invalid: "Instance 1 is in an invalid state for 'abort live migration'",
  shares: 'Feature not supported with instances that have shares.',
  host: 'Compute host nope could not be found.',
  policy: "Policy doesn't allow os_compute_api:os-migrate-server:migrate_live to be performed.",
  quota: 'Quota exceeded for cores: Requested 1, but already used 20 of 20 cores',
  migration: 'Migration 9 not found for instance 1',
  migrationState: 'Migration 9 state of instance 1 is completed. Cannot abort live migration while the migration is in this state.',
};

type Row = [faults: Faults, status: number, words: string, code: ErrorCode | undefined];
const rows: Row[] = [
  [serverActionFaults, 404, words.gone, 'InstanceNotFound'],
  [serverActionFaults, 409, words.task, 'InstanceBusy'],
  [serverActionFaults, 409, words.notReady, 'InstanceBusy'],
  [serverActionFaults, 409, words.state, 'InstanceStateRefused'],
  [serverActionFaults, 409, words.locked, 'InstanceStateRefused'],
  [serverActionFaults, 409, words.shares, 'MigrationRefused'],
  [serverActionFaults, 400, words.host, 'MigrationRefused'],
  [serverActionFaults, 403, words.quota, 'MigrationRefused'],
  [serverActionFaults, 403, words.policy, undefined],
  [serverActionFaults, 503, 'x', undefined],
  [confirmFaults, 404, words.gone, 'InstanceNotFound'],
  [confirmFaults, 400, 'Instance has not been resized.', 'InstanceStateRefused'],
  [confirmFaults, 409, words.state, 'InstanceStateRefused'],
  [confirmFaults, 409, words.task, 'InstanceBusy'],
  [confirmFaults, 403, words.policy, undefined],
  [abortFaults, 404, words.migration, 'MigrationNotFound'],
  [abortFaults, 400, words.migrationState, 'MigrationNotAbortable'],
  [abortFaults, 409, words.invalid, 'MigrationNotAbortable'],
  [abortFaults, 403, words.policy, undefined],
  [abortFaults, 500, 'x', undefined],
  [forceCompleteFaults, 404, words.gone, 'MigrationNotFound'],
  [forceCompleteFaults, 400, words.migration, 'MigrationNotFound'],
  [forceCompleteFaults, 400, words.migrationState, 'MigrationRefused'],
  [forceCompleteFaults, 409, words.invalid, 'MigrationRefused'],
  [serviceFaults, 404, 'Service x not found.', 'HostNotFound'],
  [serviceFaults, 409, 'x', 'ServiceConflict'],
  [serviceFaults, 400, 'x', undefined],
];
test.each(rows)('%p %i “%s” is %s', (faults, status, text, code) => {
  expect(faults({ status, words: text, documented: true })).toBe(code);
});

test.each([serverActionFaults, confirmFaults, abortFaults, forceCompleteFaults, serviceFaults])('%p: a 404 that is not Nova’s says nothing of the server', (faults) => {
  expect(faults({ status: 404, words: 'default backend', documented: false })).toBeUndefined();
});
