import type { AggregateFacts } from '../../contracts/hypervisor/hypervisor.ts';
import { planAggregates } from './plan-aggregates.ts';
import { aggregate, aggregatesWith } from '../../test/fixtures/workflows/hypervisor.ts';

const inZone = (name: string, hasHost: boolean, zone: string): AggregateFacts =>
  aggregate(name, hasHost, { availability_zone: zone });

const rows: [
  why: string,
  wanted: string[],
  known: AggregateFacts[],
  hasServers: boolean,
  steps: string[] | { problem: RegExp },
][] = [
  ['what agrees stays', ['zone-a', 'tenants'], aggregatesWith('zone-a', 'tenants'), true, []],
  ['a name twice is one', ['zone-a', 'zone-a'], aggregatesWith('zone-a'), false, []],
  ['missing ones are added', ['zone-a', 'tenants'], aggregatesWith(), false, ['+zone-a,tenants']],
  [
    'add before remove: never without a filter',
    ['zone-a', 'tenants'],
    aggregatesWith('zone-a', 'tenant_filter_tests'),
    false,
    ['+tenants', '-tenant_filter_tests'],
  ],
  ['none is wanted', [], aggregatesWith('zone-a', 'tenants'), false, ['-zone-a,tenants']],
  [
    'all that do not exist are named',
    ['zone-a', 'x', 'tenants', 'y'],
    aggregatesWith(),
    false,
    { problem: /^aggregates not found: \[x y\]$/ },
  ],
  [
    'a zone is left before the next is entered, and all filters stay on meanwhile',
    ['b', 'tenants'],
    [inZone('a', true, 'a'), inZone('b', false, 'b'), aggregate('tests', true), aggregate('tenants', false)],
    false,
    ['+tenants', '-a', '+b', '-tests'],
  ],
  [
    'not with servers on the host',
    ['b'],
    [inZone('a', true, 'a'), inZone('b', false, 'b')],
    true,
    { problem: /Nova moves no host with servers/ },
  ],
  [
    'two zones are one too many',
    ['a', 'b'],
    [inZone('a', true, 'a'), inZone('b', false, 'b')],
    false,
    { problem: /in one zone only/ },
  ],
  [
    'two aggregates of one zone are not',
    ['a', 'a2'],
    [inZone('a', true, 'a'), inZone('a2', false, 'a')],
    true,
    ['+a2'],
  ],
];

test.each(rows)('%s', (_why, wanted, known, hasServers, expected) => {
  const { steps, problem } = planAggregates(wanted, known, 'node-1', hasServers);
  const shown = steps.map((step) =>
    step.do === 'addToAggregates' || step.do === 'removeFromAggregates'
      ? `${step.do === 'addToAggregates' ? '+' : '-'}${step.aggregates.map(({ name }) => name).join(',')}`
      : step.do,
  );
  if (Array.isArray(expected)) expect({ shown, problem }).toEqual({ shown: expected, problem: null });
  else expect({ shown, problem }).toEqual({ shown: [], problem: expect.stringMatching(expected.problem) as string });
});
