/**
 * What Prometheus is shown of an object besides whether it is reconciled. Pure, from the object alone, whatever
 * is in it.
 */
export interface Shown {
  /** How far it has come, in one of few words. */
  readonly state: string;
  /** What it waits for, in the place of its condition's reason where that says less. Left out: that reason. */
  readonly reason?: string;
  /** Why it is there, of a kind that has causes; else null. */
  readonly cause: string | null;
  /**
   * Why a user has to do something about it, as a reason; null: nothing has to be done. It may be reconciled all the
   * same: nothing goes on by itself.
   */
  readonly attention: string | null;
  /** Conditions that say that something is not as it should be, though the object goes on. */
  readonly signs: readonly Sign[];
  /** When it is to have ended; milliseconds since the epoch. Null: it has no deadline, or no more. */
  readonly deadlineMs: number | null;
}

export interface Sign {
  readonly condition: string;
  readonly reason: string;
}

/** Of a kind that has no more to show. */
export const shownAttention = (state: string | null, attention: string | null): Shown => ({
  state: state ?? notSaid,
  cause: null,
  attention,
  signs: [],
  deadlineMs: null,
});

/** The state of an object of which no run has said anything yet. */
export const notSaid = 'Unknown';
