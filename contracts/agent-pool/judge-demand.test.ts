import {
  agent,
  agentMachine,
  ago,
  isReady,
  isWell,
  judge,
  minuteMs,
  newAgent,
  pool,
  poolNamespace,
  vsphereAgent,
  waits,
  waitsAsBefore,
  type World,
} from '../../test/fixtures/activities/agent-pool.ts';
import { selects } from './judge-demand.ts';
import { agentPoolLabels, neighbours } from './metadata.ts';

const waiting = (name: string, more: object = {}) => agentMachine(name, { status: waits, ...more });
const bare = (name: string, more: object = {}) => agent(name, { isOf: `host-${name}`, ...more });
const made = (name: string, vm: object = {}) =>
  vsphereAgent(name, { vm: { phase: 'Provisioning', lastTransitionTime: ago(5 * minuteMs), ...vm } });
const olderBy = (minutes: number) => ({ metadata: { creationTimestamp: ago((60 + minutes) * minuteMs) } });
const pinned = (name: string) => ({
  spec: { agentLabelSelector: { matchLabels: { team: 'a', [agentPoolLabels.agentMachine]: name } } },
});

const rows: [rule: string, world: World, wanted: string[]][] = [
  ['nothing waits', { agentMachines: [agentMachine('a'), agentMachine('b', { status: isReady })] }, []],
  ['one waits, as the provider says so now', { agentMachines: [waiting('a')] }, ['a']],
  ['one waits, as it said so before', { agentMachines: [agentMachine('a', { status: waitsAsBefore })] }, ['a']],
  [
    'one waits, in the newer of two lists',
    { agentMachines: [agentMachine('a', { status: { v1beta2: waits } })] },
    ['a'],
  ],
  [
    'a condition that is True has no reason to wait',
    { agentMachines: [agentMachine('a', { status: { conditions: [{ ...waits.conditions[0], status: 'True' }] } })] },
    [],
  ],
  [
    'a Machine that goes needs none',
    { agentMachines: [waiting('a', { metadata: { deletionTimestamp: ago(0) } })] },
    [],
  ],
  ['another NodePool has its own', { agentMachines: [waiting('a', { nodePool: `${poolNamespace}/other` })] }, []],
  ['the older comes first', { agentMachines: [waiting('a'), waiting('b', olderBy(1))] }, ['b', 'a']],
  ['of one age, the first by name', { agentMachines: [waiting('b'), waiting('a')] }, ['a', 'b']],
  ['an Agent that is free is taken', { agentMachines: [waiting('a'), waiting('b')], agents: [bare('x')] }, ['a']],
  [
    'one without the labels is no help',
    { agentMachines: [waiting('a')], agents: [bare('x', { labels: { team: 'b' } })] },
    ['a'],
  ],
  [
    'one that no AgentMachine would select is no help',
    {
      agentMachines: [waiting('a', { spec: { agentLabelSelector: { matchLabels: { size: 'l' } } } })],
      agents: [bare('x')],
    },
    ['a'],
  ],
  [
    'one of another InfraEnv is no help',
    { agentMachines: [waiting('a')], agents: [bare('x', { labels: { [neighbours.infraEnv]: 'other' } })] },
    ['a'],
  ],
  [
    'one is of an InfraEnv by its owner, too',
    {
      agentMachines: [waiting('a')],
      agents: [
        bare('x', {
          metadata: { labels: { team: 'a' }, ownerReferences: [{ kind: 'InfraEnv', name: 'demo', uid: 'u' }] },
        }),
      ],
    },
    [],
  ],
  [
    'one that is kept for another NodePool is no help',
    { agentMachines: [waiting('a')], agents: [bare('x', { labels: { [agentPoolLabels.nodePool]: 'other' } })] },
    ['a'],
  ],
  [
    'one that is kept for this NodePool is',
    {
      pool: pool({ spec: { agent: { labels: { team: 'a', [agentPoolLabels.nodePool]: 'mine' } } } }),
      agentMachines: [waiting('a')],
      agents: [bare('x', { labels: { [agentPoolLabels.nodePool]: 'mine' } })],
    },
    [],
  ],
  ['one that is taken is no help', { agentMachines: [waiting('a')], agents: [bare('x', { takenBy: 'z' })] }, ['a']],
  [
    'one that goes is no help',
    {
      agentMachines: [waiting('a')],
      agents: [
        bare('x', { metadata: { labels: { team: 'a', [neighbours.infraEnv]: 'demo' }, deletionTimestamp: ago(0) } }),
      ],
    },
    ['a'],
  ],
  [
    'one that is not approved is no help',
    { agentMachines: [waiting('a')], agents: [bare('x', { spec: { approved: false } })] },
    ['a'],
  ],
  [
    'one that is not connected is no help',
    { agentMachines: [waiting('a')], agents: [bare('x', { conditions: isWell.slice(1) })] },
    ['a'],
  ],
  [
    'one that is being unbound is no help',
    {
      agentMachines: [waiting('a')],
      agents: [
        bare('x', {
          conditions: [...isWell.slice(0, 2), { type: 'Bound', status: 'False', reason: 'UnbindingPendingUserAction' }],
        }),
      ],
    },
    ['a'],
  ],
  [
    'one that is not valid is no help',
    { agentMachines: [waiting('a')], agents: [bare('x', { conditions: isWell.toSpliced(1, 1) })] },
    ['a'],
  ],
  [
    'one that has an Agent already waits no more, whatever is said of it yet',
    { agentMachines: [waiting('a'), waiting('b')], agents: [bare('x', { takenBy: 'a' })] },
    ['b'],
  ],
  [
    'the Agent of another control plane is none of it',
    {
      agentMachines: [waiting('a')],
      agents: [
        bare('x', {
          takenBy: 'a',
          metadata: {
            labels: { team: 'a', [neighbours.infraEnv]: 'demo', [neighbours.agentMachineRef]: 'a' },
            annotations: { [neighbours.agentMachineRefNamespace]: 'elsewhere' },
          },
        }),
      ],
    },
    ['a'],
  ],
  ['a VM on its way is waited for', { agentMachines: [waiting('a'), waiting('b')], vms: [made('a')] }, ['b']],
  [
    'one that was only asked for, too',
    { agentMachines: [waiting('a'), waiting('b')], vms: [vsphereAgent('a')] },
    ['b'],
  ],
  [
    'one that was made for a Machine that is gone serves another',
    { agentMachines: [waiting('b')], vms: [made('a')] },
    [],
  ],
  [
    'the VM of another pool is not',
    { agentMachines: [waiting('a')], vms: [vsphereAgent('x', { pool: 'other' })] },
    ['a'],
  ],
  [
    'one that goes is not, and keeps its name',
    { agentMachines: [waiting('a')], vms: [vsphereAgent('a', { metadata: { deletionTimestamp: ago(0) } })] },
    ['a-1d6b0d6d0f'],
  ],
  [
    'one whose Agent never came is replaced while its AgentMachine waits',
    {
      agentMachines: [waiting('a')],
      vms: [
        vsphereAgent('a', {
          readyForMs: 31 * minuteMs,
          vm: { phase: 'Provisioning', lastTransitionTime: ago(40 * minuteMs) },
        }),
      ],
    },
    ['a-1d6b0d6d0f'],
  ],
  [
    'a VM with a free Agent is taken',
    { agentMachines: [waiting('a'), waiting('b')], vms: [made('a')], agents: [agent('a')] },
    ['b'],
  ],
  [
    'an Agent of a VM is not counted twice',
    { agentMachines: [waiting('a'), waiting('b')], vms: [made('a')], agents: [newAgent('a')] },
    ['b'],
  ],
  [
    'a second Agent of one VM is not counted',
    {
      agentMachines: [waiting('a'), waiting('b')],
      vms: [made('a')],
      agents: [agent('a'), agent('anew', { isOf: 'a' })],
    },
    ['b'],
  ],
  [
    'the Agent of another pool’s VM is not taken',
    { agentMachines: [waiting('a')], vms: [vsphereAgent('x', { pool: 'other', vm: {} })], agents: [agent('x')] },
    ['a'],
  ],
  [
    'an AgentMachine without a VM comes before an older one that has got one',
    {
      agentMachines: [waiting('a', olderBy(9)), waiting('b'), waiting('c')],
      vms: [made('a')],
    },
    ['b', 'c'],
  ],
  [
    'one that insists on a host is not served by another',
    { agentMachines: [waiting('a', pinned('a'))], vms: [made('b')], agents: [agent('b')] },
    ['a'],
  ],
  ['one that insists on a host waits for it', { agentMachines: [waiting('a', pinned('a'))], vms: [made('a')] }, []],
  [
    'its host is not there for others',
    { agentMachines: [waiting('a', pinned('a')), waiting('b', olderBy(1))], vms: [made('a')] },
    ['b'],
  ],
  ['an older pool makes the VMs', { rival: 'older', agentMachines: [waiting('a')] }, []],
  [
    'a pool that goes makes none',
    { pool: pool({ metadata: { deletionTimestamp: ago(0) } }), agentMachines: [waiting('a')] },
    [],
  ],
];

