import { fencedHold } from '../../contracts/ids.ts';
import type { AbandonDisks } from '../../contracts/messages.ts';
import type { HandlingSettings, NodeFailureObservation } from '../../contracts/node-failure/activities.ts';
import type {
  Confirmation,
  DiskConsent,
  EvacuationCandidate,
  FenceEvidence,
  FencingSettings,
  Incident,
  TrackedEvacuation,
} from '../../contracts/node-failure/fencing.ts';
import { longestEvacuationRetryMs } from '../../contracts/node-failure/fencing.ts';
import { guestSignalMaxAgeMs } from '../../contracts/node-failure/guest-watch.ts';
import type {
  FailureVerdict,
  GateDecision,
  HostSigns,
  NodeSign,
  SilenceDecision,
  Witness,
} from '../../contracts/node-failure/node-failure.ts';
import type { PowerObservation, PowerProof, PowerState } from '../../contracts/node-failure/power.ts';
import type { EvacuationOutcome } from './evacuations.ts';
import { hasLocalDisk, whyLeft } from './evacuations.ts';
import { judgeConsent, proofProblem, type ConsentDecision } from './evidence.ts';
import { judgeSilence } from './judge-silence.ts';
import { judgeNodeFailure, passGates } from './judge.ts';
import { type Report, readMark } from './witness-marks.ts';

/**
 * What is known of one incident. Plain data, so that it is carried over when the run continues as new. Times: ms since
 * the epoch.
 */
export interface FencingState {
  incident: Incident;
  settings: FencingSettings;
  /** `automatic` where an aggregate of the host has opted in; else drover only recommends. */
  mode: 'recommend' | 'automatic';
  signs: HostSigns;
  verdict: FailureVerdict;
  gate: GateDecision;
  /** Whether drover may power it off by itself though it has power. */
  silence: SilenceDecision;
  /** The last thing that was recommended. */
  recommended: string | null;
  confirmation: Confirmation | null;
  usedConfirmations: string[];
  /** Why the servers of the host may be taken as stopped. Lost as soon as anything on the host shows life. */
  evidence: FenceEvidence | null;
  /**
   * The boot that the evidence ended, null where it is not known: what comes back as the same one was never off. Stays
   * when the evidence is lost.
   */
  fencedBootId: string | null;
  /** The newest observation of its power, by the BMC. */
  power: PowerObservation | null;
  /** drover has disabled the compute service and forced it down. */
  forcedDown: boolean;
  /** Null until they have been listed. */
  servers: TrackedEvacuation[] | null;
  /** Servers whose local disks a user gave up. */
  consentedDisks: DiskConsent[];
  /** What failed last, when it is tried again, and of a failed step its kind. */
  problem: { message: string; retryAtMs: number; step?: string } | null;
  /** An Eviction empties the host live. */
  handedOver: boolean;
  restored: boolean;
}

/** What an observation decides. */
type Judged = Pick<FencingState, 'signs' | 'verdict' | 'gate' | 'mode'>;

const notJudged: SilenceDecision = {
  fence: false,
  reason: 'NotSilent',
  message: 'it has not been judged',
  untilMs: null,
};

export function beginFencing(begin: Judged & Pick<FencingState, 'incident' | 'settings'>): FencingState {
  return {
    ...begin,
    silence: notJudged,
    recommended: null,
    confirmation: null,
    usedConfirmations: [],
    evidence: null,
    fencedBootId: null,
    power: null,
    forcedDown: false,
    servers: null,
    consentedDisks: [],
    problem: null,
    handedOver: false,
    restored: false,
  };
}

/**
 * An observation and the time before it was asked for, by the run's clock: what it says is at least as young as that.
 */
export interface DatedObservation {
  observed: NodeFailureObservation;
  askedMs: number;
  /** The last signal that too many of its guests fail; null: none has come. */
  guests: { message: string; atMs: number } | null;
}

