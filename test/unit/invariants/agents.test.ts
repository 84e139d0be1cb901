import {
  agentFacts,
  type AgentChange,
  gonePools,
  notLaterThan,
  type ReadAgentObject,
} from '../../invariants/read-agents.ts';
import type { AgentFact, AuditLine, Snapshot } from '../../invariants/snapshot.ts';
import { violations } from '../../invariants/violations.ts';
import { good, t0 } from './sample.ts';

/** VMs of agent pools. */

const fact = (more: Partial<AgentFact> = {}): AgentFact => ({
  agent: 'team/w-1',
  uid: 'a1',
  pool: 'team/workers',
  agentMachine: 'w-1',
  machine: 'hosted/w-1',
  isForced: false,
  isUnderWay: false,
  fromMs: t0,
  untilMs: null,
  ...more,
});
const destroyed = (more: Partial<AuditLine> = {}): AuditLine => ({
  time: new Date(t0 + 5_000).toISOString(),
  actor: 'drover',
  action: 'submitDestroy',
  cause: 'its VsphereAgent is being deleted',
  object: 'agent/team/w-1',
  before: null,
  after: null,
  run: { workflowId: 'agent/team/w-1', runId: 'r' },
  requestId: null,
  ...more,
});
const created = destroyed({ action: 'createVsphereAgent', after: { vmName: 'w-1' } });
const prepared = destroyed({
  action: 'prepareAgent',
  object: 'assisted-agent/team/x',
  after: { spec: { hostname: 'w-1', approved: true } },
});
const vm = { name: 'w-1', uid: 'a1', pool: 'team/workers', poolUid: 'p1', madeMs: t0 - 3_600_000 };
const agentPools = [{ uid: 'p1', deletes: true, held: [] as string[] }];
const found = (change: Partial<Snapshot>): string[] =>
  violations({ ...good, ...change }).filter((line) => /^invariant 2[567]/u.test(line));

test.each<[string, Partial<Snapshot>, RegExp | null]>([
  [
    'a VM whose Machine is there',
    { agents: [fact()], audit: [destroyed()] },
    /invariant 25: .*team\/w-1.*hosted\/w-1/u,
  ],
  ['… by force', { agents: [fact({ isForced: true })], audit: [destroyed()] }, null],
  ['… which is gone', { agents: [fact({ machine: null })], audit: [destroyed()] }, null],
  ['… which was refused', { agents: [fact()], audit: [destroyed({ after: { failed: 'X' } })] }, null],
  ['… which went before', { agents: [fact({ untilMs: t0 + 4_000 })], audit: [destroyed()] }, null],
  [
    'two VMs under way for one AgentMachine',
    { agents: [fact({ isUnderWay: true }), fact({ isUnderWay: true, agent: 'team/w-1-x', uid: 'a2' })] },
    /invariant 26: .*AgentMachine w-1/u,
  ],
  [
    '… one after the other',
    { agents: [fact({ isUnderWay: true, untilMs: t0 + 1 }), fact({ isUnderWay: true, uid: 'a2', fromMs: t0 + 1 })] },
    null,
  ],
  [
    '… the first of which another AgentMachine may have, as its Agent is prepared',
    {
      agents: [
        fact({ isUnderWay: true }),
        fact({ isUnderWay: true, agent: 'team/w-1-x', uid: 'a2', fromMs: t0 + 6_000 }),
      ],
      audit: [created, prepared],
    },
    null,
  ],
  [
    '… whose Agent is prepared later',
    {
      agents: [
        fact({ isUnderWay: true }),
        fact({ isUnderWay: true, agent: 'team/w-1-x', uid: 'a2', fromMs: t0 + 4_000 }),
      ],
      audit: [created, prepared],
    },
    /invariant 26: .*AgentMachine w-1/u,
  ],
  [
    'two VMs of one VsphereAgent',
    { agents: [fact()], agentVms: [vm, { ...vm, name: 'copy' }] },
    /invariant 26: .*copy/u,
  ],
  ['a VM that no VsphereAgent has', { agentPools, agentVms: [vm] }, /invariant 27: VM w-1/u],
  ['… and that is held', { agentPools: [{ ...agentPools[0]!, held: ['w-1'] }], agentVms: [vm] }, null],
  ['… of a pool that retains', { agentPools: [{ ...agentPools[0]!, deletes: false }], agentVms: [vm] }, null],
  ['… and that is young', { agentPools, agentVms: [{ ...vm, madeMs: t0 }] }, null],
  ['a VM that its VsphereAgent has', { agentPools, agents: [fact()], agentVms: [vm] }, null],
])('%s', (_what, change, expected) => {
  const lines = found(change);
  if (expected === null) expect(lines).toEqual([]);
  else expect(lines.join('\n')).toMatch(expected);
});

