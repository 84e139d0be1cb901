import type {
  DesiredPool,
  HeldAgent,
  ObservedPool,
  PoolReplacement,
  ReleasedAgent,
  WantedAgent,
} from '../../contracts/agent-pool/agent-pool.ts';
import { done, execute, type Plan, wait } from '../lib/plan.ts';
import {
  allowed,
  applyPoolFailure,
  applyRelease,
  isPoolSaid,
  noPoolMemory,
  planPool,
  type PoolMemory,
  type PoolSituation,
  poolStatus,
  type PoolStep,
  prunePool,
} from './plan-pool.ts';

const minute = 60_000;
const nowMs = 100 * minute;
const desired: DesiredPool = { uid: 'u1', generation: 3, deleting: false, isHeld: true, deletes: true, force: false };
const counts = {
  agentMachines: 0,
  waiting: 0,
  unready: 0,
  withoutAgent: 0,
  matching: 0,
  bound: 0,
  available: 0,
  provisioning: 0,
  owned: 0,
};
const observed: ObservedPool = {
  counts,
  problems: [],
  wanted: [],
  unprepared: [],
  released: [],
  held: [],
  unpinned: [],
  drifted: [],
  limits: { maxAgents: 10, maxConcurrent: 4, freeSpace: null },
  iso: { path: 'agent-forge/a.iso', dueMs: nowMs + 5 * minute, why: 'its interval has passed' },
  strays: [],
  remaining: 0,
  nextMs: null,
  conditions: [],
  saidHeld: [],
  isListed: true,
};
const rules = {
  discoveryMs: 30 * minute,
  maxAgents: 10,
  maxConcurrent: 4,
  deleteSurplus: false,
  surplusMs: 0,
  replacementsPerHour: 2,
  approveAbove: 1,
  approveAbovePercent: 10,
  pinSelectors: false,
  driftedAtOnce: 1,
};

type Change = Partial<Omit<ObservedPool, 'counts'>> & {
  counts?: Partial<ObservedPool['counts']>;
  own?: Partial<DesiredPool> | null;
  memory?: Partial<PoolMemory>;
  mode?: 'act' | 'observe';
  inFlight?: string;
};
const situation = ({
  own = {},
  memory,
  mode = 'act',
  inFlight,
  counts: some,
  ...seen
}: Change = {}): PoolSituation => ({
  input: { namespace: 'pools', name: 'workers' },
  desired: own === null ? null : { ...desired, ...own },
  observed: { ...observed, ...seen, counts: { ...counts, ...some } },
  settings: { mode, recheckMs: 1, lingerMs: 1, publishMinMs: 1, rules },
  memory: { ...noPoolMemory, ...memory },
  inFlight: new Set(inFlight === undefined ? [] : [inFlight]),
  askedMs: nowMs,
  nowMs,
});
const wanted = (...names: string[]): WantedAgent[] => names.map((name) => ({ name, vmName: name, agentMachine: name }));
const release = (name: string, cause: ReleasedAgent['cause'] = 'MachineDeleted'): ReleasedAgent => ({
  name,
  uid: `uid of ${name}`,
  cause,
  agent: null,
});
const unseen = { condition: 'VsphereReady', reason: 'VsphereUnavailable', message: 'vCenter' };
const held: HeldAgent = {
  name: 'w1',
  cause: 'MachineDeleted',
  waitsFor: 'AgentBound',
  message: 'its Agent is still bound',
};
/** Kinds of the steps, and of those that name something, what. */
const stepsOf = (plan: Plan<PoolStep>): unknown =>
  plan.kind !== 'execute'
    ? plan
    : plan.steps.map((step) => {
        if (step.kind === 'create' || step.kind === 'release')
          return `${step.kind} ${step.agents.map(({ name }) => name).join(' ')}`;
        if (step.kind === 'deleteMachines') return `${step.kind} ${step.machines.map(({ name }) => name).join(' ')}`;
        return step.kind;
      });
