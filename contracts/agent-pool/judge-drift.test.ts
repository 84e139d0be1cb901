import {
  agent,
  agentMachine,
  ago,
  deletionTimestamp,
  isReady,
  judge,
  machine,
  minuteMs,
  pool,
  vsphereAgent,
  waits,
  wasTakenBy,
  type World,
} from '../../test/fixtures/activities/agent-pool.ts';
import { readPool } from './pool-facts.ts';
import { agentPoolAnnotations, agentPoolLabels } from './metadata.ts';

const key = agentPoolAnnotations.templateDigest;
const poolThat = (replaces: string | null, more: { metadata?: object; spec?: object } = {}) =>
  pool({
    ...more,
    metadata: {
      annotations: replaces === null ? {} : { [agentPoolAnnotations.replaceDrifted]: replaces },
      ...more.metadata,
    },
  });
const all = poolThat('all');
const { digest } = readPool(all);
const going = { metadata: { deletionTimestamp } };

const phased = (phase: string, reason: string, more: object = {}) => ({
  phase,
  reason,
  lastTransitionTime: ago(50 * minuteMs),
  ...more,
});
interface Sample {
  is?: string;
  hours?: number;
  metadata?: object;
}
const made = ({ is = digest, hours = 1, metadata = {} }: Sample) => ({
  annotations: { [key]: is },
  metadata: { creationTimestamp: ago(hours * 60 * minuteMs), ...metadata },
  readyForMs: 50 * minuteMs,
});
const bound = (name: string, sample: Sample = {}) =>
  vsphereAgent(name, { vm: phased('Bound', 'AgentBound', wasTakenBy(name)), ...made(sample) });
const spare = (name: string, sample: Sample = {}) =>
  vsphereAgent(name, { vm: phased('Available', 'AgentAvailable'), ...made(sample) });
const coming = (name: string, sample: Sample = {}) => vsphereAgent(name, made(sample));
const old = (name: string, hours = 2) => bound(name, { is: 'old', hours });

/** Nodes `a`, `b`, … with all that belongs to them. */
const nodes = (
  ...vms: ReturnType<typeof bound>[]
): Required<Pick<World, 'vms' | 'agents' | 'agentMachines' | 'machines'>> => {
  const names = vms.map(({ metadata }) => metadata.name);
  return {
    vms,
    agents: names.map((name) => agent(name, { takenBy: name })),
    agentMachines: names.map((name) => agentMachine(name, { status: isReady })),
    machines: names.map((name) => machine(name)),
  };
};
const three = nodes(old('b', 2), old('c', 3), old('a', 2));
const withSpare = (...spares: string[]): World => ({
  ...three,
  pool: all,
  vms: [...three.vms, ...spares.map((name) => spare(name))],
  agents: [...three.agents, ...spares.map((name) => agent(name))],
});
const ready = withSpare('s');

interface Expected {
  machines?: string[];
  surge?: number;
  waitsFor?: string;
}
const rows: [rule: string, world: World, expected: Expected | null][] = [
  ['no pool asks for it', { ...ready, pool: poolThat(null) }, null],
  ['only those that no Machine has', { ...ready, pool: poolThat('true') }, null],
  ['… by its other name', { ...ready, pool: poolThat('available') }, null],
  ['a word that is none', { ...ready, pool: poolThat('yes') }, null],
  ['all are of the template', { ...nodes(bound('a')), pool: all }, null],
  ['the pool goes', { ...ready, pool: poolThat('all', going) }, null],
  ['an older pool has the NodePool', { ...ready, rival: 'other' }, null],
  ['nothing stands ready: one VM more', { ...three, pool: all }, { surge: 1, waitsFor: 'SurgeMissing' }],
  [
    '… or as many as the budget',
    { ...three, pool: all, rules: { driftedAtOnce: 2 } },
    { surge: 2, waitsFor: 'SurgeMissing' },
  ],
  [
    '… and no more than there are to replace',
    { ...three, pool: all, rules: { driftedAtOnce: 9 } },
    { surge: 3, waitsFor: 'SurgeMissing' },
  ],
  ['none where the budget is none', { ...three, pool: all, rules: { driftedAtOnce: 0 } }, {}],
  ['it is under way', { ...three, pool: all, vms: [...three.vms, coming('s')] }, { waitsFor: 'SurgeMissing' }],
  [
    'one of another template is under way: it does not count',
    { ...three, pool: all, vms: [...three.vms, coming('s', { is: 'old' })] },
    { surge: 1, waitsFor: 'SurgeMissing' },
  ],
  ['one stands ready: the oldest goes', ready, { machines: ['c'] }],
  ['two stand ready, and one may go', withSpare('s', 't'), { machines: ['c'] }],
  [
    'two stand ready, and two may go: of one age by name',
    { ...withSpare('s', 't'), rules: { driftedAtOnce: 2 } },
    { machines: ['c', 'a'] },
  ],
  [
    'one of two stands ready: where no other can be made, one goes',
    { ...ready, rules: { driftedAtOnce: 2 } },
    { machines: ['c'], surge: 1, waitsFor: 'SurgeMissing' },
  ],
  [
    'one stands ready, and a VM is under way',
    { ...ready, vms: [...(ready.vms ?? []), coming('t')] },
    { waitsFor: 'SurgeMissing' },
  ],
  [
    'what stands ready is of another template: it goes first',
    { ...three, pool: all, vms: [...three.vms, spare('s', { is: 'old' })], agents: [...three.agents, agent('s')] },
    { waitsFor: 'VMLeaving' },
  ],
  [
    'what stands ready was taken once',
    {
      ...three,
      pool: all,
      vms: [
        ...three.vms,
        vsphereAgent('s', { vm: phased('Available', 'AgentAvailable', wasTakenBy('s')), ...made({}) }),
      ],
      agents: [...three.agents, agent('s')],
      machines: [...three.machines, machine('s')],
    },
    { surge: 1, waitsFor: 'SurgeMissing' },
  ],
  [
    'an AgentMachine waits',
    { ...three, pool: all, agentMachines: [...three.agentMachines, agentMachine('z', { status: waits })] },
    { waitsFor: 'AgentMachinesWaiting' },
  ],
  [
    'an AgentMachine is not Ready',
    { ...ready, agentMachines: [...three.agentMachines, agentMachine('z')] },
    { waitsFor: 'AgentMachinesNotReady' },
  ],
  [
    '… of another NodePool: it is no matter',
    { ...ready, agentMachines: [...three.agentMachines, agentMachine('z', { nodePool: 'clusters/other' })] },
    { machines: ['c'] },
  ],
  [
    'an AgentMachine goes',
    { ...ready, agentMachines: [...three.agentMachines, agentMachine('z', { ...going, status: isReady })] },
    { waitsFor: 'MachineDeleting' },
  ],
  [
    'a Machine goes, and it has no VM of the pool',
    {
      ...ready,
      agentMachines: [...three.agentMachines, agentMachine('z', { status: isReady })],
      machines: [...three.machines, machine('z', going)],
    },
    { waitsFor: 'MachineDeleting' },
  ],
  [
    'a Machine goes',
    { ...ready, machines: [machine('a', going), machine('b'), machine('c')] },
    { waitsFor: 'MachineDeleting' },
  ],
  ['a VM is held', { ...ready, vms: [...(ready.vms ?? []), bound('h')], nodes: null }, { waitsFor: 'VMHeld' }],
  ['a VM goes', { ...ready, vms: [...(ready.vms ?? []), spare('t', going)] }, { waitsFor: 'VMLeaving' }],
  [
    'the Agent of a VM is gone, and its Machine is there',
    { ...ready, agents: [agent('a', { takenBy: 'a' }), agent('b', { takenBy: 'b' }), agent('s')] },
    { waitsFor: 'VMLeaving' },
  ],
  [
    'the last of another template is going',
    {
      ...nodes(bound('a')),
      pool: all,
      vms: [bound('a'), vsphereAgent('o', { ...made({ is: 'old', ...going }) })],
    },
    { waitsFor: 'VMLeaving' },
  ],
  ['Retain', { ...ready, pool: poolThat('all', { spec: { cleanupPolicy: 'Retain' } }) }, { waitsFor: 'Retained' }],
  [
    'a Machine of an AgentMachine without an owner stays',
    { ...nodes(old('a')), pool: all, agentMachines: [agentMachine('a', { status: isReady, machine: null })] },
    {},
  ],
];

