import type { Clock } from '../../../runtime/clock.ts';
import type { Objects } from './objects.ts';
import type { Resource } from './resources.ts';
import type { Storage } from './storage.ts';
import type { StoredObject } from './stored-object.ts';

/** The longest that a controller takes to notice. */
const delayMs = 100;

export interface ControllerOptions {
  storage: Storage;
  objects: Objects;
  resources: () => readonly Resource[];
  clock: Clock;
  random: () => number;
}

/**
 * What of kube-controller-manager the lab runs and matters to drover: what has lost its last owner is deleted, and so is what is in a
 * namespace that is deleted.
 */
export function runControllers({ storage, objects, resources, clock, random }: ControllerOptions): void {
  let isDue = false;

  const all = (): { resource: Resource; object: StoredObject }[] =>
    resources().flatMap((resource) => storage.list(resource).map((object) => ({ resource, object })));

  const remove = (resource: Resource, { metadata: { namespace, name } }: StoredObject): void =>
    void objects.remove(
      { resource, key: { namespace, name }, subresource: '', manager: 'kube-controller-manager' },
      {},
    );

  /** Deletes what is in the namespace; when nothing is left, it goes too. */
  const empty = (resource: Resource, { metadata: { name } }: StoredObject): void => {
    const inside = () => all().filter(({ object }) => object.metadata.namespace === name);
    for (const one of inside())
      if (one.object.metadata.deletionTimestamp === undefined) remove(one.resource, one.object);
    if (inside().length === 0) storage.remove(resource, { name });
  };

  const collect = (): void => {
    isDue = false;
    const there = all();
    const uids = new Set(there.map(({ object: { metadata } }) => metadata.uid));
    const isOrphan = ({ metadata: { ownerReferences = [], deletionTimestamp } }: StoredObject): boolean =>
      ownerReferences.length > 0 &&
      deletionTimestamp === undefined &&
      ownerReferences.every(({ uid }) => !uids.has(uid));
    for (const { resource, object } of there) if (isOrphan(object)) remove(resource, object);
    for (const { resource, object } of there)
      if (resource.kind === 'Namespace' && object.metadata.deletionTimestamp !== undefined) empty(resource, object);
  };

  const schedule = (): void => {
    if (isDue) return;
    isDue = true;
    clock.schedule(collect, random() * delayMs);
  };

  storage.subscribe(({ type, object }) => {
    const { ownerReferences, deletionTimestamp } = object.metadata;
    if (type === 'DELETED' || ownerReferences !== undefined || deletionTimestamp !== undefined) schedule();
  });
}