const rolling: PoolReplacement = {
  total: 3,
  replaced: 1,
  machines: [{ name: 'm1', uid: 'u-m1', vm: 'w1' }],
  isQuiet: true,
  waitsFor: null,
};
const surge: WantedAgent = { name: 's', vmName: 's', agentMachine: null };
const drifted: ObservedPool['drifted'] = [
  { name: 'w1', phase: 'Bound' },
  { name: 'w2', phase: 'Bound' },
];
const forbidden = { message: 'bind the role', untilMs: nowMs + minute };
const steady = (untilMs: number | null) =>
  wait('Steady', 'Reconciled', 'a change, or the next check of the discovery ISO', untilMs);
const stuck = { count: 2, reason: 'RequestRefused', message: '2 VMs are not made' };
const isoProblem = { problem: { code: null, reason: 'IsoUnavailable', message: 'no' }, failures: 1 };

test.each<[rule: string, change: Change, plan: unknown]>([
  ['no object', { own: null }, done('gone', 'NotFound', 'There is no such VsphereAgentPool')],
  ['nothing to do: until the ISO is due', {}, steady(nowMs + 5 * minute)],
  ['… or time changes what was judged', { nextMs: nowMs + minute }, steady(nowMs + minute)],
  ['… or nothing does', { iso: { ...observed.iso, dueMs: null } }, steady(null)],
  [
    'VMs cannot be made: they are waited for',
    { stuck, counts: { provisioning: 2 } },
    wait('Waiting', 'RequestRefused', '2 VMs are not made', nowMs + 5 * minute),
  ],
  ['… and others are made', { stuck, wanted: wanted('a'), counts: { provisioning: 2 } }, ['create a']],
  ['no finalizer', { own: { isHeld: false }, wanted: wanted('a') }, ['addFinalizer', 'create a']],
  ['… and it is only observed', { own: { isHeld: false }, mode: 'observe', wanted: wanted('a') }, ['create a']],
  ['the ISO is due', { iso: { ...observed.iso, dueMs: nowMs } }, ['refreshIso']],
  ['… and is being refreshed', { iso: { ...observed.iso, dueMs: nowMs }, inFlight: 'iso' }, steady(null)],
  [
    '… and could not be: again later',
    { iso: { ...observed.iso, dueMs: nowMs }, memory: { iso: { ...isoProblem, untilMs: nowMs + minute } } },
    wait('Waiting', 'IsoUnavailable', 'no', nowMs + minute),
  ],
  [
    'what is wanted is made though the ISO cannot be refreshed',
    { wanted: wanted('a'), memory: { iso: { ...isoProblem, untilMs: nowMs + minute } } },
    ['create a'],
  ],
  [
    'Agents first, then what goes, then what comes',
    {
      unprepared: [{ agent: 'g', uid: 'g', vmName: 'w1' }],
      unpinned: ['m'],
      released: [release('w1')],
      wanted: wanted('a'),
      strays: [{ vmId: 'vm-1', name: 's', uid: 's' }],
    },
    ['prepare', 'pin', 'release w1', 'create a', 'destroyStrays'],
  ],
  ['no more than may be under way', { wanted: wanted('a', 'b', 'c'), counts: { provisioning: 2 } }, ['create a b']],
  ['… where all of them are', { wanted: wanted('a'), counts: { provisioning: 4 } }, steady(nowMs + 5 * minute)],
  ['no more than the pool may have', { wanted: wanted('a', 'b'), counts: { owned: 9 } }, ['create a']],
  [
    'the datastores are full',
    {
      wanted: wanted('a'),
      limits: { ...observed.limits, freeSpace: { condition: '', reason: 'DatastoreClusterFull', message: 'full' } },
    },
    steady(nowMs + 5 * minute),
  ],
  [
    'the InfraEnv is not there',
    {
      wanted: wanted('a'),
      problems: [{ condition: 'InfraEnvAvailable', reason: 'InfraEnvUnavailable', message: 'an InfraEnv' }],
    },
    wait('Waiting', 'InfraEnvUnavailable', 'an InfraEnv', nowMs + 5 * minute),
  ],
  [
    'a quota has refused it',
    { wanted: wanted('a'), memory: { refused: { message: 'quota', untilMs: nowMs + minute } } },
    steady(nowMs + minute),
  ],
  ['… a while ago', { wanted: wanted('a'), memory: { refused: { message: 'quota', untilMs: nowMs } } }, ['create a']],
  [
    'Agents that did not come: two are replaced',
    {
      released: ['w1', 'w2', 'w3'].map((name) => release(name, 'AgentDiscoveryExpired')),
      wanted: wanted('a', 'b', 'c'),
    },
    ['release w1 w2', 'create a b'],
  ],
  [
    '… and none where two were within the hour',
    {
      released: [release('w1', 'AgentDiscoveryExpired')],
      wanted: wanted('a'),
      memory: { replacedMs: [nowMs - minute, nowMs - minute] },
    },
    steady(nowMs + 5 * minute),
  ],
  [
    '… of which one is longer ago',
    {
      released: [release('w1', 'AgentDiscoveryExpired')],
      wanted: wanted('a'),
      memory: { replacedMs: [nowMs - 61 * minute, nowMs - minute] },
    },
    ['release w1', 'create a'],
  ],
  ['a Machine of another template', { replacement: rolling }, ['deleteMachines m1']],
  [
    '… and none stands in the way of the others',
    { replacement: { ...rolling, machines: [] } },
    steady(nowMs + 5 * minute),
  ],
  ['… not while a VM is made to stand ready', { replacement: rolling, wanted: [surge] }, ['create s']],
  [
    '… but where none can be made',
    { replacement: rolling, wanted: [surge], counts: { owned: 10 } },
    ['deleteMachines m1'],
  ],
  [
    '… not while the pool has a problem',
    {
      replacement: rolling,
      problems: [{ condition: 'VsphereReady', reason: 'VsphereUnavailable', message: 'vCenter' }],
    },
    wait('Waiting', 'VsphereUnavailable', 'vCenter', nowMs + 5 * minute),
  ],
  [
    '… not before there are as many AgentMachines again',
    { replacement: rolling, counts: { agentMachines: 2 }, memory: { replacing: { agentMachines: 3 } } },
    steady(nowMs + 5 * minute),
  ],
  [
    '… which there are',
    { replacement: rolling, counts: { agentMachines: 3 }, memory: { replacing: { agentMachines: 3 } } },
    ['deleteMachines m1'],
  ],
  ['… and it was forbidden', { replacement: rolling, memory: { forbidden } }, steady(nowMs + minute)],
  [
    '… a while ago',
    { replacement: rolling, memory: { forbidden: { ...forbidden, untilMs: nowMs } } },
    ['deleteMachines m1'],
  ],
  ['… and the pool is deleted', { own: { deleting: true }, replacement: rolling }, ['removeFinalizer']],
  [
    'deleted, and not held',
    { own: { deleting: true, isHeld: false } },
    done('gone', 'Released', 'It is being deleted, and drover holds nothing of it'),
  ],
  [
    'deleted, with ISOs: they go last',
    { own: { deleting: true }, leavesIsos: true },
    ['removeIsos', 'removeFinalizer'],
  ],
  [
    '… which could not be removed: it goes all the same',
    { own: { deleting: true }, leavesIsos: true, memory: { areIsosLeft: true } },
    ['removeFinalizer'],
  ],
  [
    'deleted while its ISO is refreshed: that ends first',
    { own: { deleting: true }, leavesIsos: true, inFlight: 'iso' },
    wait('Deleting', 'ISORefreshing', 'the refresh of its discovery ISO to end', nowMs + 5 * minute),
  ],
  ['… of a pool that retains', { own: { deleting: true, deletes: false }, inFlight: 'iso' }, ['removeFinalizer']],
  ['deleted: nothing is made any more', { own: { deleting: true }, wanted: wanted('a') }, ['removeFinalizer']],
  [
    'deleted: what may go goes',
    { own: { deleting: true }, released: [release('w1', 'PoolDeleted')], remaining: 1 },
    ['release w1'],
  ],
  [
    'deleted: the last VM is on its way',
    { own: { deleting: true }, remaining: 1 },
    wait('Deleting', 'AgentsRemaining', 'its last VsphereAgent to be gone', nowMs + 5 * minute),
  ],
  [
    'deleted: a VM that no VsphereAgent has is held',
    { own: { deleting: true }, held: [{ ...held, cause: 'Stray', waitsFor: 'ApprovalRequired', message: 'it is on' }] },
    wait('Deleting', 'ApprovalRequired', 'it is on', nowMs + 5 * minute),
  ],
  [
    'deleted: what is left at its vCenter cannot be seen',
    { own: { deleting: true }, problems: [unseen] },
    wait(
      'Deleting',
      'VsphereUnavailable',
      'its vCenter to say that no VM of the pool is left: vCenter; the annotation drover.dev/force-delete=true lets the pool go all the same',
      nowMs + 5 * minute,
    ),
  ],
  ['… by force', { own: { deleting: true, force: true }, problems: [unseen] }, ['removeFinalizer']],
  ['… of a pool that retains', { own: { deleting: true, deletes: false }, problems: [unseen] }, ['removeFinalizer']],
  [
    '… of a pool without an ISO, of which no VM was made',
    { own: { deleting: true }, problems: [unseen], iso: { path: null, dueMs: null, why: '' } },
    ['removeFinalizer'],
  ],
  [
    '… of a pool that has another problem',
    { own: { deleting: true }, problems: [{ ...unseen, condition: 'InfraEnvAvailable' }] },
    ['removeFinalizer'],
  ],
  [
    'deleted: one is held',
    {
      own: { deleting: true },
      remaining: 2,
      held: [{ ...held, waitsFor: 'MachinePresent', message: 'Machine m is still there' }],
    },
    wait('Deleting', 'MachinePresent', '2 VsphereAgents to be gone. w1: Machine m is still there', nowMs + 5 * minute),
  ],
])('%s', (_rule, change, plan) => {
  expect(stepsOf(planPool(situation(change)))).toEqual(plan);
});

