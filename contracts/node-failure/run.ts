import type { FailureReason } from './node-failure.ts';

/** How a run ended. */
export interface NodeFailureResult {
  hypervisor: string;
  /** Null: none was opened. */
  incident: string | null;
  /** `Recovered`: nothing was done. `HandedOver`: the host lives, and an Eviction empties it. `Restored`: fenced, and back. `TakenOver`: a person has taken back what drover did. */
  outcome: 'Recovered' | 'HandedOver' | 'Restored' | 'TakenOver' | 'NothingToDo' | 'OtherRun';
  message: string;
}

/** The answer to the query `progress`. */
export interface NodeFailureProgress {
  hypervisor: string;
  incident: string | null;
  /** The boot that a confirmation has to name. */
  bootId: string | null;
  mode: 'recommend' | 'automatic' | null;
  verdict: 'healthy' | 'watch' | 'suspect' | 'failed' | null;
  reason: FailureReason | null;
  message: string;
  /** What holds drover back from acting by itself; null: nothing. */
  gate: string | null;
  /** Why its servers may be taken as stopped; null: nothing proves it. */
  evidence: string | null;
  forcedDown: boolean;
  waitingFor: string | null;
  /** RFC 3339. */
  nextWakeUp: string | null;
  /** What went wrong last, and is tried again. */
  problem: string | null;
  /** What could not be read in the last look. */
  unread: string[];
  /** Why the last confirmation did not count. */
  refusal: string | null;
  /** What to type to confirm that the host is off; null where it would be refused. */
  confirm: string | null;
  /** Null until they have been listed. */
  servers: {
    total: number;
    evacuated: number;
    evacuating: number;
    pending: number;
    /** Pending ones whose last attempt failed; `at`: RFC 3339, null: as soon as there is room. */
    retrying: { id: string; name: string; why: string; attempts: number; at: string | null }[];
    left: { id: string; name: string; why: string }[];
    /** Whose local disks were given up, by whom and when. */
    abandoned: { id: string; name: string; person: string; at: string }[];
  } | null;
}
