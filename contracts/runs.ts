/** What every run that drives an object answers and ends with. */

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
  waiting: { reason: string; message: string; untilMs: number } | null;
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
   * `reconciled`: the object matches its spec. `blocked`: a user has to do something. `gone`: there is no such object any more, or drover
   * holds nothing of it. `observed`: drover only observes. `nothing`: the kind is switched off. `handedOver`: another run drives it.
   */
  outcome: 'reconciled' | 'blocked' | 'gone' | 'observed' | 'nothing' | 'handedOver';
  /** A condition reason. */
  reason: string;
  message: string;
}

/** Key in the memo of a run: the digest of what it observed, see `Observation.digest`. */
export const digestMemo = 'droverObserved';
