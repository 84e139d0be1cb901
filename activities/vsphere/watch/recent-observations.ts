/** What runs have done and seen lately by this worker: the watch need not tell them of it. */
export interface RecentObservations {
  /** Something was begun that changes the VM. @param name `namespace/name` of the object */
  noteMutation(name: string, atMs: number): void;
  /** @param seen null: the VM was gone. @param startedMs before it, something else may have been so */
  noteObservation(vmId: string, digest: string | null, startedMs: number): void;
  /** Whether what changes now is most likely the doing of its run. */
  isAtWork(name: string, nowMs: number): boolean;
  /** Whether that is what a run has seen last, null that it was gone: news of it may come after the look, and a run that has seen it would leave them aside. */
  hasObserved(vmId: string, digest: string | null): boolean;
}

/** Most tasks are over by then. What comes of a longer one is told, and is no news to its run. */
const atWorkMs = 3_000;
/** Longer than anything waits to be told. */
const keptMs = 10_000;

export function openRecentObservations(): RecentObservations {
  const observations = new Map<string, { digest: string | null; atMs: number }>();
  const mutations = new Map<string, { atMs: number }>();
  return {
    noteMutation: (name, atMs) => keep(mutations, name, { atMs }),
    noteObservation: (vmId, digest, startedMs) => keep(observations, vmId, { digest, atMs: startedMs }),
    isAtWork: (name, nowMs) => nowMs - (mutations.get(name)?.atMs ?? -Infinity) <= atWorkMs,
    hasObserved: (vmId, digest) => observations.get(vmId)?.digest === digest,
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
