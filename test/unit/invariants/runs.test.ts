import type { Snapshot } from '../../invariants/snapshot.ts';
import { observedRunOf } from '../../invariants/observed-run.ts';
import { violations } from '../../invariants/violations.ts';
import { breaks, good, moveRun, run, t0 } from './sample.ts';

/** Runs: one for each object, and within their budgets. */

breaks([
  [
    'two runs under one id',
    { runs: [run({ closedAtMs: null }), run({ runId: 'r2', closedAtMs: null })] },
    /^invariant 1: eviction\/node-1 is driven by two runs at once: evictHypervisor eviction\/node-1 \(r1\) and .* \(r2\)$/,
  ],
  [
    'a move under an id of its own',
    { runs: [moveRun({ workflowId: 'mine', closedAtMs: null })] },
    /^invariant 1: migrateInstance runs as mine/,
  ],
  [
    'a run that acted under the id of another host',
    { runs: [run({ workflowId: 'eviction/node-2' })] },
    /^invariant 1: evictHypervisor runs as eviction\/node-2, so that nothing keeps it single$/,
  ],
  [
    'a long history of an eviction',
    { runs: [run({ events: 400 })] },
    /^invariant 9: evictHypervisor eviction\/node-1 \(r1\) has 400 events for 2 moves, 1 messages and 0 failures in 10 s; its budget is 262/,
  ],
  ['a long history of a move', { runs: [moveRun({ events: 41 })] }, /^invariant 9: migrateInstance migration\/s1/],
  ...(
    [
      ['reconcileHypervisor', 'hypervisor/node-1', { hypervisor: 'node-1' }, 600],
      ['handleNodeFailure', 'node-failure/node-1', { hypervisor: 'node-1' }, 1_000],
      ['reconcileVirtualMachine', 'virtualmachine/team/web', { namespace: 'team', name: 'web' }, 300],
      ['reconcileSetResourcePolicy', 'resource-policy/team/apart', { namespace: 'team', name: 'apart' }, 400],
      ['allocateAllowance', 'limits/migrations/RegionOne', { region: 'RegionOne' }, 700],
      ['watchGuests', 'guest-watch/0', { shard: 0 }, 200],
      ['watchVcenter', 'vcenter/lab', { vcenter: 'lab' }, 200],
      ['findDrift', 'hypervisor-drift/RegionOne-1', { region: 'RegionOne' }, 150],
      ['syncContentLibrary', 'mine', { library: 'x' }, 150],
    ] as const
  ).map(([type, workflowId, input, events]): [string, Partial<Snapshot>, RegExp] => [
    `a long history of ${type}`,
    { runs: [run({ type, workflowId, input, events, children: 0 })] },
    new RegExp(`^invariant 9: ${type} ${workflowId} \\(r1\\) has ${events} events`, 'u'),
  ]),
  [
    'a run of a type that has no budget',
    { runs: [run({ type: 'somethingElse' })] },
    /^invariant 9: somethingElse .* is of a type without a budget$/,
  ],
]);

test('a run with another id may hand over to the right one, and a run may take the place of one that has ended', () => {
  const handedOver = run({ workflowId: 'mine', runId: 'r3', activities: { openEviction: 1 }, children: 0 });
  const next = run({ runId: 'r4', startedAtMs: t0 + 10_000, closedAtMs: null });
  expect(violations({ ...good, runs: [...good.runs, handedOver, next] })).toEqual([]);
  // Where several clusters share a Temporal namespace.
  expect(violations({ ...good, runs: [run({ workflowId: 'east/eviction/node-1' })] })).toEqual([]);
});
test('what does not pay for a long history: seconds, messages and failures do', () => {
  const long = {
    type: 'reconcileHypervisor',
    workflowId: 'hypervisor/node-1',
    input: { hypervisor: 'node-1' },
    events: 410,
    children: 0,
  };
  for (const paid of [{ closedAtMs: t0 + 20_000 }, { messages: 3 }, { failures: 4 }])
    expect(violations({ ...good, runs: [run({ ...long, ...paid })] })).toEqual([]);
  expect(
    violations({ ...good, waitingEventsPerSecond: 1, runs: [run({ ...long, closedAtMs: t0 + 20_000 })] }),
  ).toHaveLength(1);
});
test('a history is counted', () => {
  const described = {
    workflowId: 'migration/s1',
    runId: 'r1',
    type: 'migrateInstance',
    status: 'COMPLETED',
    startedAtMs: t0,
    closedAtMs: t0 + 1,
  };
  const data = new TextEncoder().encode('{"instance":{"id":"s1"}}');
  const history = {
    events: [
      { workflowExecutionStartedEventAttributes: { input: { payloads: [{ data }] } } },
      { workflowExecutionSignaledEventAttributes: {} },
      { workflowExecutionUpdateAcceptedEventAttributes: {} },
      { activityTaskScheduledEventAttributes: { activityType: { name: 'startLiveMigration' } } },
      { activityTaskStartedEventAttributes: { attempt: 3 } },
      { activityTaskTimedOutEventAttributes: {} },
      { workflowTaskFailedEventAttributes: {} },
      { startChildWorkflowExecutionInitiatedEventAttributes: {} },
    ],
  };
  expect(observedRunOf(described, history)).toEqual({
    ...described,
    input: { instance: { id: 's1' } },
    events: 8,
    activities: { startLiveMigration: 1 },
    children: 1,
    messages: 2,
    failures: 2,
    retries: 2,
    conduct: [],
    safety: [],
  });
  expect(
    observedRunOf(described, {
      events: [{ workflowExecutionStartedEventAttributes: { input: { payloads: [{ data: new Uint8Array([7]) }] } } }],
    }).input,
  ).toBeNull();
});

test('a server that is on its way already is followed before it is moved', () => {
  const activities = { awaitInstanceIdle: 1, awaitMigration: 2, abortMigration: 2, startLiveMigration: 1 };
  const moved = good.runs.map((one) => (one.type === 'migrateInstance' ? { ...one, events: 57, activities } : one));
  expect(violations({ ...good, runs: moved })).toEqual([]);
  const tooLong = moved.map((one) => (one.type === 'migrateInstance' ? { ...one, events: 81 } : one));
  expect(violations({ ...good, runs: tooLong })).toEqual([
    expect.stringMatching(/^invariant 9: migrateInstance .* for 2 moves/u),
  ]);
});
