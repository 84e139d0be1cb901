import type { Manager } from './managed-fields.ts';
import type { Resource } from './resources.ts';
import type { Draft, StoredObject } from './stored-object.ts';

/** An object, and who owns its fields. */
export interface Stored {
  object: StoredObject;
  managers: readonly Manager[];
}

/** One change, as a watch reports it. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  atMs: number;
  /** Of etcd: one more for every change of any object. */
  revision: number;
  resource: Resource;
  /** Of what was deleted the last state, in the version of the deletion. */
  object: StoredObject;
  /** Before the change; null: it was not there. */
  previous: StoredObject | null;
}

export interface ObjectKey {
  /** Absent where the kind has none. */
  namespace?: string | undefined;
  name: string;
}

/**
 * etcd, as kube-apiserver uses it: every change has a revision, and what has been may be read until it is compacted.
 */
export interface Storage {
  /** Of the last change. */
  readonly revision: number;
  /** What was before this revision cannot be read any more. */
  readonly compactedRevision: number;
  readonly changes: readonly Change[];
  get(resource: Pick<Resource, 'group' | 'plural'>, key: ObjectKey): Stored | null;
  /** By namespace and name. */
  list(resource: Resource): StoredObject[];
  /** As {@link Storage.list} would have answered at that revision. */
  listAt(resource: Resource, revision: number): StoredObject[];
  put(resource: Resource, object: Draft, managers: readonly Manager[]): Stored;
  remove(resource: Resource, key: ObjectKey): StoredObject;
  compact(): void;
  /** Called for each change, once it has happened. Returns what ends that. */
  subscribe(onChange: (change: Change) => void): () => void;
}

export const isOf = (
  resource: Pick<Resource, 'group' | 'plural'>,
  other: Pick<Resource, 'group' | 'plural'>,
): boolean => resource.group === other.group && resource.plural === other.plural;

const keyOf = (resource: Pick<Resource, 'group' | 'plural'>, { namespace = '', name }: ObjectKey): string =>
  `${resource.group}/${resource.plural}/${namespace}/${name}`;

const inOrder = (a: StoredObject, b: StoredObject): number => {
  const [left, right] = [a, b].map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`) as [
    string,
    string,
  ];
  return left < right ? -1 : 1;
};

/** @param now milliseconds since the epoch */
export function createStorage(now: () => number): Storage {
  const stored = new Map<string, Stored & { resource: Resource }>();
  const changes: Change[] = [];
  const subscribers = new Set<(change: Change) => void>();
  let revision = 1;
  let compactedRevision = 1;

  const record = (change: Omit<Change, 'atMs' | 'revision'>): void => {
    const whole = { ...change, atMs: now(), revision };
    changes.push(whole);
    for (const tell of subscribers) tell(whole);
  };

  return {
    get revision() {
      return revision;
    },
    get compactedRevision() {
      return compactedRevision;
    },
    changes,
    get: (resource, key) => stored.get(keyOf(resource, key)) ?? null,
    list: (resource) =>
      [...stored.values()]
        .filter((one) => isOf(resource, one.resource))
        .map(({ object }) => object)
        .toSorted(inOrder),
    listAt(resource, at) {
      const there = new Map<string, StoredObject>();
      for (const { revision: changed, resource: of, type, object } of changes) {
        if (changed > at) break;
        if (!isOf(resource, of)) continue;
        const key = keyOf(resource, object.metadata);
        if (type === 'DELETED') there.delete(key);
        else there.set(key, object);
      }
      return [...there.values()].toSorted(inOrder);
    },
    put(resource, object, managers) {
      revision += 1;
      const key = keyOf(resource, object.metadata);
      const previous = stored.get(key)?.object ?? null;
      const next: StoredObject = {
        ...(object as StoredObject),
        metadata: { ...object.metadata, resourceVersion: String(revision) },
      };
      stored.set(key, { object: next, managers, resource });
      record({ type: previous === null ? 'ADDED' : 'MODIFIED', resource, object: next, previous });
      return { object: next, managers };
    },
    remove(resource, key) {
      const at = keyOf(resource, key);
      const previous = stored.get(at);
      if (previous === undefined) throw new Error(`there is no ${at}`);
      revision += 1;
      stored.delete(at);
      const last: StoredObject = {
        ...previous.object,
        metadata: { ...previous.object.metadata, resourceVersion: String(revision) },
      };
      record({ type: 'DELETED', resource, object: last, previous: previous.object });
      return last;
    },
    compact: () => void (compactedRevision = revision),
    subscribe(onChange) {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
  };
}
