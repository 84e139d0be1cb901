import type { RunProgress } from '../runs.ts';
import type { FailureVerdict, Witness } from './node-failure.ts';

/**
 * Why a run ended, in its result and in the condition. `Recovered`: nothing was done. `HandedOver`: the host lives, and
 * an Eviction empties it. `Restored`: fenced, and back. `TakenOver`: a user has taken back what drover did. `LeftNova`:
 * Nova has no such host any more.
 */
export type FailureEnd = 'Recovered' | 'HandedOver' | 'Restored' | 'TakenOver' | 'LeftNova';

/** The answer to the query `progress`. Its phase is `Fenced`, or the reason of the verdict. */
export interface NodeFailureProgress extends RunProgress {
  /** Null: none has been opened. */
  incident: string | null;
  /** The boot that a confirmation has to name; `unknown` where it is not recorded. */
  bootId: string | null;
  mode: 'recommend' | 'automatic' | null;
  verdict: Pick<FailureVerdict, 'verdict' | 'reason'> | null;
  /** What holds drover back from acting by itself; null: nothing. */
  gate: string | null;
  /**
   * Of a host that has power and is silent: why drover does not fence it by itself; null: it does, or it is
   * not asked to.
   */
  silence: string | null;
  /** What each witness says, and since when, RFC 3339. */
  witnesses: (Pick<Witness, 'kind' | 'says' | 'message'> & { since: string })[];
  /** Why its servers may be taken as stopped; null: nothing proves it. */
  evidence: string | null;
  forcedDown: boolean;
  /** What failed last, and is tried again. */
  problem: string | null;
  /** What could not be read in the last observation. */
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