test.each(rows)('%s', (_, world, wanted) => {
  expect(judge(world).wanted.map(({ name }) => name)).toEqual(wanted);
});

test('counts have the meaning of the replaced operator, and say what can be taken now', () => {
  const { counts } = judge({
    agentMachines: [
      waiting('a'),
      agentMachine('b', { status: { agentRef: { name: 'b', namespace: poolNamespace } } }),
      agentMachine('c', { status: isReady, spec: { providerID: 'agent://c' } }),
      agentMachine('d', { spec: { providerID: 'agent://d' } }),
      agentMachine('e'),
      waiting('gone', { metadata: { deletionTimestamp: ago(0) } }),
    ],
    vms: [made('a'), made('b'), vsphereAgent('f', { metadata: { deletionTimestamp: ago(0) } })],
    agents: [
      bare('x'),
      agent('b', { takenBy: 'b' }),
      bare('y', { takenBy: 'c' }),
      bare('z', { spec: { approved: false } }),
    ],
  });
  expect(counts).toEqual({
    agentMachines: 5,
    waiting: 1,
    unready: 4,
    withoutAgent: 2,
    matching: 4,
    bound: 2,
    available: 1,
    provisioning: 1,
    owned: 2,
  });
});

const agentRows: [state: string, world: World, unprepared: string[]][] = [
  ['as it came', { vms: [made('a')], agents: [newAgent('a')] }, ['a']],
  ['prepared', { vms: [made('a')], agents: [agent('a')] }, []],
  ['with another hostname', { vms: [made('a')], agents: [agent('a', { spec: { hostname: 'other' } })] }, ['a']],
  ['not approved', { vms: [made('a')], agents: [agent('a', { spec: { approved: false } })] }, ['a']],
  [
    'not approved, where a user does that',
    {
      pool: pool({ spec: { agent: { labels: { team: 'a' }, approve: false } } }),
      vms: [made('a')],
      agents: [agent('a', { spec: { approved: false } })],
    },
    [],
  ],
  ['bound', { vms: [made('a')], agents: [agent('a', { takenBy: 'a', spec: { hostname: 'other' } })] }, []],
  ['of no VM', { agents: [newAgent('x', 'host')] }, []],
  ['of another pool', { vms: [vsphereAgent('a', { pool: 'other', vm: {} })], agents: [newAgent('a')] }, []],
  [
    'of another InfraEnv',
    { vms: [made('a')], agents: [agent('a', { labels: { [neighbours.infraEnv]: 'b' }, spec: { role: '' } })] },
    [],
  ],
  [
    'kept for another NodePool',
    { vms: [made('a')], agents: [agent('a', { labels: { [agentPoolLabels.nodePool]: 'b' }, spec: { role: '' } })] },
    [],
  ],
  [
    'of a VM that goes',
    { vms: [vsphereAgent('a', { vm: {}, metadata: { deletionTimestamp: ago(0) } })], agents: [newAgent('a')] },
    [],
  ],
];

