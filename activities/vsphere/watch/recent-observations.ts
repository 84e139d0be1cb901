/** What runs have done and seen lately by this worker: the watch need not tell them of it. */
export interface RecentLooks {
  /** Something was begun that changes the VM. @param name `namespace/name` of the object */
  noteDeed(name: string, atMs: number): void;
  /** @param seen null: the VM was gone. @param startedMs before it, something else may have been so */
  note(vmId: string, seen: string | null, startedMs: number): void;
  /** Whether what changes now is most likely the doing of its run. */
  isAtWork(name: string, nowMs: number): boolean;
  /** Whether that is what a run has seen last, null that it was gone: news of it may come after the look, and a run that has seen it would leave them aside. */
  hasSeen(vmId: string, seen: string | null): boolean;
}

/** Most tasks are over by then. What comes of a longer one is told, and is no news to its run. */
const atWorkMs = 3_000;
/** Longer than anything waits to be told. */
const rememberedMs = 10_000;

export function openRecentLooks(): RecentLooks {
  const looks = new Map<string, { seen: string | null; atMs: number }>();
  const deeds = new Map<string, { atMs: number }>();
  return {
    noteDeed: (name, atMs) => keep(deeds, name, { atMs }),
    note: (vmId, seen, startedMs) => keep(looks, vmId, { seen, atMs: startedMs }),
    isAtWork: (name, nowMs) => nowMs - (deeds.get(name)?.atMs ?? -Infinity) <= atWorkMs,
    hasSeen: (vmId, seen) => looks.get(vmId)?.seen === seen,
  };
}

/** The oldest come first, as each is put at the end, and go when they are of no use any more. */
function keep<Entry extends { atMs: number }>(entries: Map<string, Entry>, key: string, entry: Entry): void {
  for (const [old, { atMs }] of entries) {
    if (entry.atMs - atMs <= rememberedMs) break;
    entries.delete(old);
  }
  entries.delete(key);
  entries.set(key, entry);
}
