import {
  agent,
  agentMachine,
  ago,
  biosUuid,
  deletionTimestamp,
  judge,
  machine,
  minuteMs,
  pool,
  vsphereAgent,
  waits,
  wasTakenBy,
  type World,
} from '../../test/fixtures/activities/agent-pool.ts';
import { agentPoolAnnotations } from './metadata.ts';

const phased = (phase: string, reason: string, minutes: number, vm: object = {}) => ({
  phase,
  reason,
  lastTransitionTime: ago(minutes * minuteMs),
  ...vm,
});
const vm = (name: string, status: object, more: object = {}) =>
  vsphereAgent(name, { vm: status, readyForMs: 90 * minuteMs, ...more });
const going = { metadata: { deletionTimestamp } };
const unbound = (name: string) => agent(name, { conditions: [] });
const goingPool = (annotations: object = {}, spec: object = {}) =>
  pool({ metadata: { deletionTimestamp, annotations }, spec });
const deleted = (name: string) => vm(name, phased('Released', 'MachineDeleting', 1, wasTakenBy(name)));
const absent = (name: string, more: object = {}) => vm(name, phased('Bound', 'AgentBound', 50, wasTakenBy(name)), more);
const available = (name: string, minutes = 5, more: object = {}) =>
  vm(name, phased('Available', 'AgentAvailable', minutes), more);
/** Its VM is not made yet. */
const unmade = (name: string, minutes = 10, more: object = {}) =>
  vsphereAgent(name, {
    vm: phased('Provisioning', 'VMCreatePending', minutes, { biosUUID: undefined }),
    readyForMs: null,
    ...more,
  });
const expired = (name: string) => vm(name, phased('Provisioning', 'AgentNotDiscovered', 80));
const node = (more: object) => ({ name: 'n', systemUuid: null, providerId: null, ...more });
const oldTemplate = { annotations: { [agentPoolAnnotations.templateDigest]: 'old' } };
const replaces = pool({ metadata: { annotations: { [agentPoolAnnotations.replaceDrifted]: 'true' } } });