const conditionsOf = (change: Change, plan?: Plan<PoolStep>): Record<string, string> => {
  const given = situation(change);
  return Object.fromEntries(
    (poolStatus(given, plan ?? planPool(given))?.conditions ?? []).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  );
};
const good = {
  Ready: 'True Reconciled',
  AgentMachineDemandFound: 'True Observed',
  InfraEnvAvailable: 'True Available',
  CapacitySatisfied: 'True Satisfied',
  VsphereReady: 'True Ready',
  ISOReady: 'True ISOReady',
  TemplateDrifted: 'False NoDrift',
};

test.each<[rule: string, change: Change, conditions: Record<string, string>]>([
  ['all is well', {}, {}],
  ['something is wanted', { wanted: wanted('a') }, { CapacitySatisfied: 'False Deficit' }],
  ['too many', { wanted: wanted('a'), counts: { owned: 10 } }, { CapacitySatisfied: 'False MaxAgents' }],
  [
    'too many at once',
    { wanted: wanted('a'), counts: { provisioning: 4 } },
    { CapacitySatisfied: 'False MaxConcurrent' },
  ],
  [
    'a quota',
    { wanted: wanted('a'), memory: { refused: { message: 'quota', untilMs: nowMs + 1 } } },
    { CapacitySatisfied: 'False CreateRefused' },
  ],
  [
    'discovery fails',
    {
      wanted: wanted('a'),
      released: [release('w1', 'AgentDiscoveryExpired')],
      memory: { replacedMs: [nowMs, nowMs] },
    },
    { CapacitySatisfied: 'False ReplacementLimit' },
  ],
  ['VMs cannot be made', { stuck }, { Ready: 'False RequestRefused', CapacitySatisfied: 'False RequestRefused' }],
  [
    '… and as many are under way as may be at once',
    { stuck, wanted: wanted('a'), counts: { provisioning: 4 } },
    { Ready: 'False RequestRefused', CapacitySatisfied: 'False RequestRefused' },
  ],
  [
    '… and others are wanted',
    { stuck, wanted: wanted('a'), counts: { provisioning: 1 } },
    { Ready: 'False RequestRefused', CapacitySatisfied: 'False RequestRefused' },
  ],
  [
    'no InfraEnv',
    { problems: [{ condition: 'InfraEnvAvailable', reason: 'InfraEnvUnavailable', message: 'none' }] },
    { Ready: 'False InfraEnvUnavailable', InfraEnvAvailable: 'False InfraEnvUnavailable' },
  ],
  ['no ISO yet', { iso: { path: null, dueMs: null, why: '' } }, { ISOReady: 'False ISONotReady' }],
  [
    'the ISO cannot be refreshed',
    { memory: { iso: { ...isoProblem, untilMs: nowMs + 1 } } },
    { Ready: 'False IsoUnavailable', ISOReady: 'False IsoUnavailable' },
  ],
  [
    'the ISO is tried again',
    { iso: { ...observed.iso, dueMs: nowMs - 1 }, memory: { iso: { ...isoProblem, untilMs: nowMs } } },
    { Ready: 'False IsoUnavailable', ISOReady: 'False IsoUnavailable' },
  ],
  ['the ISO is due no more', { memory: { iso: { ...isoProblem, untilMs: nowMs } } }, {}],
  ['another template', { drifted: [{ name: 'w1', phase: 'Bound' }] }, { TemplateDrifted: 'True TemplateChanged' }],
  ['deleted', { own: { deleting: true }, remaining: 1 }, { Ready: 'False AgentsRemaining' }],
])('conditions, where %s', (_rule, change, conditions) => {
  expect(conditionsOf(change)).toEqual({ ...good, ...conditions });
});

