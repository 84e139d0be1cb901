import { setConditions } from '../../contracts/conditions.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorPatch,
  HypervisorSettings,
  HypervisorStatusPatch,
} from '../../contracts/hypervisor/hypervisor.ts';
import { annotations as annotationNames, hypervisorAnnotations } from '../../contracts/ids.ts';
import { modeOf, remainsOn } from '../../workflows/hypervisor/judge.ts';
import { clockRegistration, prune, recordChecks } from '../../workflows/hypervisor/memory.ts';
import { planHypervisor } from '../../workflows/hypervisor/plan.ts';
import { isSaid, statusOf } from '../../workflows/hypervisor/status.ts';
import type { HypervisorMemory, HypervisorSituation, HypervisorStep } from '../../workflows/hypervisor/types.ts';
import type { Plan } from '../../workflows/lib/plan.ts';

/**
 * A model of one host and everything around it, for tests: every step has the effect that its activity would have, and
 * refuses what the systems refuse.
 */
export interface World {
  desired: DesiredHypervisor | null;
  observed: HypervisorObservation;
  settings: HypervisorSettings;
  memory: HypervisorMemory;
  nowMs: number;
  /** How the outside behaves. */
  evictionsEnd: 'succeeded' | 'failed';
  testsFail: boolean;
  /** nova-compute registers in the end. */
  registers: HypervisorObservation['nova'];
}

export interface Ending {
  world: World;
  plan: Plan<HypervisorStep>;
  /** What the Hypervisor is to say of that plan. */
  status: HypervisorStatusPatch | null;
  /** Every state that `Lifecycle` has said, in order, without repetitions. */
  states: LifecycleState[];
  steps: HypervisorStep[];
  /** What the host's `evicted` said while something was on it. */
  lies: string[];
}

const mostPasses = 1_000;

/** Observations of a world in which nothing happens any more: longer than any bounded wait lasts. */
const mostIdle = 400;

/**
 * Observes, plans, executes and publishes, as the driver does, until the plan is done, or until nothing in the world
 * moves what it waits for.
 */
export function runToEnd(given: World): Ending {
  const world = structuredClone(given);
  const ending: Omit<Ending, 'plan' | 'status'> = { world, states: [], steps: [], lies: [] };
  let idle = 0;
  for (let pass = 0; pass < mostPasses; pass += 1) {
    world.memory = clockRegistration(prune(world.memory, world.observed), world);
    const situation = { ...structuredClone(world), askedMs: world.nowMs };
    const plan = planHypervisor(situation);
    world.nowMs += 1_000;
    if (plan.kind === 'execute') {
      idle = 0;
      for (const step of plan.steps) {
        if (step.publish === 'before') publish(world, situation, { kind: 'execute', steps: [step] }, ending);
        ending.steps.push(step);
        take(world, step);
      }
      continue;
    }
    publish(world, situation, plan, ending);
    const end = { ...ending, plan, status: statusOf(situation, plan) };
    if (plan.kind === 'done') return end;
    idle = letTimePass(world) ? 0 : idle + 1;
    if (idle > 0 && (plan.untilMs === null || idle > mostIdle)) return end;
    if (plan.untilMs !== null) world.nowMs = Math.max(world.nowMs, plan.untilMs);
  }
  throw new Error(
    `No end after ${mostPasses} passes; the last steps: ${ending.steps
      .slice(-5)
      .map(({ summary }) => summary)
      .join(' | ')}`,
  );
}

function publish(
  world: World,
  situation: HypervisorSituation,
  plan: Plan<HypervisorStep>,
  ending: Pick<Ending, 'states' | 'lies'>,
): void {
  const status = statusOf(situation, plan);
  if (status === null || isSaid(world.observed, status)) return;
  const { recorded } = world.observed;
  const kept = recorded.conditions.filter(({ type }) => status.removed?.includes(type) !== true);
  world.observed.recorded = {
    conditions: setConditions(kept, status.conditions, new Date(world.nowMs).toISOString()),
    hypervisorId: status.hypervisorId ?? recorded.hypervisorId,
    serviceId: status.serviceId ?? recorded.serviceId,
    evicted: status.evicted ?? recorded.evicted,
    libVirtVersion: status.libVirtVersion ?? recorded.libVirtVersion,
    traits: status.traits ?? recorded.traits,
    aggregates: status.aggregates ?? recorded.aggregates,
    internalIp: status.internalIp ?? recorded.internalIp,
  };
  const { annotations = null } = status;
  if (annotations !== null) patch(world, { annotations });
  const { nova, recorded: now } = world.observed;
  if (now.evicted && nova !== null && remainsOn(nova).length > 0) ending.lies.push(remainsOn(nova).join(', '));
  const state = status.conditions.find(({ type }) => type === 'Lifecycle')?.reason as LifecycleState;
  if (ending.states.at(-1) !== state) ending.states.push(state);
}

