import { isDeepStrictEqual } from 'node:util';

import { without } from '../../fakes/kubernetes/field-set.ts';
import type { Change } from '../../fakes/kubernetes/storage.ts';
import type { FakeKubernetes } from '../../fakes/kubernetes/fake-kubernetes.ts';
import type { VirtualClock } from '../clock.ts';
import { createBinder } from './binder.ts';
import {
  keyOf,
  kinds,
  openCluster,
  snapshotGroup,
  type Cluster,
  type Content,
  type VolumeKind,
  type Volume,
} from './cluster.ts';
import { createController, type Controller } from './controller.ts';
import { playCopyJobs, type CopyJobs } from './copy-jobs.ts';
import { createCsiDriver, type CsiDriver, type CsiDriverOptions } from './csi-driver.ts';
import { createProvisioner } from './provisioner.ts';
import { createResizer } from './resizer.ts';
import { beingCreated, createSnapshotController, createSnapshotter } from './snapshots.ts';

/**
 * The storage of a cluster, as far as clones of volumes see it: the binder of kube-controller-manager,
 * snapshot-controller, and for each CSI driver its provisioner, snapshotter and resizer. `test/contracts/storage.ts`
 * runs on it, and on the real ones.
 */
export interface Storage {
  driver(name: string): CsiDriver;
  readonly drivers: readonly CsiDriver[];
  /** The bytes of a claim. @throws Error where it has no volume */
  read(namespace: string, claim: string): string;
  write(namespace: string, claim: string, content: string): void;
  /** What the kubelet does with a claim that waits for it, when a Pod mounts it. */
  expandFileSystem(namespace: string, claim: string): void;
  /** A part is killed, and started again. */
  pause(part: StoragePart): void;
  resume(part: StoragePart): void;
  readonly jobs: CopyJobs;
}

export type StoragePart = 'binder' | 'snapshot-controller' | 'provisioner' | 'snapshotter' | 'resizer';