test('a pool that is gone is one whose VMs had to go, unless it went by force', () => {
  const pool = (uid: string, cleanupPolicy: string, annotations = {}): ReadAgentObject => ({
    kind: 'VsphereAgentPool',
    metadata: { namespace: 'team', name: uid, uid, annotations },
    spec: { cleanupPolicy },
  });
  const gone = (object: ReadAgentObject): AgentChange => ({ atMs: 1, type: 'DELETED', object });
  const pools = gonePools([
    gone(pool('p1', 'Delete')),
    gone(pool('p2', 'Retain')),
    gone(pool('p3', 'Delete', { 'drover.dev/force-delete': 'true' })),
    { ...gone(pool('p4', 'Delete')), type: 'MODIFIED' },
  ]);
  expect(pools).toEqual([
    { uid: 'p1', deletes: true, held: [] },
    { uid: 'p2', deletes: false, held: [] },
  ]);
  expect(found({ agentPools: pools, agentVms: [vm] }).join()).toMatch(/invariant 27: VM w-1/u);
});

test('what a VsphereAgent was, and when', () => {
  const agent = (status: ReadAgentObject['status'], annotations = {}): ReadAgentObject => ({
    kind: 'VsphereAgent',
    metadata: { namespace: 'team', name: 'w-1', uid: 'a1', annotations },
    spec: { poolRef: { name: 'workers' } },
    ...(status !== undefined && { status }),
  });
  const machine: ReadAgentObject = { kind: 'Machine', metadata: { namespace: 'hosted', name: 'w-1', uid: 'm1' } };
  const machineRef = { kind: 'Machine', namespace: 'hosted', name: 'w-1' };
  const change = (atMs: number, object: ReadAgentObject, type: AgentChange['type'] = 'MODIFIED'): AgentChange => ({
    atMs,
    type,
    object,
  });
  const facts = agentFacts([
    change(1, machine, 'ADDED'),
    change(2, agent(undefined), 'ADDED'),
    change(3, agent({ vm: { phase: 'Bound', machineRef } })),
    change(4, machine, 'DELETED'),
    change(5, agent({ vm: { phase: 'Released', machineRef } }, { 'drover.dev/force-delete': 'true' })),
    change(6, agent(undefined), 'DELETED'),
  ]);
  expect(facts).toMatchObject([
    { fromMs: 2, untilMs: 3, isUnderWay: true, machine: null },
    { fromMs: 3, untilMs: 4, isUnderWay: false, machine: 'hosted/w-1' },
    { fromMs: 4, untilMs: 5, machine: null, isForced: false },
    { fromMs: 5, untilMs: 6, machine: null, isForced: true },
  ]);
});

test('a Machine may have been gone since it was let go, whenever a watch says so', () => {
  const machine = (uid: string): ReadAgentObject => ({
    kind: 'Machine',
    metadata: { namespace: 'hosted', name: 'w-1', uid },
  });
  const changes: AgentChange[] = [
    { atMs: 1, type: 'ADDED', object: machine('m1') },
    { atMs: 5, type: 'MODIFIED', object: machine('m1') },
    { atMs: 6, type: 'ADDED', object: machine('m2') },
    { atMs: 9, type: 'DELETED', object: machine('m1') },
  ];
  const letGoMs = new Map([
    ['m1', 3],
    // It was asked for, and did not happen.
    ['m2', 7],
  ]);
  expect(notLaterThan(letGoMs, changes).map(({ atMs, type }) => `${atMs} ${type}`)).toEqual([
    '1 ADDED',
    '3 MODIFIED',
    '3 DELETED',
    '6 ADDED',
  ]);
});
