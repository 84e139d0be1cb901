import type { Confirmation, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import { evidenceProblem, tellsPower } from './fencing-consent.ts';
import { consentNow, type FencingState } from './fencing-state.ts';
import { isPaused, pickEvacuations } from './pick-evacuations.ts';
import { technicalGates } from './safety-gates.ts';
import { speaks } from './speaks.ts';

/** The next thing to do. A wait has a sentence for people and, where time alone ends it, the time. */
export type FencingStep =
  /** An Eviction in `observe`, an alert, and the command that confirms. */
  | { do: 'recommend'; what: 'fence' | 'evictLive' | 'mend'; message: string }
  /** The host lives: its servers are moved live, by an Eviction. */
  | { do: 'evictLive'; message: string }
  | { do: 'powerOff'; cause: string }
  | { do: 'useConfirmation'; confirmation: Confirmation }
  /** Disables the compute service with drover’s reason, and forces it down. */
  | { do: 'forceDown' }
  | { do: 'listServers' }
  /** Looks whether the host is still off. */
  | { do: 'checkPower' }
  | { do: 'evacuate'; servers: TrackedEvacuation[] }
  /** Something on the host shows life: nothing more is evacuated. */
  | { do: 'loseEvidence'; why: string }
  /** Takes back the forced down; the Testing checks decide whether the service is enabled. */
  | { do: 'restore' }
  | { do: 'wait'; for: string; untilMs: number | null }
  | { do: 'end'; outcome: 'Recovered' | 'HandedOver' | 'Restored'; message: string };

/**
 * What happens to a host that seems to have failed. The ladder: recommend → power off, where an aggregate has opted in, or a person
 * confirms → force down → evacuate → hold the host off until that has ended → restore. Servers are evacuated only while there is evidence
 * that they do not run, so that a partition cannot lead to two running copies. Pure; each branch is a row of the table test. Sources:
 * design section 2, rule 16, and section 5 "Dead host".
 */
export function planFencing(state: FencingState, nowMs: number): FencingStep {
  if (state.restored)
    return { do: 'end', outcome: 'Restored', message: `${state.incident.host} is back; ${describeServers(state)}` };
  if (state.handedOver)
    return {
      do: 'end',
      outcome: 'HandedOver',
      message: `${state.incident.host} lives and is being emptied by an Eviction`,
    };
  const { evidence, incident, usedConfirmations, settings } = state;
  if (evidence === null) return state.forcedDown ? planAfterLoss(state, nowMs) : planFence(state, nowMs);
  const why = evidenceProblem(evidence, incident, usedConfirmations, settings) ?? signOfLife(state);
  if (why !== null) return { do: 'loseEvidence', why };
  return planEvacuations(state, nowMs);
}

/** Nothing has been done to the host yet. */
function planFence(state: FencingState, nowMs: number): FencingStep {
  const { verdict, confirmation, incident } = state;
  if (verdict.verdict === 'healthy')
    return { do: 'end', outcome: 'Recovered', message: `${verdict.message}; nothing was done` };
  if (confirmation !== null) return planConfirmed(state, confirmation, nowMs);
  if (verdict.verdict === 'watch') return { do: 'wait', for: verdict.message, untilMs: verdict.untilMs };
  if (verdict.verdict === 'suspect')
    return (
      recommendOnce(state, verdict.alive === 'yes' ? 'mend' : 'fence') ?? {
        do: 'wait',
        for: `a person to look: ${verdict.message}`,
        untilMs: null,
      }
    );
  if (verdict.alive === 'yes') return planLive(state, nowMs);
  const recommended = recommendOnce(state, 'fence');
  if (recommended !== null) return recommended;
  if (state.mode === 'recommend' || verdict.alive !== 'no')
    return { do: 'wait', for: `a person to confirm that ${incident.host} is off`, untilMs: null };
  return planPowerOff(state, nowMs);
}

const recommendOnce = (
  { recommended, verdict }: FencingState,
  what: 'fence' | 'evictLive' | 'mend',
): FencingStep | null => (recommended === what ? null : { do: 'recommend', what, message: verdict.message });

function planLive(state: FencingState, nowMs: number): FencingStep {
  const { verdict, mode, gate, problem } = state;
  const recommended = recommendOnce(state, 'evictLive');
  if (recommended !== null) return recommended;
  if (mode === 'recommend')
    return { do: 'wait', for: `a person to start the eviction: ${verdict.message}`, untilMs: null };
  if (gate.gate === 'hold') return { do: 'wait', for: `the gate ${gate.name}: ${gate.message}`, untilMs: null };
  if (problem !== null && nowMs < problem.retryAtMs)
    return { do: 'wait', for: problem.message, untilMs: problem.retryAtMs };
  return { do: 'evictLive', message: verdict.message };
}

/** A person’s word passes the gates, but for those without which nothing would come of it. */
function planConfirmed(state: FencingState, confirmation: Confirmation, nowMs: number): FencingStep {
  const closed = technicalGate(state);
  // One that does not count any more is put away where it is used.
  if (closed === null || consentNow(state, confirmation, nowMs).consent === 'refused')
    return { do: 'useConfirmation', confirmation };
  return closed;
}

const technicalGate = ({ gate }: FencingState): FencingStep | null =>
  gate.gate === 'hold' && technicalGates.includes(gate.name)
    ? { do: 'wait', for: `the gate ${gate.name}: ${gate.message}`, untilMs: null }
    : null;

function planPowerOff({ gate, problem, verdict, signs }: FencingState, nowMs: number): FencingStep {
  // The verdict and the signs may be of different looks; a proof would be lost at once, and the host powered off again and again.
  const speaking = speaks(signs);
  if (speaking !== null)
    return { do: 'wait', for: `a new look at the host: ${verdict.message}, but ${speaking}`, untilMs: null };
  if (gate.gate === 'hold') return { do: 'wait', for: `the gate ${gate.name}: ${gate.message}`, untilMs: null };
  if (problem !== null && nowMs < problem.retryAtMs)
    return { do: 'wait', for: `${problem.message} Or a person to confirm that it is off`, untilMs: problem.retryAtMs };
  return { do: 'powerOff', cause: `automatic fencing: ${verdict.message}` };
}

/** The host is off, by evidence, and stays so until everything has ended. */
function planEvacuations(state: FencingState, nowMs: number): FencingStep {
  const { servers, problem, settings } = state;
  const closed = technicalGate(state);
  const paused: FencingStep | null =
    problem !== null && nowMs < problem.retryAtMs
      ? { do: 'wait', for: problem.message, untilMs: problem.retryAtMs }
      : null;
  if (!state.forcedDown) return closed ?? paused ?? { do: 'forceDown' };
  if (servers === null) return closed ?? paused ?? { do: 'listServers' };
  const inFlight = count(state, 'evacuating');
  const pending = count(state, 'pending');
  if (inFlight + pending === 0)
    return {
      do: 'wait',
      for: `${state.incident.host} to be mended and started: ${describeServers(state)}`,
      untilMs: null,
    };
  const heldUntilMs = heldUntil(state);
  if (!(nowMs < heldUntilMs)) return paused ?? { do: 'checkPower' };
  if (state.evidence?.by === 'power' && state.power?.power !== 'Off')
    return { do: 'wait', for: `the BMC of ${state.incident.host} to tell its power again`, untilMs: heldUntilMs };
  const next = closed === null && paused === null ? pickEvacuations(servers, settings.parallelism, nowMs) : [];
  if (next.length > 0) return { do: 'evacuate', servers: next };
  const retrying = servers.filter((server) => server.state === 'pending' && isPaused(server, nowMs));
  const untilMs = Math.min(
    heldUntilMs,
    paused?.untilMs ?? Infinity,
    ...retrying.map(({ retryAtMs }) => retryAtMs ?? Infinity),
  );
  if (inFlight === 0 && closed !== null) return closed;
  const which = retrying.length === 0 ? '' : `, ${retrying.length} of them for their next attempt`;
  return {
    do: 'wait',
    for: `${inFlight} in flight and ${pending} pending${which}`,
    untilMs: Number.isFinite(untilMs) ? untilMs : null,
  };
}

/** When the power must be looked at again. A person’s word is not looked up: there may be no BMC. */
const heldUntil = ({ evidence, power, settings }: FencingState): number =>
  evidence?.by !== 'power' ? Infinity : power === null ? -Infinity : power.atMs + settings.holdCheckMs;

/** The host was taken for off and has shown life, or its power was on: what runs there must not be started elsewhere. */
function planAfterLoss(state: FencingState, nowMs: number): FencingStep {
  const { signs, incident, fencedBootId, confirmation, mode, verdict, problem } = state;
  const inFlight = count(state, 'evacuating');
  if (inFlight > 0)
    return {
      do: 'wait',
      for: `${inFlight} evacuations in flight to end, as ${incident.host} has shown life`,
      untilMs: null,
    };
  if (confirmation !== null) return planConfirmed(state, confirmation, nowMs);
  const { node, libvirt } = signs;
  if (node?.ready === 'True') {
    if (node.bootId === null || fencedBootId === null || node.bootId === fencedBootId) {
      return {
        do: 'wait',
        for: `a person: ${incident.host} came back without a reboot, so servers that were evacuated may run there too. It stays forced down`,
        untilMs: null,
      };
    }
    if (libvirt !== null && libvirt.verdict !== 'healthy')
      return { do: 'wait', for: `libvirt on ${incident.host}: ${libvirt.message}`, untilMs: null };
    if (problem !== null && nowMs < problem.retryAtMs)
      return { do: 'wait', for: problem.message, untilMs: problem.retryAtMs };
    return { do: 'restore' };
  }
  if (signOfLife(state) === null && count(state, 'pending') === 0 && state.servers !== null)
    return { do: 'wait', for: `${incident.host} to be mended and started: ${describeServers(state)}`, untilMs: null };
  if (mode === 'automatic' && verdict.verdict === 'failed' && verdict.alive === 'no') return planPowerOff(state, nowMs);
  return { do: 'wait', for: `${incident.host} to come back, or a person to confirm that it is off`, untilMs: null };
}

/** What speaks against the host being off, as a sentence; null where nothing does. */
export function signOfLife({ incident, signs, evidence, fencedBootId, power }: FencingState): string | null {
  const { host } = incident;
  const { node, witnesses } = signs;
  const speaking = speaks(signs);
  if (speaking !== null) return speaking;
  if (node !== null && node.bootId !== null && fencedBootId !== null && node.bootId !== fencedBootId)
    return `${host} has booted again`;
  const sinceMs =
    evidence === null ? -Infinity : evidence.by === 'power' ? evidence.proof.secondOffMs : evidence.usedAtMs;
  if (power !== null && power.atMs >= sinceMs && tellsPower(power)) return `the BMC of ${host} tells ${power.power}`;
  // The watchers of a host that lost its power outlive it by half a minute; its BMC’s word is the better one.
  if (evidence?.by === 'power') return null;
  return witnesses.some(({ says, atMs }) => says === 'running' && atMs >= sinceMs)
    ? `guests of ${host} write to their disks`
    : null;
}

const count = ({ servers }: FencingState, ...states: TrackedEvacuation['state'][]): number =>
  servers?.filter(({ state }) => states.includes(state)).length ?? 0;

/** The figures in one sentence, with those that stay behind by name. */
export function describeServers(state: FencingState): string {
  const { servers } = state;
  if (servers === null) return 'its servers have not been looked at';
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
