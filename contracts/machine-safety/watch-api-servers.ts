import type { ApiServerSafetyInput, SafetyState } from './api-server-safety.ts';

/**
 * Results and activities of the system workflow that freezes Machines. Started by workers, or by hand with plain JSON.
 */

/** What came of one round. */
export interface ApiServerRound {
  /** Whether it is still wanted, by drover's settings. */
  wanted: boolean;
  state: SafetyState;
}

export interface ApiServerSafetyResult {
  outcome: 'SwitchedOff';
  message: string;
}

/** The answer to the query `progress`. */
export interface ApiServerSafetyProgress {
  namespace: string;
  state: SafetyState;
  /** Null before the end of the first round. */
  lastRound: ApiServerRound | null;
  waitingFor: string;
}

export interface ResetMachines {
  /** Those whose health time-out begins anew. */
  reset: number;
}

/** Queue `machines`. */
export interface ApiServerSafetyActivities {
  /**
   * Probes both API servers until Machines are to be frozen or thawed, or an hour is over; each heartbeat is
   * the newest state.
   *
   * @param request.state null: nothing is known
   */
  probeApiServers(request: ApiServerSafetyInput & { state: SafetyState | null }): Promise<ApiServerRound>;
  /**
   * Machines in the phase Unknown are Running again: their API servers were away, not they. Safe to repeat.
   * @throws Stopped
   */
  resetUnknownMachines(request: ApiServerSafetyInput): Promise<ResetMachines>;
}

/** Its last heartbeat is a part of whether Machines are frozen. */
export const probeActivity = 'probeApiServers' satisfies keyof ApiServerSafetyActivities;

/** How long one round is: a run makes a handful of history events in that time. */
export const safetyRoundMs = 60 * 60_000;
