/** What a store keeps of an object. The uid is its identity: one name deleted and created again is two objects. */
export interface Identity {
  uid: string;
  resourceVersion: string;
}

/** `name` is unique among those of its kind: `namespace/name` where it has a namespace. */
export type Named = Identity & { name: string };

export type Delta<Kept> =
  | { type: 'added'; after: Kept }
  | { type: 'changed'; before: Kept; after: Kept }
  /** `after` is its last state as far as known. */
  | { type: 'gone'; after: Kept };

export interface Store<Kept extends Named> {
  readonly size: number;
  readonly objects: () => Iterable<Kept>;
  readonly get: (uid: string) => Kept | undefined;
  /** Of two objects of one name, the one that came last. */
  readonly named: (name: string) => Kept | undefined;
  /** Those that the index has under the key, in the order in which they came under it. */
  readonly indexed: (key: string) => Iterable<Kept>;
  /** Puts one watch event into the store. Null where the store knew it already, as after a watch that began anew. */
  readonly applyEvent: (type: 'ADDED' | 'MODIFIED' | 'DELETED', after: Kept) => Delta<Kept> | null;
  /**
   * Makes the store equal to a complete list. What is gone comes first, so that of two objects of one name the old one
   * goes before the new one comes.
   */
  readonly applyList: (listed: readonly Kept[]) => Delta<Kept>[];
}

/**
 * @param keysOf the keys that an object is found by besides its uid and name, as client-go's indexers have them; pure
 */
export function createStore<Kept extends Named>(keysOf: (object: Kept) => Iterable<string> = () => []): Store<Kept> {
  const objects = new Map<string, Kept>();
  const names = new Map<string, Kept>();
  const index = new Map<string, Map<string, Kept>>();

  const remove = (object: Kept): void => {
    objects.delete(object.uid);
    if (names.get(object.name)?.uid === object.uid) names.delete(object.name);
    for (const key of keysOf(object)) {
      const under = index.get(key);
      under?.delete(object.uid);
      if (under?.size === 0) index.delete(key);
    }
  };
  const put = (object: Kept): void => {
    objects.set(object.uid, object);
    names.set(object.name, object);
    for (const key of keysOf(object)) {
      const under = index.get(key) ?? new Map<string, Kept>();
      index.set(key, under.set(object.uid, object));
    }
  };

  const applyEvent: Store<Kept>['applyEvent'] = (type, after) => {
    const before = objects.get(after.uid);
    if (type === 'DELETED') {
      if (before === undefined) return null;
      remove(before);
      return { type: 'gone', after };
    }
    if (before?.resourceVersion === after.resourceVersion) return null;
    if (before !== undefined) remove(before);
    put(after);
    return before === undefined ? { type: 'added', after } : { type: 'changed', before, after };
  };

  return {
    get size() {
      return objects.size;
    },
    objects: () => objects.values(),
    get: (uid) => objects.get(uid),
    named: (name) => names.get(name),
    indexed: (key) => index.get(key)?.values() ?? [],
    applyEvent,
    applyList: (listed) => {
      const uids = new Set(listed.map(({ uid }) => uid));
      const gone = [...objects.values()].filter(({ uid }) => !uids.has(uid));
      gone.forEach(remove);
      const present = listed.map((object) => applyEvent('MODIFIED', object)).filter((delta) => delta !== null);
      return [...gone.map((after) => ({ type: 'gone', after }) as const), ...present];
    },
  };
}