/**
 * Applies one observation: signs with the time since when the run has observed them so, the verdict, and the gates.
 * Null where an incident cannot be opened yet, as it is not known whether an earlier run has fenced the host. Pure.
 */
export function applyObservation(
  state: FencingState | null,
  host: string,
  dated: DatedObservation,
  { judging, gates, silence, fencing: settings }: HandlingSettings,
  nowMs: number,
): FencingState | null {
  const { observed, askedMs } = dated;
  const signs = dateSigns(state?.signs ?? null, host, dated);
  const judged = {
    signs,
    verdict: judgeNodeFailure(signs, judging, nowMs),
    gate: passGates(observed.fleet, gates, nowMs),
    mode: observed.mode,
    settings,
  };
  const begun =
    state === null
      ? openIncident(host, observed, judged, askedMs)
      : { ...state, ...judged, incident: withBoot(state, observed), forcedDown: isForcedDown(state, observed) };
  if (begun === null) return null;
  const view = {
    settings: silence,
    witnessMaxAgeMs: judging.witnessMaxAgeMs,
    incident: begun.incident.id,
    fencings: observed.fleet.silentFencings,
  };
  const applied = { ...begun, silence: judgeSilence(signs, view, nowMs) };
  return observed.power === null ? applied : applyPower(applied, { host, power: observed.power, atMs: askedMs });
}

/** Also where the answer to that was lost: it is held by drover, and forced down. */
const isForcedDown = (
  { forcedDown, restored }: FencingState,
  { hypervisor, nova }: Pick<NodeFailureObservation, 'hypervisor' | 'nova'>,
): boolean => forcedDown || (!restored && hypervisor?.hold === fencedHold && nova?.service.forcedDown === true);

/**
 * The boot that a confirmation has to name. One that is reported after all is named from then on: a confirmation
 * without it was given before the host did so. A host that was fenced and has lost its evidence may have booted since:
 * a new confirmation is of that boot.
 */
function withBoot({ incident, forcedDown, evidence }: FencingState, { node }: NodeFailureObservation): Incident {
  const bootId = node?.bootId ?? null;
  const mayChange = incident.bootId === null || (forcedDown && evidence === null);
  return bootId === null || !mayChange ? incident : { ...incident, bootId };
}

/**
 * A host that has booted since its incident was opened, and to which nothing has been done, is another incident: what a
 * person makes sure of is the boot that the host has now. A silence that drover has claimed to act on stays what it is,
 * as its budget counts incidents. What was observed of the host stays, so that no sign gets younger or is forgotten.
 */
export function followBoot(
  state: FencingState,
  { hypervisor, nova, node, fleet }: NodeFailureObservation,
  openedAtMs: number,
): FencingState {
  const { id, host, bootId: before } = state.incident;
  const bootId = node?.bootId ?? null;
  if (bootId === null || before === null || bootId === before) return state;
  if (state.verdict.verdict === 'healthy' || wasActedOn(state)) return state;
  const isUntouched =
    hypervisor !== null && hypervisor.hold !== fencedHold && nova !== null && !nova.service.forcedDown;
  const isUnclaimed = fleet.silentFencings !== null && !fleet.silentFencings.some(({ incident }) => incident === id);
  return isUntouched && isUnclaimed
    ? { ...state, incident: incidentOf(host, bootId, openedAtMs), recommended: null }
    : state;
}

const wasActedOn = (state: FencingState): boolean =>
  state.confirmation !== null ||
  state.usedConfirmations.length > 0 ||
  state.evidence !== null ||
  state.fencedBootId !== null ||
  state.forcedDown ||
  state.servers !== null ||
  state.handedOver ||
  state.restored;

const incidentOf = (host: string, bootId: string | null, openedAtMs: number): Incident => ({
  id: `${host}/${new Date(openedAtMs).toISOString()}`,
  host,
  bootId,
  openedAtMs,
});

