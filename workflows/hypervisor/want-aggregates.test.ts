import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
} from '../../contracts/hypervisor/hypervisor.ts';
import {
  contextOf,
  disabledFor,
  nodeOf,
  onboarding,
  ownEvictionOf,
  providerOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { wantAggregates } from './want-aggregates.ts';

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