test.each(rows)('Machines that go: %s', (_rule, world, expected) => {
  const { replacement, wanted } = judge(world);
  if (expected === null) {
    expect(replacement).toBeUndefined();
    expect(wanted).toEqual([]);
    return;
  }
  expect({
    machines: replacement?.machines.map(({ name }) => name),
    surge: wanted.filter(({ agentMachine: of }) => of === null).length,
    waitsFor: replacement?.waitsFor?.reason,
  }).toEqual({ machines: [], surge: 0, waitsFor: undefined, ...expected });
});

test('of those that Machines have, some are replaced', () => {
  const world = nodes(old('a'), bound('b'), bound('c'));
  expect(judge({ ...world, pool: all }).replacement).toMatchObject({ replaced: 2, total: 3, isQuiet: true });
});

test('a Machine is named with its uid and its VM', () => {
  expect(judge(ready).replacement?.machines).toEqual([{ name: 'c', uid: 'uid-machine-c', vm: 'c' }]);
});

test('VMs that stand ready are named by the pool, and the same again', () => {
  const names = (world: World) => judge(world).wanted.map(({ name }) => name);
  const world: World = { ...three, pool: all, rules: { driftedAtOnce: 2 } };
  const [first, second] = names(world) as [string, string];
  expect([first, second]).toEqual([
    expect.stringMatching(/^pool-[0-9a-f]{10}$/u),
    expect.stringMatching(/^pool-[0-9a-f]{10}$/u),
  ]);
  expect(names(world)).toEqual([first, second]);
  expect(names({ ...world, vms: [...three.vms, coming(first)] })).toEqual([second]);
});

const surge = (name: string) =>
  vsphereAgent(name, {
    vm: phased('Available', 'AgentAvailable'),
    ...made({ metadata: { labels: { [agentPoolLabels.createdFor]: 'surge' } } }),
  });
const withSurge = (world: World, name = 's'): World => ({
  ...world,
  vms: [...(world.vms ?? []), surge(name)],
  agents: [...(world.agents ?? []), agent(name)],
});

test.each<[rule: string, world: World, released: string[]]>([
  ['it stands ready', withSurge({ ...three, pool: all }), []],
  ['… whatever the settings say of a surplus', withSurge({ ...three, pool: all, rules: { deleteSurplus: true } }), []],
  ['all are replaced', withSurge({ ...nodes(bound('a')), pool: all }), ['s Surplus']],
  ['the pool asks for it no more', withSurge({ ...three, pool: pool() }), ['s Surplus']],
  [
    'something waits for it',
    withSurge({ ...nodes(bound('a')), pool: all, agentMachines: [agentMachine('z', { status: waits })] }),
    [],
  ],
  ['it is taken', { ...nodes(bound('a'), surge('s')), pool: all }, []],
])('a VM that stands ready: %s', (_rule, world, released) => {
  expect(judge(world).released.map(({ name, cause }) => `${name} ${cause}`)).toEqual(released);
});