function openIncident(
  host: string,
  { hypervisor, nova, node }: NodeFailureObservation,
  judged: Judged & Pick<FencingState, 'settings'>,
  openedAtMs: number,
): FencingState | null {
  if (hypervisor === null || nova === null) return null;
  // An earlier run has fenced it, and was ended: its evidence went with it.
  const isFenced = hypervisor.hold === fencedHold && nova.service.forcedDown;
  const bootId = node?.bootId ?? (isFenced ? hypervisor.fencedBootId : null) ?? hypervisor.lastBootId;
  const begun = beginFencing({
    ...judged,
    incident: incidentOf(host, bootId, openedAtMs),
  });
  return isFenced ? { ...begun, forcedDown: true, fencedBootId: hypervisor.fencedBootId } : begun;
}

/** A sign is as old as the run has observed it without a break: by its own clock, and the later time where in doubt. */
export function dateSigns(
  before: HostSigns | null,
  host: string,
  { observed, askedMs, guests }: DatedObservation,
): HostSigns {
  const since = (isSame: boolean, sinceMs: number | undefined): number =>
    isSame && sinceMs !== undefined ? sinceMs : askedMs;
  const { node, compute } = observed;
  const libvirt = withGuests(observed.libvirt, guests, askedMs);
  return {
    host,
    node: node === null ? null : { ...node, sinceMs: since(isSameNode(before?.node, node), before?.node?.sinceMs) },
    compute:
      compute === null
        ? null
        : { ...compute, sinceMs: since(before?.compute?.state === compute.state, before?.compute?.sinceMs) },
    libvirt:
      libvirt === null
        ? null
        : { ...libvirt, sinceMs: since(before?.libvirt?.verdict === libvirt.verdict, before?.libvirt?.sinceMs) },
    witnesses: [
      ...reports(observed),
      ...observed.witnesses.map((witness) =>
        readMark(witness, before?.witnesses.find(({ kind }) => kind === witness.kind) ?? null, askedMs),
      ),
    ].map((report) => {
      const last = before?.witnesses.find(({ kind }) => kind === report.kind);
      return { ...report, sinceMs: since(last?.says === report.says, last?.sinceMs), atMs: askedMs };
    }),
  };
}

/** A kubelet that is silent stays so when its Node is taken away. */
const isSameNode = (before: Pick<NodeSign, 'ready'> | null | undefined, { ready }: Pick<NodeSign, 'ready'>): boolean =>
  before?.ready === ready || (isSilent(before?.ready) && isSilent(ready));

const isSilent = (ready: NodeSign['ready'] | undefined): boolean => ready === 'Unknown' || ready === 'Gone';

/**
 * What each witness says. One that cannot be had says nothing, and what Nova says of a host that is forced down is
 * drover's own word.
 */
function reports({ node, compute, nova, libvirt, power }: NodeFailureObservation): Report[] {
  const found: (Report | null)[] = [
    power === null ? null : { kind: 'bmc', says: witnessOf(power), message: `it says ${power}` },
    libvirt === null
      ? null
      : { kind: 'libvirt', says: libvirt.verdict === 'silent' ? 'silent' : 'alive', message: libvirt.message },
    compute === null || nova === null || nova.service.forcedDown
      ? null
      : {
          kind: 'nova',
          says: compute.state === 'up' ? 'alive' : 'silent',
          message: `its nova-compute is ${compute.state}`,
        },
    node === null || node.ready === 'Gone'
      ? null
      : {
          kind: 'kubelet',
          says: node.ready === 'Unknown' ? 'silent' : 'alive',
          message: `its Node is Ready=${node.ready}`,
        },
  ];
  return found.filter((report) => report !== null);
}

/**
 * A libvirt that answers is well, unless the guest watch has just signalled that guests fail. One that is silent is no
 * more than that.
 */
function withGuests(
  libvirt: NodeFailureObservation['libvirt'],
  guests: DatedObservation['guests'],
  askedMs: number,
): NodeFailureObservation['libvirt'] {
  if (libvirt?.verdict !== 'healthy' || guests === null || askedMs - guests.atMs >= guestSignalMaxAgeMs) return libvirt;
  return { verdict: 'failing', message: guests.message };
}