/** What is under way goes on; false: nothing is. */
function letTimePass(world: World): boolean {
  const { observed } = world;
  const leaving = observed.evictions.filter(({ deleting }) => deleting);
  const running = observed.evictions.filter(({ state }) => state === 'waiting' || state === 'running');
  observed.failure = null;
  if (leaving.length > 0) observed.evictions = observed.evictions.filter(({ deleting }) => !deleting);
  else if (running.length > 0) endEvictions(world);
  else if (
    observed.nova === null &&
    world.registers !== null &&
    world.desired !== null &&
    modeOf(world.desired, observed.node) !== 'termination'
  ) {
    observed.nova = world.registers;
    observed.loneService = null;
  } else if (observed.agentPods !== null && observed.agentPods.length > 0) observed.agentPods = [];
  else if (observed.nova !== null && observed.nova.serviceId !== observed.recorded.serviceId) observed.nova = null;
  else return false;
  return true;
}

function endEvictions({ observed, evictionsEnd }: World): void {
  observed.evictions = observed.evictions.map((eviction) =>
    eviction.state === 'waiting' || eviction.state === 'running' ? { ...eviction, state: evictionsEnd } : eviction,
  );
  if (evictionsEnd === 'succeeded' && observed.nova !== null)
    observed.nova = { ...observed.nova, servers: 0, migrations: 0, unconfirmedResizes: 0, allocations: 0 };
}

/** @throws Error what the outside would have refused, and what drover must not do */
function take(world: World, step: HypervisorStep): void {
  const { observed } = world;
  const refuse = (why: string): never => {
    throw new Error(`${step.summary}: ${why}`);
  };
  const { nova } = observed;
  switch (step.kind) {
    case 'createHypervisor': {
      const { name, labels, spec } = step.hypervisor;
      world.desired = { ...bareHypervisor(name), labels, ...spec };
      return patch(world, { annotations: step.hypervisor.annotations });
    }
    case 'patchHypervisor':
      for (const one of step.patches) patch(world, one);
      return;
    case 'createEviction': {
      const { name, ownerUid, cause, deadline } = step.eviction;
      if (observed.evictions.some((eviction) => eviction.name === name)) refuse('already exists');
      observed.evictions = [
        ...observed.evictions,
        {
          name,
          uid: `uid-${world.nowMs}`,
          ownerUid,
          deleting: false,
          state: 'running',
          message: 'running',
          cause,
          deadline,
        },
      ];
      return;
    }
    case 'setEvictionDeadline':
      observed.evictions = observed.evictions.map((eviction) =>
        eviction.uid === step.uid ? { ...eviction, deadline: step.deadline } : eviction,
      );
      return;
    case 'deleteEviction':
      if (observed.evictions.some(({ uid, ownerUid }) => uid === step.uid && ownerUid !== world.desired?.uid))
        refuse('another party’s');
      observed.evictions = observed.evictions.map((eviction) =>
        eviction.uid === step.uid ? { ...eviction, deleting: true } : eviction,
      );
      return;
    case 'taintNode':
      if (observed.node !== null) observed.node = { ...observed.node, offboardingTaint: true };
      observed.agentPods ??= [];
      return;
    case 'untaintNode':
      if (world.desired !== null && modeOf(world.desired, observed.node) === 'termination') refuse('the host goes');
      if (observed.node !== null) observed.node = { ...observed.node, offboardingTaint: false };
      observed.agentPods = null;
      return;
    case 'ensureCertificate':
      observed.certificate = 'requested';
      return;
    case 'liftForcedDown':
      if (observed.hold?.reason === 'NodeFailure') refuse('drover fenced it');
      if (step.consentBy !== world.desired?.consentBy) refuse('no user consented');
      if (nova !== null) observed.nova = { ...nova, service: { ...nova.service, forcedDown: false, state: 'up' } };
      return;
    case 'ensureDrainGuard':
      observed.drainGuard = step.guard;
      return;
    case 'disableService':
      if (observed.loneService !== null)
        observed.loneService.service = {
          ...observed.loneService.service,
          status: 'disabled',
          disabledReason: step.reason,
        };
      if (nova === null || nova.service.status === 'disabled') return;
      observed.nova = { ...nova, service: { ...nova.service, status: 'disabled', disabledReason: step.reason } };
      return;
    case 'enableService':
      if (nova === null || nova.service.disabledReason !== step.carrying) return refuse('it carries another reason');
      observed.nova = { ...nova, service: { ...nova.service, status: 'enabled', disabledReason: null } };
      return;
    case 'changeAggregates':
      for (const { kind, aggregates } of step.changes) {
        observed.aggregates = observed.aggregates.map((one) =>
          aggregates.some(({ id }) => id === one.id) ? { ...one, hasHost: kind === 'add' } : one,
        );
        const zones = new Set(
          observed.aggregates.filter((one) => one.hasHost).map(({ metadata }) => metadata['availability_zone']),
        );
        zones.delete(undefined);
        if (zones.size > 1) refuse('a host is in one zone');
      }
      return;
    case 'deleteTestServers':
      observed.testServers = observed.testServers.filter((id) => !step.ids.includes(id));
      return;
    case 'deleteService':
      if (observed.loneService !== null) {
        const { service, servers, serviceId } = observed.loneService;
        if (service.status === 'enabled' || service.state === 'up' || servers > 0)
          refuse('Nova or drover refuses that');
        if (serviceId !== observed.recorded.serviceId) refuse('another host’s');
        observed.loneService = null;
        return;
      }
      if (nova === null) return;
      if (nova.servers + nova.migrations + nova.unconfirmedResizes > 0) refuse('Nova deletes no service with servers');
      if (nova.serviceId !== observed.recorded.serviceId) refuse('another host’s');
      observed.nova = null;
      return;
    case 'updateTraits': {
      const { provider } = observed;
      if (provider === null) return refuse('no such provider');
      if (
        step.remove.some(
          (trait) => !trait.startsWith('CUSTOM_') || world.desired?.appliedTraits.includes(trait) !== true,
        )
      )
        refuse('not drover’s');
      if (step.add.some((trait) => world.desired?.appliedTraits.includes(trait) !== true)) refuse('it is not noted');
      const traits = [...provider.traits.filter((trait) => !step.remove.includes(trait)), ...step.add].toSorted();
      observed.provider = { ...provider, traits, generation: provider.generation + 1 };
      return;
    }
    case 'releaseAllocations':
      if (step.consentBy !== world.desired?.consentBy) refuse('no user consented');
      if (observed.provider !== null) observed.provider = { ...observed.provider, consumers: 0, someConsumers: [] };
      if (nova !== null) observed.nova = { ...nova, allocations: 0 };
      return;
    case 'deleteProvider':
      if (observed.provider !== null && observed.provider.consumers > 0 && step.consentBy === null)
        refuse('it has allocations');
      observed.provider = null;
      return;
    case 'signalNodeFailure':
      world.memory = { ...world.memory, signalled: { cause: step.cause, atMs: world.nowMs } };
      return;
    case 'runChecks': {
      const findings = step.checks.map(({ check }) => ({
        check,
        results: [
          {
            name: `Check.${check}`,
            outcome: world.testsFail ? ('failed' as const) : ('passed' as const),
            expectation: 'it to work',
            observed: 'something',
            code: world.testsFail ? ('NovaUnavailable' as const) : null,
            durationMs: 1,
          },
        ],
        libVirtVersion: null,
      }));
      world.memory = recordChecks(world.memory, step, findings, world.nowMs);
      if (step.checks.some(({ check }) => check === 'smoke') && nova?.service.status !== 'enabled')
        refuse('Nova starts nothing on a disabled host');
      return;
    }
  }
}

