import {
  agent,
  agentMachine,
  ago,
  biosUuid,
  controlPlane,
  deletionTimestamp,
  isWell,
  judge,
  machine,
  minuteMs,
  newAgent,
  now,
  pool,
  vsphereAgent,
  waits,
  wasTakenBy,
  type World,
} from '../../test/fixtures/activities/agent-pool.ts';
import { neighbours } from './metadata.ts';

const phased = (phase: string, reason: string, minutes: number, vm: object = {}) => ({
  phase,
  reason,
  lastTransitionTime: ago(minutes * minuteMs),
  ...vm,
});
const provisioning = (minutes: number) => phased('Provisioning', 'AgentNotDiscovered', minutes);
const bound = (vm: object = wasTakenBy('m')) => phased('Bound', 'AgentBound', 20, vm);
const a = (vm?: object, readyForMs: number | null = 5 * minuteMs) =>
  vsphereAgent('a', { readyForMs, ...(vm !== undefined && { vm }) });
const displaced = (minutes: number) => ({
  ...a(),
  status: {
    conditions: [
      {
        type: 'Ready',
        status: 'False' as const,
        reason: 'VirtualMachineNameTaken',
        message: '',
        lastTransitionTime: ago(minutes * minuteMs),
      },
    ],
  },
});
const taken = agent('a', { takenBy: 'a' });
const free = agent('a');
/** As the Agent provider leaves it. */
const unbound = agent('a', { conditions: [{ type: 'Bound', status: 'False', reason: 'UnbindingPendingUserAction' }] });
const ofM = agentMachine('a', { machine: 'm' });
const goingM = machine('m', { metadata: { deletionTimestamp } });

type Row = [state: string, world: World, phase: string, machineState?: string, untilMinutes?: number];

