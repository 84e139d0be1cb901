/** A hypervisor that is not, or not any more, what its Hypervisor says. */
export interface Drift {
  hypervisor: string;
  /** In words for people: what was said, and what was seen. */
  why: string;
}

/** The plain JSON that starts a look for drift; a Schedule does. */
export interface DriftInput {
  /** Nova's region; selects the task queue. */
  region: string;
}

/** What a look has come to; also the result of its run. */
export interface DriftFindings {
  outcome: 'Compared' | 'NothingToDo';
  /** How many Hypervisors were compared. */
  compared: number;
  /** How many differ. More than are told at once are told by the next looks. */
  differing: number;
  /** Whose runs were told; the first of them. */
  told: Drift[];
}