const bareHypervisor = (name: string): DesiredHypervisor => ({
  name,
  uid: 'hv-1',
  generation: 1,
  labels: {},
  lifecycleEnabled: false,
  skipTests: false,
  createCertManagerCertificate: false,
  highAvailability: true,
  customTraits: [],
  aggregates: [],
  maintenance: '',
  maintenanceReason: null,
  fromNode: [],
  nodeUid: null,
  lastBootId: null,
  ownedByNode: false,
  appliedTraits: [],
  rollingUpdateBootId: null,
  retry: null,
  consent: [],
  consentBy: null,
  touchedByKubectl: false,
  mode: 'act',
  deleting: false,
});

const list = (text: string | null): string[] => (text ?? '').split(',').filter((item) => item !== '');

/** A merge patch, as kube-apiserver takes it. */
function patch(world: World, { labels, annotations, spec, dropNodeOwner }: HypervisorPatch): void {
  const { desired } = world;
  if (desired === null) throw new Error('There is no Hypervisor');
  const changes = Object.entries(spec ?? {}).some(
    ([field, value]) => JSON.stringify(desired[field as keyof DesiredHypervisor]) !== JSON.stringify(value),
  );
  if (changes && desired.maintenance === 'termination' && spec?.maintenance !== 'ha')
    throw new Error("spec is immutable when maintenance is 'termination'");
  const next: DesiredHypervisor = {
    ...desired,
    ...spec,
    generation: desired.generation + (changes ? 1 : 0),
    ownedByNode: desired.ownedByNode && dropNodeOwner !== true,
  };
  if (labels !== undefined)
    next.labels = Object.fromEntries(
      Object.entries({ ...desired.labels, ...labels }).filter((entry): entry is [string, string] => entry[1] !== null),
    );
  const { fromNode, nodeUid, lastBootId, appliedTraits, rollingUpdate, retryHandled } = hypervisorAnnotations;
  const given = annotations ?? {};
  if (fromNode in given) next.fromNode = list(given[fromNode] ?? null);
  if (nodeUid in given) next.nodeUid = given[nodeUid] ?? null;
  if (lastBootId in given) next.lastBootId = given[lastBootId] ?? null;
  if (appliedTraits in given) next.appliedTraits = list(given[appliedTraits] ?? null);
  if (rollingUpdate in given) next.rollingUpdateBootId = given[rollingUpdate] ?? null;
  if (annotationNames.consent in given) {
    next.consent = next.consent.filter((one) => list(given[annotationNames.consent] ?? null).includes(one));
    if (given[annotationNames.consentBy] === null) next.consentBy = null;
  }
  if (retryHandled in given && given[retryHandled] === desired.retry) next.retry = null;
  world.desired = next;
}
