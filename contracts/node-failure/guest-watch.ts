/**
 * Input, results and activities of the system workflows that watch the guests of hypervisors. Started by workers, or by
 * hand with plain JSON.
 */

export interface GuestWatchInput {
  /** From 0; each shard watches its part of the hypervisors over one connection each. */
  shard: number;
}

/** What came of one round. */
export interface GuestWatchRound {
  /** Whether it is still wanted, by drover's settings. */
  wanted: boolean;
  /** Hypervisors that were watched last, and to how many of them there was a connection. */
  hosts: number;
  connected: number;
  /** Hypervisors of this shard that are not watched, as they are more than the settings allow. */
  left: number;
  /** How often the run of a failure was signalled that guests fail. */
  signalled: number;
  /** How often so many hosts failed at once that none was signalled: what they share has failed. */
  withheld: number;
}

export interface GuestWatchResult {
  outcome: 'SwitchedOff';
  message: string;
}

/** The answer to the query `progress`. */
export interface GuestWatchProgress {
  shard: number;
  /** Null before the end of the first round. */
  lastRound: GuestWatchRound | null;
  waitingFor: string;
}

/** Queue `hosts`. */
export interface GuestWatchActivities {
  /** Watches the guests of the shard's hypervisors until its time is over, and signals the runs of their failures. */
  watchGuests(request: GuestWatchInput): Promise<GuestWatchRound>;
}

/**
 * Signal to the run of a host's failure: too many of its guests fail. It is repeated while that is so, and counts
 * for a while.
 */
export interface GuestsFailing {
  /** A sentence that names them. */
  message: string;
}

/** How long one round is: a run makes a handful of history events in that time. */
export const guestWatchRoundMs = 60 * 60_000;
/** How often it is signalled that guests fail; and how long such a signal counts, so that a lost one does no harm. */
export const guestSignalEveryMs = 60_000;
export const guestSignalMaxAgeMs = 150_000;
