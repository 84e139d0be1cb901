import { vmIdentityOf } from '../../contracts/agent-pool/vm-identity.ts';
import type { AgentVm, DesiredAgent, ObservedAgent } from '../../contracts/agent-pool/vsphere-agent.ts';
import { done, execute, type Plan, wait } from '../lib/plan.ts';
import { type AgentSituation, agentStatus, type AgentStep, isAgentSaid, planAgent, pruneAgent } from './plan-agent.ts';

const desired: DesiredAgent = {
  uid: 'u1',
  generation: 2,
  deleting: false,
  isHeld: true,
  vmName: 'worker-1',
  force: false,
};
const vm: AgentVm = {
  vmId: 'vm-1',
  name: 'worker-1',
  biosUUID: 'b1',
  macAddress: '00-50-56-00-00-01',
  isOn: true,
  iso: '[iso] agent-forge/a.iso',
  missingTags: [],
};
const pool = { uid: 'p1', deleting: false, deletes: true, force: false, isoPath: 'agent-forge/a.iso' };
const forced = { ...pool, force: true, deleting: true };
const observed: ObservedAgent = {
  pool,
  problem: null,
  phase: 'Provisioning',
  machine: null,
  isInstalled: false,
  vm,
  recorded: { name: null, biosUUID: null, macAddress: null, conditions: [] },
};
const nowMs = 3_600_000;
const settings = {
  mode: 'act',
  recheckMs: 1,
  lingerMs: 1,
  publishMinMs: 1,
  vcenter: 'vc',
  cluster: '',
  slotRenewMs: 1,
} as const;

type Change = Partial<DesiredAgent> & {
  observed?: Partial<ObservedAgent>;
  mode?: 'act' | 'observe';
  none?: true;
  noAnswerSinceMs?: number;
};
const situation = ({ observed: seen, mode = 'act', none, noAnswerSinceMs, ...own }: Change = {}): AgentSituation => ({
  input: { namespace: 'pools', name: 'worker-1' },
  desired: none === true ? null : { ...desired, ...own },
  observed: { ...observed, ...seen },
  settings: { ...settings, mode },
  memory: { slot: null, ...(noAnswerSinceMs !== undefined && { noAnswerSinceMs }) },
  inFlight: new Set(),
  askedMs: 0,
  nowMs,
});
/** Kinds of the steps, and the slot. */
const kindsOf = (plan: Plan<AgentStep>): unknown =>
  plan.kind === 'execute' ? [plan.steps.map(({ kind }) => kind).join(' '), plan.slot?.limit ?? null] : plan;
const problem = { reason: 'VsphereUnavailable', message: 'vCenter does not answer' };
const uid = '0b6c1f3e-8d52-4c77-9a41-5e2f7d9b3a10';
/** Its VM is recorded and not found. */
const lost = (biosUUID: string, own: Partial<ObservedAgent> = {}): Change => ({
  uid,
  observed: { vm: null, recorded: { ...observed.recorded, name: 'worker-1', biosUUID }, ...own },
});
const other = '423e1a2b-0c3d-4e5f-8a9b-0c1d2e3f4a5b';
const on = done('reconciled', 'VMCreated', 'VM worker-1 is on');