test.each(agentRows)('an Agent %s is prepared or left alone', (_, world, unprepared) => {
  expect(judge(world).unprepared.map((one) => one.agent)).toEqual(unprepared);
});

const pinRows: [state: string, world: World, unpinned: string[]][] = [
  ['the settings do not ask for it', { agentMachines: [waiting('a')], vms: [made('a')] }, []],
  ['they do', { rules: { pinSelectors: true }, agentMachines: [waiting('a')], vms: [made('a')] }, ['a']],
  ['it is done', { rules: { pinSelectors: true }, agentMachines: [waiting('a', pinned('a'))], vms: [made('a')] }, []],
  ['it has no VM', { rules: { pinSelectors: true }, agentMachines: [waiting('a')], vms: [] }, []],
  [
    'it insists on a VM that was replaced',
    { agentMachines: [waiting('a', pinned('old'))], vms: [vsphereAgent('a-1', { agentMachine: 'a' })] },
    ['a'],
  ],
];

test.each(pinRows)('an AgentMachine is to insist on its VM: %s', (_, world, unpinned) => {
  expect(judge(world).unpinned.map((one) => one.agentMachine)).toEqual(unpinned);
});

const selectorRows: [operator: string, values: string[], labels: Record<string, string>, isSelected: boolean][] = [
  ['In', ['x'], { a: 'x' }, true],
  ['In', ['x'], {}, false],
  ['NotIn', ['x'], {}, true],
  ['NotIn', ['x'], { a: 'x' }, false],
  ['Exists', [], { a: '' }, true],
  ['Exists', [], {}, false],
  ['DoesNotExist', [], {}, true],
  ['DoesNotExist', [], { a: '' }, false],
  ['Unknown', [], { a: '' }, false],
];

test.each(selectorRows)('a selector %s %j of %j: %s', (operator, values, labels, isSelected) => {
  expect(selects({ matchLabels: {}, matchExpressions: [{ key: 'a', operator, values }] }, labels)).toBe(isSelected);
});
