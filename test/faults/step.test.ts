import type { Call } from './step.ts';
import { commonSteps, nameSteps } from './step.ts';

const call = (workflowId: string, activity: string, activityId: string, more: Partial<Call> = {}): Call => ({
  workflowId,
  runId: 'run-1',
  activityId,
  activity,
  attempt: 1,
  ...more,
});
const roles = new Map([
  ['eviction/fixture-1', 'A'],
  ['migration/5f0a', 'A1'],
]);

test('calls are named by role, activity and turn', () => {
  const name = nameSteps(roles);
  expect(name(call('eviction/fixture-1', 'publishEviction', '1'))).toBe('A/publishEviction.1');
  expect(name(call('eviction/fixture-1', 'observeHost', '2'))).toBe('A/observeHost.1');
  expect(name(call('eviction/fixture-1', 'publishEviction', '3'))).toBe('A/publishEviction.2');
  expect(name(call('migration/5f0a', 'awaitMigration', '1', { runId: 'run-2' }))).toBe('A1/awaitMigration.1');
  expect(name(call('limits/migrations/RegionOne', 'observeAllowance', '9', { runId: 'run-3' }))).toBe(
    'limits/observeAllowance.1',
  );
  expect(name(call('hypervisor-drift/RegionOne-2026-01-01T00:00:00Z', 'findDrift', '1', { runId: 'run-4' }))).toBe(
    'drift/findDrift.1',
  );
  expect(name(call('vcenter/lab', 'watchVcenter', '1', { runId: 'run-5' }))).toBe('watch/watchVcenter.1');
  expect(name(call('guest-watch/0', 'watchGuests', '1', { runId: 'run-6' }))).toBe('watch/watchGuests.1');
});

test('attempts of a call share its name; the same activity id of a later run is another call', () => {
  const name = nameSteps(roles);
  expect(name(call('eviction/fixture-1', 'openEviction', '1'))).toBe('A/openEviction.1');
  expect(name(call('eviction/fixture-1', 'openEviction', '1', { attempt: 2 }))).toBe('A/openEviction.1');
  expect(name(call('eviction/fixture-1', 'openEviction', '1', { runId: 'run-2' }))).toBe('A/openEviction.2');
});

test('calls of other runs have no role', () => {
  expect(nameSteps(roles)(call('eviction/fixture-2', 'openEviction', '1'))).toBeNull();
});

test('only what every run has can be targeted', () => {
  expect(
    commonSteps([
      ['a', 'b', 'c', 'b'],
      ['c', 'b'],
      ['b', 'c', 'd'],
    ]),
  ).toEqual(['b', 'c']);
  expect(commonSteps([])).toEqual([]);
});
