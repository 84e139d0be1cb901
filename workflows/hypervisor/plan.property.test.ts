import type { Condition } from '../../contracts/conditions.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorConsents, maintenanceModes } from '../../contracts/hypervisor/hypervisor.ts';
import type {
  DesiredHypervisor,
  ObservedEviction,
  HypervisorObservation,
} from '../../contracts/hypervisor/hypervisor.ts';
import { maintenanceReasonPrefix, nodeMetadata, replacedMaintenanceReasonPrefix } from '../../contracts/ids.ts';
import {
  aggregatesWith,
  beginMs,
  conditionOf,
  desiredOf,
  minute,
  nodeOf,
  novaOf,
  observedOf,
  onboarding,
  ownEvictionOf,
  providerOf,
  settings,
  beyondHost,
  loneServiceOf,
  testOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { runToEnd } from '../../test/models/hypervisor.ts';
import type { World } from '../../test/models/hypervisor.ts';
import { modeOf, remainsOn } from './judge.ts';
import { planHypervisor } from './plan.ts';
import { emptyMemory } from './memory.ts';
import { statusOf } from './status.ts';
import type { HypervisorStep } from './types.ts';
import * as fc from 'fast-check';

const runs = { numRuns: Number(process.env['DROVER_FUZZ_RUNS'] ?? 400) };
/** One of these lists. */
const lists = (...all: string[][]): fc.Arbitrary<string[]> => fc.nat(all.length - 1).map((index) => all[index] ?? []);
const count = fc.constantFrom(0, 0, 1, 3);
const reasons = [
  null,
  'broken',
  'drover: maintenance manual',
  'drover: maintenance auto: disks',
  'drover: eviction node-1',
  'Hypervisor CRD: spec.maintenance=auto',
  'New compute service disabled due to config option.',
  'AUTO: Connection to libvirt lost',
];

const novas = (options: { reasons: (string | null)[]; forcedDown: boolean[]; ids: string[] }) =>
  fc.option(
    fc
      .record({
        status: fc.constantFrom('enabled' as const, 'disabled' as const),
        disabledReason: fc.constantFrom(...options.reasons),
        state: fc.constantFrom('up' as const, 'down' as const),
        forcedDown: fc.constantFrom(...options.forcedDown),
        servers: count,
        migrations: count,
        unconfirmedResizes: count,
        allocations: count,
        serviceId: fc.constantFrom(...options.ids),
      })
      .map(({ status, disabledReason, state, forcedDown, ...more }) =>
        novaOf({
          ...more,
          service: { status, disabledReason: status === 'enabled' ? null : disabledReason, state, forcedDown },
        }),
      ),
  );

const onboardings: fc.Arbitrary<Condition[]> = fc.constantFrom<Condition[]>(
  [],
  [onboarding('initial')],
  [onboarding('testing')],
  [onboarding('handover')],
  [onboarding('succeeded')],
  [onboarding('aborted', 'no zone')],
  [conditionOf('Onboarding', 'True', 'Odd')],
);
const before: fc.Arbitrary<Condition[]> = fc.constantFrom<Condition[]>(
  [],
  [conditionOf('Evicting', 'True', 'Running')],
  [conditionOf('Evicting', 'False', 'Succeeded')],
  [conditionOf('Evicting', 'Unknown', 'Failed')],
  [conditionOf('Evicting', 'Unknown', 'Stopped')],
);
const ends: fc.Arbitrary<Condition[]> = fc.constantFrom<Condition[]>(
  [],
  [conditionOf('Offboarded', 'False', 'Offboarding')],
  [conditionOf('Offboarded', 'True', 'Offboarded')],
  [conditionOf('Terminating', 'True', 'Terminating')],
);
const evictions: fc.Arbitrary<ObservedEviction[]> = fc.uniqueArray(
  fc
    .record({
      name: fc.constantFrom('node-1', 'theirs', 'node-1-manual-1'),
      ownerUid: fc.constantFrom('hv-1', null, 'another'),
      deleting: fc.boolean(),
      state: fc.constantFrom('waiting', 'running', 'succeeded', 'failed', 'stopped'),
    })
    .map((more) => ownEvictionOf(more.state, { ...more, uid: more.name })),
  { selector: ({ name }) => name, maxLength: 3 },
);
const nodes = fc.option(
  fc
    .record({
      ready: fc.boolean(),
      cordoned: fc.boolean(),
      terminatingSinceMs: fc.constantFrom(null, null, beginMs),
      deletedAtMs: fc.constantFrom(null, null, beginMs),
      bootId: fc.constantFrom('boot-1', 'boot-2'),
      inPlaceUpdate: fc.constantFrom(null, 'SelectedForUpdate', 'UpdateFailed'),
      offboardingTaint: fc.boolean(),
      labels: fc
        .subarray(Object.entries({ ...nodeOf().labels, [nodeMetadata.selectedForUpdate]: 'true' }))
        .map((entries) => Object.fromEntries(entries)),
      annotations: fc.constantFrom(
        {},
        { [nodeMetadata.aggregates]: 'tenants' },
        { [nodeMetadata.customTraits]: 'CUSTOM_B' },
      ),
    })
    .map((more) => nodeOf(more)),
);

const desireds: fc.Arbitrary<DesiredHypervisor> = fc
  .record({
    lifecycleEnabled: fc.boolean(),
    skipTests: fc.boolean(),
    highAvailability: fc.boolean(),
    maintenance: fc.constantFrom(...maintenanceModes),
    generation: fc.constantFrom(1, 2),
    customTraits: lists([], ['CUSTOM_FAST'], ['CUSTOM_NEW', 'HW_CPU_X86_VMX'], ['fast']),
    aggregates: lists([], ['zone-a', 'tenants'], ['nowhere']),
    appliedTraits: lists([], ['CUSTOM_FAST'], ['CUSTOM_OLD', 'HW_CPU_X86_VMX']),
    fromNode: lists(desiredOf().fromNode, [], ['maintenance', 'lifecycleEnabled', 'skipTests']),
    nodeUid: fc.constantFrom('node-uid', null),
    rollingUpdateBootId: fc.constantFrom(null, 'boot-1'),
    retry: fc.constantFrom(null, 'now'),
    ownedByNode: fc.boolean(),
    touchedByKubectl: fc.boolean(),
    deleting: fc.constantFrom(false, false, false, true),
    labels: fc.constantFrom(desiredOf().labels, {}),
    consent: fc.subarray([...hypervisorConsents]),
  })
  .map((more) => desiredOf({ ...more, consentBy: more.consent.length === 0 ? null : 'jane 2026-01-31T12:00:00Z' }));

const anyObservation: fc.Arbitrary<HypervisorObservation> = fc
  .record({
    nova: novas({ reasons, forcedDown: [false, true], ids: ['service-id', 'another'] }),
    lone: fc.option(
      fc
        .record({
          state: fc.constantFrom('up' as const, 'down' as const),
          status: fc.constantFrom('enabled' as const, 'disabled' as const),
          servers: count,
          serviceId: fc.constantFrom('service-id', 'another'),
        })
        .map(({ state, status, ...more }) => loneServiceOf(state, status, more)),
    ),
    certificate: fc.constantFrom(null, 'requested' as const, 'missing' as const, 'forbidden' as const),
    node: nodes,
    evictions,
    testServers: lists([], ['t']),
    provider: fc.option(
      fc
        .record({
          traits: fc.subarray(['CUSTOM_FAST', 'CUSTOM_OLD', 'CUSTOM_THEIRS', 'HW_CPU_X86_VMX']),
          consumers: count,
        })
        .map((more) => providerOf(more)),
    ),
    aggregates: fc.subarray(['zone-a', 'tenants', 'tenant_filter_tests']).map((names) => aggregatesWith(...names)),
    agentPods: fc.option(lists([], ['a/b'])),
    hold: fc.constantFrom(
      null,
      null,
      { reason: 'Fenced', message: 'it was fenced' },
      { reason: 'NodeFailure', message: 'it was fenced' },
    ),
    failure: fc.constantFrom(
      null,
      null,
      { reason: 'NovaUnavailable', message: 'Nova is away', retryable: true, retryAtMs: beginMs + minute },
      { reason: 'CredentialRefused', message: 'refused', retryable: false, retryAtMs: beginMs + minute },
    ),
    onboarding: onboardings,
    before,
    ends,
    hypervisorId: fc.constantFrom('hypervisor-id', null),
    serviceId: fc.constantFrom('service-id', null),
    evicted: fc.boolean(),
  })
  .map(({ onboarding: its, before: was, ends: ending, hypervisorId, serviceId, evicted, lone, ...more }) => {
    const recorded = {
      conditions: [...its, ...was, ...ending],
      hypervisorId,
      serviceId,
      evicted,
      libVirtVersion: null,
      traits: null,
      aggregates: null,
      internalIp: null,
    };
    return observedOf({ ...more, loneService: more.nova === null ? lone : null, recorded });
  });

const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** What a step would do that drover may not. */
function violationOf(step: HypervisorStep, desired: DesiredHypervisor, observed: HypervisorObservation): string | null {
  const { nova, provider, evictions: all, recorded } = observed;
  const mode = modeOf(desired, observed.node);
  switch (step.kind) {
    case 'disableService':
      return mode !== '' && (nova ?? observed.loneService)?.service.status === 'enabled'
        ? null
        : 'disables a host that is to be in service';
    case 'enableService': {
      const reason = nova?.service.disabledReason ?? '';
      const isOurs =
        reason.startsWith(maintenanceReasonPrefix) ||
        reason.startsWith(replacedMaintenanceReasonPrefix) ||
        reason.startsWith('New compute service');
      return isOurs &&
        step.carrying === reason &&
        observed.hold === null &&
        nova?.service.forcedDown === false &&
        mode === ''
        ? null
        : 'enables what another party disabled';
    }
    case 'deleteEviction':
      return all.some(({ uid, ownerUid }) => uid === step.uid && ownerUid === desired.uid)
        ? null
        : 'deletes another party’s Eviction';
    case 'liftForcedDown':
      return desired.consent.includes('lift-forced-down') &&
        step.consentBy === desired.consentBy &&
        observed.hold?.reason !== 'NodeFailure' &&
        nova?.service.forcedDown === true
        ? null
        : 'takes back that a host is forced down';
    case 'untaintNode':
      return mode !== 'termination' && observed.node?.offboardingTaint === true ? null : 'lets agents back';
    case 'deleteService':
      if (observed.loneService !== null)
        return mode === 'termination' &&
          desired.lifecycleEnabled &&
          nova === null &&
          observed.loneService.servers === 0 &&
          observed.loneService.service.status === 'disabled' &&
          observed.loneService.service.state === 'down' &&
          [null, observed.loneService.serviceId].includes(recorded.serviceId)
          ? null
          : 'removes a service';
      return mode === 'termination' &&
        desired.lifecycleEnabled &&
        nova !== null &&
        remainsOn(nova).length === 0 &&
        step.serviceId === nova.serviceId &&
        [null, nova.serviceId].includes(recorded.serviceId) &&
        nova.service.status === 'disabled'
        ? null
        : 'removes a service';
    case 'releaseAllocations':
      return mode === 'termination' &&
        desired.consent.includes('delete-allocations') &&
        step.consentBy === desired.consentBy &&
        nova?.servers === 0 &&
        nova.migrations === 0 &&
        nova.unconfirmedResizes === 0 &&
        nova.service.status === 'disabled'
        ? null
        : 'takes allocations away';
    case 'deleteProvider':
      return mode === 'termination' &&
        nova === null &&
        observed.loneService === null &&
        (provider?.consumers === 0 ||
          (desired.consent.includes('delete-allocations') && step.consentBy === desired.consentBy)) &&
        step.providerId === recorded.hypervisorId
        ? null
        : 'removes a provider';
    case 'updateTraits':
      return step.remove.every((trait) => trait.startsWith('CUSTOM_') && desired.appliedTraits.includes(trait))
        ? null
        : 'takes a trait away that is not its own';
    case 'deleteTestServers':
      return step.ids.every((id) => observed.testServers.includes(id)) ? null : 'deletes a server';
    case 'createHypervisor':
    case 'patchHypervisor':
    case 'createEviction':
    case 'setEvictionDeadline':
    case 'taintNode':
    case 'ensureCertificate':
    case 'ensureDrainGuard':
    case 'changeAggregates':
    case 'runChecks':
    case 'signalNodeFailure':
      return null;
  }
}

test('whatever is observed, a decision comes to an end, touches only what is drover’s, and says nothing that is not so', () => {
  fc.assert(
    fc.property(fc.option(desireds), anyObservation, anyMemory, (desired, observed, memory) => {
      const nowMs = beginMs + 3 * minute;
      const situation = { desired, observed, settings, memory, askedMs: nowMs, nowMs };
      const plan = planHypervisor(situation);
      const status = statusOf(situation, plan);
      if (plan.kind === 'execute') {
        expect(plan.steps.length).toBeGreaterThan(0);
        for (const step of plan.steps) {
          expect(step.summary).not.toBe('');
          expect(step.phase).not.toBe('');
          if (desired !== null) expect(violationOf(step, desired, observed)).toBeNull();
        }
        if (observed.failure !== null && desired?.deleting === false)
          expect(plan.steps.map(({ kind }) => kind)).toEqual(['signalNodeFailure']);
      }
      if (status === null) return;
      const { nova } = observed;
      if (status.evicted === true)
        expect(nova !== null && nova.service.status === 'disabled' ? remainsOn(nova) : ['enabled']).toEqual([]);
      for (const { reason, message, type } of status.conditions) {
        expect(reason).toMatch(reasonPattern);
        expect(message.length).toBeLessThan(32_768);
        expect(status.removed ?? []).not.toContain(type);
      }
      expect(new Set(status.conditions.map(({ type }) => type)).size).toBe(status.conditions.length);
    }),
    runs,
  );
});

const anyMemory = fc
  .record({
    tests: fc.subarray([
      testOf('libvirt', null),
      testOf('ovs', 'NovaUnavailable'),
      testOf('ceph', 'CredentialRefused'),
      beyondHost('CephUnhealthy'),
    ]),
    refusal: fc.constantFrom(null, null, 'no section'),
  })
  .map((more) => ({ ...emptyMemory, ...more }));

/** A world where everything works in the end, from whatever it is now. */
const benign: fc.Arbitrary<World> = fc
  .record({
    desired: desireds,
    observed: anyObservation,
    nova: novas({
      reasons: [
        'drover: maintenance manual',
        'Hypervisor CRD: spec.maintenance=auto',
        'New compute service disabled due to config option.',
      ],
      forcedDown: [false],
      ids: ['service-id'],
    }),
    maintenance: fc.constantFrom(...maintenanceModes),
    terminates: fc.boolean(),
    smoke: fc.boolean(),
    guardsDrain: fc.boolean(),
    evictions,
  })
  .map(({ desired, observed, nova, maintenance, terminates, smoke, guardsDrain, evictions: all }) => ({
    desired: {
      ...desired,
      uid: 'hv-1',
      lifecycleEnabled: true,
      maintenance,
      fromNode: desiredOf().fromNode,
      labels: desiredOf().labels,
      customTraits: ['CUSTOM_NEW'],
      aggregates: ['zone-a', 'tenants'],
      retry: 'now',
      deleting: false,
      nodeUid: 'node-uid',
      rollingUpdateBootId: null,
      consent: ['delete-allocations' as const],
      consentBy: 'jane 2026-01-31T12:00:00Z',
    },
    observed: {
      ...observed,
      nova: nova === null ? null : { ...nova, service: { ...nova.service, state: 'up' as const } },
      // What is left of a nova-compute that is stopped.
      loneService:
        nova !== null || observed.loneService === null
          ? null
          : loneServiceOf('down', observed.loneService.service.status, {
              serviceId: observed.recorded.serviceId ?? 'service-id',
            }),
      node: nodeOf({ terminatingSinceMs: terminates ? beginMs : null }),
      evictions: all,
      hold: null,
      failure: null,
      provider: observed.provider ?? providerOf(),
      recorded: {
        ...observed.recorded,
        conditions: observed.recorded.conditions.filter(({ type }) => type !== 'Offboarded' && type !== 'Terminating'),
      },
    },
    settings: { ...settings, guardsDrain, checks: smoke ? ['libvirt' as const, 'smoke' as const] : settings.checks },
    nowMs: beginMs + minute,
    memory: emptyMemory,
    evictionsEnd: 'succeeded' as const,
    testsFail: false,
    registers: nova ?? novaOf(),
  }));

const target = (world: World): LifecycleState => {
  const mode = world.desired === null ? '' : modeOf(world.desired, world.observed.node);
  return mode === '' ? 'Active' : mode === 'termination' ? 'Decommissioned' : 'Maintenance';
};

/** How far each state is on the way to where a host is going. */
const ranks: Record<'Active' | 'Maintenance' | 'Decommissioned', Partial<Record<LifecycleState, number>>> = {
  Active: { Initial: 0, Aborted: 0, Evicting: 0, Maintenance: 0, Onboarding: 1, Testing: 2, Ready: 3, Active: 4 },
  Maintenance: { Initial: 0, Aborted: 0, Onboarding: 0, Testing: 0, Ready: 0, Active: 0, Evicting: 1, Maintenance: 2 },
  Decommissioned: { Evicting: 0, Decommissioned: 1 },
};

test('where everything works in the end, every host comes to where it should be, and its state never goes backwards', () => {
  fc.assert(
    fc.property(benign, (world) => {
      const { plan, states, steps, lies, world: end } = runToEnd(world);
      const where = target(end);
      expect({
        plan: plan.kind,
        state: states.at(-1),
        outcome: plan.kind === 'done' && plan.outcome,
      }).toEqual({ plan: 'done', state: where, outcome: 'reconciled' });
      expect(lies).toEqual([]);
      const rank = (state: LifecycleState): number => ranks[where as keyof typeof ranks][state] ?? -1;
      expect(states).toEqual(states.toSorted((a, b) => rank(a) - rank(b)));
      // A second run finds nothing to do.
      expect(runToEnd(end).steps).toEqual([]);
      if (where === 'Decommissioned')
        expect([end.observed.nova, end.observed.provider?.uuid === end.observed.recorded.hypervisorId]).toEqual([
          null,
          false,
        ]);
      if (where === 'Active')
        expect(steps.filter((step) => step.kind === 'deleteService' || step.kind === 'disableService')).toEqual([]);
    }),
    runs,
  );
});

test('where nothing works, every host comes to rest and says why', () => {
  fc.assert(
    fc.property(benign, fc.boolean(), (world, registers) => {
      const { plan, status, lies } = runToEnd({
        ...world,
        evictionsEnd: 'failed',
        testsFail: true,
        registers: registers ? world.registers : null,
      });
      expect(plan.kind === 'execute').toBe(false);
      expect(lies).toEqual([]);
      const lifecycle = status?.conditions.find(({ type }) => type === 'Lifecycle');
      expect(lifecycle?.message).not.toBe('');
    }),
    runs,
  );
});
