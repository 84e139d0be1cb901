import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DataVolume } from '../../contracts/crds/data-volume.ts';
import { workflowTypes } from '../../contracts/ids.ts';
import { type CsiControl, csiControl } from '../../lab/csi/control.ts';
import { csiClasses, csiSnapshotClasses } from '../../lab/csi/handle.ts';
import { readVolume, type VolumeOfDriver, writeVolume } from '../../lab/csi/volumes.ts';
import { claimObject, setUpVolumes, volumeFixture } from '../../lab/data-volumes.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { startLab } from '../../lab/lab.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { type KubernetesObjects, openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { type Claim, storageResources } from '../../runtime/kubernetes/storage-resources.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { type Followed, followObjects } from '../../test/flows/object-log.ts';
import { until } from '../../test/flows/until.ts';
import type { LoadRun } from '../load/load-run.ts';
import { countCalls } from '../onboarding/count-calls.ts';
import type { CloneDriver } from './figures.ts';

const { namespace } = volumeFixture;

export const source = { namespace, name: 'source' } as const;
/** No clone is larger: what is measured is the clone, and not the growth. */
export const size = '64Mi';
const content = 'what the clones are to hold';
/** Far more than any of it takes. */
export const patienceMs = 300_000;

/** A lab with one source, of which drover and a script make clones. */
export interface ClonesWorld {
  api: Kubernetes;
  client: Client;
  objects: KubernetesObjects;
  control: CsiControl;
  storageClass: string;
  snapshotClass: string;
  /** What DataVolumes and claims went through. */
  followed: Followed<DataVolume | Claim>;
  /** Calls of kube-apiserver so far, of worker and bridge together. */
  calls(): Promise<number>;
  /** Waits until no run of a DataVolume is open, and nothing temporary is left. */
  untilQuiet(): Promise<void>;
  /** @throws where one does not hold what the source does */
  checkContent(names: readonly string[]): Promise<void>;
  /** Until nothing but the source is left. */
  removeAll(): Promise<void>;
}

export async function withClonesWorld<Result>(
  { report, signal }: LoadRun,
  driver: CloneDriver,
  measure: (world: ClonesWorld) => Promise<Result>,
): Promise<Result> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-clones-')));
  const cleanups: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  try {
    const lab = await startLab({
      dir: join(root, 'lab'),
      parts: driver === 'rbd' ? ['temporal', 'kubernetes', 'ceph', 'csi'] : ['temporal', 'kubernetes', 'csi'],
      report,
      signal,
    });
    cleanups.push(() => lab.stop());
    const { kubernetes, csi } = lab.handles;
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig, requestTimeoutMs: 30_000 });
    cleanups.push(() => api.close());
    await setUpVolumes(api);
    const client = openClient(readTemporalSettings(lab.exports));
    cleanups.push(() => client.connection.close());
    const followed = await followObjects<DataVolume | Claim>(api, [
      resourcePath('cdi.kubevirt.io/v1beta1', 'datavolumes'),
      resourcePath('v1', 'persistentvolumeclaims'),
    ]);
    cleanups.push(() => followed.close());
    const drover = await startDrover(lab, {
      dir: join(root, 'drover'),
      settings: { modes: { Eviction: 'off', Hypervisor: 'off', DataVolume: 'act', StorageProfile: 'act' } },
      signal,
    });
    cleanups.push(() => drover.stop());
    const objects = openObjects(api);
    const handle = csi[driver];
    if (handle === null) throw new Error('the lab has no Ceph');
    const storageClass = driver === 'rbd' ? csiClasses.rbd : csiClasses.default;
    const volumeOf = async (name: string): Promise<VolumeOfDriver> => {
      const claim = await objects.get(storageResources.PersistentVolumeClaim, { namespace, name }, signal);
      const pv = { name: claim?.spec.volumeName ?? '' };
      const found = pv.name === '' ? null : await objects.get(storageResources.PersistentVolume, pv, signal);
      if (found === null) throw new Error(`PVC ${name} has no volume`);
      return found as typeof found & VolumeOfDriver;
    };
    await applyObject(api, claimObject({ ...source, size, storageClass }));
    await until('the source to be bound', patienceMs, async () => {
      await writeVolume(csi, await volumeOf(source.name), Buffer.from(content));
      return true;
    });
    return await measure({
      api,
      client,
      objects,
      control: csiControl(csi, handle),
      storageClass,
      snapshotClass: driver === 'rbd' ? csiSnapshotClasses.rbd : csiSnapshotClasses.directories,
      followed,
      calls: () => readCalls(drover),
      untilQuiet: () => untilQuiet(client, objects, signal),
      async checkContent(names) {
        for (const name of names) {
          const held = (await readVolume(csi, await volumeOf(name))).toString();
          if (held !== content) throw new Error(`PVC ${name} does not hold what its source does`);
        }
      },
      removeAll: () => removeAll(api, objects, signal),
    });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

async function readCalls({ metricsUrls }: Drover): Promise<number> {
  let sum = 0;
  for (const url of [metricsUrls.worker, metricsUrls.bridge]) {
    const page = await (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text();
    sum += countCalls(page).get('kubernetes') ?? 0;
  }
  return sum;
}

async function untilQuiet(client: Client, objects: KubernetesObjects, signal: AbortSignal): Promise<void> {
  const open = `WorkflowType = "${workflowTypes.cloneDataVolume}" AND ExecutionStatus = "Running"`;
  await until(
    'all runs to end, and their snapshots to be gone',
    patienceMs,
    async () => {
      const { count } = await client.workflow.count(open);
      const snapshots = await objects.list(storageResources.VolumeSnapshot, {}, signal);
      return (count === 0 && snapshots.length === 0) || `${count} are open, ${snapshots.length} snapshots are there`;
    },
    signal,
  );
}

async function removeAll(api: Kubernetes, objects: KubernetesObjects, signal: AbortSignal): Promise<void> {
  await api.request(
    { method: 'DELETE', path: resourcePath('cdi.kubevirt.io/v1beta1', 'datavolumes', { namespace }) },
    signal,
  );
  const claims = await objects.list(storageResources.PersistentVolumeClaim, { namespace }, signal);
  for (const { metadata } of claims)
    if (metadata.name !== source.name && metadata.deletionTimestamp === undefined)
      await objects.delete(storageResources.PersistentVolumeClaim, metadata, signal).catch(() => undefined);
  await until(
    'nothing but the source to be there',
    patienceMs,
    async () => {
      const { length } = await objects.list(storageResources.PersistentVolume, {}, signal);
      return length === 1 || `${length} volumes are there`;
    },
    signal,
  );
  await delay(500, undefined, { signal });
}
