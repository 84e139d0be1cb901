/** What the runs that listen to the guests of hypervisors are given, give back and ask for. Started by workers, or by hand with plain JSON. */

export interface GuestWatchInput {
  /** From 0; each shard watches its part of the hypervisors over one connection each. */
  shard: number;
}

/** Of one turn of the activity; the run begins the next. */
export interface GuestWatchTurn {
  /** Whether it is still wanted, by drover's settings. */
  wanted: boolean;
  /** Hypervisors that were watched last, and to how many of them there was a connection. */
  hosts: number;
  connected: number;
  /** Hypervisors of this shard that are not watched, as they are more than the settings allow. */
  left: number;
  /** How often the run of a failure was told of failing guests. */
  told: number;
  /** How many looks found so many hosts failing at once that none was told of: what they share has failed. */
  withheld: number;
}

export interface GuestWatchResult {
  outcome: 'SwitchedOff';
  message: string;
}

/** The answer to the query `progress`. */
export interface GuestWatchProgress {
  shard: number;
  /** Null before the end of the first turn. */
  lastTurn: GuestWatchTurn | null;
  waitingFor: string;
}

/** Queue `hosts`. */
export interface GuestWatchActivities {
  /** Listens to the guests of the shard's hypervisors until its time is over, and tells the runs of their failures. */
  watchGuests(request: GuestWatchInput): Promise<GuestWatchTurn>;
}

/** Signal to the run of a host's failure: too many of its guests fail. It is repeated while that is so, and counts for a while. */
export interface GuestsFailing {
  /** A sentence that names them. */
  message: string;
}

/** How long one turn is: a run makes a handful of history events in that time. */
export const guestWatchTurnMs = 60 * 60_000;
/** How often failing guests are told of; and how long the word of it counts, so that one that was lost does no harm. */
export const guestWordEveryMs = 60_000;
export const guestWordMaxAgeMs = 150_000;
