import { msToTs } from '@temporalio/common/lib/time.js';
import { machineFacts, safetyOf } from '../../invariants/read-machines.ts';
import type { AuditLine, MachineFact, ObservedRun, SafetyFact, Snapshot } from '../../invariants/snapshot.ts';
import { violations } from '../../invariants/violations.ts';
import { breaks, good, run, serviceCall, t0 } from './sample.ts';

/** Machines, and the orphans that sweeps delete. */

const id = 'vsphere://eu-1/4211';
const server = 'openstack:///eu-1/5f1c';

const decides = (afterMs: number, frozen: boolean): SafetyFact => ({ what: 'decides', atMs: t0 + afterMs, frozen });
const safety = (...facts: SafetyFact[]): ObservedRun =>
  run({
    workflowId: 'api-server-safety/shoot',
    runId: 's1',
    type: 'watchApiServers',
    status: 'RUNNING',
    closedAtMs: null,
    input: { namespace: 'shoot' },
    events: 20,
    children: 0,
    safety: facts,
  });
const thawed = safety(decides(0, true), decides(1_000, false));
const sweep = (more: Partial<ObservedRun> = {}): ObservedRun =>
  run({
    workflowId: 'orphan-sweep/shoot',
    runId: 'w1',
    type: 'sweepOrphans',
    input: { namespace: 'shoot' },
    events: 30,
    activities: { observeSweep: 2, deleteOrphan: 1 },
    children: 0,
    safety: [{ what: 'deletes', atMs: t0 + 4_000, providerId: id }],
    ...more,
  });
const line = (more: Partial<AuditLine> = {}): AuditLine => ({
  time: new Date(t0 + 6_000).toISOString(),
  actor: 'drover',
  action: 'deleteOrphan',
  cause: 'MachineMissing: there is no Machine lost; an orphan since 2026-01-31T11:00:00.000Z',
  object: `machine-vm/${id}`,
  before: {},
  after: { outcome: 'deleted', detachedDisks: [] },
  run: { workflowId: 'orphan-sweep/shoot', runId: 'w1' },
  requestId: null,
  ...more,
});
const machine = (more: Partial<MachineFact> = {}): MachineFact => ({
  name: 'shoot/worker-1',
  providerId: id,
  fromMs: t0,
  untilMs: null,
  ...more,
});

/** One orphan was deleted, and it was well. */
const swept = (more: Partial<Snapshot> = {}): Partial<Snapshot> => ({
  runs: [...good.runs, thawed, sweep()],
  audit: [...good.audit, line()],
  ...more,
});
const withRuns = (...runs: ObservedRun[]): Partial<Snapshot> => swept({ runs: [...good.runs, ...runs] });
const withLines = (...lines: AuditLine[]): Partial<Snapshot> => swept({ audit: [...good.audit, ...lines] });
const asked = serviceCall({
  timeMs: t0 + 5_000,
  method: 'DELETE',
  path: '/v2.1/servers/5f1c',
  status: 204,
  requestId: 'req-9',
});