const rows: Row[] = [
  ['only asked for', { vms: [a()] }, 'Provisioning/VMCreatePending'],
  ['another user’s VM is in its place', { vms: [displaced(10)] }, 'Provisioning/VMCreatePending', 'none', 20],
  ['… for too long', { vms: [displaced(30)] }, 'Orphaned/AgentDiscoveryExpired'],
  ['there, and no Agent', { vms: [a({})] }, 'Provisioning/AgentNotDiscovered', 'none', 25],
  ['there, and no Agent in time', { vms: [a(provisioning(40), 30 * minuteMs)] }, 'Orphaned/AgentDiscoveryExpired'],
  [
    'asked for long ago, and made just now',
    { vms: [a(provisioning(60), minuteMs)] },
    'Provisioning/AgentNotDiscovered',
    'none',
    29,
  ],
  ['not got going by its run', { vms: [a(provisioning(60), null)] }, 'Provisioning/AgentNotDiscovered'],
  [
    'too late, as was said before',
    { vms: [a(phased('Orphaned', 'AgentDiscoveryExpired', 1))] },
    'Orphaned/AgentDiscoveryExpired',
  ],
  [
    'too late, and its Agent comes still',
    { vms: [a(phased('Orphaned', 'AgentDiscoveryExpired', 1))], agents: [free] },
    'Available/AgentAvailable',
  ],
  [
    'with an Agent as it comes',
    { vms: [a(provisioning(5))], agents: [newAgent('a')] },
    'Provisioning/AgentNotDiscovered',
    'none',
    25,
  ],
  [
    'with an Agent that is prepared and not well yet',
    { vms: [a(provisioning(5))], agents: [agent('a', { conditions: [] })] },
    'Provisioning/AgentPrepared',
    'none',
    25,
  ],
  [
    'with an Agent that never became well',
    { vms: [a(provisioning(40), 31 * minuteMs)], agents: [agent('a', { conditions: [] })] },
    'Orphaned/AgentDiscoveryExpired',
  ],
  [
    'with an Agent that waits for a user’s approval',
    {
      pool: pool({ spec: { agent: { labels: { team: 'a' }, approve: false } } }),
      vms: [a(provisioning(40), 40 * minuteMs)],
      agents: [agent('a', { spec: { approved: false } })],
    },
    'Provisioning/AgentPrepared',
  ],
  ['with an Agent that can be taken', { vms: [a(provisioning(5))], agents: [free] }, 'Available/AgentAvailable'],
  [
    'with an Agent that could be taken once',
    {
      vms: [a(phased('Available', 'AgentAvailable', 90), 91 * minuteMs)],
      agents: [agent('a', { conditions: isWell.slice(1) })],
    },
    'Provisioning/AgentPrepared',
    'none',
    30,
  ],
  [
    'with an Agent that was there and is gone',
    { vms: [a(phased('Available', 'AgentAvailable', 9, { agentRef: { name: 'a', uid: 'uid-a' } }))] },
    'Orphaned/AgentMissing',
  ],
  [
    'with an Agent that an AgentMachine has',
    { vms: [a(provisioning(5))], agents: [taken], agentMachines: [ofM], machines: [machine('m')] },
    'Bound/AgentBound',
    'present',
  ],
  [
    'with an Agent that an AgentMachine names, before it says so itself',
    {
      vms: [a(provisioning(5))],
      agents: [agent('a', { spec: { clusterDeploymentName: { name: 'demo' } } })],
      agentMachines: [agentMachine('z', { machine: 'm', status: { agentRef: { name: 'a' } } })],
      machines: [machine('m')],
    },
    'Bound/AgentBound',
    'present',
  ],
  [
    'with an Agent of an AgentMachine without an owner',
    {
      vms: [a(provisioning(5))],
      agents: [taken],
      agentMachines: [agentMachine('a', { machine: null })],
      machines: [machine('a')],
    },
    'Bound/AgentBound',
    'present',
  ],
  [
    'with an Agent whose AgentMachine is called otherwise than its Machine, and not owned',
    {
      vms: [a(provisioning(5))],
      agents: [taken],
      agentMachines: [agentMachine('a', { machine: null })],
      machines: [machine('m')],
    },
    'Bound/AgentBound',
    'absent',
  ],
  [
    'with an Agent that another control plane has',
    {
      vms: [a(provisioning(5))],
      agents: [
        agent('a', {
          takenBy: 'a',
          metadata: {
            annotations: { [neighbours.agentMachineRefNamespace]: 'other' },
            labels: { [neighbours.agentMachineRef]: 'a' },
          },
        }),
      ],
      machines: [goingM],
    },
    'Bound/AgentBound',
    'none',
  ],
  [
    'with an Agent that has a cluster, and no AgentMachine',
    { vms: [a(provisioning(5))], agents: [agent('a', { spec: { clusterDeploymentName: { name: 'demo' } } })] },
    'Bound/AgentBound',
    'none',
  ],
  [
    'of a Machine that goes',
    { vms: [a(bound())], agents: [taken], agentMachines: [ofM], machines: [goingM] },
    'Released/MachineDeleting',
    'deleting',
  ],
  [
    'of a Machine in the phase Deleting',
    {
      vms: [a(bound())],
      agents: [taken],
      agentMachines: [ofM],
      machines: [machine('m', { status: { phase: 'Deleting' } })],
    },
    'Released/MachineDeleting',
    'deleting',
  ],
  [
    'of a Machine that goes, after its AgentMachine went',
    { vms: [a(bound())], agents: [unbound], machines: [goingM] },
    'Released/MachineDeleting',
    'deleting',
  ],
  [
    'of a Machine that was seen going, and is gone',
    { vms: [a(phased('Released', 'MachineDeleting', 1, wasTakenBy('m')))], agents: [unbound] },
    'Released/MachineDeleted',
    'deleted',
  ],
  [
    'of a Machine that was seen going, and another has its name',
    {
      vms: [a(phased('Released', 'MachineDeleting', 1, wasTakenBy('m')))],
      agents: [unbound],
      machines: [machine('m', { metadata: { uid: 'another' } })],
    },
    'Released/MachineDeleted',
    'deleted',
  ],
  [
    'of a Machine that is gone, and whose deletion was not observed',
    { vms: [a(bound())], agents: [unbound] },
    'Released/AgentReleased',
    'absent',
  ],
  [
    'of a Machine that is gone, and its Agent is bound',
    { vms: [a(bound())], agents: [taken] },
    'Released/AgentReleased',
    'absent',
  ],
  [
    'taken anew by a Machine, after the last one went',
    {
      vms: [a(phased('Released', 'MachineDeleting', 1, wasTakenBy('m')))],
      agents: [taken],
      agentMachines: [agentMachine('a', { machine: 'next' })],
      machines: [machine('next')],
    },
    'Bound/AgentBound',
    'present',
  ],
  [
    'of a Machine that is there, and its Agent is gone',
    { vms: [a(bound())], machines: [machine('m')] },
    'Bound/AgentMissing',
    'present',
  ],
  [
    'of a Machine that is there, and its Agent is unbound',
    { vms: [a(bound())], agents: [unbound], machines: [machine('m')] },
    'Released/AgentReleased',
    'present',
  ],
  [
    'of a Machine that is there, and its Agent can be taken again',
    { vms: [a(bound())], agents: [free], machines: [machine('m')] },
    'Available/AgentAvailable',
    'present',
  ],
  [
    'taken before, and it is not known by which Machine',
    { vms: [a(bound({}))], agents: [unbound] },
    'Released/AgentReleased',
    'absent',
  ],
];

test.each(rows)('a VM %s', (_, world, phase, machineState = 'none', untilMinutes?: number) => {
  const { vms, nextMs } = judge(world);
  const judged = vms[0]!;
  expect(`${judged.phase}/${judged.reason}`).toBe(phase);
  expect(judged.machineState).toBe(machineState);
  expect(judged.untilMs).toBe(untilMinutes === undefined ? null : now + untilMinutes * minuteMs);
  // One whose VM is not made may go as a surplus before.
  if (world.vms?.length === 1 && judged.reason !== 'VMCreatePending') expect(nextMs).toBe(judged.untilMs);
});

