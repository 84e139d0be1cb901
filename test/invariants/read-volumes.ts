import { temporaryNames, volumeAnnotations, volumeLabels } from '../../contracts/data-volume/metadata.ts';
import { quantityOf } from '../../contracts/quantity.ts';
import type { DataVolumeFact, OfVolumes, TemporaryFact } from './snapshot.ts';

export const noVolumes: OfVolumes = {
  dataVolumes: [],
  boundClaims: [],
  persistentVolumes: [],
  temporary: [],
  leftAtDriver: [],
};

/** DataVolumes, and what they are made from and of, as kube-apiserver has had them. */

export interface ReadVolumeObject {
  kind: string;
  metadata: {
    namespace?: string;
    name: string;
    uid: string;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: readonly { uid: string }[];
  };
  driver?: string;
  reclaimPolicy?: string;
  spec?: {
    storage?: Sized;
    pvc?: Sized;
    source?: { pvc?: Names; snapshot?: Names; persistentVolumeClaimName?: string };
    volumeName?: string;
    storageClassName?: string;
    csi?: { driver: string; volumeHandle: string };
    claimRef?: { uid?: string } | null;
    persistentVolumeReclaimPolicy?: string;
    volumeSnapshotRef?: { uid?: string };
  };
  status?: {
    phase?: string;
    snapshotHandle?: string;
    boundVolumeSnapshotContentName?: string;
    capacity?: { storage?: string };
    conditions?: readonly { type: string; status: string }[];
  };
}

interface Sized {
  resources?: { requests?: { storage?: string | number } };
}

interface Names {
  namespace: string;
  name: string;
}

export interface VolumeChange {
  atMs: number;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: ReadVolumeObject;
}

/** What a storage driver has, and had. */
export interface ReadDriver {
  name: string;
  volumes: readonly { id: string; bytes: number }[];
  snapshots: readonly { id: string; content: string }[];
  /** What was on a volume, and from when on; empty: it never had it. */
  history(volume: string): readonly Held[];
}

interface Held {
  fromMs: number;
  content: string;
}

/** Kinds whose changes are read. */
export const volumeKinds: readonly string[] = [
  'DataVolume',
  'ObjectTransfer',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'StorageClass',
  'VolumeSnapshot',
  'VolumeSnapshotContent',
  'Job',
];

const bytesOf = (quantity: string | number | undefined): number | null =>
  quantity === undefined ? null : quantityOf(quantity);