breaks([
  [
    'the deletion of a VM that a Machine names',
    swept({ machines: [machine()] }),
    /^invariant 22: 4211 of Machine shoot\/worker-1 was deleted \(MachineMissing: /,
  ],
  [
    'the same in another region',
    swept({ machines: [machine({ providerId: 'vsphere://eu-2/4211' })] }),
    /^invariant 22: 4211 of Machine/,
  ],
  [
    'the same without an answer',
    { ...withLines(line({ after: { asked: null, failed: 'no answer', unanswered: true } })), machines: [machine()] },
    /^invariant 22: 4211 of Machine/,
  ],
  [
    'the same without a line, as Nova was asked',
    { novaCalls: [...good.novaCalls, asked], machines: [machine({ providerId: server })] },
    /^invariant 22: 5f1c of Machine shoot\/worker-1 was deleted \(request req-9\)$/,
  ],
  [
    'a deletion while Machines are frozen',
    withRuns(safety(decides(0, true)), sweep()),
    /^invariant 23: vsphere:\/\/eu-1\/4211 was deleted at 2026-01-31T12:00:06\.000Z, while Machines of shoot were frozen/,
  ],
  [
    'a deletion after they were frozen again',
    withRuns(safety(decides(0, false), decides(2_000, true)), sweep()),
    /^invariant 23: /,
  ],
  ['a deletion while no run knows', withRuns(sweep()), /^invariant 23: /],
  [
    'a deletion when the run that knew has ended',
    withRuns({ ...thawed, status: 'TERMINATED', closedAtMs: t0 + 2_000 }, sweep()),
    /^invariant 23: /,
  ],
  [
    'a deletion while Machines of another namespace are thawed',
    withRuns({ ...thawed, workflowId: 'api-server-safety/other', input: { namespace: 'other' } }, sweep()),
    /^invariant 23: /,
  ],
  ['two deletions of one VM', withLines(line(), line()), /^invariant 24: vsphere:\/\/eu-1\/4211 was deleted 2 times$/],
  [
    'a deletion without a reason',
    withLines(line({ cause: '' })),
    /^invariant 24: .* for no reason that is known: none$/,
  ],
  [
    'a deletion by another run',
    withLines(line({ run: { workflowId: 'orphan-sweep-dry/shoot', runId: 'w1' } })),
    /^invariant 24: .* was deleted by orphan-sweep-dry\/shoot, which may not$/,
  ],
  ['a deletion by no run', withLines(line({ run: null })), /^invariant 24: .* was deleted by no run, which may not$/],
]);

test.each<[what: string, change: Partial<Snapshot>]>([
  ['an orphan that is deleted', swept()],
  ['in a cluster with a name', withLines(line({ run: { workflowId: 'eu-1/orphan-sweep/shoot', runId: 'w1' } }))],
  ['a Machine that names another VM', swept({ machines: [machine({ providerId: 'vsphere://eu-1/4212' })] })],
  ['a Machine that has been deleted before', swept({ machines: [machine({ untilMs: t0 + 5_000 })] })],
  ['a Machine that came later', swept({ machines: [machine({ fromMs: t0 + 7_000 })] })],
  [
    'an attempt that was refused',
    { ...withLines(line({ after: { asked: null, failed: 'not its VM' } })), machines: [machine()] },
  ],
  [
    'an attempt without an answer, and another one',
    withLines(line({ after: { asked: null, failed: 'no answer', unanswered: true } }), line()),
  ],
  [
    'a server that another user deletes',
    { novaCalls: [{ ...asked, userAgent: 'gophercloud' }], machines: [machine({ providerId: server })] },
  ],
  [
    'a freeze that comes while the VM is being deleted',
    withRuns(safety(decides(0, false), decides(3_500, true)), sweep()),
  ],
  [
    'a setting that asks for the chart of before',
    swept({ machines: [machine()], sweepGates: { frozen: true, renamedAreKept: false } }),
  ],
  [
    'a setting that does not ask for the freeze',
    { ...withRuns(sweep()), sweepGates: { frozen: false, renamedAreKept: true } },
  ],
])('%s is well', (_, change) => {
  expect(violations({ ...good, ...change })).toEqual([]);
});

test('from watch events it is known when a Machine has named which VM', () => {
  const object = (providerID?: string) => ({
    metadata: { namespace: 'shoot', name: 'worker-1', uid: 'u1' },
    ...(providerID !== undefined && { spec: { providerID } }),
  });
  expect(
    machineFacts([
      { atMs: 1, type: 'ADDED', object: object() },
      { atMs: 2, type: 'MODIFIED', object: object('a') },
      { atMs: 3, type: 'ADDED', object: { metadata: { name: 'other', uid: 'u2' }, spec: { providerID: 'c' } } },
      { atMs: 4, type: 'MODIFIED', object: object('b') },
      { atMs: 5, type: 'DELETED', object: object('b') },
    ]),
  ).toEqual([
    { name: 'shoot/worker-1', providerId: 'a', fromMs: 2, untilMs: 4 },
    { name: 'shoot/worker-1', providerId: 'b', fromMs: 4, untilMs: 5 },
    { name: '/other', providerId: 'c', fromMs: 3, untilMs: null },
  ]);
});

test('from a history it is known what was decided, and what was to be deleted', () => {
  const data = (value: unknown) => ({ data: Buffer.from(JSON.stringify(value)) });
  const decided = { frozen: false, reason: '', inactiveSinceMs: null, probedMs: 1_000 };
  const memo = (value: unknown) => ({
    workflowPropertiesModifiedEventAttributes: { upsertedMemo: { fields: { safety: data(value) } } },
  });
  expect(
    safetyOf({
      events: [
        { eventTime: msToTs(1_000), ...memo(decided) },
        { eventTime: msToTs(2_000), ...memo('another tongue') },
        {
          eventTime: msToTs(3_000),
          activityTaskScheduledEventAttributes: {
            activityType: { name: 'deleteOrphan' },
            input: { payloads: [data({ providerId: id })] },
          },
        },
        {
          eventTime: msToTs(4_000),
          activityTaskScheduledEventAttributes: { activityType: { name: 'observeSweep' } },
        },
      ],
    }),
  ).toEqual([
    { what: 'decides', atMs: 1_000, frozen: false },
    { what: 'decides', atMs: 2_000, frozen: true },
    { what: 'deletes', atMs: 3_000, providerId: id },
  ]);
});