test.each<[rule: string, change: Change, plan: unknown]>([
  ['no object', { none: true }, done('gone', 'NotFound', 'There is no such VsphereAgent')],
  ['its VM is on', {}, on],
  [
    'its pool is gone',
    { observed: { pool: null } },
    done('blocked', 'PoolNotFound', 'Its pool is not there: create the pool again, or delete this VsphereAgent'),
  ],
  [
    'something stands in the way',
    { observed: { problem } },
    wait('Creating', problem.reason, `another try: ${problem.message}`),
  ],
  ['no VM yet', { observed: { vm: null } }, ['create', 'creates']],
  ['… and no finalizer: that first', { isHeld: false, observed: { vm: null } }, ['addFinalizer create', 'creates']],
  ['… that is only observed', { isHeld: false, mode: 'observe', observed: { vm: null } }, ['create', 'creates']],
  [
    '… and no ISO',
    { observed: { vm: null, pool: { ...pool, isoPath: null } } },
    wait('Creating', 'ISONotReady', 'the discovery ISO of its pool'),
  ],
  [
    '… and a pool that is being deleted',
    { observed: { vm: null, pool: { ...pool, deleting: true } } },
    done('blocked', 'PoolDeleting', 'Its pool is being deleted: no VM is made'),
  ],
  ['its VM, which drover made, is gone', lost(vmIdentityOf(uid).biosUuid), ['create', 'creates']],
  ['… as vCenter may write its UUID', lost(vmIdentityOf(uid).biosUuid.toUpperCase()), ['create', 'creates']],
  ['nothing is recorded of a VM', lost(''), ['create', 'creates']],
  ...(['Bound', 'Released'] as const).map((phase): [rule: string, change: Change, plan: unknown] => {
    const { observed: seen = {}, ...own } = lost(vmIdentityOf(uid).biosUuid);
    return [
      `… and it was ${phase}: an empty VM is no Node`,
      { ...own, observed: { ...seen, phase } },
      expect.objectContaining({ outcome: 'blocked', reason: 'VirtualMachineNotFound' }),
    ];
  }),
  [
    'a VM that drover did not make is recorded, and is not found',
    lost(other),
    done(
      'blocked',
      'VirtualMachineNotFound',
      `Its host is the VM with the BIOS UUID ${other}, which drover did not make for it and does not find, and no second one is made: have the pool name the vCenter and the folder where that VM is, or delete this VsphereAgent, which leaves that VM as it is`,
    ),
  ],
  [
    '… nor is there an ISO',
    lost(other, { pool: { ...pool, isoPath: null } }),
    expect.objectContaining({ outcome: 'blocked', reason: 'VirtualMachineNotFound' }),
  ],
  ['a finalizer is missing', { isHeld: false }, ['addFinalizer', null]],
  ['off, and not an Agent yet', { observed: { vm: { ...vm, isOn: false } } }, ['powerOn', null]],
  ['… and it is not recorded what it is', { observed: { phase: null, vm: { ...vm, isOn: false } } }, ['powerOn', null]],
  [
    'tags first, so that it is found by them when it is on',
    { observed: { vm: { ...vm, isOn: false, missingTags: ['a', 'b'] } } },
    ['attachTags powerOn', null],
  ],
  ['a tag was taken off', { observed: { phase: 'Bound', vm: { ...vm, missingTags: ['a'] } } }, ['attachTags', null]],
  [
    'off, and an Agent: a user has done that',
    { observed: { phase: 'Bound', vm: { ...vm, isOn: false } } },
    done('reconciled', 'VMCreated', 'VM worker-1 is off, and it is not drover that has powered it off'),
  ],
  ['installed: the ISO goes', { observed: { phase: 'Bound', isInstalled: true } }, ['ejectIso', null]],
  ['… and is out', { observed: { phase: 'Bound', isInstalled: true, vm: { ...vm, iso: null } } }, on],
  [
    'deleted, and not held',
    { deleting: true, isHeld: false },
    done('gone', 'Released', 'It is being deleted, and drover holds nothing of it'),
  ],
  ['deleted', { deleting: true }, ['destroy removeFinalizer', 'destroys']],
  ['deleted, and its VM is gone', { deleting: true, observed: { vm: null } }, ['removeFinalizer', null]],
  [
    '… and left an Agent: that goes first',
    { deleting: true, observed: { vm: null, agent: { name: 'a-1', isBound: false } } },
    ['destroy removeFinalizer', null],
  ],
  [
    '… and left an Agent that is bound: it is its provider’s',
    { deleting: true, observed: { vm: null, agent: { name: 'a-1', isBound: true } } },
    ['removeFinalizer', null],
  ],
  [
    'deleted, and its pool is gone: the VM stays',
    { deleting: true, observed: { pool: null } },
    ['removeFinalizer', null],
  ],
  [
    'deleted, and its pool retains',
    { deleting: true, observed: { pool: { ...pool, deletes: false } } },
    ['removeFinalizer', null],
  ],
  [
    'deleted, and vCenter cannot be asked',
    { deleting: true, observed: { vm: null, problem } },
    wait('Deleting', problem.reason, `another try: ${problem.message}`),
  ],
  [
    '… by force of its pool',
    { deleting: true, observed: { vm: null, problem, pool: { ...pool, force: true } } },
    wait('Deleting', problem.reason, `another try: ${problem.message}`),
  ],
  [
    '… that is being deleted, and its vCenter cannot be asked: the VM stays, and the pool goes',
    { deleting: true, observed: { vm: null, problem: { ...problem, vcenter: 'notAsked' }, pool: forced } },
    ['removeFinalizer', null],
  ],
  [
    '… and that does not answer for less than ten minutes',
    {
      deleting: true,
      noAnswerSinceMs: nowMs - 599_999,
      observed: { vm: null, problem: { ...problem, vcenter: 'noAnswer' }, pool: forced },
    },
    wait('Deleting', problem.reason, `another try: ${problem.message}`, nowMs + 60_000),
  ],
  [
    '… for ten minutes',
    {
      deleting: true,
      noAnswerSinceMs: nowMs - 600_000,
      observed: { vm: null, problem: { ...problem, vcenter: 'noAnswer' }, pool: forced },
    },
    ['removeFinalizer', null],
  ],
  [
    '… and that answers, with a problem',
    { deleting: true, noAnswerSinceMs: 0, observed: { vm: null, problem, pool: forced } },
    wait('Deleting', problem.reason, `another try: ${problem.message}`, nowMs + 60_000),
  ],
  [
    'deleted, and its Machine is there',
    { deleting: true, observed: { machine: 'm-1' } },
    wait(
      'Deleting',
      'MachinePresent',
      'Machine m-1 to be gone, as its Node runs on worker-1; the annotation drover.dev/force-delete=true has the VM destroyed all the same',
    ),
  ],
  [
    'deleted, and its Agent is bound though its Machine is gone',
    { deleting: true, observed: { agent: { name: 'a-1', isBound: true } } },
    wait(
      'Deleting',
      'AgentBound',
      'Agent a-1 to be unbound, as it runs on worker-1; the annotation drover.dev/force-delete=true has the VM destroyed all the same',
      nowMs + 60_000,
    ),
  ],
  [
    '… by force, all the same',
    { deleting: true, force: true, observed: { agent: { name: 'a-1', isBound: true } } },
    ['destroy removeFinalizer', 'destroys'],
  ],
  [
    'deleted, and its Agent is not bound',
    { deleting: true, observed: { agent: { name: 'a-1', isBound: false } } },
    ['destroy removeFinalizer', 'destroys'],
  ],
  [
    '… by force',
    { deleting: true, force: true, observed: { machine: 'm-1' } },
    ['destroy removeFinalizer', 'destroys'],
  ],
  [
    '… by force of its pool',
    { deleting: true, observed: { machine: 'm-1', pool: { ...pool, force: true } } },
    ['destroy removeFinalizer', 'destroys'],
  ],
])('%s', (_rule, change, plan) => {
  expect(kindsOf(planAgent(situation(change)))).toEqual(plan);
});