test('the Machine is the owner of the AgentMachine, and stays in mind when it is gone', () => {
  const world = { agents: [taken], agentMachines: [ofM], machines: [machine('m')] };
  expect(judge({ ...world, vms: [a(provisioning(5))] }).vms[0]?.machine).toEqual({ name: 'm', uid: 'uid-machine-m' });
  expect(judge({ vms: [a(bound())], agents: [unbound] }).vms[0]?.machine).toEqual({ name: 'm', uid: 'uid-machine-m' });
});

test('a phase begins when it is another one', () => {
  const sinceMs = (world: World) => judge(world).vms[0]?.sinceMs;
  expect(sinceMs({ vms: [a(phased('Available', 'AgentPrepared', 9))], agents: [free] })).toBe(now - 9 * minuteMs);
  expect(sinceMs({ vms: [a(provisioning(9))], agents: [free] })).toBe(now);
});

const swapped = (name: string): string => {
  const [x = '', y = '', z = '', ...rest] = biosUuid(name).split('-');
  const turned = [x, y, z].map((group) => (group.match(/../gu) ?? []).toReversed().join(''));
  return [...turned, ...rest].join('-');
};
const spaced = (name: string): string => {
  const pairs = biosUuid(name).replaceAll('-', '').match(/../gu) ?? [];
  return `VMware-${pairs.slice(0, 8).join(' ')}-${pairs.slice(8).join(' ')}`;
};
const serial = (serialNumber: string) => ({ inventory: { systemVendor: { serialNumber } } });
const cards = (...macs: string[]) => ({ interfaces: macs.map((macAddress) => ({ macAddress })) });
const other = { ...serial(biosUuid('other')).inventory };

const matchRows: [sign: string, vm: object, sample: Parameters<typeof agent>[1], isMatched: boolean][] = [
  ['serial number', {}, { ...serial(`VMware-${biosUuid('a')}`), isOf: 'x' }, true],
  ['serial number with spaces', {}, { ...serial(spaced('a')), isOf: 'x' }, true],
  ['serial number in the other order', {}, { ...serial(swapped('a')), isOf: 'x' }, true],
  ['another serial number', {}, { ...serial(biosUuid('b')), isOf: 'x' }, false],
  [
    'address of any card, though the serial number is another one',
    { macAddress: '00-50-56-00-00-01' },
    { inventory: { ...other, ...cards('00:50:56:00:00:09', '00:50:56:00:00:01') }, isOf: 'x' },
    true,
  ],
  [
    'hostname, where nothing is known of the Agent',
    {},
    { inventory: { systemVendor: {}, hostname: 'a' }, isOf: 'x', spec: { hostname: undefined } },
    true,
  ],
  ['hostname, where the serial number is another one', {}, { inventory: other, isOf: 'a' }, false],
  [
    'the Agent that it had',
    { agentRef: { name: 'agent', uid: 'uid-agent' } },
    { inventory: { systemVendor: {} }, isOf: 'x', spec: { hostname: 'x' } },
    true,
  ],
  [
    'another Agent of the name that it had',
    { agentRef: { name: 'agent', uid: 'earlier' } },
    { inventory: { systemVendor: {} }, isOf: 'x', spec: { hostname: 'x' } },
    false,
  ],
];

test.each(matchRows)('VM and Agent are one by: %s', (_, vm, sample, isMatched) => {
  expect(judge({ vms: [a(vm)], agents: [agent('agent', sample)] }).vms[0]?.agent?.name).toBe(
    isMatched ? 'agent' : undefined,
  );
});

test('a VM that is not there has no Agent by its name', () => {
  const host = agent('agent', { inventory: { systemVendor: {} }, isOf: 'a' });
  expect(judge({ vms: [a()], agents: [host] }).vms[0]?.agent).toBeNull();
});

test('of several Agents of one VM the one that is taken counts, then the one that is well', () => {
  const old = agent('old', { isOf: 'a', conditions: [] });
  const anew = agent('new', { isOf: 'a', metadata: { creationTimestamp: ago(0), labels: {} } });
  const held = agent('held', { isOf: 'a', takenBy: 'a' });
  const nameOf = (...agents: ReturnType<typeof agent>[]) => judge({ vms: [a({})], agents }).vms[0]?.agent?.name;
  expect(nameOf(old, anew)).toBe('new');
  expect(nameOf(anew, held, old)).toBe('held');
});

test('an Agent is of one VM, whichever pool that is of', () => {
  const twin = { biosUUID: biosUuid('a') };
  const first = vsphereAgent('a', { vm: twin });
  const second = vsphereAgent('b', { vm: twin, pool: 'other' });
  const vms = [second, first];
  expect(judge({ vms, agents: [free] }).vms.map((one) => one.agent?.name)).toEqual(['a']);
  expect(judge({ pool: pool({ metadata: { name: 'other' } }), vms, agents: [free] }).vms[0]?.agent).toBeNull();
});

test('demand in the namespace of the control plane does not change phases', () => {
  const agentMachines = [agentMachine('b', { status: waits, metadata: { namespace: controlPlane } })];
  expect(judge({ vms: [a({})], agentMachines }).vms[0]?.phase).toBe('Provisioning');
});
