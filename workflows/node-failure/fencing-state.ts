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
import type { FailureVerdict, GateDecision, HostSigns } from '../../contracts/node-failure/node-failure.ts';
import type { PowerObservation, PowerProof } from '../../contracts/node-failure/power.ts';
import { judgeConsent, proofProblem, type ConsentDecision } from './fencing-consent.ts';
import { whyLeft } from './pick-evacuations.ts';

/** What is known of one incident. Plain data, so that it can be carried over when the run continues as new. Times: ms since the epoch. */
export interface FencingState {
  incident: Incident;
  settings: FencingSettings;
  /** `automatic` where an aggregate of the host has opted in; else drover only recommends. */
  mode: 'recommend' | 'automatic';
  signs: HostSigns;
  verdict: FailureVerdict;
  gate: GateDecision;
  /** The last thing that was recommended. */
  recommended: string | null;
  confirmation: Confirmation | null;
  usedConfirmations: string[];
  /** Why the servers of the host may be taken as stopped. Lost as soon as anything on the host shows life. */
  evidence: FenceEvidence | null;
  /** The boot that the evidence ended: what comes back as the same one was never off. Stays when the evidence is lost. */
  fencedBootId: string | null;
  /** The newest look at its power, by the BMC. */
  power: PowerObservation | null;
  /** drover has disabled the compute service and forced it down. */
  forcedDown: boolean;
  /** Null until they have been listed. */
  servers: TrackedEvacuation[] | null;
  /** Servers whose local disks somebody gave up. */
  consentedDisks: DiskConsent[];
  /** What went wrong last, and when it is tried again. */
  problem: { message: string; retryAtMs: number } | null;
  /** An Eviction empties the host live. */
  handedOver: boolean;
  restored: boolean;
}

export function beginFencing(
  begin: Pick<FencingState, 'incident' | 'settings' | 'mode' | 'signs' | 'verdict' | 'gate'>,
): FencingState {
  return {
    ...begin,
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

/** Takes in a new look at the host and the fleet. */
export const takeLook = (
  state: FencingState,
  look: Partial<Pick<FencingState, 'signs' | 'verdict' | 'gate' | 'mode'>>,
): FencingState => ({ ...state, ...look });

/** Takes in a person’s word, or says why it does not count. A refused one changes nothing. */
export function takeConfirmation(
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

/** Uses the confirmation up. Where it does not count any more it is put away, and the evidence stays as it is. */
export function useConfirmation(state: FencingState, nowMs: number): FencingState {
  const { confirmation } = state;
  if (confirmation === null) return state;
  if (consentNow(state, confirmation, nowMs).consent === 'refused') return { ...state, confirmation: null };
  return {
    ...state,
    confirmation: null,
    usedConfirmations: [...state.usedConfirmations, confirmation.id],
    evidence: { by: 'person', confirmation, usedAtMs: nowMs },
    fencedBootId: confirmation.bootId,
  };
}

/** Takes in a proof that the host is off. One that does not count is as if it had not come. */
export function takeProof(state: FencingState, proof: PowerProof): FencingState {
  if (proofProblem(proof, state.incident, state.settings) !== null) return state;
  return {
    ...state,
    evidence: { by: 'power', proof },
    fencedBootId: state.signs.node?.bootId ?? state.incident.bootId,
    power: { host: proof.host, power: 'Off', atMs: proof.secondOffMs },
    problem: null,
  };
}

/** Takes in a look at the power; one that is older than the last, or of another host, is as if it had not come. */
export const takePower = (state: FencingState, power: PowerObservation): FencingState =>
  power.host === state.incident.host && power.atMs >= (state.power?.atMs ?? -Infinity)
    ? { ...state, power, problem: null }
    : state;

export const loseEvidence = (state: FencingState): FencingState => ({ ...state, evidence: null });

export const takeProblem = (state: FencingState, message: string, retryAtMs: number): FencingState => ({
  ...state,
  problem: { message, retryAtMs },
});

/** Takes in the servers of the host, once; what comes later cannot come from a host that is off. */
export function takeServers(state: FencingState, found: readonly EvacuationCandidate[]): FencingState {
  const servers = found.map((server): TrackedEvacuation => {
    const why = whyLeft(server, state.settings.exclusions, state.consentedDisks);
    return { ...server, state: why === null ? 'pending' : 'left', attempts: 0, why, retryAtMs: null };
  });
  return { ...state, servers, problem: null };
}

/** Somebody gave up the local disks of these servers: those that were left for that alone may go. */
export function consentToLoss(state: FencingState, consents: readonly DiskConsent[]): FencingState {
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

export const beginEvacuations = (state: FencingState, ids: readonly string[]): FencingState =>
  changeServers(state, ids, (server) => ({
    ...server,
    state: 'evacuating',
    attempts: server.attempts + 1,
    why: null,
    retryAtMs: null,
  }));

/** Those that were tried often enough are tried anew, because somebody asks. */
export const retryLeft = (state: FencingState): FencingState => ({
  ...state,
  problem: null,
  servers:
    state.servers?.map((server): TrackedEvacuation => {
      if (server.state === 'left' && server.attempts > 0)
        return { ...server, state: 'pending', attempts: 0, retryAtMs: null };
      return server.state === 'pending' ? { ...server, retryAtMs: null } : server;
    }) ?? null,
});

/** `failed` is tried again after a pause that doubles, until it has been tried often enough. */
export const endEvacuation = (
  state: FencingState,
  id: string,
  outcome: 'evacuated' | 'gone' | 'failed',
  why: string | null,
  nowMs: number,
): FencingState =>
  changeServers(state, [id], (server) => {
    if (outcome !== 'failed') return { ...server, state: outcome, why };
    if (server.attempts >= state.settings.maxAttempts) return { ...server, state: 'left', why };
    return {
      ...server,
      state: 'pending',
      why,
      retryAtMs: nowMs + Math.min(longestEvacuationRetryMs, state.settings.retryMs * 2 ** (server.attempts - 1)),
    };
  });

const changeServers = (
  state: FencingState,
  ids: readonly string[],
  change: (server: TrackedEvacuation) => TrackedEvacuation,
): FencingState => ({
  ...state,
  servers: state.servers?.map((server) => (ids.includes(server.id) ? change(server) : server)) ?? null,
});