export interface StorageOptions {
  clock: VirtualClock;
  random: () => number;
  kubernetes: FakeKubernetes;
  drivers: readonly CsiDriverOptions[];
  /** Whether the CRDs of snapshots are there. Default: they are. */
  hasSnapshots?: boolean;
  /**
   * Of the sidecars: the first, and the longest, time until a call that failed is tried again. Default 200 and 5 000,
   * as in the lab.
   */
  retryMs?: number;
  mostRetryMs?: number;
}

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const snapshotDefinition = (kind: VolumeKind, isNamespaced: boolean): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kinds[kind].plural}.${snapshotGroup}` },
  spec: {
    group: snapshotGroup,
    names: {
      kind: kinds[kind].kind,
      listKind: `${kinds[kind].kind}List`,
      plural: kinds[kind].plural,
      singular: kinds[kind].kind.toLowerCase(),
    },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: anything },
        ...(kind !== 'snapshotClasses' && { subresources: { status: {} } }),
      },
    ],
  },
});

export function installSnapshots({ answer }: Pick<FakeKubernetes, 'answer'>): void {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const [kind, isNamespaced] of [
    ['snapshots', true],
    ['contents', false],
    ['snapshotClasses', false],
  ] as const)
    answer({ method: 'POST', path, body: snapshotDefinition(kind, isNamespaced) });
}

/** Everything that a part watches, as keys of its queue. */
type KeysOf = (change: Change) => readonly string[];

const isOf = ({ resource }: Change, kind: VolumeKind): boolean => resource.kind === kinds[kind].kind;

/** Starts it on a cluster that has neither volumes nor claims yet. */
export function startStorage(options: StorageOptions): Storage {
  const { clock, random, kubernetes, retryMs = 200, mostRetryMs = 5_000, hasSnapshots = true } = options;
  if (hasSnapshots) installSnapshots(kubernetes);
  const cluster = openCluster({ clock, random, kubernetes });
  const parts = new Map<StoragePart, Controller[]>();
  const watched: { controller: Controller; keysOf: KeysOf }[] = [];

  const start = (part: StoragePart, sync: (key: string) => Promise<number | null>, keysOf: KeysOf): Controller => {
    const controller = createController({ clock, random, sync, retryMs, mostRetryMs, noticeMs: 10 });
    parts.set(part, [...(parts.get(part) ?? []), controller]);
    watched.push({ controller, keysOf });
    return controller;
  };

  const binder = createBinder(cluster, (key) => claims.add(key));
  const claims = start('binder', binder.syncClaim, (change) => claimsTouched(cluster, change));
  start('binder', binder.syncVolume, (change) => volumesTouched(cluster, change));
  const snapshotController = createSnapshotController(cluster, (key) => snapshots.add(key));
  const snapshots = start('snapshot-controller', snapshotController.syncSnapshot, snapshotsTouched);
  start('snapshot-controller', snapshotController.syncContent, contentsTouched);

  const drivers = options.drivers.map((one) => createCsiDriver({ clock, random }, one));
  const resizers = drivers.map((driver) => {
    const provisioner = createProvisioner(cluster, driver);
    start('provisioner', provisioner.syncClaim, (change) =>
      isOf(change, 'claims') ? [change.object.metadata.uid] : [],
    );
    start('provisioner', provisioner.syncVolume, (change) =>
      isOf(change, 'volumes') && change.type !== 'DELETED' ? [change.object.metadata.name] : [],
    );
    start('provisioner', provisioner.syncSnapshot, (change) =>
      isOf(change, 'snapshots') && change.type !== 'DELETED' ? [keyOf(change.object)] : [],
    );
    start('snapshotter', createSnapshotter(cluster, driver).syncContent, (change) =>
      matters(change) ? contentsTouched(change) : [],
    );
    const resizer = createResizer(cluster, driver);
    start('resizer', resizer.syncClaim, (change) =>
      isOf(change, 'claims') && change.type !== 'DELETED' ? [keyOf(change.object)] : [],
    );
    return resizer;
  });

  const driver = (name: string): CsiDriver => {
    const found = drivers.find((one) => one.options.name === name);
    if (found === undefined) throw new Error(`there is no driver ${name}`);
    return found;
  };
  const jobs = playCopyJobs(cluster, driver);
  kubernetes.subscribe((change) => {
    for (const { controller, keysOf } of watched) for (const key of keysOf(change)) controller.add(key);
  });

  const volumeOf = (namespace: string, name: string): NonNullable<Volume['spec']['csi']> => {
    const claim = cluster.get('claims', name, namespace);
    const found = cluster.get('volumes', claim?.spec.volumeName ?? '')?.spec.csi;
    if (found === undefined) throw new Error(`claim ${namespace}/${name} has no volume`);
    return found;
  };
  const each = (part: StoragePart, act: (controller: Controller) => void): void => parts.get(part)?.forEach(act);

  return {
    driver,
    drivers,
    read(namespace, claim) {
      const found = volumeOf(namespace, claim);
      return driver(found.driver).read(found.volumeHandle);
    },
    write(namespace, claim, content) {
      const found = volumeOf(namespace, claim);
      driver(found.driver).write(found.volumeHandle, content);
    },
    expandFileSystem(namespace, claim) {
      const at = drivers.indexOf(driver(volumeOf(namespace, claim).driver));
      resizers[at]?.expandFileSystem(`${namespace}/${claim}`);
    },
    pause: (part) => each(part, (controller) => controller.pause()),
    resume: (part) => each(part, (controller) => controller.resume()),
    jobs,
  };
}

/** A class that is made lets those go on that wait for it; a volume that goes is missed by its claim. */
function claimsTouched(cluster: Cluster, change: Change): string[] {
  if (isOf(change, 'claims')) return change.type === 'DELETED' ? [] : [keyOf(change.object)];
  if (isOf(change, 'volumes') && change.type === 'DELETED') {
    const { claimRef } = (change.object as Volume).spec;
    return claimRef === undefined ? [] : [`${claimRef.namespace}/${claimRef.name}`];
  }
  if (!isOf(change, 'classes') || change.type === 'DELETED') return [];
  return cluster
    .list('claims')
    .filter(({ status }) => status.phase === 'Pending')
    .map(keyOf);
}

function volumesTouched(cluster: Cluster, change: Change): string[] {
  if (isOf(change, 'volumes')) return change.type === 'DELETED' ? [] : [change.object.metadata.name];
  if (!isOf(change, 'claims') || change.type !== 'DELETED') return [];
  const { uid } = change.object.metadata;
  return cluster
    .list('volumes')
    .filter(({ spec }) => spec.claimRef?.uid === uid)
    .map(({ metadata }) => metadata.name);
}

function snapshotsTouched(change: Change): string[] {
  if (isOf(change, 'snapshots')) return change.type === 'DELETED' ? [] : [keyOf(change.object)];
  if (!isOf(change, 'contents') || change.type !== 'DELETED') return [];
  const { namespace, name } = (change.object as Content).spec.volumeSnapshotRef;
  return [`${namespace}/${name}`];
}

/**
 * Whether csi-snapshotter looks at it: what it writes itself has it begin nothing anew (`ShouldEnqueueContentChange`).
 */
function matters({ object, previous }: Change): boolean {
  if (previous === null) return true;
  const [before, after] = [previous, object] as Content[];
  if (before?.status?.readyToUse !== true && after?.status?.readyToUse === true) return true;
  const seen = (content: Content): object => {
    const { annotations = {} } = content.metadata;
    const foreign = Object.entries(annotations).filter(([name]) => name !== beingCreated);
    return {
      ...without(content, 'status'),
      metadata: {
        ...without(content.metadata, 'resourceVersion', 'managedFields', 'finalizers'),
        annotations: Object.fromEntries(foreign),
      },
    };
  };
  return !isDeepStrictEqual(seen(before as Content), seen(after as Content));
}

const contentsTouched: KeysOf = (change) =>
  isOf(change, 'contents') && change.type !== 'DELETED' ? [change.object.metadata.name] : [];
