import { isAlreadyExists, isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import { quantityOf } from '../../../contracts/quantity.ts';
import type { VirtualClock } from '../clock.ts';
import type { FakeKubernetes } from '../../fakes/kubernetes/fake-kubernetes.ts';
import type { StoredObject } from '../../fakes/kubernetes/stored-object.ts';

/** What the controllers of volumes do to kube-apiserver, at once. */

interface Reference {
  kind: string;
  apiGroup?: string;
  name: string;
}

export interface ClaimRef {
  kind?: string;
  apiVersion?: string;
  namespace: string;
  name: string;
  uid?: string;
  resourceVersion?: string;
}

export type VolumeMode = 'Filesystem' | 'Block';

export interface Claim extends StoredObject {
  spec: {
    accessModes: string[];
    resources: { requests: { storage: string } };
    storageClassName?: string;
    volumeMode?: VolumeMode;
    volumeName?: string;
    dataSource?: Reference;
  };
  status: {
    phase: 'Pending' | 'Bound' | 'Lost';
    accessModes?: string[];
    capacity?: { storage: string };
    conditions?: { type: string; status: string; lastTransitionTime: string; message?: string }[];
    allocatedResources?: { storage: string };
    allocatedResourceStatuses?: { storage: string };
  };
}

export interface Volume extends StoredObject {
  spec: {
    accessModes: string[];
    capacity: { storage: string };
    csi?: { driver: string; volumeHandle: string };
    claimRef?: ClaimRef;
    persistentVolumeReclaimPolicy: 'Delete' | 'Retain';
    storageClassName?: string;
    volumeMode?: VolumeMode;
  };
  status: { phase: 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed' };
}

export interface StorageClass extends StoredObject {
  provisioner: string;
  reclaimPolicy: 'Delete' | 'Retain';
  volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer';
  allowVolumeExpansion?: boolean;
}

export interface SnapshotError {
  time: string;
  message: string;
}

export interface Snapshot extends StoredObject {
  spec: {
    source: { persistentVolumeClaimName?: string; volumeSnapshotContentName?: string };
    volumeSnapshotClassName?: string;
  };
  status?: {
    boundVolumeSnapshotContentName?: string;
    readyToUse?: boolean;
    creationTime?: string;
    restoreSize?: string;
    error?: SnapshotError;
  };
}

export interface Content extends StoredObject {
  spec: {
    driver: string;
    deletionPolicy: 'Delete' | 'Retain';
    source: { volumeHandle?: string; snapshotHandle?: string };
    sourceVolumeMode?: VolumeMode;
    volumeSnapshotClassName?: string;
    volumeSnapshotRef: ClaimRef;
  };
  status?: {
    snapshotHandle?: string;
    readyToUse?: boolean;
    /** Nanoseconds since the epoch. */
    creationTime?: number;
    restoreSize?: number;
    error?: SnapshotError;
  };
}

export interface SnapshotClass extends StoredObject {
  driver: string;
  deletionPolicy: 'Delete' | 'Retain';
}

export interface NewObject {
  metadata: object;
  [field: string]: unknown;
}

export interface KindOf {
  claims: Claim;
  volumes: Volume;
  classes: StorageClass;
  snapshots: Snapshot;
  contents: Content;
  snapshotClasses: SnapshotClass;
}

const snapshotApi = 'snapshot.storage.k8s.io/v1';
export const snapshotGroup = 'snapshot.storage.k8s.io';

export const kinds = {
  claims: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  volumes: { apiVersion: 'v1', kind: 'PersistentVolume', plural: 'persistentvolumes' },
  classes: { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses' },
  snapshots: { apiVersion: snapshotApi, kind: 'VolumeSnapshot', plural: 'volumesnapshots' },
  contents: { apiVersion: snapshotApi, kind: 'VolumeSnapshotContent', plural: 'volumesnapshotcontents' },
  snapshotClasses: { apiVersion: snapshotApi, kind: 'VolumeSnapshotClass', plural: 'volumesnapshotclasses' },
} as const;
export type VolumeKind = keyof typeof kinds;

export interface Cluster {
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly kubernetes: Pick<FakeKubernetes, 'objects' | 'object' | 'changes' | 'answer' | 'subscribe'>;
  /** Null: there is none. */
  get<Kind extends VolumeKind>(kind: Kind, name: string, namespace?: string): KindOf[Kind] | null;
  list<Kind extends VolumeKind>(kind: Kind, namespace?: string): KindOf[Kind][];
  /** Null: the name is taken. @throws the failure of a client */
  create<Kind extends VolumeKind>(kind: Kind, object: NewObject): KindOf[Kind] | null;
  /** @throws ObjectConflict, ObjectNotFound where it has changed since it was read */
  update<Kind extends VolumeKind>(kind: Kind, object: KindOf[Kind]): KindOf[Kind];
  updateStatus<Kind extends VolumeKind>(kind: Kind, object: KindOf[Kind]): KindOf[Kind];
  remove(kind: VolumeKind, name: string, namespace?: string): void;
  /** As a client's recorder writes them: one that is repeated is counted. */
  event(by: string, about: StoredObject, type: 'Normal' | 'Warning', reason: string, message: string): void;
  now(): string;
}

export const keyOf = ({ metadata: { namespace, name } }: StoredObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export const bytesOf = (quantity: string | undefined): number => quantityOf(quantity ?? '') ?? 0;
export const requestedBytes = ({ spec }: Claim): number => bytesOf(spec.resources.requests.storage);
export const isDeleting = ({ metadata }: StoredObject): boolean => metadata.deletionTimestamp !== undefined;
export const hasFinalizer = ({ metadata: { finalizers = [] } }: StoredObject, finalizer: string): boolean =>
  finalizers.includes(finalizer);
export const annotationOf = ({ metadata: { annotations = {} } }: StoredObject, name: string): string | undefined =>
  annotations[name];

export const withFinalizer = <Object extends StoredObject>(object: Object, finalizer: string): Object => ({
  ...object,
  metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), finalizer] },
});
export const withoutFinalizers = <Object extends StoredObject>(object: Object, ...gone: string[]): Object => ({
  ...object,
  metadata: {
    ...object.metadata,
    finalizers: (object.metadata.finalizers ?? []).filter((one) => !gone.includes(one)),
  },
});
export const withAnnotations = <Object extends StoredObject>(
  object: Object,
  annotations: Record<string, string>,
): Object => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});
export const withoutAnnotations = <Object extends StoredObject>(object: Object, ...gone: string[]): Object => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: Object.fromEntries(
      Object.entries(object.metadata.annotations ?? {}).filter(([name]) => !gone.includes(name)),
    ),
  },
});

