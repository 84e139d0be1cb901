import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
} from '../../contracts/hypervisor/hypervisor.ts';
import { planOffboarding } from './plan-offboarding.ts';
import {
  aggregatesWith,
  contextOf,
  disabledFor,
  nodeOf,
  novaOf,
  ownEvictionOf,
  providerOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';

interface Given extends Partial<HypervisorObservation> {
  desired?: Partial<DesiredHypervisor>;
  settings?: Partial<HypervisorSettings>;
}
const empty = { nova: disabledFor('drover: maintenance termination'), evictions: [ownEvictionOf('succeeded')] };
const outOfAggregates = { ...empty, aggregates: aggregatesWith() };
const withoutTraits = { ...outOfAggregates, provider: providerOf({ traits: [] }), desired: { appliedTraits: [] } };
const outOfNova = { ...withoutTraits, nova: null };
const recorded = { conditions: [], hypervisorId: null, serviceId: null, evicted: false, libVirtVersion: null };
const consent = { consent: ['delete-allocations' as const], consentBy: 'jane 2026-01-31T12:00:00Z' };
const leftover = {
  nova: disabledFor('drover: maintenance termination', { allocations: 1 }),
  provider: providerOf({ consumers: 1, someConsumers: ['gone'] }),
  evictions: [ownEvictionOf('failed', { message: 'something remains' })],
};
const guarded = { settings: { guardsDrain: true } };
const tainted = nodeOf({ offboardingTaint: true });

const rows: [why: string, given: Given, plan: string | RegExp][] = [
  ['first it is disabled', {}, 'act disable "drover: maintenance termination"'],
  [
    'then emptied',
    { nova: disabledFor('drover: maintenance termination', { servers: 1 }) },
    'act createEviction node-1 decommission',
  ],
  [
    'an eviction that failed ends the decommissioning (H10)',
    { ...empty, evictions: [ownEvictionOf('failed', { message: 'no room' })] },
    'rest: Eviction node-1 has not emptied node-1: no room',
  ],
  ['then the agents are driven off, where drover guards the drain', { ...empty, ...guarded }, 'act taintNode'],
  ['and looked for', { ...empty, ...guarded, node: tainted }, 'wait: a look at the agents on Node node-1'],
  [
    'and waited for',
    { ...empty, ...guarded, node: tainted, agentPods: ['b/y', 'a/x'] },
    'wait: 2 agent pod(s) still running on node: a/x, b/y',
  ],
  ['then it leaves its aggregates', { ...empty, ...guarded, node: tainted, agentPods: [] }, 'act -zone-a-tenants'],
  ['whether drover guards the drain or not', empty, 'act -zone-a-tenants'],
  ['then drover’s traits go', outOfAggregates, 'act updateTraits'],
  [
    'and are forgotten',
    { ...outOfAggregates, provider: providerOf({ traits: [] }) },
    'act patch [{"annotations":{"drover.dev/applied-traits":null}}]',
  ],
  ['then the service', withoutTraits, 'act deleteService service-id'],
  [
    'of exactly the id that it was registered as (H12)',
    { ...withoutTraits, nova: { ...empty.nova, serviceId: 'of-node-10' } },
    'wait: nova-compute on node-1 to be stopped: it has registered again, as service of-node-10',
  ],
  ['then the provider', outOfNova, 'act deleteProvider hypervisor-id'],
  [
    'also where Nova never knew the host any more (H12)',
    { ...outOfNova, evictions: [] },
    'act deleteProvider hypervisor-id',
  ],
  [
    'one that is not empty needs consent',
    { ...outOfNova, provider: providerOf({ traits: [], consumers: 6, someConsumers: ['a', 'b'] }) },
    /^rest: Resource provider hypervisor-id still has allocations of 6 consumer\(s\): a, b, …\. .*--consent delete-allocations/,
  ],
  [
    'that somebody gave',
    { ...outOfNova, provider: providerOf({ traits: [], consumers: 2 }), desired: { appliedTraits: [], ...consent } },
    `act deleteProvider hypervisor-id with allocations, by ${consent.consentBy}`,
  ],
  [
    'where nothing is allocated, nobody’s consent is used up',
    { ...outOfNova, desired: { appliedTraits: [], ...consent } },
    'act deleteProvider hypervisor-id',
  ],
  [
    'what nobody holds any more keeps it from being empty, and is named',
    { ...leftover },
    /^rest: Nothing but allocations of 1 consumer\(s\): gone is left of node-1\. .*--consent delete-allocations/,
  ],
  [
    'by consent it goes, and the host is emptied once more',
    { ...leftover, desired: consent },
    `act releaseAllocations hypervisor-id by ${consent.consentBy}, deleteEviction`,
  ],
  [
    'also where they were taken away, and news came before the Eviction was',
    { ...leftover, nova: empty.nova, desired: consent },
    'act deleteEviction',
  ],
  [
    'not without that consent',
    { ...leftover, nova: empty.nova },
    'rest: Eviction node-1 has not emptied node-1: something remains',
  ],
  [
    'not while servers are there',
    {
      ...leftover,
      nova: disabledFor('drover: maintenance termination', { allocations: 1, servers: 1 }),
      desired: consent,
    },
    'rest: Eviction node-1 has not emptied node-1: something remains',
  ],
  [
    'not while the Eviction is at it',
    { ...leftover, evictions: [ownEvictionOf('running')], desired: consent },
    'wait: Eviction node-1: running so far',
  ],
  [
    'not where a person stopped it',
    { ...leftover, evictions: [ownEvictionOf('stopped')], desired: consent },
    'rest: Eviction node-1 has not emptied node-1: stopped so far',
  ],
  ['a retry is a retry', { ...leftover, desired: { retry: 'now' } }, 'act deleteEviction'],
  [
    'another provider is none of this host’s',
    { ...outOfNova, provider: providerOf({ uuid: 'another', traits: [] }) },
    'done: Offboarding successful',
  ],
  ['all is gone', { ...outOfNova, provider: null }, 'done: Offboarding successful'],
  [
    'a host that never registered has nothing to take out',
    { nova: null, provider: null, aggregates: [], recorded },
    'done: Offboarding successful',
  ],
  [
    'a host of the same name that Nova knows anew is emptied first',
    { ...withoutTraits, nova: novaOf({ serviceId: 'new' }) },
    'act disable "drover: maintenance termination"',
  ],
  ['what the tests made goes', { nova: null, testServers: ['t'] }, 'act deleteTestServers'],
];

test.each(rows)('%s', (_why, { desired, settings, ...observed }, plan) => {
  const text = shown(
    planOffboarding(contextOf({ maintenance: 'termination', ...desired }, observed, undefined, settings)),
  );
  if (typeof plan === 'string') expect(text).toBe(plan);
  else expect(text).toMatch(plan);
});
