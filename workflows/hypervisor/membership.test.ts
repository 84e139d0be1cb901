import type { Condition } from '../../contracts/conditions.ts';
import type {
  ObservedAggregate,
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
} from '../../contracts/hypervisor/hypervisor.ts';
import {
  aggregate,
  aggregatesWith,
  contextOf,
  disabledFor,
  nodeOf,
  onboarding,
  ownEvictionOf,
  providerOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { isolationProblem, planAggregates, wantAggregates } from './membership.ts';

describe('which aggregates a host belongs in', () => {
  interface Given extends Partial<HypervisorObservation> {
    desired?: Partial<DesiredHypervisor>;
    settings?: Partial<HypervisorSettings>;
  }
  const terminating = { node: nodeOf({ terminatingSinceMs: 1 }) };
  const empty = { nova: disabledFor('drover: maintenance termination'), evictions: [ownEvictionOf('succeeded')] };
  const tests = ['zone-a', 'tenant_filter_tests'];
  const spec = ['zone-a', 'tenants'];

  const rows: [why: string, conditions: Condition[], given: Given, names: string[] | null, reason: string | null][] = [
    ['not registered', [onboarding('initial')], { nova: null }, null, null],
    ['the lifecycle is not driven', [onboarding('succeeded')], { desired: { lifecycleEnabled: false } }, null, null],
    ['registered, and nothing begun: never where guests come (H13)', [], {}, null, null],
    ['failed its tests: nor then (H13)', [onboarding('aborted')], {}, null, null],
    ['being registered', [onboarding('initial')], {}, tests, 'TestAggregates'],
    ['being tested', [onboarding('testing')], {}, tests, 'TestAggregates'],
    [
      'back from maintenance it is kept off by being disabled',
      [onboarding('testing')],
      { nova: disabledFor('drover: maintenance manual') },
      null,
      null,
    ],
    [
      'unless a server is to be started on it',
      [onboarding('testing')],
      { nova: disabledFor('drover: maintenance manual'), settings: { checks: ['smoke'] } },
      tests,
      'TestAggregates',
    ],
    ['traits first', [onboarding('handover')], { provider: providerOf({ traits: [] }) }, null, 'WaitingForTraits'],
    ['then those of the spec', [onboarding('handover')], {}, spec, 'Succeeded'],
    [
      'without traits too (H3)',
      [onboarding('handover')],
      { desired: { customTraits: [], appliedTraits: [] }, provider: providerOf({ traits: [] }) },
      spec,
      'Succeeded',
    ],
    ['in service', [onboarding('succeeded')], {}, spec, 'Succeeded'],
    ['in maintenance', [onboarding('succeeded')], { desired: { maintenance: 'manual' } }, spec, 'Succeeded'],
    [
      'the Node goes: they stay while it is emptied',
      [onboarding('succeeded')],
      { ...terminating, ...empty, evictions: [ownEvictionOf('running')] },
      null,
      'EvictionInProgress',
    ],
    [
      'and where that failed (H10)',
      [onboarding('succeeded')],
      { ...terminating, ...empty, evictions: [ownEvictionOf('failed')] },
      null,
      'EvictionInProgress',
    ],
    ['then they go', [onboarding('succeeded')], { ...terminating, ...empty }, [], 'Terminating'],
  ];

  test.each(rows)('%s', (_why, conditions, { desired, settings, ...observed }, names, reason) => {
    const wanted = wantAggregates(contextOf(desired, observed, conditions, settings));
    expect([wanted.names, wanted.condition?.reason ?? null]).toEqual([names, reason]);
  });
});

describe('the way there', () => {
  const inZone = (name: string, hasHost: boolean, zone: string): ObservedAggregate =>
    aggregate(name, hasHost, { availability_zone: zone });

  const rows: [
    why: string,
    wanted: string[],
    known: ObservedAggregate[],
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
      ['+tenants -tenant_filter_tests'],
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
      ['+tenants -a +b -tests'],
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
    const shown = steps.flatMap((step) =>
      step.kind === 'changeAggregates'
        ? step.changes
            .map(
              ({ kind, aggregates }) => `${kind === 'add' ? '+' : '-'}${aggregates.map(({ name }) => name).join(',')}`,
            )
            .join(' ')
        : [],
    );
    if (Array.isArray(expected)) expect({ shown, problem }).toEqual({ shown: expected, problem: null });
    else expect({ shown, problem }).toEqual({ shown: [], problem: expect.stringMatching(expected.problem) as string });
  });
});

describe('whom the test aggregate lets in', () => {
  const rows: [why: string, metadata: Record<string, string>, isProblem: boolean][] = [
    ['one project', { filter_tenant_id: 'p' }, false],
    ['several keys', { filter_tenant_id_2: 'p' }, false],
    ['none', {}, true],
    ['another filter', { ssd: 'true' }, true],
    ['a key without a project', { filter_tenant_id: ' ' }, true],
  ];
  test.each(rows)('%s', (_why, metadata, isProblem) => {
    expect(isolationProblem([aggregate('other', true), aggregate('tests', true, metadata)], 'tests')).toEqual(
      isProblem ? expect.stringMatching(/tests lets every project in.*filter_tenant_id/u) : null,
    );
  });

  test('one that is not there is named as missing elsewhere', () => {
    expect(isolationProblem([], 'tests')).toBeNull();
  });
});
