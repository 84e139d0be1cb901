import { fencedHold, fencedReasonPrefix, hypervisorAnnotations } from '../../contracts/ids.ts';
import type { Confirmation, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import type { FailureEnd } from '../../contracts/node-failure/run.ts';
import type { HypervisorOfHost, NodeFailureObservation } from '../../contracts/node-failure/activities.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { done, execute, wait, type Done, type Plan, type Reason, type Wait } from '../lib/plan.ts';
import { isPaused, pickEvacuations } from './evacuations.ts';
import { evidenceProblem, hasPower } from './evidence.ts';
import { consentNow, withInFlight, type FencingState } from './fencing-state.ts';
import { signOfService, technicalGates } from './judge.ts';
import type { NodeFailureLifecycle, NodeFailureStep, StepOf } from './types.ts';

export type NodeFailurePlan = Plan<NodeFailureStep>;

/** The search attribute `DroverPhase`. */
export const phaseOf = (fencing: FencingState | null): string =>
  fencing === null ? 'Observing' : isFenced(fencing) ? 'Fenced' : fencing.verdict.reason;

export const isFenced = ({ forcedDown, evidence }: FencingState): boolean => forcedDown || evidence !== null;

/**
 * What is done about a host that seems to have failed. Nothing is done on half an observation, and a step that failed
 * is not repeated before its time; before the end drover takes back what would stay behind; and whatever is waited for,
 * the host is observed from time to time. Pure.
 */
export function planNodeFailure(situation: Situation<NodeFailureLifecycle>): NodeFailurePlan {
  const { memory, settings, inFlight, nowMs } = situation;
  const plan = planNext(situation);
  if (plan.kind === 'wait') {
    const isBusy = plan.untilMs !== null || inFlight.size > 0;
    const observeAtMs = nowMs + (isBusy ? settings.observeMs : settings.restObserveMs);
    return { ...plan, untilMs: Math.min(plan.untilMs ?? Infinity, observeAtMs) };
  }
  if (plan.kind === 'execute') return plan;
  const { advised, fencing } = memory;
  // What comes back under its name with the boot that was fenced was never off, so that is kept in mind.
  const held = memory.held && plan.reason !== gone;
  const phase = phaseOf(fencing);
  const steps: NodeFailureStep[] = [];
  if (advised) steps.push({ kind: 'withdrawAdvice', phase, summary: 'Delete the Eviction that was only advice' });
  if (held) steps.push({ kind: 'release', phase, summary: `Release ${situation.input.hypervisor}` });
  return steps.length === 0 ? plan : (pausedAfter(fencing, 'release', nowMs) ?? execute(steps));
}

function planNext(situation: Situation<NodeFailureLifecycle>): NodeFailurePlan {
  const { input, memory, observed, inFlight, settings, askedMs, nowMs } = situation;
  const { hypervisor, nova, problems } = observed;
  const fencing = memory.fencing === null ? null : withInFlight(memory.fencing, inFlight);
  if (hypervisor !== null && memory.leftNovaMs !== null)
    return planLeft(input.hypervisor, fencing, memory.leftNovaMs + settings.observeMs, askedMs);
  if (fencing === null || hypervisor === null || nova === null) {
    const why = problems.join(' ') || 'Nova or kube-apiserver does not know it';
    return wait(phaseOf(fencing), 'NotObserved', `an observation of ${input.hypervisor}: ${why}`);
  }
  const isTakenBack = fencing.forcedDown && !fencing.restored && !nova.service.forcedDown;
  // The answer to what drover has asked for may have been lost.
  const isRestored = isTakenBack && fencing.problem?.step === 'restore';
  const plan =
    isTakenBack && !isRestored
      ? planTakenBack(fencing)
      : (planHandedOver(fencing, hypervisor) ??
        planReturned(fencing, hypervisor, nova) ??
        planFencing(isRestored ? { ...fencing, restored: true } : fencing, nowMs));
  const [step] = plan.kind === 'execute' ? plan.steps : [];
  return (step && pausedAfter(fencing, step.kind, nowMs)) ?? plan;
}

/** Why a run of a host that Nova does not know any more ends. */
const gone: FailureEnd = 'LeftNova';

/**
 * Nova has no such host any more: there is nothing to fence, to evacuate or to restore. One list that lacks it
 * is no proof.
 */
function planLeft(host: string, fencing: FencingState | null, untilMs: number, askedMs: number): NodeFailurePlan {
  const inFlight = fencing === null ? 0 : count(fencing, 'evacuating');
  const phase = phaseOf(fencing);
  if (inFlight > 0)
    return wait(phase, 'Evacuating', `${inFlight} evacuations in flight to end, as ${host} has left Nova`);
  if (askedMs < untilMs)
    return wait(phase, 'LeavingNova', `Nova to say once more that it has no compute service of ${host}`, untilMs);
  const servers = fencing === null || fencing.servers === null ? '' : `; ${describeServers(fencing)}`;
  return end('gone', gone, `Nova has no compute service of ${host} any more${servers}`);
}

/**
 * It was fenced, has left Nova, and has registered there again with the boot that was fenced: it was never off, and
 * servers that were evacuated may run there too. Null: it is not so.
 */
function planReturned(
  state: FencingState,
  { hold, fencedBootId }: HypervisorOfHost,
  { service }: NonNullable<NodeFailureObservation['nova']>,
): Wait | null {
  const { incident, signs, forcedDown, evidence } = state;
  if (hold !== fencedHold || forcedDown || evidence !== null || signOfService(signs) === null) return null;
  if (fencedBootId === null || signs.node?.bootId !== fencedBootId) return null;
  // A service that is still the one that was fenced was forced up by a user, who has taken it over.
  if (service.forcedDown || service.disabledReason?.startsWith(fencedReasonPrefix) === true) return null;
  return waitFor(
    state,
    'NotRebooted',
    `an operator: ${incident.host} was fenced as boot ${fencedBootId} and is in Nova again without a reboot, so servers that were evacuated may run there too. Destroy those (virsh list) and reboot it; or, where there are none, take the annotation ${hypervisorAnnotations.hold} off its Hypervisor`,
  );
}

/**
 * It lives, and is in maintenance `ha` already: a user has done what drover advises, or drover has, in a run before.
 * Null: it is not so.
 */
function planHandedOver({ verdict, evidence, forcedDown, incident }: FencingState, on: HypervisorOfHost): Done | null {
  const isLive = verdict.verdict === 'failed' && verdict.alive === 'yes' && evidence === null && !forcedDown;
  return isLive && on.maintenance === 'ha' ? endAsHandedOver(incident.host) : null;
}

const endAsHandedOver = (host: string): Done =>
  end('reconciled', 'HandedOver', `${host} lives and is being emptied by an Eviction`);

/** A user has taken back that the host is forced down: nothing more is begun, and drover lets go. */
function planTakenBack(state: FencingState): NodeFailurePlan {
  const { host } = state.incident;
  const what = `a user has taken back that ${host} is forced down`;
  if (state.evidence !== null) return planLoss(state, what);
  const inFlight = count(state, 'evacuating');
  if (inFlight > 0) return waitFor(state, 'Evacuating', `${inFlight} evacuations in flight to end, as ${what}`);
  return end('blocked', 'TakenOver', `A user has taken back that ${host} is forced down: drover leaves it to them`);
}

/**
 * The ladder: recommend → power off, where an aggregate has opted in, or a user confirms → force down → evacuate → hold
 * the host off until that has ended → restore. Servers are evacuated only while there is evidence that they do not run,
 * so that a partition cannot lead to two running copies. Pure; each branch is a row of the table test,
 * and of docs/node-failure.md.
 */
export function planFencing(state: FencingState, nowMs: number): NodeFailurePlan {
  const { evidence, incident, usedConfirmations, settings } = state;
  if (state.restored) return end('reconciled', 'Restored', `${incident.host} is back; ${describeServers(state)}`);
  if (state.handedOver) return endAsHandedOver(incident.host);
  if (evidence === null) return state.forcedDown ? planAfterLoss(state, nowMs) : planFence(state, nowMs);
  const why = evidenceProblem(evidence, incident, usedConfirmations, settings) ?? signOfLife(state);
  if (why !== null) return planLoss(state, why);
  const { confirmation } = state;
  return confirmation !== null && isProofSilent(state)
    ? planConfirmed(state, confirmation, nowMs)
    : planEvacuations(state, nowMs);
}

/** The BMC that proved it off does not say so any more: an operator's word may take its place. */
export const isProofSilent = ({ evidence, power, problem }: FencingState): boolean =>
  evidence?.by === 'power' && (power?.power !== 'Off' || problem?.step === 'checkPower');

/** Nothing has been done to the host yet. */
function planFence(state: FencingState, nowMs: number): NodeFailurePlan {
  const { verdict, confirmation, incident } = state;
  if (verdict.verdict === 'healthy') return end('reconciled', 'Recovered', `${verdict.message}; nothing was done`);
  if (confirmation !== null) return planConfirmed(state, confirmation, nowMs);
  if (verdict.verdict === 'watch')
    return waitFor(state, 'Watched', `the verdict on ${incident.host}: ${verdict.message}`, verdict.untilMs);
  if (verdict.verdict === 'suspect')
    return (
      recommendOnce(state, verdict.alive === 'yes' ? 'mend' : 'fence') ?? planSilence(state, nowMs) ?? awaitUser(state)
    );
  if (verdict.alive === 'yes') return planLive(state, nowMs);
  const recommended = recommendOnce(state, 'fence');
  if (recommended !== null) return recommended;
  if (state.mode === 'recommend' || verdict.alive !== 'no')
    return waitFor(state, 'WaitingForUser', `an operator to confirm that ${incident.host} is off`);
  return planPowerOff(state, nowMs);
}

/**
 * A host that has power and is silent: null where that is left to an operator. Nothing has been done to it yet, so it
 * is not booting.
 */
const planSilence = (state: FencingState, nowMs: number): NodeFailurePlan | null =>
  state.silence.fence && mayFenceSilent(state) ? planPowerOff(state, nowMs, state.silence.message) : null;

/**
 * Whether drover may power it off by itself though it has power; the gates are judged besides. Judged
 * again right before.
 */
export const mayFenceSilent = ({ mode, verdict, silence }: FencingState): boolean =>
  mode === 'automatic' && verdict.reason === 'NoWitness' && silence.fence;

/** Why drover does not fence a silent host by itself; null: it does, or it is not asked to. */
export function whyNotFenced({ verdict, mode, silence, forcedDown }: FencingState): string | null {
  if (mode !== 'automatic' || forcedDown || verdict.reason !== 'NoWitness' || silence.fence) return null;
  return silence.reason === 'SwitchedOff' ? null : `${silence.reason}: ${silence.message}`;
}

function awaitUser(state: FencingState): Wait {
  const { verdict, silence } = state;
  const why = whyNotFenced(state);
  const message = `an operator to investigate: ${verdict.message}${why === null ? '' : `. drover does not fence it by itself (${why})`}`;
  return waitFor(state, 'WaitingForUser', message, why === null || silence.fence ? null : silence.untilMs);
}

function recommendOnce(state: FencingState, what: StepOf<'recommend'>['what']): NodeFailurePlan | null {
  const { message } = state.verdict;
  return state.recommended === what
    ? null
    : one(state, { kind: 'recommend', summary: message, what, message, publish: 'beside' });
}

function planLive(state: FencingState, nowMs: number): NodeFailurePlan {
  const { verdict, mode } = state;
  const recommended = recommendOnce(state, 'evictLive');
  if (recommended !== null) return recommended;
  if (mode === 'recommend')
    return waitFor(state, 'WaitingForUser', `an operator to start the eviction: ${verdict.message}`);
  const { message } = verdict;
  return (
    closedGate(state) ?? pausedOtherwise(state, nowMs) ?? one(state, { kind: 'evictLive', summary: message, message })
  );
}

/** A user's confirmation passes the gates, but for those without which nothing would come of it. */
function planConfirmed(state: FencingState, confirmation: Confirmation, nowMs: number): NodeFailurePlan {
  const closed = technicalGate(state);
  // One that does not count any more is dropped where it is used.
  if (closed !== null && consentNow(state, confirmation, nowMs).consent !== 'refused') return closed;
  const summary = `Use the confirmation by ${confirmation.person}`;
  return one(state, { kind: 'useConfirmation', summary, confirmation });
}

const closedGate = (state: FencingState): Wait | null =>
  state.gate.gate === 'hold'
    ? waitFor(state, state.gate.name, `the gate ${state.gate.name}: ${state.gate.message}`)
    : null;

const technicalGate = (state: FencingState): Wait | null =>
  state.gate.gate === 'hold' && technicalGates.includes(state.gate.name) ? closedGate(state) : null;

const paused = (state: FencingState, nowMs: number, or = ''): Wait | null =>
  state.problem !== null && nowMs < state.problem.retryAtMs
    ? waitFor(state, 'Retrying', `${state.problem.message}${or}`, state.problem.retryAtMs)
    : null;

/** What a BMC refuses holds up nothing but the next attempt at that. */
const pausedOtherwise = (state: FencingState, nowMs: number, or = ''): Wait | null =>
  state.problem?.step === 'powerOff' ? null : paused(state, nowMs, or);

const orConfirmed = ' Or an operator to confirm that it is off';

const pausedAfter = (state: FencingState | null, step: NodeFailureStep['kind'], nowMs: number): Wait | null =>
  state?.problem?.step === step ? paused(state, nowMs) : null;

/** @param silence why a host that has power is fenced; null: it is dead */
function planPowerOff(state: FencingState, nowMs: number, silence: string | null = null): NodeFailurePlan {
  const { verdict, signs, incident } = state;
  // The verdict and the signs may be of different observations; a proof would be lost at once, and the host powered off
  // again and again.
  const alive = signOfService(signs);
  if (alive !== null)
    return waitFor(state, 'NotObserved', `a new observation of the host: ${verdict.message}, but ${alive}`);
  const summary = `Power ${incident.host} off by its BMC`;
  const cause = `automatic fencing: ${silence ?? verdict.message}`;
  return (
    closedGate(state) ??
    paused(state, nowMs, orConfirmed) ??
    one(state, { kind: 'powerOff', summary, cause, isSilent: silence !== null, publish: 'beside' })
  );
}

/** The host is off, by evidence, and stays so until everything has ended. */
function planEvacuations(state: FencingState, nowMs: number): NodeFailurePlan {
  const { servers, settings, incident } = state;
  const { host } = incident;
  const closed = technicalGate(state);
  const pause = pausedOtherwise(state, nowMs);
  if (!state.forcedDown)
    return closed ?? pause ?? one(state, { kind: 'forceDown', summary: `Disable ${host} and force it down` });
  if (servers === null)
    return closed ?? pause ?? one(state, { kind: 'listServers', summary: `List the servers of ${host}` });
  const inFlight = count(state, 'evacuating');
  const pending = count(state, 'pending');
  if (inFlight + pending === 0) return waitForRepair(state);
  const heldUntilMs = heldUntil(state);
  if (!(nowMs < heldUntilMs))
    return (
      pausedOtherwise(state, nowMs, orConfirmed) ??
      one(state, { kind: 'checkPower', summary: `Check that ${host} is still off` })
    );
  if (state.evidence?.by === 'power' && state.power?.power !== 'Off')
    return waitFor(state, 'PowerUnknown', `the BMC of ${host} to say its power again.${orConfirmed}`, heldUntilMs);
  const next = closed === null && pause === null ? pickEvacuations(servers, settings.parallelism, nowMs) : [];
  if (next.length > 0) return execute(next.map((server) => evacuation(state, server)));
  const retrying = servers.filter((server) => server.state === 'pending' && isPaused(server, nowMs));
  const untilMs = Math.min(
    heldUntilMs,
    pause?.untilMs ?? Infinity,
    ...retrying.map(({ retryAtMs }) => retryAtMs ?? Infinity),
  );
  if (inFlight === 0 && closed !== null) return closed;
  const which = retrying.length === 0 ? '' : `, ${retrying.length} of them for their next attempt`;
  const message = `${inFlight} in flight and ${pending} pending${which}`;
  return waitFor(state, 'Evacuating', message, Number.isFinite(untilMs) ? untilMs : null);
}

const evacuation = (state: FencingState, server: TrackedEvacuation): NodeFailureStep => ({
  kind: 'evacuate',
  phase: phaseOf(state),
  summary: `Evacuate ${server.name}`,
  background: server.id,
  server,
});

/** When the power must be read again. For a user's confirmation it is not: there may be no BMC. */
const heldUntil = ({ evidence, power, settings }: FencingState): number =>
  evidence?.by !== 'power' ? Infinity : power === null ? -Infinity : power.atMs + settings.holdCheckMs;

const planLoss = (state: FencingState, why: string): NodeFailurePlan =>
  one(state, { kind: 'loseEvidence', summary: `Nothing more is evacuated: ${why}`, why });

const waitForRepair = (state: FencingState): Wait =>
  waitFor(state, 'HeldOff', `${state.incident.host} to be mended and started: ${describeServers(state)}`);

/**
 * The host was taken for off and has shown life, or its power was on: what runs there must not be started elsewhere.
 */
function planAfterLoss(state: FencingState, nowMs: number): NodeFailurePlan {
  const { signs, incident, fencedBootId, confirmation, mode, verdict } = state;
  const { host } = incident;
  const inFlight = count(state, 'evacuating');
  if (inFlight > 0)
    return waitFor(state, 'Evacuating', `${inFlight} evacuations in flight to end, as ${host} has shown life`);
  if (confirmation !== null) return planConfirmed(state, confirmation, nowMs);
  const { node, libvirt } = signs;
  if (node?.ready === 'True') {
    if (fencedBootId === null)
      return waitFor(
        state,
        'BootUnknown',
        `an operator: the boot of ${host} was not recorded when it was fenced, so it is not known that it was rebooted. It stays forced down. Compare the servers that run there (virsh list) with those that Nova shows elsewhere; when none runs twice, force it up (openstack compute service set --up ${host} nova-compute), and drover lets go`,
      );
    if (node.bootId === null || node.bootId === fencedBootId)
      return waitFor(
        state,
        'NotRebooted',
        `an operator: ${host} came back without a reboot, so servers that were evacuated may run there too. It stays forced down`,
      );
    if (libvirt !== null && libvirt.verdict !== 'healthy')
      return waitFor(state, 'LibvirtNotHealthy', `libvirt on ${host}: ${libvirt.message}`);
    const summary = `Take back that ${host} is forced down`;
    return pausedOtherwise(state, nowMs) ?? one(state, { kind: 'restore', summary });
  }
  if (signOfLife(state) === null && count(state, 'pending') === 0 && state.servers !== null)
    return waitForRepair(state);
  if (mode === 'automatic' && verdict.verdict === 'failed' && verdict.alive === 'no') return planPowerOff(state, nowMs);
  return waitFor(state, 'WaitingForUser', `${host} to come back, or an operator to confirm that it is off`);
}

/** What speaks against the host being off, as a sentence; null where nothing does. */
export function signOfLife({ incident, signs, evidence, fencedBootId, power }: FencingState): string | null {
  const { host } = incident;
  const { node, witnesses } = signs;
  const alive = signOfService(signs);
  if (alive !== null) return alive;
  if (node !== null && node.bootId !== null && fencedBootId !== null && node.bootId !== fencedBootId)
    return `${host} has booted again`;
  const sinceMs =
    evidence === null ? -Infinity : evidence.by === 'power' ? evidence.proof.secondOffMs : evidence.usedAtMs;
  if (power !== null && power.atMs >= sinceMs && hasPower(power)) return `the BMC of ${host} says ${power.power}`;
  // The Lease of a host that lost its power outlives it by half a minute; what its BMC says counts more.
  if (evidence?.by === 'power') return null;
  const heard = witnesses.find(({ says, atMs }) => says === 'alive' && atMs >= sinceMs);
  if (heard === undefined) return null;
  return `${host} was heard of: ${heard.message}`;
}

const count = ({ servers }: FencingState, ...states: TrackedEvacuation['state'][]): number =>
  servers?.filter(({ state }) => states.includes(state)).length ?? 0;

/** The figures in one sentence, with those that stay behind by name. */
export function describeServers(state: FencingState): string {
  const { servers } = state;
  if (servers === null) return 'its servers have not been listed';
  const left = servers.filter(({ state: its }) => its === 'left' || its === 'pending');
  const named = left
    .slice(0, 5)
    .map(({ name, why, state: its, attempts }) =>
      why === null
        ? name
        : `${name} (${why}${its === 'pending' && attempts > 0 ? `; attempt ${attempts} of ${state.settings.maxAttempts}` : ''})`,
    );
  const more = left.length > named.length ? ` and ${left.length - named.length} more` : '';
  return `${count(state, 'evacuated', 'gone')} of ${servers.length} servers have left it${left.length === 0 ? '' : `, left behind: ${named.join(', ')}${more}`}`;
}

type WithoutPhase<S> = S extends NodeFailureStep ? Omit<S, 'phase'> : never;

const one = (state: FencingState, step: WithoutPhase<NodeFailureStep>): NodeFailurePlan =>
  execute([{ ...step, phase: phaseOf(state) } as NodeFailureStep]);

const waitFor = (state: FencingState, reason: Reason, message: string, untilMs: number | null = null): Wait =>
  wait(phaseOf(state), reason, message, untilMs);

const end = (outcome: Done['outcome'], reason: FailureEnd, message: string): Done => done(outcome, reason, message);
