import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
} from '../../contracts/hypervisor/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';
import {
  aggregatesWith,
  beginMs,
  contextOf,
  disabledFor,
  loneServiceOf,
  nodeOf,
  novaOf,
  onboarding,
  ownEvictionOf,
  providerOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { guardDrain, planOffboarding, releaseNode } from './offboarding.ts';
import { execute } from './types.ts';

describe('the way out of Nova', () => {
  interface Given extends Partial<HypervisorObservation> {
    desired?: Partial<DesiredHypervisor>;
    settings?: Partial<HypervisorSettings>;
  }
  const empty = { nova: disabledFor('drover: maintenance termination'), evictions: [ownEvictionOf('succeeded')] };
  const outOfAggregates = { ...empty, aggregates: aggregatesWith() };
  const withoutTraits = { ...outOfAggregates, provider: providerOf({ traits: [] }), desired: { appliedTraits: [] } };
  const outOfNova = { ...withoutTraits, nova: null };
  const recorded = { ...contextOf().observed.recorded, conditions: [], hypervisorId: null, serviceId: null };
  const consent = { consent: ['delete-allocations' as const], consentBy: 'jane 2026-01-31T12:00:00Z' };
  const leftover = {
    nova: disabledFor('drover: maintenance termination', { allocations: 1 }),
    provider: providerOf({ consumers: 1, someConsumers: ['gone'] }),
    evictions: [ownEvictionOf('failed', { message: 'the host still has 1 allocation in Placement (of gone)' })],
  };
  const guarded = { settings: { guardsDrain: true } };
  const tainted = nodeOf({ offboardingTaint: true });

  const rows: [why: string, given: Given, plan: string | RegExp][] = [
    [
      'first it is disabled',
      {},
      'execute disable "drover: maintenance termination", createEviction node-1 decommission',
    ],
    [
      'then emptied',
      { nova: disabledFor('drover: maintenance termination', { servers: 1 }) },
      'execute createEviction node-1 decommission',
    ],
    [
      'an eviction that failed ends the decommissioning (H10)',
      { ...empty, evictions: [ownEvictionOf('failed', { message: 'no room' })] },
      'blocked: Eviction node-1 has not emptied node-1: no room. `drover describe node-1` says why',
    ],
    ['then the agents are driven off, where drover guards the drain', { ...empty, ...guarded }, 'execute taintNode'],
    ['and observed', { ...empty, ...guarded, node: tainted }, 'wait: the agents on Node node-1 to be observed'],
    [
      'and waited for',
      { ...empty, ...guarded, node: tainted, agentPods: ['b/y', 'a/x'] },
      'wait: 2 agent pod(s) still running on node: a/x, b/y',
    ],
    [
      'then it leaves its aggregates',
      { ...empty, ...guarded, node: tainted, agentPods: [] },
      'execute -zone-a-tenants, updateTraits, deleteService service-id',
    ],
    [
      'whether drover guards the drain or not',
      empty,
      'execute -zone-a-tenants, updateTraits, deleteService service-id',
    ],
    ['and drover’s traits go', outOfAggregates, 'execute updateTraits, deleteService service-id'],
    ['then the service', withoutTraits, 'execute deleteService service-id'],
    [
      'of exactly the id that it was registered as (H12)',
      { ...withoutTraits, nova: { ...empty.nova, serviceId: 'of-node-10' } },
      'wait: nova-compute on node-1 to be stopped: it has registered again, as service of-node-10',
    ],
    ['then the provider', outOfNova, 'execute deleteProvider hypervisor-id'],
    [
      'also where Nova never knew the host any more (H12)',
      { ...outOfNova, evictions: [] },
      'execute deleteProvider hypervisor-id',
    ],
    [
      'one that is not empty needs consent',
      { ...outOfNova, provider: providerOf({ traits: [], consumers: 6, someConsumers: ['a', 'b'] }) },
      /^blocked: Resource provider hypervisor-id still has allocations of 6 consumer\(s\): a, b, …\. .*--consent delete-allocations/,
    ],
    [
      'that a user gave',
      { ...outOfNova, provider: providerOf({ traits: [], consumers: 2 }), desired: { appliedTraits: [], ...consent } },
      `execute deleteProvider hypervisor-id with allocations, by ${consent.consentBy}`,
    ],
    [
      'where nothing is allocated, no consent is used up',
      { ...outOfNova, desired: { appliedTraits: [], ...consent } },
      'execute deleteProvider hypervisor-id',
    ],
    [
      'what no server holds any more keeps it from being empty, and is named',
      { ...leftover },
      /^blocked: Nothing but allocations of 1 consumer\(s\): gone is left of node-1\. .*--consent delete-allocations/,
    ],
    [
      'by consent it goes, and the host is emptied once more',
      { ...leftover, desired: consent },
      `execute releaseAllocations hypervisor-id by ${consent.consentBy}, deleteEviction`,
    ],
    [
      'also where they were taken away, and a change came before the Eviction was',
      { ...leftover, nova: empty.nova, desired: consent },
      'execute deleteEviction',
    ],
    [
      'not without that consent',
      { ...leftover, nova: empty.nova },
      'blocked: Eviction node-1 has not emptied node-1: the host still has 1 allocation in Placement (of gone). `drover describe node-1` says why',
    ],
    [
      'nor where it failed over anything else, which would fail the next one too',
      {
        ...leftover,
        nova: empty.nova,
        desired: consent,
        evictions: [ownEvictionOf('failed', { message: 'Refused: no node agent reports on node-1' })],
      },
      'blocked: Eviction node-1 has not emptied node-1: Refused: no node agent reports on node-1. `drover describe node-1` says why',
    ],
    [
      'not while servers are there',
      {
        ...leftover,
        nova: disabledFor('drover: maintenance termination', { allocations: 1, servers: 1 }),
        desired: consent,
      },
      'blocked: Eviction node-1 has not emptied node-1: the host still has 1 allocation in Placement (of gone). `drover describe node-1` says why',
    ],
    [
      'not while the Eviction is at it',
      { ...leftover, evictions: [ownEvictionOf('running')], desired: consent },
      'wait: Eviction node-1: running so far',
    ],
    [
      'not where a user stopped it',
      { ...leftover, evictions: [ownEvictionOf('stopped')], desired: consent },
      'blocked: Eviction node-1 has not emptied node-1: stopped so far. `drover describe node-1` says why',
    ],
    ['a retry is a retry', { ...leftover, desired: { retry: 'now' } }, 'execute deleteEviction'],
    [
      'another provider is none of this host’s',
      { ...outOfNova, provider: providerOf({ uuid: 'another', traits: [] }) },
      'reconciled: Offboarding successful',
    ],
    ['all is gone', { ...outOfNova, provider: null }, 'reconciled: Offboarding successful'],
    [
      'a host that never registered has nothing to take out',
      { nova: null, provider: null, aggregates: [], recorded },
      'reconciled: Offboarding successful',
    ],
    [
      'a host of the same name that Nova knows anew is emptied first',
      { ...withoutTraits, nova: novaOf({ serviceId: 'new' }) },
      'execute disable "drover: maintenance termination"',
    ],
    [
      'a service without a hypervisor goes too: left behind it would count as one that has registered again',
      { ...outOfNova, loneService: loneServiceOf('down') },
      'execute deleteService service-id',
    ],
    [
      'it is disabled first',
      { ...outOfNova, loneService: loneServiceOf('down', 'enabled') },
      'execute disable "drover: maintenance termination"',
    ],
    [
      'and waited for while nova-compute runs',
      { ...outOfNova, loneService: loneServiceOf('up') },
      /^wait: nova-compute on node-1 to be stopped: it runs, without a hypervisor in Nova/,
    ],
    [
      'nothing can be moved off it: what Nova has there is for an operator',
      { ...outOfNova, loneService: loneServiceOf('down', 'disabled', { servers: 2 }) },
      /^wait: an operator to start nova-compute on node-1, or to move or delete the 2 server\(s\)/,
    ],
    [
      'nothing is removed from it meanwhile: it keeps its aggregates and traits',
      {
        ...empty,
        nova: null,
        aggregates: aggregatesWith('zone-a', 'tenants'),
        loneService: loneServiceOf('down', 'disabled', { servers: 2 }),
      },
      /^wait: an operator to start nova-compute on node-1, or to move or delete the 2 server\(s\)/,
    ],
    [
      'nor are its agents driven off, nova-compute among them',
      { ...outOfNova, ...guarded, loneService: loneServiceOf('down', 'disabled', { servers: 2 }) },
      /^wait: an operator to start nova-compute on node-1, or to move or delete the 2 server\(s\)/,
    ],
    [
      'but guests are kept off it',
      { ...outOfNova, ...guarded, loneService: loneServiceOf('up', 'enabled', { servers: 2 }) },
      'execute disable "drover: maintenance termination"',
    ],
    [
      'without servers the agents go',
      { ...outOfNova, ...guarded, loneService: loneServiceOf('down') },
      'execute taintNode',
    ],
    [
      'one that is another is not touched',
      { ...outOfNova, provider: null, loneService: loneServiceOf('down', 'disabled', { serviceId: 'another' }) },
      'wait: nova-compute on node-1 to be stopped: it has registered again, as service another',
    ],
    [
      'it leaves its aggregates under the name that Nova has for it',
      { ...outOfNova, aggregates: aggregatesWith('tenants'), loneService: loneServiceOf('down') },
      'execute -tenants, deleteService service-id',
    ],
    ['what the tests made goes', { nova: null, testServers: ['t'] }, 'execute deleteTestServers'],
  ];

  test.each(rows)('%s', (_why, { desired, settings, ...observed }, plan) => {
    const text = shown(
      planOffboarding(contextOf({ maintenance: 'termination', ...desired }, observed, undefined, settings)),
    );
    if (typeof plan === 'string') expect(text).toBe(plan);
    else expect(text).toMatch(plan);
  });
});

describe('the drain of the Node', () => {
  const terminating = nodeOf({ terminatingSinceMs: beginMs });
  /** Nothing of the host is left in Nova and Placement. */
  const gone = {
    node: nodeOf({ terminatingSinceMs: beginMs, offboardingTaint: true }),
    nova: null,
    provider: null,
    aggregates: [],
    agentPods: [],
  };

  const rows: [
    why: string,
    conditions: Condition[],
    observed: Partial<HypervisorObservation>,
    desired: Partial<DesiredHypervisor>,
    step: string,
  ][] = [
    ['a new host is not ready', [], {}, {}, 'guard 1 not ready'],
    ['nor one that is being tested', [onboarding('testing')], {}, {}, 'guard 1 not ready'],
    ['an onboarded one is', [onboarding('succeeded')], {}, {}, 'guard 1 ready'],
    ['what is so stays', [onboarding('succeeded')], { drainGuard: { minAvailable: 1, ready: true } }, {}, 'nothing'],
    [
      'the drain is held back while the Node terminates',
      [onboarding('succeeded')],
      { node: terminating },
      {},
      'guard 1 ready',
    ],
    ['until the host is out of Nova', [onboarding('succeeded')], gone, {}, 'guard 0 ready'],
    ['also where it was never onboarded', [onboarding('aborted')], gone, {}, 'guard 0 not ready'],
    [
      'not while a provider is left',
      [onboarding('succeeded')],
      { ...gone, provider: providerOf() },
      {},
      'guard 1 ready',
    ],
    ['nor while agents run', [onboarding('succeeded')], { ...gone, agentPods: ['a/b'] }, {}, 'guard 1 ready'],
    ['without a Node there is nothing to guard', [], { node: null }, {}, 'nothing'],
    ['nor where the lifecycle is not driven', [], {}, { lifecycleEnabled: false }, 'nothing'],
    [
      'what it held back is let go when the lifecycle is driven no more',
      [onboarding('succeeded')],
      { drainGuard: { minAvailable: 1, ready: true } },
      { lifecycleEnabled: false },
      'guard 0 ready',
    ],
    [
      'also on a Node that terminates: nothing would ever let it go',
      [],
      { node: terminating, drainGuard: { minAvailable: 1, ready: false } },
      { lifecycleEnabled: false, maintenance: 'termination' },
      'guard 0 not ready',
    ],
    ['and that stays', [], { drainGuard: { minAvailable: 0, ready: true } }, { lifecycleEnabled: false }, 'nothing'],
  ];

  test.each(rows)('%s', (_why, conditions, observed, desired, step) => {
    const found = guardDrain(contextOf(desired, observed, conditions, { guardsDrain: true }));
    expect(found === null ? 'nothing' : shown(execute(found)).replace('execute ', '')).toBe(step);
  });

  test('it is an option', () => {
    expect(guardDrain(contextOf())).toBeNull();
  });
});

describe('the taint of a termination that was taken back', () => {
  const tainted = nodeOf({ offboardingTaint: true });
  const letGo = { minAvailable: 0, ready: true } as const;
  const rows: [
    why: string,
    observed: Partial<HypervisorObservation>,
    desired: Partial<DesiredHypervisor>,
    settings: Partial<HypervisorSettings>,
    step: string,
  ][] = [
    ['it goes', { node: tainted }, {}, {}, 'untaintNode'],
    ['also in a maintenance', { node: tainted }, { maintenance: 'manual' }, {}, 'untaintNode'],
    ['not while the host goes', { node: tainted }, { maintenance: 'termination' }, {}, 'nothing'],
    ['nor while its Node does', { node: nodeOf({ offboardingTaint: true, terminatingSinceMs: 1 }) }, {}, {}, 'nothing'],
    [
      'nor while it fails on its way out',
      { node: nodeOf({ offboardingTaint: true, deletedAtMs: 1 }) },
      { maintenance: 'ha' },
      {},
      'nothing',
    ],
    ['there is none', {}, {}, {}, 'nothing'],
    ['the Node is gone', { node: null }, {}, {}, 'nothing'],
    ['not drover’s where it guards no drains', { node: tainted }, {}, { guardsDrain: false }, 'nothing'],
    ['nor where the lifecycle is not driven', { node: tainted }, { lifecycleEnabled: false }, {}, 'nothing'],
    [
      'but where drover held the drain back when it was',
      { node: tainted, drainGuard: letGo },
      { lifecycleEnabled: false },
      {},
      'untaintNode',
    ],
    [
      'also where a user still wants the host to go: it is not taken out of Nova',
      { node: tainted, drainGuard: letGo },
      { lifecycleEnabled: false, maintenance: 'termination' },
      {},
      'untaintNode',
    ],
    [
      'not while the Node terminates',
      { node: nodeOf({ offboardingTaint: true, terminatingSinceMs: 1 }), drainGuard: letGo },
      { lifecycleEnabled: false },
      {},
      'nothing',
    ],
  ];

  test.each(rows)('%s', (_why, observed, desired, settings, step) => {
    const found = releaseNode(contextOf(desired, observed, undefined, { guardsDrain: true, ...settings }));
    expect(found === null ? 'nothing' : shown(execute(found)).replace('execute ', '')).toBe(step);
  });
});
