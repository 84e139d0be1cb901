import { poolCondition, samplePool } from '../../test/fixtures/starters/agent-pool.ts';
import { now } from '../../test/fixtures/starters/progress.ts';
import { coloured, plain } from '../render/paint.ts';
import { renderPools } from '../render/agent-pool.ts';
import type { AgentPoolObject } from './agent-pool-object.ts';
import { listPools, needsAttention } from './listed-pool.ts';

const hour = 3_600;
const ready = poolCondition('Ready');
const short = (reason: string, seconds = 60) =>
  poolCondition('CapacitySatisfied', 'False', reason, '3 VMs more are wanted', seconds);
const approval = { name: 'worker-7', waitsFor: 'ApprovalRequired', message: 'an approval' };

test.each<[why: string, facts: Partial<AgentPoolObject>, needs: boolean]>([
  ['all that is wanted is there', {}, false],
  ['it has no capacity, since a moment ago', { conditions: [ready, short('DatastoreClusterFull')] }, false],
  ['it has no capacity, for long', { conditions: [ready, short('DatastoreClusterFull', hour)] }, true],
  ['VMs are under way, for long', { conditions: [ready, short('MaxConcurrent', hour)] }, false],
  ['its vCenter is not there', { conditions: [poolCondition('Ready', 'False', 'X', 'x', hour)] }, true],
  ['its ISO is not there', { conditions: [ready, poolCondition('ISOReady', 'False', 'X', 'x', hour)] }, true],
  ['VMs are of another template', { conditions: [ready, poolCondition('TemplateDrifted', 'True')] }, false],
  ['an approval is asked for', { held: [approval] }, true],
  ['a VM waits for its Node', { held: [{ ...approval, waitsFor: 'NodePresent' }] }, false],
  ['nothing was said', { conditions: [] }, false],
])('needs attention: %s', (_why, facts, needs) => {
  expect(needsAttention(samplePool(facts), now)).toBe(needs);
});

const pools = [
  samplePool({ name: 'gpu-10', conditions: [], counts: null, iso: null }),
  samplePool({
    name: 'gpu-2',
    held: [{ name: 'worker-9', waitsFor: 'NodePresent', message: 'Its Node is still there' }],
  }),
  samplePool({ name: 'old', generation: 4 }),
  samplePool({
    namespace: 'other',
    name: 'big',
    conditions: [ready, short('MaxAgents', hour)],
    counts: { agentMachines: 9, waiting: 5, available: 1, bound: 4, wanted: 3, provisioning: 1, vms: 6 },
    held: [approval, { ...approval, name: 'worker-8' }],
  }),
  samplePool({
    name: 'away',
    deleting: true,
    conditions: [
      poolCondition('Ready', 'False', 'MachinePresent', 'Waiting for 2 VsphereAgents\u001b[2J to be\ngone', 60),
    ],
  }),
];
const list = (attention = false) => listPools(pools, { attention }, now);

test('the table', () => {
  expect(renderPools(list(), now, plain, Infinity)).toEqual([
    'POOL         STATE           SINCE  WAITING  WANTED  UNDER WAY  VMS  AVAILABLE  BOUND  HELD    ISO  WHY',
    'other/big    MaxAgents !        1h        5       3          1    6          1      4     2  2d 2h  2 VMs wait for an approval before it goes',
    'team/away    MachinePresent     1m        1       0          1    4          0      3     0  2d 2h  Waiting for 2 VsphereAgents to be gone',
    'team/gpu-2   Reconciled         2m        1       0          1    4          0      3     1  2d 2h  worker-9: Its Node is still there',
    'team/gpu-10  -                   -        -       -          -    -          -      -     0      -  no run has said anything yet',
    'team/old     Reconciled         2m        1       0          1    4          0      3     0  2d 2h  its spec has changed since',
  ]);
});

test.each<[columns: number, titles: string]>([
  [160, 'POOL STATE SINCE WAITING WANTED UNDER WAY VMS AVAILABLE BOUND HELD ISO WHY'],
  [125, 'POOL STATE WAITING WANTED UNDER WAY VMS AVAILABLE BOUND WHY'],
  [80, 'POOL STATE WAITING WANTED VMS WHY'],
])('a window of %i columns has room to say why', (columns, titles) => {
  const [head = '', ...rows] = renderPools(list(), now, plain, columns);
  expect(head.replaceAll(/ +/gu, ' ')).toBe(titles);
  for (const row of rows) expect(row.length).toBeLessThanOrEqual(columns);
});

test('what needs attention stands out in colours, and alone where that is asked for', () => {
  const [, first = ''] = renderPools(list(), now, coloured, Infinity);
  expect(first).toContain('\u001b[31mMaxAgents !');
  expect(list(true).map(({ name }) => name)).toEqual(['big']);
});
