/** What a store keeps of an object. The uid is its identity: one name deleted and created again is two objects. */
export interface Identity {
  uid: string;
  resourceVersion: string;
}

export type Delta<Kept> =
  | { type: 'added'; after: Kept }
  | { type: 'changed'; before: Kept; after: Kept }
  /** `after` is its last state as far as known. */
  | { type: 'gone'; after: Kept };

export type Store<Kept extends Identity> = Map<string, Kept>;

/** Puts one watch event into the store. Null where the store knew it already, as after a watch that began anew. */
export function applyEvent<Kept extends Identity>(
  store: Store<Kept>,
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  after: Kept,
): Delta<Kept> | null {
  const before = store.get(after.uid);
  if (type === 'DELETED') return store.delete(after.uid) ? { type: 'gone', after } : null;
  if (before?.resourceVersion === after.resourceVersion) return null;
  store.set(after.uid, after);
  return before === undefined ? { type: 'added', after } : { type: 'changed', before, after };
}

/** Makes the store equal to a complete list. What is gone comes first, so that of two objects of one name the old one goes before the new one comes. */
export function applyList<Kept extends Identity>(store: Store<Kept>, listed: readonly Kept[]): Delta<Kept>[] {
  const uids = new Set(listed.map(({ uid }) => uid));
  const gone = [...store.values()].filter(({ uid }) => !uids.has(uid));
  for (const { uid } of gone) store.delete(uid);
  const present = listed.map((object) => applyEvent(store, 'MODIFIED', object)).filter((delta) => delta !== null);
  return [...gone.map((after) => ({ type: 'gone', after }) as const), ...present];
}
