import { shownAttention } from '../contracts/kinds/shown.ts';
import { createMetrics } from '../runtime/telemetry/metrics.ts';
import type { FollowedKind } from './follow.ts';
import {
  countEvictions,
  countHosts,
  createUnreconciledClock,
  type ReportedBridge,
  reportMetrics,
  shownStates,
} from './report-metrics.ts';

const object = (reconciled: boolean, changedMs = 1_000) => ({ uid: 'a', reconciled, changedMs });
const take = (clock: ReturnType<typeof createUnreconciledClock>, objects: ReturnType<typeof object>[], nowMs: number) =>
  clock.take(objects, nowMs).get('a');

test('an object that is found first tells itself since when', () => {
  expect(take(createUnreconciledClock(), [object(false, 4_000)], 9_000)).toBe(4_000);
});

test('not since the future, where clocks differ', () => {
  expect(take(createUnreconciledClock(), [object(false, 12_000)], 9_000)).toBe(9_000);
});

test('one that was reconciled before has been unreconciled since now, whatever it says', () => {
  const clock = createUnreconciledClock();
  expect(take(clock, [object(true)], 5_000)).toBeUndefined();
  expect(take(clock, [object(false)], 6_000)).toBe(6_000);
});

test('it stays so while it is unreconciled, and begins anew after', () => {
  const clock = createUnreconciledClock();
  take(clock, [object(false, 2_000)], 5_000);
  expect(take(clock, [object(false, 5_500)], 6_000)).toBe(2_000);
  take(clock, [object(true)], 7_000);
  expect(take(clock, [object(false)], 8_000)).toBe(8_000);
});

test('what is gone is forgotten', () => {
  const clock = createUnreconciledClock();
  take(clock, [object(false, 2_000)], 5_000);
  expect(take(clock, [], 6_000)).toBeUndefined();
  expect(take(clock, [object(false, 6_500)], 7_000)).toBe(6_500);
});

describe('which objects Prometheus is shown by name', () => {
  const seen = (fullName: string, attention: string | null, more: object = {}) => ({
    uid: fullName,
    fullName,
    subject: fullName,
    reason: 'Said',
    shown: shownAttention('Said', attention),
    createdMs: 1_000,
    ...more,
  });
  const states = (objects: ReturnType<typeof seen>[], ...open: string[]) =>
    shownStates(objects, (uid) => open.includes(uid));

  test.each([
    ['one that is reconciled and well is not shown', [seen('a', null)], [], []],
    [
      'one that goes on is, with its reason',
      [seen('a', null)],
      ['a'],
      [{ object: 'a', reason: 'Said', attention: 'false' }],
    ],
    [
      'one that rests and needs attention is',
      [seen('a', 'Aborted')],
      [],
      [{ object: 'a', reason: 'Aborted', attention: 'true' }],
    ],
    [
      'one that goes on and waits for an operator is shown once',
      [seen('a', 'Maintenance')],
      ['a'],
      [{ object: 'a', reason: 'Maintenance', attention: 'true' }],
    ],
    [
      'one that failed is forgotten when there is a newer one of its host',
      [seen('old', 'Failed', { subject: 'node-1' }), seen('new', null, { subject: 'node-1', createdMs: 2_000 })],
      [],
      [],
    ],
    [
      'the newest one of a host counts, wherever it stands',
      [seen('new', 'Failed', { subject: 'node-1', createdMs: 2_000 }), seen('old', 'Failed', { subject: 'node-1' })],
      [],
      [{ object: 'new', reason: 'Failed', attention: 'true' }],
    ],
    [
      'one before drover has said anything has no reason',
      [seen('a', null, { reason: null, shown: null })],
      ['a'],
      [{ object: 'a', reason: '', attention: 'false' }],
    ],
  ])('%s', (_, objects, open, expected) => {
    expect(states(objects, ...open)).toEqual(expected);
  });
});

test('hosts are counted by state; states that no host is in are 0', () => {
  const counted = countHosts(
    ['Active', 'Active', 'Aborted', 'Observed'].map((state) => ({ shown: shownAttention(state, null) })),
  );
  expect(Object.fromEntries(counted.map(({ labels, value }) => [labels.state, value]))).toEqual({
    Initial: 0,
    Onboarding: 0,
    Testing: 0,
    Aborted: 1,
    Ready: 0,
    Active: 2,
    Maintenance: 0,
    Evicting: 0,
    Decommissioned: 0,
    Unknown: 0,
    Observed: 1,
  });
});

test('evictions are counted by state and cause', () => {
  const eviction = (state: string, cause: string) => ({ shown: { ...shownAttention(state, null), cause } });
  expect(
    countEvictions([eviction('Running', 'admin'), eviction('Running', 'admin'), eviction('Running', 'termination')]),
  ).toEqual([
    { labels: { state: 'Running', cause: 'admin' }, value: 2 },
    { labels: { state: 'Running', cause: 'termination' }, value: 1 },
  ]);
});

test('a kind that kube-apiserver has said nothing of is blind since the start', async () => {
  const metrics = createMetrics('bridge', '1');
  const of = (kind: string, lastContact: string | null) =>
    ({ kind, objects: [], state: { objects: 0, lists: 0, watches: 0, lastContact } }) as unknown as FollowedKind;
  let nowMs = 60_000;
  reportMetrics(metrics, {
    kinds: () => [of('Eviction', '1970-01-01T00:05:00Z'), of('Hypervisor', null)],
    queue: () => ({ fresh: 0, resync: 0, inFlight: 0, backingOff: 0 }) as ReturnType<ReportedBridge['queue']>,
    leading: () => true,
    now: () => nowMs,
  });
  nowMs = 400_000;
  const page = await metrics.page();
  expect(page).toMatch(/^drover_bridge_last_contact_timestamp_seconds\{.*kind="Eviction".*\} 300$/mu);
  expect(page).toMatch(/^drover_bridge_last_contact_timestamp_seconds\{.*kind="Hypervisor".*\} 60$/mu);
});
