/** What every run that drives an object is given, answers and ends with. */

/** Settings of every kind. */
export interface RunSettings {
  /** `observe`: plans are published and change nothing. */
  mode: 'observe' | 'act';
  /** The longest wait: whatever is missed is noticed after that. */
  recheckMs: number;
  /** So long a run that changed something stays, so that bursts and echoes coalesce. */
  lingerMs: number;
  /** Between two statuses, other than the last one. */
  publishMinMs: number;
}

/** What the activity that observes an object finds. */
export interface ObservationOf<Desired, Observed, Settings extends RunSettings> {
  kind: 'observed';
  /** Null: there is no such object. */
  desired: Desired | null;
  observed: Observed;
  settings: Settings;
  /**
   * Of the generations and resourceVersions of the object and of all that it names, never of a Secret's content. The
   * bridge starts no run for what still has the digest that a closed run left. Null: there is nothing to compare, as
   * there is no object, as one that is reconciled depends on no other, or as the run stays open.
   */
  digest: string | null;
  /** Value of `drover.dev/retry` that `drover.dev/retry-handled` does not repeat; null: none. */
  retry: string | null;
}

/** Why an object is not observed. */
export type Unobserved =
  /** The kind is switched off. */
  | { kind: 'nothing'; message: string }
  /** This run has another id than the object's, whose run was signalled with start. */
  | { kind: 'handedOver'; message: string };

/** Where a run is, as its query `progress` answers. Times are Unix ms. */
export interface RunProgress {
  /** Kind and name. */
  object: string;
  phase: string;
  /** A condition reason. */
  reason: string;
  message: string;
  /** Of phase and message. */
  sinceMs: number;
  /** `untilMs` null: until a message comes, or the slot that it is queued for. */
  waiting: { reason: string; message: string; untilMs: number | null } | null;
  /** In a row. */
  failures: number;
  /** Steps in the background, by their locks. */
  inFlight: string[];
}

/** How a run ended. */
export interface RunResult {
  /** Kind and name. */
  object: string;
  /**
   * `reconciled`: the object matches its spec. `blocked`: a user has to do something. `gone`: there is no such object
   * any more, or drover holds nothing of it. `observed`: drover only observes. `nothing`: the kind is switched off.
   * `handedOver`: another run drives it.
   */
  outcome: 'reconciled' | 'blocked' | 'gone' | 'observed' | 'nothing' | 'handedOver';
  /** A condition reason. */
  reason: string;
  message: string;
}

/**
 * Key in the memo of a run: the digest of what it observed, see `ObservationOf.digest`. The bridge starts a run with
 * the digest that it knows; a run that has observed something else writes its own as it ends. It holds for runs that
 * came to their end alone.
 */
export const digestMemo = 'droverObserved';
