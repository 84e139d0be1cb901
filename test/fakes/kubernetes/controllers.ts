import type { Clock } from '../../../runtime/clock.ts';
import type { Objects } from './objects.ts';
import { apiVersionOf, type Resource } from './resources.ts';
import type { Storage } from './storage.ts';
import type { StoredObject } from './stored-object.ts';

/** The longest that a controller takes to notice. */
const delayMs = 100;

interface Found {
  resource: Resource;
  object: StoredObject;
}

type OwnerReference = NonNullable<StoredObject['metadata']['ownerReferences']>[number];

interface Pod {
  spec?: { nodeName?: string; volumes?: { persistentVolumeClaim?: { claimName: string } }[] };
}

export interface ControllerOptions {
  storage: Storage;
  objects: Objects;
  resources: () => readonly Resource[];
  clock: Clock;
  random: () => number;
}

const claimFinalizer = 'kubernetes.io/pvc-protection';
const volumeFinalizer = 'kubernetes.io/pv-protection';

/**
 * What of kube-controller-manager the lab runs and matters to drover: what has lost its last owner is deleted, and so
 * is what is in a namespace that is deleted. A claim that is deleted stays while a Pod uses it, and a volume while it
 * is bound.
 */
export function runControllers({ storage, objects, resources, clock, random }: ControllerOptions): void {
  let isDue = false;

  const all = (): Found[] =>
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

  /**
   * Whether a reference leads to nothing, as the garbage collector finds out: it looks for an object of that kind and
   * name where the dependent is, and compares its uid. Of a kind that is not served it knows nothing, and an owner in a
   * namespace is none that something outside of all namespaces may have: neither counts as absent.
   */
  const isDangling = ({ apiVersion, kind, name, uid }: OwnerReference, namespace: string | undefined): boolean => {
    const resource = resources().find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
    if (resource === undefined || (resource.isNamespaced && namespace === undefined)) return false;
    const owner = storage.get(resource, resource.isNamespaced ? { namespace, name } : { name });
    return owner?.object.metadata.uid !== uid;
  };

  const isOrphan = ({ metadata: { namespace, ownerReferences = [], deletionTimestamp } }: StoredObject): boolean =>
    ownerReferences.length > 0 &&
    deletionTimestamp === undefined &&
    ownerReferences.every((reference) => isDangling(reference, namespace));

  const collect = (): void => {
    isDue = false;
    const there = all();
    for (const { resource, object } of there.filter((one) => isOrphan(one.object))) remove(resource, object);
    for (const { resource, object } of there)
      if (resource.kind === 'Namespace' && object.metadata.deletionTimestamp !== undefined) empty(resource, object);
    releaseVolumes(all());
    for (const found of all()) if (found.resource.kind === 'ResourceQuota') applyQuota(found);
  };

  /** Whether there is a Pod that is placed and names it, though it may have ended. */
  const isMounted = (there: readonly Found[], { metadata: { namespace, name } }: StoredObject): boolean =>
    there.some(({ resource, object }) => {
      if (resource.kind !== 'Pod' || object.metadata.namespace !== namespace) return false;
      const { nodeName = '', volumes = [] } = (object as unknown as Pod).spec ?? {};
      return nodeName !== '' && volumes.some((one) => one.persistentVolumeClaim?.claimName === name);
    });

  const release = ({ resource, object }: Found, finalizer: string): void => {
    const { namespace, name, finalizers = [] } = object.metadata;
    const left = finalizers.filter((one) => one !== finalizer);
    if (left.length === finalizers.length) return;
    const target = { resource, key: { namespace, name }, subresource: '', manager: 'kube-controller-manager' };
    objects.update(target, (live) => ({ ...live, metadata: { ...live.metadata, finalizers: left } }));
  };

  /** A quota is in force, or raised, once its status says so. What is used of it is always known here. */
  const applyQuota = ({ resource, object }: Found): void => {
    const { hard } = (object['spec'] ?? {}) as { hard?: object };
    const { namespace, name } = object.metadata;
    const key = { namespace, name };
    objects.update({ resource, key, subresource: 'status', manager: 'kube-controller-manager' }, (live) => ({
      ...live,
      status: { hard },
    }));
  };

  const releaseVolumes = (there: readonly Found[]): void => {
    for (const found of there) {
      const { object } = found;
      if (object.metadata.deletionTimestamp === undefined) continue;
      if (object.kind === 'PersistentVolumeClaim' && !isMounted(there, object)) release(found, claimFinalizer);
      const isBound = (object['status'] as { phase?: string } | undefined)?.phase === 'Bound';
      if (object.kind === 'PersistentVolume' && !isBound) release(found, volumeFinalizer);
    }
  };

  const schedule = (): void => {
    if (isDue) return;
    isDue = true;
    clock.schedule(collect, random() * delayMs);
  };

  storage.subscribe(({ type, object }) => {
    const { ownerReferences, deletionTimestamp } = object.metadata;
    const isLimit = object.kind === 'ResourceQuota';
    const isLeaving = ownerReferences !== undefined || deletionTimestamp !== undefined;
    if (type === 'DELETED' || isLeaving || isLimit) schedule();
  });
}