test.each<[rule: string, change: Change, said: string]>([
  ['one may go', {}, 'Replacing: 1 of 3 is replaced, and w1, w2 are of another template: Machine m1 is next'],
  [
    'none stands ready',
    { replacement: { ...rolling, machines: [], waitsFor: { reason: 'SurgeMissing', message: 'one VM to be there' } } },
    'Replacing: 1 of 3 is replaced, and w1, w2 are of another template: waiting for one VM to be there',
  ],
  [
    'it is forbidden',
    { memory: { forbidden } },
    'ReplacementForbidden: 1 of 3 is replaced, and w1, w2 are of another template: bind the role',
  ],
  [
    'none was made in the place of the last',
    { counts: { agentMachines: 2 }, memory: { replacing: { agentMachines: 3 } } },
    'Replacing: 1 of 3 is replaced, and w1, w2 are of another template: waiting for Cluster API to make another Machine, as 2 of 3 AgentMachines are there since the last one was deleted; if fewer are wanted, `drover retry pool` goes on',
  ],
  [
    'it is not asked for',
    { replacement: undefined as never },
    'TemplateChanged: 2 VMs are of another template: w1, w2',
  ],
])('what a replacement says, where %s', (_rule, change, said) => {
  const given = situation({ drifted, replacement: rolling, ...change });
  const { reason, message } =
    poolStatus(given, planPool(given))?.conditions.find(({ type }) => type === 'TemplateDrifted') ?? {};
  expect(`${reason}: ${message}`).toBe(said);
});

