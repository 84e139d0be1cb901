import type { VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import { poolSpec } from '../../test/fixtures/starters/agent-pool.ts';
import { shownAgents, shownPools } from './agent-pool-objects.ts';

const metadata = {
  namespace: 'team',
  name: 'gpu',
  uid: '11111111-1111-4111-8111-111111111111',
  generation: 3,
  resourceVersion: '7',
  creationTimestamp: '2026-01-31T12:00:00Z',
};
const of = (status?: VsphereAgentPool['status'], annotations: Record<string, string> = {}) =>
  shownPools.schema.parse({
    apiVersion: 'agent-forge.containeroo.ch/v1alpha1',
    kind: 'VsphereAgentPool',
    metadata: { ...metadata, annotations },
    spec: poolSpec,
    status,
  });
const vm = (name: string, phase: string) => ({ name, phase, reason: 'AgentNotDiscovered' });

test('a pool that no run has observed', () => {
  expect(of()).toMatchObject({
    namespace: 'team',
    name: 'gpu',
    nodePool: 'workers',
    infraEnv: 'discovery',
    deletes: true,
    deleting: false,
    observed: false,
    approved: [],
    counts: null,
    iso: null,
    vms: [],
    held: [],
    conditions: [],
  });
});

test('what is wanted is what waits, less what is available and under way', () => {
  const status = { waitingAgentMachines: 5, availableAgents: 1, agentMachines: 9, boundAgents: 4 };
  expect(of({ ...status, ownedVMs: [vm('a', 'Provisioning'), vm('b', 'Bound')] }).counts).toEqual({
    agentMachines: 9,
    waiting: 5,
    available: 1,
    bound: 4,
    wanted: 3,
    provisioning: 1,
    vms: 2,
  });
  expect(of({ ...status, availableAgents: 9 }).counts?.wanted).toBe(0);
});

test('a deletion is held where it says for what', () => {
  const plannedActions = [
    { type: 'DemandDeficit', reason: 'Short: of VMs' },
    { type: 'DeleteVM', name: 'worker-1', reason: 'MachineDeleted' },
    { type: 'DeleteVM', name: 'worker-2', reason: 'ApprovalRequired: 3 VMs: too many' },
    { type: 'DeleteVM', name: 'worker-3; reboot', reason: 'AgentBound: x' },
    { type: 'DeleteAgent', name: 'a1', reason: 'MachineDeleted' },
  ];
  expect(of({ plannedActions }).held).toEqual([
    { name: 'worker-2', waitsFor: 'ApprovalRequired', message: '3 VMs: too many' },
  ]);
});

test('approvals, the mode and the ISO', () => {
  const iso = { path: 'p/a.iso', sha256: 'a', sizeBytes: 9, uploadedAt: '2026-01-31T12:00:00Z' };
  const shown = of(
    { iso: { ...iso, history: [iso, { path: 'p/b.iso', sha256: 'b' }] } },
    { 'drover.dev/approved-deletions': ' worker-1, worker-2,,', 'drover.dev/mode': 'observe' },
  );
  expect(shown).toMatchObject({ approved: ['worker-1', 'worker-2'], observed: true });
  expect(shown.iso).toEqual({
    path: 'p/a.iso',
    sizeBytes: 9,
    uploadedAt: '2026-01-31T12:00:00Z',
    checkedAt: null,
    history: [
      { path: 'p/a.iso', sizeBytes: 9, uploadedAt: '2026-01-31T12:00:00Z' },
      { path: 'p/b.iso', sizeBytes: null, uploadedAt: null },
    ],
  });
});

test('a VsphereAgent and its VM', () => {
  const agent = (status?: object) =>
    shownAgents.schema.parse({
      apiVersion: 'agent-forge.containeroo.ch/v1alpha1',
      kind: 'VsphereAgent',
      metadata: { ...metadata, name: 'worker-1', deletionTimestamp: '2026-01-31T12:00:00Z' },
      spec: { poolRef: { name: 'gpu' } },
      status,
    });
  expect(agent()).toMatchObject({ name: 'worker-1', pool: 'gpu', deleting: true, vm: null });
  expect(agent({ vm: { ...vm('vm-1', 'Bound'), agentRef: { name: 'a1' }, machineRef: { name: 'm1' } } }).vm).toEqual({
    vm: 'vm-1',
    phase: 'Bound',
    reason: 'AgentNotDiscovered',
    since: null,
    agent: 'a1',
    machine: 'm1',
  });
});