/** Whatever is between On and Off has power. */
function witnessOf(power: PowerState): Witness['says'] {
  if (power === 'Off') return 'off';
  return power === 'Unknown' ? 'unknown' : 'powered';
}

/** A confirmation, or why it does not count. A refused one changes nothing. */
export function applyConfirmation(
  state: FencingState,
  confirmation: Confirmation,
  nowMs: number,
): { state: FencingState; decision: ConsentDecision } {
  const decision = consentNow(state, confirmation, nowMs);
  return { state: decision.consent === 'valid' ? { ...state, confirmation } : state, decision };
}

export function consentNow(
  { incident, verdict, signs, power, usedConfirmations, settings }: FencingState,
  confirmation: Confirmation,
  nowMs: number,
): ConsentDecision {
  return judgeConsent(confirmation, { incident, verdict, signs, power, used: usedConfirmations }, settings, nowMs);
}

/** Uses the confirmation up. Where it does not count any more it is dropped, and the evidence stays as it is. */
export function useConfirmation(state: FencingState, nowMs: number): FencingState {
  const { confirmation } = state;
  if (confirmation === null) return state;
  if (consentNow(state, confirmation, nowMs).consent === 'refused') return { ...state, confirmation: null };
  return {
    ...state,
    confirmation: null,
    usedConfirmations: [...state.usedConfirmations, confirmation.id],
    evidence: { by: 'person', confirmation, usedAtMs: nowMs },
    fencedBootId: state.incident.bootId,
  };
}

/** A proof that the host is off. One that does not count changes nothing. */
export function applyProof(state: FencingState, proof: PowerProof): FencingState {
  if (proofProblem(proof, state.incident, state.settings) !== null) return state;
  return {
    ...state,
    evidence: { by: 'power', proof },
    fencedBootId: state.signs.node?.bootId ?? state.incident.bootId,
    power: { host: proof.host, power: 'Off', atMs: proof.secondOffMs },
    problem: null,
  };
}

/**
 * One that is older than the last, or of another host, changes nothing. It ends a problem of reading the power, and
 * that of powering off where a BMC that said nothing answers again; a step that a system refused keeps its back-off.
 */
export function applyPower(state: FencingState, power: PowerObservation): FencingState {
  if (power.host !== state.incident.host || power.atMs < (state.power?.atMs ?? -Infinity)) return state;
  const { step } = state.problem ?? {};
  const isBack = state.power?.power === 'Unknown' && power.power !== 'Unknown';
  const isOver = step === undefined || step === 'checkPower' || (step === 'powerOff' && isBack);
  return { ...state, power, problem: isOver ? null : state.problem };
}

export const loseEvidence = (state: FencingState): FencingState => ({ ...state, evidence: null });

/** The servers of the host, once; what comes later cannot come from a host that is off. */
export function applyServers(state: FencingState, found: readonly EvacuationCandidate[]): FencingState {
  const servers = found.map((server): TrackedEvacuation => {
    const why = whyLeft(server, state.settings.exclusions, state.consentedDisks);
    return { ...server, state: why === null ? 'pending' : 'left', attempts: 0, why, retryAtMs: null };
  });
  return { ...state, servers, problem: null };
}

/** A user gave up the local disks of these servers: those that were left for that alone may go. */
export function applyDiskConsents(state: FencingState, consents: readonly DiskConsent[]): FencingState {
  const consentedDisks = [
    ...state.consentedDisks,
    ...consents.filter(({ id }) => !state.consentedDisks.some((before) => before.id === id)),
  ];
  const servers = state.servers?.map((server): TrackedEvacuation => {
    if (server.state !== 'left' || server.attempts > 0) return server;
    const why = whyLeft(server, state.settings.exclusions, consentedDisks);
    return why === null ? { ...server, state: 'pending', why } : server;
  });
  return { ...state, consentedDisks, servers: servers ?? null };
}

export type DiskConsentDecision = { accepted: DiskConsent[]; message: string } | { accepted: null; message: string };

