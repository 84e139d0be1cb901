/** A hypervisor that is not, or not any more, what its Hypervisor says. */
export interface Drift {
  hypervisor: string;
  /** For people: what was said, and what was observed. */
  why: string;
}

/** The plain JSON that starts a comparison; a Schedule does. */
export interface DriftInput {
  /** Nova's region; selects the task queue. */
  region: string;
}

/** What a comparison has come to; also the result of its run. */
export interface DriftFindings {
  outcome: 'Compared' | 'NothingToDo';
  /** How many Hypervisors were compared. */
  compared: number;
  /** How many differ. More than are signalled at once are signalled by the next comparisons. */
  differing: number;
  /** Whose runs were signalled; the first of them. */
  signalled: Drift[];
}
