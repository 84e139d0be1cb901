/**
 * Input, results and activities of the system workflow that freezes MachineSets with too many Machines. Started by
 * workers, or by hand with plain JSON.
 */

export interface OvershootInput {
  /** Of the Machines. */
  namespace: string;
}

export interface OvershootSettings {
  /** So many Machines more than may be needed freeze a MachineSet. */
  readonly safetyUp: number;
  /** So many fewer than those thaw it. */
  readonly safetyDown: number;
}

/** What came of one round. */
export interface OvershootRound {
  /** Whether it is still wanted, by drover's settings. */
  wanted: boolean;
  /** MachineSets, as last listed. */
  sets: number;
  /** Names of those that are frozen, at most {@link mostNamed}. */
  frozen: string[];
  /** How often a MachineSet or a MachineDeployment was frozen or thawed. */
  changed: number;
  /** What could not be judged or written last, for people; null: all was well. */
  trouble: string | null;
}

export interface OvershootResult {
  outcome: 'SwitchedOff';
  message: string;
}

/** The answer to the query `progress`. */
export interface OvershootProgress {
  namespace: string;
  /** Null before the end of the first round. */
  lastRound: OvershootRound | null;
  waitingFor: string;
}

/** Queue `machines`. */
export interface OvershootActivities {
  /**
   * Counts the Machines of each MachineSet until an hour is over, and freezes and thaws
   * MachineSets and MachineDeployments.
   */
  checkOvershoot(request: OvershootInput): Promise<OvershootRound>;
}

export const mostNamed = 20;
/** How long one round is: a run makes a handful of history events in that time. */
export const overshootRoundMs = 60 * 60_000;