const ready = { status: 'True', reason: 'VMCreated', message: 'VM worker-1 is on', observedGeneration: 2 } as const;
const said = { name: vm.name, biosUUID: vm.biosUUID, macAddress: vm.macAddress };

test.each<[rule: string, plan: Plan<AgentStep>, change: Change, status: unknown]>([
  ['its VM is on', on, {}, { vm: said, ready }],
  [
    'it waits',
    wait('Creating', 'ISONotReady', 'the discovery ISO of its pool'),
    { observed: { vm: null } },
    {
      ready: {
        ...ready,
        status: 'False',
        reason: 'ISONotReady',
        message: 'Waiting for the discovery ISO of its pool',
      },
    },
  ],
  ['it executes', execute([]), {}, null],
  ['it is gone', done('gone', 'Released', ''), {}, null],
  ['no object', on, { none: true }, null],
])('status, where %s', (_rule, plan, change, status) => {
  expect(agentStatus(situation(change), plan)).toEqual(status);
});

const would = done('blocked', 'ObserveOnly', 'drover only observes. It would: create');
test.each<[rule: string, plan: Plan<AgentStep>, message: string]>([
  ['there is something to do', would, would.message],
  ['there is nothing to do', on, 'drover only observes, and would change nothing: VM worker-1 is on'],
])('in mode observe only Observed is said: %s', (_rule, plan, message) => {
  const said = { status: 'True', reason: 'Observed', message, observedGeneration: 2 } as const;
  const status = agentStatus(situation({ mode: 'observe' }), plan)!;
  expect(status).toEqual({ observed: said });
  expect(isAgentSaid(observed, status)).toBe(false);
  const recorded = { ...observed.recorded, conditions: [{ type: 'Observed', ...said }] };
  expect(isAgentSaid({ ...observed, recorded }, status)).toBe(true);
});

test.each<[rule: string, recorded: ObservedAgent['recorded'], isSaid: boolean]>([
  ['all of it', { ...said, conditions: [{ type: 'Ready', ...ready }] }, true],
  ['nothing', observed.recorded, false],
  ['another MAC address', { ...said, macAddress: null, conditions: [{ type: 'Ready', ...ready }] }, false],
  ['another generation', { ...said, conditions: [{ type: 'Ready', ...ready, observedGeneration: 1 }] }, false],
])('the object says %s', (_rule, recorded, isSaid) => {
  expect(isAgentSaid({ ...observed, recorded }, { vm: said, ready })).toBe(isSaid);
});

test('a vCenter has not answered since the first time of those in a row', () => {
  const silent = { ...observed, problem: { ...problem, vcenter: 'noAnswer' as const } };
  const first = pruneAgent({ slot: null }, { observed: silent, nowMs });
  expect(first).toEqual({ slot: null, noAnswerSinceMs: nowMs });
  expect(pruneAgent(first, { observed: silent, nowMs: nowMs + 60_000 })).toEqual(first);
  expect(pruneAgent(first, { observed: { ...observed, problem }, nowMs })).toEqual({ slot: null });
  expect(pruneAgent(first, { observed, nowMs })).toEqual({ slot: null });
});