const rows: [rule: string, world: World, released: string[], held?: string[]][] = [
  [
    'one whose Machine was seen going, and is gone',
    { vms: [deleted('a')], agents: [unbound('a')] },
    ['a MachineDeleted with a'],
  ],
  ['… though its Agent is gone', { vms: [deleted('a')] }, ['a MachineDeleted']],
  [
    '… though others wait',
    { vms: [deleted('a')], agentMachines: [agentMachine('z', { status: waits })] },
    ['a MachineDeleted'],
  ],
  [
    '… not while its Agent is bound',
    { vms: [deleted('a')], agents: [agent('a', { takenBy: 'a' })] },
    [],
    ['a MachineDeleted AgentBound'],
  ],
  [
    '… not while its Agent has a cluster',
    { vms: [deleted('a')], agents: [agent('a', { spec: { clusterDeploymentName: { name: 'demo' } } })] },
    [],
    ['a MachineDeleted AgentBound'],
  ],
  ['one whose Machine goes stays', { vms: [absent('a')], machines: [machine('a', going)] }, []],
  ['one whose Machine is there stays', { vms: [absent('a')], machines: [machine('a')] }, []],
  [
    'one whose Machine is there stays, though its Agent is gone',
    {
      vms: [vm('a', phased('Bound', 'AgentBound', 50, { agentRef: { name: 'a' }, ...wasTakenBy('a') }))],
      machines: [machine('a')],
    },
    [],
  ],
  [
    'one of a Machine whose deletion was not observed',
    { vms: [absent('a')], agents: [unbound('a')] },
    ['a MachineAbsent with a'],
  ],
  [
    '… not while its Agent is bound',
    { vms: [absent('a')], agents: [agent('a', { takenBy: 'z' })] },
    [],
    ['a MachineAbsent AgentBound'],
  ],
  [
    '… not while its Node is there',
    { vms: [absent('a')], nodes: [node({ name: 'a' })] },
    [],
    ['a MachineAbsent NodePresent'],
  ],
  [
    '… by its full name',
    { vms: [absent('a')], nodes: [node({ name: 'a.example' })] },
    [],
    ['a MachineAbsent NodePresent'],
  ],
  [
    '… by its UUID',
    { vms: [absent('a')], nodes: [node({ systemUuid: biosUuid('a') })] },
    [],
    ['a MachineAbsent NodePresent'],
  ],
  [
    '… by its Agent',
    { vms: [absent('a')], agents: [unbound('a')], nodes: [node({ providerId: 'agent://a' })] },
    [],
    ['a MachineAbsent NodePresent'],
  ],
  ['… though other Nodes are there', { vms: [absent('a')], nodes: [node({ name: 'ab' })] }, ['a MachineAbsent']],
  ['… not while its Node is not known', { vms: [absent('a')], nodes: null }, [], ['a MachineAbsent NodeUnknown']],
  [
    '… not several at once',
    { vms: [absent('a'), absent('b')] },
    [],
    ['a MachineAbsent ApprovalRequired', 'b MachineAbsent ApprovalRequired'],
  ],
  [
    '… but those that a user approves of',
    {
      pool: pool({ metadata: { annotations: { [agentPoolAnnotations.approvedDeletions]: 'b/uid-b, c/uid-c' } } }),
      vms: [absent('a'), absent('b')],
    },
    ['b MachineAbsent'],
    ['a MachineAbsent ApprovalRequired'],
  ],
  [
    '… and not those of the name that come later',
    {
      pool: pool({ metadata: { annotations: { [agentPoolAnnotations.approvedDeletions]: 'b/uid-of-another, a' } } }),
      vms: [absent('a'), absent('b')],
    },
    [],
    ['a MachineAbsent ApprovalRequired', 'b MachineAbsent ApprovalRequired'],
  ],
  [
    '… not while another one goes',
    { vms: [absent('a'), absent('b', going)] },
    [],
    ['a MachineAbsent ApprovalRequired'],
  ],
  [
    '… but as many as a share of a large pool',
    { vms: [absent('a'), absent('b'), ...Array.from({ length: 18 }, (_, index) => available(`z${index}`))] },
    ['a MachineAbsent', 'b MachineAbsent'],
  ],
  [
    'those that were seen going need no approval',
    { vms: [deleted('a'), deleted('b'), deleted('c')] },
    ['a MachineDeleted', 'b MachineDeleted', 'c MachineDeleted'],
  ],
  [
    'one whose Agent never came goes, though its AgentMachine waits',
    { vms: [expired('a')], agentMachines: [agentMachine('a', { status: waits })] },
    ['a AgentDiscoveryExpired'],
  ],
  [
    '… with the Agent that cannot be taken',
    { vms: [expired('a')], agents: [unbound('a')] },
    ['a AgentDiscoveryExpired with a'],
  ],
  [
    'one whose Agent is gone',
    { vms: [vm('a', phased('Available', 'AgentAvailable', 5, { agentRef: { name: 'a' } }))] },
    ['a AgentMissing'],
  ],
  ['one that goes already stays so', { vms: [vm('a', phased('Orphaned', 'AgentMissing', 5), going)] }, []],
  ['it is not needed', { vms: [available('a', 60)], agents: [agent('a')] }, []],
  [
    'it is not needed, and the settings say so',
    { rules: { deleteSurplus: true }, vms: [available('a', 10)], agents: [agent('a')] },
    ['a Surplus with a'],
  ],
  ['… not at once', { rules: { deleteSurplus: true }, vms: [available('a', 9)], agents: [agent('a')] }, []],
  [
    '… not while an AgentMachine waits',
    {
      rules: { deleteSurplus: true },
      vms: [available('a', 60)],
      agents: [agent('a')],
      agentMachines: [agentMachine('z', { status: waits })],
    },
    [],
  ],
  [
    '… not while one has no Agent',
    {
      rules: { deleteSurplus: true },
      vms: [available('a', 60)],
      agents: [agent('a')],
      agentMachines: [agentMachine('z')],
    },
    [],
  ],
  [
    '… not when it was taken once',
    {
      rules: { deleteSurplus: true },
      vms: [vm('a', phased('Available', 'AgentAvailable', 60, wasTakenBy('a')))],
      agents: [agent('a')],
      machines: [machine('a')],
    },
    [],
  ],
  ['it is not needed, and its VM was never made', { vms: [unmade('a'), unmade('b', 60)] }, ['a Surplus', 'b Surplus']],
  ['… not at once: it may be under way', { vms: [unmade('a', 9)] }, []],
  [
    '… not while an AgentMachine waits',
    { vms: [unmade('a', 60)], agentMachines: [agentMachine('z', { status: waits })] },
    [],
  ],
  ['… not while one has no Agent', { vms: [unmade('a', 60)], agentMachines: [agentMachine('z')] }, []],
  ['… not when its VM is there', { vms: [vm('a', phased('Provisioning', 'AgentNotDiscovered', 10))] }, []],
  ['… though the pool replaces others', { pool: replaces, vms: [unmade('a', 9, oldTemplate)] }, []],
  ['it is of another template', { vms: [available('a', 5, oldTemplate)], agents: [agent('a')] }, []],
  [
    'it is of another template, and the pool replaces such',
    {
      pool: replaces,
      vms: [available('a', 5, oldTemplate), available('b', 5, oldTemplate)],
      agents: [agent('a'), agent('b')],
    },
    ['a TemplateDrifted with a'],
  ],
  [
    '… not while another one goes',
    {
      pool: replaces,
      vms: [available('a', 5, oldTemplate), available('b', 5, { ...oldTemplate, ...going })],
      agents: [agent('a')],
    },
    [],
  ],
  [
    '… not while an AgentMachine waits',
    {
      pool: replaces,
      vms: [available('a', 5, oldTemplate)],
      agents: [agent('a')],
      agentMachines: [agentMachine('z', { status: waits })],
    },
    [],
  ],
  [
    '… not one that is taken',
    {
      pool: replaces,
      vms: [vm('a', phased('Bound', 'AgentBound', 5), oldTemplate)],
      agents: [agent('a', { takenBy: 'a' })],
      agentMachines: [agentMachine('a')],
      machines: [machine('a')],
    },
    [],
  ],
  [
    'Retain keeps all',
    {
      pool: pool({ spec: { cleanupPolicy: 'Retain' } }),
      rules: { deleteSurplus: true },
      vms: [deleted('a'), absent('b'), expired('c'), available('d', 60), unmade('e', 60)],
      agents: [agent('d')],
    },
    [],
  ],
  [
    'Retain takes no Agent with a pool that goes, and its objects only',
    {
      pool: goingPool({}, { cleanupPolicy: 'Retain' }),
      vms: [absent('a'), available('d', 60)],
      agents: [agent('a', { takenBy: 'a' }), agent('d')],
      agentMachines: [agentMachine('a')],
      machines: [machine('a')],
    },
    ['a PoolDeleted', 'd PoolDeleted'],
  ],
  [
    'a pool that goes takes what is not taken',
    { pool: goingPool(), vms: [vsphereAgent('a'), available('b'), expired('c')], agents: [agent('b')] },
    ['a PoolDeleted', 'b PoolDeleted with b', 'c AgentDiscoveryExpired'],
  ],
  [
    '… and leaves what is',
    {
      pool: goingPool(),
      vms: [absent('a')],
      agents: [agent('a', { takenBy: 'a' })],
      agentMachines: [agentMachine('a')],
      machines: [machine('a')],
    },
    [],
    ['a PoolDeleted MachinePresent'],
  ],
  [
    '… and what is going',
    { pool: goingPool(), vms: [deleted('a')], machines: [machine('a', going)] },
    [],
    ['a PoolDeleted MachinePresent'],
  ],
  [
    '… and what may be a Node',
    { pool: goingPool(), vms: [absent('a')], nodes: null },
    [],
    ['a MachineAbsent NodeUnknown'],
  ],
  [
    '… unless a user says so of the pool',
    {
      pool: goingPool({ [agentPoolAnnotations.forceDelete]: 'true' }),
      vms: [absent('a')],
      agents: [agent('a', { takenBy: 'a' })],
      machines: [machine('a')],
    },
    ['a PoolDeleted'],
  ],
  [
    '… or of the VM',
    {
      pool: goingPool(),
      vms: [absent('a', { annotations: { [agentPoolAnnotations.forceDelete]: 'true' } }), absent('b')],
      machines: [machine('a'), machine('b')],
    },
    ['a PoolDeleted'],
    ['b PoolDeleted MachinePresent'],
  ],
];