test.each<[rule: string, seen: Partial<ObservedPool>, agentMachines: number, kept: boolean]>([
  ['a Machine goes', { replacement: { ...rolling, isQuiet: false } }, 3, true],
  ['none is made in its place', { replacement: rolling }, 2, true],
  ['one is made in its place', { replacement: rolling }, 3, false],
  ['nothing is to be replaced any more', {}, 2, false],
])('a deletion is remembered: %s', (_rule, seen, agentMachines, kept) => {
  const replacing = { agentMachines: 3 };
  const memory = { ...noPoolMemory, replacing, forbidden: { message: '', untilMs: nowMs } };
  const counted = { ...observed, ...seen, counts: { ...counts, agentMachines } };
  expect(prunePool(memory, { observed: counted, nowMs })).toEqual({ ...noPoolMemory, ...(kept && { replacing }) });
});

test('a failure of a step is said by Ready', () => {
  expect(conditionsOf({}, wait('Failing', 'KubernetesUnavailable', 'kube-apiserver'))).toEqual({
    ...good,
    Ready: 'False KubernetesUnavailable',
  });
});

test('actions are said by upstream’s names', () => {
  const given = situation({
    wanted: wanted('a'),
    counts: { owned: 10 },
    released: [{ ...release('w1'), agent: { name: 'g', uid: 'g' } }],
    held: [held],
  });
  expect(poolStatus(given, planPool(given))?.plannedActions).toEqual([
    {
      type: 'DemandDeficit',
      reason:
        '1 VM more is wanted, and the pool has 10 of at most 10: raise drover.dev/max-agents, or agentPools.maxAgents in drover’s settings',
    },
    { type: 'DeleteVM', name: 'w1', reason: 'MachineDeleted' },
    { type: 'DeleteAgent', name: 'g', reason: 'MachineDeleted' },
    { type: 'DeleteVM', name: 'w1', reason: 'AgentBound: its Agent is still bound' },
  ]);
  const idle = situation();
  expect(poolStatus(idle, planPool(idle))?.plannedActions).toEqual([{ type: 'Noop', reason: 'Satisfied' }]);
});

