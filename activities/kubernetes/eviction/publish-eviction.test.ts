import type { EvictionReport } from '../../../contracts/eviction/activities.ts';
import { agentStateOf, wantedStatus } from './publish-eviction.ts';
import { sampleCondition } from '../../../test/fixtures/activities/eviction.ts';

const now = new Date('2026-02-01T00:00:00Z');
const report: EvictionReport = {
  name: 'node-1',
  uid: 'u',
  conditions: [
    { type: 'Evicting', status: 'False', reason: 'Observed', message: 'would move 4', observedGeneration: 1 },
    { type: 'PreflightChecksSucceeded', status: 'False', reason: 'Failed', message: 'no room', observedGeneration: 1 },
  ],
  hypervisorId: 'hypervisor',
  outstandingInstances: ['a', 'b'],
  outstandingRamMb: 512,
  events: [],
  releaseFinalizer: false,
};

test('conditions of others stay, lists are the report’s', () => {
  const foreign = sampleCondition('Custom', 'True', 'Whatever');
  expect(wantedStatus({ conditions: [foreign] }, report, false, now)).toEqual({
    conditions: [
      foreign,
      ...report.conditions.map((condition) => ({ ...condition, lastTransitionTime: '2026-02-01T00:00:00.000Z' })),
    ],
    hypervisorServiceId: 'hypervisor',
    outstandingInstances: ['a', 'b'],
    outstandingRamMb: 512,
  });
});

test('what is said already is the same, so that nothing is written', () => {
  const once = wantedStatus({}, report, false, now);
  expect(wantedStatus(once, report, false, new Date())).toEqual(once);
});

test('a host that was not found keeps the id that is there', () => {
  expect(
    wantedStatus({ hypervisorServiceId: 'service' }, { ...report, hypervisorId: null }, false, now),
  ).not.toHaveProperty('hypervisorServiceId');
});

test('before the servers are listed, the list that is there stays', () => {
  const said = wantedStatus({ outstandingInstances: ['a'] }, { ...report, outstandingInstances: null }, false, now);
  expect(said).not.toHaveProperty('outstandingInstances');
  expect(said).not.toHaveProperty('outstandingRamMb');
});

test('a message is cut to what kube-apiserver takes', () => {
  const [first] = report.conditions;
  const long = { ...report, conditions: [{ ...first!, message: 'x'.repeat(40_000) }] };
  expect(wantedStatus({}, long, false, now).conditions?.[0]?.message).toHaveLength(32_768);
});

test('where drover observes it writes its own condition and nothing else', () => {
  const theirs = sampleCondition('Evicting', 'True', 'Running');
  expect(wantedStatus({ conditions: [theirs] }, report, true, now)).toEqual({
    conditions: [
      theirs,
      {
        type: 'Observed',
        status: 'True',
        reason: 'Observed',
        message: 'would move 4 — no room',
        observedGeneration: 1,
        lastTransitionTime: '2026-02-01T00:00:00.000Z',
      },
    ],
  });
});

test('what is still being observed is not final', () => {
  const [first] = report.conditions;
  const running = { ...report, conditions: [{ ...first!, status: 'True' as const, reason: 'Running' }] };
  expect(wantedStatus({}, running, true, now).conditions).toEqual([
    expect.objectContaining({ type: 'Observed', status: 'Unknown', reason: 'Running' }),
  ]);
});

test.each([
  ['nothing is said yet', 'node-1', undefined, null],
  ['it waits', 'node-1', ['Unknown', 'AlreadyRunning'], 'Pending'],
  ['it runs', 'node-1', ['True', 'Running'], 'Running'],
  ['the host is empty', 'node-1', ['False', 'Succeeded'], 'Succeeded'],
  ['it failed', 'node-1', ['False', 'Failed'], 'Failed'],
  ['a user stopped it', 'node-1', ['False', 'Stopped'], 'Failed'],
  ['the agent reads that of its host’s name alone', 'other', ['False', 'Succeeded'], null],
] as const)('what the node agent polls: %s', (_what, name, said, state) => {
  const conditions =
    said === undefined
      ? []
      : [
          {
            type: 'Evicting',
            status: said[0],
            reason: said[1],
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ];
  const eviction = { metadata: { name }, spec: { hypervisor: 'node-1', reason: 'r' } } as Parameters<
    typeof agentStateOf
  >[0];
  expect(agentStateOf(eviction, { conditions })).toBe(state);
});