test.each(rows)('goes or stays: %s', (_, world, released, held = []) => {
  const judged = judge(world);
  expect(
    judged.released.map(
      ({ name, cause, agent: gone }) => `${name} ${cause}${gone === null ? '' : ` with ${gone.name}`}`,
    ),
  ).toEqual(released);
  expect(judged.held.map(({ name, cause, waitsFor }) => `${name} ${cause} ${waitsFor}`)).toEqual(held);
});

test('Nodes are read only where they say whether a VM goes', () => {
  const asks = (world: World) => judge({ ...world, nodes: 'unasked' }).needsNodes;
  expect(asks({ vms: [absent('a')] })).toBe(true);
  expect(asks({ vms: [absent('a')], agents: [agent('a', { takenBy: 'z' })] })).toBe(false);
  expect(asks({ vms: [deleted('a'), available('b')] })).toBe(false);
});

test('a surplus is looked at again when it has lasted', () => {
  const { nextMs } = judge({ rules: { deleteSurplus: true }, vms: [available('a', 4)], agents: [agent('a')] });
  expect(nextMs).toBe(Date.parse(ago(-6 * minuteMs)));
  expect(judge({ vms: [unmade('a', 4)] }).nextMs).toBe(Date.parse(ago(-6 * minuteMs)));
});

test('a pool that goes waits for all of its VMs, others for those that go', () => {
  const vms = [vsphereAgent('a'), vsphereAgent('b', going), vsphereAgent('c', { pool: 'other' })];
  expect(judge({ vms }).remaining).toBe(1);
  expect(judge({ pool: goingPool(), vms }).remaining).toBe(2);
});

test('what is held says what to do', () => {
  const [held] = judge({ vms: [absent('a'), absent('b')] }).held;
  expect(held?.message).toContain('`drover pools approve');
});

test('VMs of another template are named, where it is known what they were made of', () => {
  expect(judge({ vms: [available('a', 5, oldTemplate), available('b')], agents: [agent('a')] }).drifted).toEqual([
    { name: 'a', phase: 'Available' },
  ]);
});