test('a failed removal of ISOs is remembered', () => {
  const problem = { code: null, reason: 'X', message: 'x' };
  const step = { kind: 'removeIsos', phase: 'Deleting', summary: '' } as const;
  expect(applyPoolFailure(noPoolMemory, step, problem, nowMs)).toEqual({ ...noPoolMemory, areIsosLeft: true });
  for (const code of ['KubernetesUnavailable', 'Stopped'] as const)
    expect(applyPoolFailure(noPoolMemory, step, { ...problem, code }, nowMs)).toBeNull();
});

test('in mode observe only Observed is said, whatever stands in the way', () => {
  const given = situation({ mode: 'observe', problems: [unseen], held: [held] });
  const would = done('blocked', 'ObserveOnly', 'drover only observes. It would: wait');
  const status = poolStatus(given, would)!;
  expect(status).toEqual({
    conditions: [
      { type: 'Observed', status: 'True', reason: 'Observed', message: would.message, observedGeneration: 3 },
    ],
    plannedActions: [],
  });
  expect(isPoolSaid({ ...observed, conditions: status.conditions }, status)).toBe(true);
});

test('the object says so when lists and conditions do', () => {
  const status = poolStatus(situation(), planPool(situation()))!;
  const { conditions } = status;
  expect(isPoolSaid({ ...observed, conditions }, status)).toBe(true);
  expect(isPoolSaid({ ...observed, conditions, isListed: false }, status)).toBe(false);
  expect(isPoolSaid({ ...observed, conditions: conditions.slice(1) }, status)).toBe(false);
  const waiting = poolStatus(situation({ held: [held] }), wait('Steady', 'Reconciled', 'a change', null))!;
  expect(isPoolSaid({ ...observed, conditions }, waiting)).toBe(false);
  const saidHeld = [`${held.name} ${held.waitsFor}: ${held.message}`];
  expect(isPoolSaid({ ...observed, conditions, saidHeld }, waiting)).toBe(true);
  const another = [`${held.name} ${held.waitsFor}: another message`];
  expect(isPoolSaid({ ...observed, conditions, saidHeld: another }, waiting)).toBe(false);
});

test('a failed refresh is remembered and waits longer each time; another failure is the driver’s', () => {
  const problem = { code: null, reason: 'X', message: 'x' };
  const step = { kind: 'refreshIso', phase: '', summary: '' } as const;
  const once = applyPoolFailure(noPoolMemory, step, problem, 0);
  expect(once?.iso).toEqual({ problem, failures: 1, untilMs: 10_000 });
  expect(applyPoolFailure(once!, step, problem, 0)?.iso).toMatchObject({ failures: 2, untilMs: 20_000 });
  expect(applyPoolFailure(noPoolMemory, { ...step, kind: 'addFinalizer' }, problem, 0)).toBeNull();
});