export const refOf = ({ apiVersion, kind, metadata }: StoredObject): ClaimRef => ({
  apiVersion,
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
});

export function openCluster(options: Pick<Cluster, 'clock' | 'random' | 'kubernetes'>): Cluster {
  const { clock, kubernetes } = options;
  const path = (kind: VolumeKind, name?: string, namespace?: string, subresource?: 'status'): string =>
    resourcePath(kinds[kind].apiVersion, kinds[kind].plural, {
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(subresource !== undefined && { subresource }),
    });
  /** Names of Events, by what they say of what. */
  const written = new Map<string, string>();
  const now = (): string => `${new Date(clock.nowMs).toISOString().slice(0, 19)}Z`;
  const put = <Kind extends VolumeKind>(kind: Kind, object: KindOf[Kind], subresource?: 'status'): KindOf[Kind] => {
    const { namespace, name } = object.metadata;
    return kubernetes.answer({
      method: 'PUT',
      path: path(kind, name, namespace, subresource),
      body: object,
    }) as KindOf[Kind];
  };

  return {
    ...options,
    get: <Kind extends VolumeKind>(kind: Kind, name: string, namespace?: string) =>
      kubernetes.object(kinds[kind].plural, { namespace, name }) as KindOf[Kind] | null,
    list: <Kind extends VolumeKind>(kind: Kind, namespace?: string) =>
      (kubernetes.objects(kinds[kind].plural) as readonly KindOf[Kind][]).filter(
        ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
      ),
    create<Kind extends VolumeKind>(kind: Kind, object: NewObject) {
      const { apiVersion, kind: named } = kinds[kind];
      const { namespace } = object.metadata as { namespace?: string };
      try {
        const body = { apiVersion, kind: named, ...object };
        return kubernetes.answer({ method: 'POST', path: path(kind, undefined, namespace), body }) as KindOf[Kind];
      } catch (error) {
        if (isAlreadyExists(error)) return null;
        throw error;
      }
    },
    update: (kind, object) => put(kind, object),
    updateStatus: (kind, object) => put(kind, object, 'status'),
    remove(kind, name, namespace) {
      try {
        kubernetes.answer({ method: 'DELETE', path: path(kind, name, namespace) });
      } catch (error) {
        if (!isFailure(error, 'ObjectNotFound')) throw error;
      }
    },
    event(by, about, type, reason, message) {
      const involvedObject = refOf(about);
      const namespace = about.metadata.namespace ?? 'default';
      const of = [by, involvedObject.uid, type, reason, message].join(' ');
      const there = kubernetes.object('events.', { namespace, name: written.get(of) ?? '' });
      if (there !== null) {
        const { count = 1 } = there as { count?: number };
        const body = { ...there, count: count + 1, lastTimestamp: now() };
        const { name } = there.metadata;
        kubernetes.answer({ method: 'PUT', path: resourcePath('v1', 'events', { namespace, name }), body });
        return;
      }
      const name = `${about.metadata.name}.${Math.floor(options.random() * 2 ** 48).toString(16)}`;
      written.set(of, name);
      kubernetes.answer({
        method: 'POST',
        path: resourcePath('v1', 'events', { namespace }),
        body: {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { namespace, name },
          involvedObject,
          reason,
          message,
          type,
          source: { component: by },
          reportingComponent: by,
          firstTimestamp: now(),
          lastTimestamp: now(),
          count: 1,
        },
      });
    },
    now,
  };
}