/**
 * Whether a user may give up these local disks: for this incident, and for servers that stay on the host for their
 * disks alone, each of them named. All of them or none. Pure; each branch is a row of the table test.
 */
export function judgeDiskConsent(
  { incident, instances, person }: AbandonDisks,
  { incident: current, servers, consentedDisks, settings }: FencingState,
  nowMs: number,
): DiskConsentDecision {
  const refuse = (message: string): DiskConsentDecision => ({ accepted: null, message });
  if (incident !== current.id) return refuse(`It is for the incident ${incident}; the one at hand is ${current.id}.`);
  if (servers === null)
    return refuse(`The servers of ${current.host} have not been listed: first it must be known that it is off.`);
  const accepted: DiskConsent[] = [];
  for (const instance of instances) {
    const [server, ...others] = servers.filter(({ id, name }) => id === instance || name === instance);
    if (server === undefined) return refuse(`${instance} is no server of ${current.host}.`);
    if (others.length > 0)
      return refuse(
        `${instance} may be any of ${[server, ...others].map(({ id }) => id).join(', ')}: name it by its id.`,
      );
    if (!hasLocalDisk(server)) return refuse(`${server.name} has no disks on the host.`);
    if (consentedDisks.some(({ id }) => id === server.id))
      return refuse(`The disks of ${server.name} have been given up already.`);
    const why = whyLeft(server, settings.exclusions, [{ id: server.id }]);
    if (why !== null) return refuse(`${server.name} would stay all the same: ${why}.`);
    accepted.push({ id: server.id, person, atMs: nowMs });
  }
  const names = servers.filter(({ id }) => accepted.some((consent) => consent.id === id)).map(({ name }) => name);
  return {
    accepted,
    message: `Accepted: ${person} gives up the local disks of ${names.join(', ')}. They come up elsewhere with these disks made anew, while ${current.host} is known to be off.`,
  };
}

/** With the servers whose evacuation is in flight in this run: the driver knows them, and the state does not. */
export const withInFlight = (state: FencingState, inFlight: ReadonlySet<string>): FencingState =>
  changeServers(state, inFlight, (server) => ({ ...server, state: 'evacuating', why: null }));

/** Those that were tried often enough are tried anew, because a user asks. */
export const resetProblems = (state: FencingState): FencingState => ({
  ...state,
  problem: null,
  servers:
    state.servers?.map((server): TrackedEvacuation => {
      if (server.state === 'left' && server.attempts > 0)
        return { ...server, state: 'pending', attempts: 0, retryAtMs: null };
      return server.state === 'pending' ? { ...server, retryAtMs: null } : server;
    }) ?? null,
});

/**
 * A failed one is tried again after a pause that doubles, until it has been tried often enough. One that was put off is
 * asked for again after the first pause, for as long as that takes.
 */
export const applyEvacuation = (
  state: FencingState,
  id: string,
  { outcome, why }: EvacuationOutcome,
  nowMs: number,
): FencingState =>
  changeServers(state, new Set([id]), (server) => {
    const { maxAttempts, retryMs } = state.settings;
    if (outcome === 'putOff') return { ...server, state: 'pending', why, retryAtMs: nowMs + retryMs };
    const attempts = server.attempts + 1;
    if (outcome !== 'failed') return { ...server, state: outcome, attempts, why, retryAtMs: null };
    if (attempts >= maxAttempts) return { ...server, state: 'left', attempts, why, retryAtMs: null };
    const retryAtMs = nowMs + Math.min(longestEvacuationRetryMs, retryMs * 2 ** (attempts - 1));
    return { ...server, state: 'pending', attempts, why, retryAtMs };
  });

const changeServers = (
  state: FencingState,
  ids: ReadonlySet<string>,
  change: (server: TrackedEvacuation) => TrackedEvacuation,
): FencingState => ({
  ...state,
  servers: state.servers?.map((server) => (ids.has(server.id) ? change(server) : server)) ?? null,
});