const kindsOf = (plan: Plan<PoolStep>): string =>
  plan.kind === 'execute' ? plan.steps.map(({ kind }) => kind).join(' ') : plan.kind;

test('what kube-apiserver refuses is tried again later, is said meanwhile, and holds up nothing else', () => {
  const agents = [{ agent: 'g', uid: 'g', vmName: 'v' }];
  const problem = { code: 'ObjectRefused', reason: 'ObjectRefused', message: 'g is refused' } as const;
  const { code: _code, ...refusal } = problem;
  const step = { kind: 'prepare', phase: '', summary: '', agents } as const;
  const memory = applyPoolFailure(noPoolMemory, step, problem, nowMs) ?? noPoolMemory;
  const around = { wanted: wanted('a'), unprepared: agents, released: [release('w1')] };
  const given = situation({ ...around, memory });
  expect(kindsOf(planPool(given))).toBe('release create');
  expect(poolStatus(given, planPool(given))?.conditions[0]).toMatchObject({ status: 'False', ...refusal });
  const waits = situation({ unprepared: agents, memory });
  expect(planPool(waits)).toEqual(wait('Waiting', refusal.reason, refusal.message, nowMs + minute));
  expect(kindsOf(planPool({ ...given, nowMs: nowMs + minute }))).toBe('prepare release create');
  expect(prunePool(memory, waits)).toEqual(memory);
  expect(prunePool(memory, { observed, nowMs })).toEqual(noPoolMemory);
  expect(applyPoolFailure(noPoolMemory, step, { ...problem, code: 'KubernetesUnavailable' }, nowMs)).toBeNull();
});

test('of VMs that were to be replaced only those count that have gone, where the release of one is refused', () => {
  const agents = [release('w1', 'AgentMissing'), release('w2', 'AgentMissing'), release('w3')];
  const refusals = { release: { message: 'm', untilMs: nowMs + minute } };
  const memory = applyRelease(noPoolMemory, agents, { released: ['w2', 'w3'], refused: 'm' }, nowMs);
  expect(memory).toEqual({ ...noPoolMemory, replacedMs: [nowMs], refusals });
  const again = applyRelease(memory, agents, { released: [], refused: 'm' }, nowMs + minute);
  expect(again.replacedMs).toEqual([nowMs]);
  expect(applyRelease(again, agents, { released: ['w1'], refused: null }, nowMs + minute)).toEqual({
    ...noPoolMemory,
    replacedMs: [nowMs, nowMs + minute],
  });
});

test('a release that is refused uses up no replacement, and the pool says what refuses it', () => {
  const released = [release('w1', 'AgentMissing')];
  const memory = [0, 1, 2, 3].reduce(
    (before, at) => applyRelease(before, released, { released: [], refused: 'm' }, nowMs - at * minute),
    noPoolMemory,
  );
  const given = situation({ released, memory });
  expect(allowed(given)).toEqual({ released, held: [] });
  expect(poolStatus(given, planPool(given))?.conditions[0]).toMatchObject({ reason: 'ObjectRefused', message: 'm' });
});

test('what is over is dropped', () => {
  const memory = {
    ...noPoolMemory,
    replacedMs: [nowMs - 61 * minute, nowMs],
    refused: { message: '', untilMs: nowMs },
  };
  expect(prunePool(memory, { observed, nowMs })).toEqual({ ...noPoolMemory, replacedMs: [nowMs] });
});

test('replacements beyond the limit are held, and say why', () => {
  const given = situation({
    released: [release('w1', 'AgentDiscoveryExpired')],
    memory: { replacedMs: [nowMs, nowMs] },
  });
  expect(allowed(given)).toMatchObject({ released: [], held: [{ name: 'w1', waitsFor: 'ReplacementLimit' }] });
  expect(planPool(situation({ own: { deleting: true }, released: [release('w1', 'PoolDeleted')] }))).toEqual(
    execute([expect.objectContaining({ kind: 'release' })] as never),
  );
});
