/** What runs have changed and observed lately on this worker: the watch need not signal it to them. */
export interface RecentObservations {
  /** Something was begun that changes the VM. @param name `namespace/name` of the object */
  noteMutation(name: string, atMs: number): void;
  /** An activity waits for the end of such a task, until `done`. @param name `namespace/name` of the object */
  noteTask(name: string): { done(atMs: number): void };
  /**
   * @param digest null: the VM was gone.
   * @param startedMs when the observation began: the state before may have been another
   */
  noteObservation(vmId: string, digest: string | null, startedMs: number): void;
  /** Whether a change now is most likely made by the run of the VM. */
  isAtWork(name: string, nowMs: number): boolean;
  /**
   * Whether a run observed that state last, and lately; null: that the VM was gone. The update may arrive after the
   * observation, and the run would ignore its signal.
   */
  hasObserved(vmId: string, digest: string | null, nowMs: number): boolean;
  /** Whether a run began to observe it at that time or later: it goes by what it saw. */
  hasObservedSince(vmId: string, sinceMs: number): boolean;
  /** A run is told of another state: it observes the VM next, maybe on another worker. */
  forget(vmId: string): void;
}

/** After a mutation or the end of its task: it is observed by then, also where a worker makes hundreds of VMs at once. */
const atWorkMs = 5_000;
/** Longer than any change waits to be signalled, also where updates come late from a vCenter that has much to do. */
const keptMs = 30_000;

export function openRecentObservations(): RecentObservations {
  const observations = new Map<string, { digest: string | null; atMs: number }>();
  const mutations = new Map<string, { atMs: number }>();
  const tasks = new Map<string, number>();
  const addTasks = (name: string, more: number): void => {
    const count = (tasks.get(name) ?? 0) + more;
    if (count === 0) tasks.delete(name);
    else tasks.set(name, count);
  };
  return {
    noteMutation: (name, atMs) => keep(mutations, name, { atMs }),
    noteTask: (name) => {
      addTasks(name, 1);
      return {
        done: (atMs) => {
          addTasks(name, -1);
          keep(mutations, name, { atMs });
        },
      };
    },
    noteObservation: (vmId, digest, startedMs) => keep(observations, vmId, { digest, atMs: startedMs }),
    isAtWork: (name, nowMs) => tasks.has(name) || nowMs - (mutations.get(name)?.atMs ?? -Infinity) <= atWorkMs,
    hasObserved: (vmId, digest, nowMs) => {
      const last = observations.get(vmId);
      return last !== undefined && last.digest === digest && nowMs - last.atMs <= keptMs;
    },
    hasObservedSince: (vmId, sinceMs) => (observations.get(vmId)?.atMs ?? -Infinity) >= sinceMs,
    forget: (vmId) => void observations.delete(vmId),
  };
}

/** The oldest come first, as each is put at the end, and go when they are of no use any more. */
function keep<Entry extends { atMs: number }>(entries: Map<string, Entry>, key: string, entry: Entry): void {
  for (const [old, { atMs }] of entries) {
    if (entry.atMs - atMs <= keptMs) break;
    entries.delete(old);
  }
  entries.delete(key);
  entries.set(key, entry);
}