const fullName = ({ metadata: { namespace, name } }: ReadVolumeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** Pure. @param changes of {@link volumeKinds}, in order */
export function volumeFacts(changes: readonly VolumeChange[], drivers: readonly ReadDriver[]): OfVolumes {
  const there = new Map<string, ReadVolumeObject>();
  /** The last state of everything that ever was. */
  const ever = new Map<string, ReadVolumeObject>();
  /** Handles of snapshots, which their contents forget when they go. */
  const handles = new Map<string, string>();
  const madeMs = new Map<string, number>();
  const succeededMs = new Map<string, number>();
  /** Reclaim policies of volumes, as they were made. */
  const policies = new Map<string, string>();
  for (const { atMs, type, object } of changes) {
    const { uid } = object.metadata;
    const before = ever.get(uid);
    ever.set(uid, object);
    if (type === 'DELETED') there.delete(uid);
    else there.set(uid, object);
    if (!madeMs.has(uid)) madeMs.set(uid, atMs);
    // One whose claim was deleted is made anew.
    if (object.kind === 'DataVolume' && object.status?.phase === 'Succeeded' && before?.status?.phase !== 'Succeeded')
      succeededMs.set(uid, atMs);
    if (object.kind === 'PersistentVolume' && !policies.has(uid))
      policies.set(uid, object.spec?.persistentVolumeReclaimPolicy ?? '');
    const { snapshotHandle } = object.status ?? {};
    if (object.kind === 'VolumeSnapshotContent' && snapshotHandle !== undefined)
      handles.set(object.spec?.volumeSnapshotRef?.uid ?? '', snapshotHandle);
  }
  const now = (kind: string): ReadVolumeObject[] => [...there.values()].filter((one) => one.kind === kind);
  const named = (kind: string, { namespace, name }: Names): ReadVolumeObject | undefined =>
    [...ever.values()].findLast(
      (one) => one.kind === kind && one.metadata.namespace === namespace && one.metadata.name === name,
    );
  const driverOf = (name: string | undefined): ReadDriver | undefined => drivers.find((one) => one.name === name);
  const volumeNamed = (name: string | undefined, all: Iterable<ReadVolumeObject>): ReadVolumeObject | undefined =>
    [...all].findLast((one) => one.kind === 'PersistentVolume' && one.metadata.name === name);

  const csiOf = (claim: ReadVolumeObject | undefined) => volumeNamed(claim?.spec?.volumeName, ever.values())?.spec?.csi;
  /** What was on the volume of a claim. Null: it is not known. */
  const historyOf = (claim: ReadVolumeObject | undefined): readonly Held[] | null => {
    const csi = csiOf(claim);
    return driverOf(csi?.driver)?.history(csi?.volumeHandle ?? '') ?? null;
  };
  const driverBytesOf = (claim: ReadVolumeObject | undefined): number | null => {
    const csi = csiOf(claim);
    return driverOf(csi?.driver)?.volumes.find(({ id }) => id === csi?.volumeHandle)?.bytes ?? null;
  };
  const sourceOf = (dataVolume: ReadVolumeObject): readonly Held[] | null => {
    const found = readSource(dataVolume);
    if (found === null) return null;
    const object = found.uid === null ? named(found.kind, found) : ever.get(found.uid);
    if (found.kind === 'PersistentVolumeClaim') return historyOf(object);
    const handle = handles.get(object?.metadata.uid ?? '');
    const cut = drivers.flatMap(({ snapshots }) => snapshots).find(({ id }) => id === handle);
    return cut === undefined ? null : [{ fromMs: 0, content: cut.content }];
  };
  const claimAt = ({ metadata: { namespace, name } }: ReadVolumeObject): ReadVolumeObject | undefined =>
    now('PersistentVolumeClaim').find((one) => one.metadata.namespace === namespace && one.metadata.name === name);

  const dataVolumes = [...ever.values()]
    .filter(({ kind }) => kind === 'DataVolume')
    .map((dataVolume): DataVolumeFact => {
      const { uid, deletionTimestamp } = dataVolume.metadata;
      const claim = there.has(uid) ? claimAt(dataVolume) : undefined;
      return {
        name: fullName(dataVolume),
        uid,
        phase: dataVolume.status?.phase ?? '',
        isThere: there.has(uid),
        isDeleting: deletionTimestamp !== undefined,
        createdMs: madeMs.get(uid) ?? 0,
        succeededMs: succeededMs.get(uid) ?? null,
        source: sourceOf(dataVolume),
        content: historyOf(claim) ?? null,
        askedBytes: bytesOf((dataVolume.spec?.storage ?? dataVolume.spec?.pvc)?.resources?.requests?.storage),
        claimBytes: bytesOf(claim?.status?.capacity?.storage),
        isGrownByNode: (claim?.status?.conditions ?? []).some(
          ({ type, status }) => type === 'FileSystemResizePending' && status === 'True',
        ),
        driverBytes: driverBytesOf(claim),
      };
    });

  const persistentVolumes = now('PersistentVolume').map((volume) => {
    const { csi, claimRef, persistentVolumeReclaimPolicy = '' } = volume.spec ?? {};
    const driver = driverOf(csi?.driver);
    return {
      name: volume.metadata.name,
      isClaimed: there.has(claimRef?.uid ?? ''),
      hasBytes: driver === undefined || driver.volumes.some(({ id }) => id === csi?.volumeHandle),
      policy: persistentVolumeReclaimPolicy,
      policyBefore: policies.get(volume.metadata.uid) ?? '',
    };
  });

  const boundClaims = now('PersistentVolumeClaim')
    .filter(({ metadata }) => metadata.annotations?.['pv.kubernetes.io/bind-completed'] !== undefined)
    .map((claim) => {
      const volume = volumeNamed(claim.spec?.volumeName, there.values());
      return {
        name: fullName(claim),
        phase: claim.status?.phase ?? '',
        volume: volume?.spec?.claimRef?.uid === claim.metadata.uid ? volume.metadata.name : null,
      };
    });

  const kept = new Set(
    now('PersistentVolume').map(({ spec }) => `${spec?.csi?.driver ?? ''} ${spec?.csi?.volumeHandle ?? ''}`),
  );
  const keptSnapshots = new Set(now('VolumeSnapshotContent').flatMap(({ status }) => status?.snapshotHandle ?? []));
  const cut = new Set(now('VolumeSnapshotContent').map(({ spec }) => spec?.volumeSnapshotRef?.uid));
  /** Of a snapshot that the driver has no more: a provisioner holds its name for a while. */
  const isNameOnly = ({ kind, metadata }: ReadVolumeObject): boolean =>
    kind === 'VolumeSnapshot' && metadata.deletionTimestamp !== undefined && !cut.has(metadata.uid);
  return {
    dataVolumes,
    boundClaims,
    persistentVolumes,
    temporary: [...there.values()].filter((one) => !isNameOnly(one)).flatMap((one) => temporaryOf(one) ?? []),
    leftAtDriver: drivers.flatMap(({ name, volumes, snapshots }) => [
      ...volumes.filter(({ id }) => !kept.has(`${name} ${id}`)).map(({ id }) => `volume ${id}`),
      ...snapshots.filter(({ id }) => !keptSnapshots.has(id)).map(({ id }) => `snapshot ${id}`),
    ]),
  };
}

/** What it is a clone of: as it was when the clone began, or as its spec says. */
function readSource({ metadata, spec }: ReadVolumeObject): (Names & { kind: string; uid: string | null }) | null {
  const kindOf = { pvc: 'PersistentVolumeClaim', snapshot: 'VolumeSnapshot' } as const;
  const recorded = metadata.annotations?.[volumeAnnotations.cloneSource];
  if (recorded !== undefined) {
    const { kind, namespace, name, uid } = JSON.parse(recorded) as Names & { kind: keyof typeof kindOf; uid: string };
    return { kind: kindOf[kind], namespace, name, uid };
  }
  const { pvc, snapshot } = spec?.source ?? {};
  if (pvc !== undefined) return { kind: kindOf.pvc, ...pvc, uid: null };
  return snapshot === undefined ? null : { kind: kindOf.snapshot, ...snapshot, uid: null };
}

const namesByUid = [
  temporaryNames.claim(''),
  temporaryNames.restored(''),
  temporaryNames.snapshot(''),
  temporaryNames.job(''),
];

/** What drover made for DataVolumes alone, by labels and by name. Null: it is none. */
function temporaryOf(object: ReadVolumeObject): TemporaryFact | null {
  const { kind, metadata } = object;
  const { labels = {}, annotations = {}, name } = metadata;
  const users = Object.keys(annotations)
    .filter((key) => key.startsWith(volumeAnnotations.snapshotUser))
    .map((key) => key.slice(volumeAnnotations.snapshotUser.length));
  const isShared = labels[volumeLabels.snapshotOf] !== undefined;
  const of = labels[volumeLabels.temporaryFor];
  const prefix = namesByUid.find((one) => name.startsWith(one));
  if (of === undefined && prefix === undefined && !isShared) return null;
  const uids = [...users, ...(of === undefined ? [] : [of])];
  return {
    what: `${kind} ${fullName(object)}`,
    uids: uids.length > 0 || isShared || prefix === undefined ? uids : [name.slice(prefix.length)],
  };
}
