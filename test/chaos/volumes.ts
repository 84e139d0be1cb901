import { setTimeout as delay } from 'node:timers/promises';
import { volumeAnnotations } from '../../contracts/data-volume/metadata.ts';
import { dataVolumeId } from '../../contracts/ids.ts';
import { type CsiHandle, csiSnapshotClasses } from '../../lab/csi/handle.ts';
import { readVolume, type VolumeOfDriver } from '../../lab/csi/volumes.ts';
import {
  claimObject,
  dataVolumeObject,
  type DataVolumeWish,
  setUpVolumes,
  volumeFixture,
} from '../../lab/data-volumes.ts';
import { applyObject, objectPath, type Manifest } from '../../lab/kubernetes-objects.ts';
import { startLab } from '../../lab/lab.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { storageResources } from '../../runtime/kubernetes/storage-resources.ts';
import { until } from '../flows/until.ts';
import { openVolumeLog, type VolumeLog } from '../flows/volume-log.ts';
import type { World } from '../flows/world.ts';
import { patiently } from './patiently.ts';
import type { VolumeAction } from './plan.ts';

/** DataVolumes that users make and delete while everything breaks, of sources that change and are used meanwhile. */

const { namespace, golden } = volumeFixture;

/** What is cloned: two that change, a device, and one of another namespace. */
const sources = [
  { namespace, name: 'source-1' },
  { namespace, name: 'source-2' },
  { namespace, name: 'raw', block: true },
  { namespace: golden, name: 'image' },
] as const;
const changing = sources.filter((one) => !('block' in one));
/** A user's snapshot, of the first. */
const kept = 'kept';
/** Then their names come again, at times while something of the one before still goes. */
const mostVolumes = 24;
const manyAtOnce = 6;
/** With the share of the file system that is more than the sources have. */
const sizes = [null, null, '64Mi', '96Mi'] as const;

/** Longer than any back-off that a run may be in. */
const serviceMs = 300_000;
const boundMs = 60_000;
const patience = (): AbortSignal => AbortSignal.timeout(5_000);
const isThere = (message: string): boolean => /already ?exists/iu.test(message);

export interface ChaosVolumes {
  csi: CsiHandle;
  log: VolumeLog;
  /** Of the next DataVolume. */
  nextName(): string;
  close(): Promise<void>;
}

/** Section `dataVolumes`: what waits for minutes waits for seconds. */
export const volumeSettings = {
  sourceIntervalMs: 500,
  policyDelayMs: 1_000,
  recheckMs: 5_000,
  slotRenewMs: 10_000,
  lingerMs: 300,
};

/** Before the drover is started that drives them. */
export async function openVolumes({ api, lab }: World): Promise<ChaosVolumes> {
  const part = await startLab({ dir: lab.dir, parts: ['csi'] });
  const { csi } = part.handles;
  await setUpVolumes(api);
  const log = await openVolumeLog(api, csi);
  let count = 0;
  const volumes: ChaosVolumes = {
    csi,
    log,
    nextName: () => `dv-${(count++ % mostVolumes) + 1}`,
    async close() {
      await log.close();
      await part.stop();
    },
  };
  for (const source of sources) {
    await applyObject(api, claimObject(source));
    const volume = await until(`claim ${source.name} to be bound`, boundMs, () => volumeOf({ api }, source));
    await log.write(volume, `${source.name} as it was first`);
  }
  await applyObject(api, {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { namespace, name: kept },
    spec: {
      volumeSnapshotClassName: csiSnapshotClasses.directories,
      source: { persistentVolumeClaimName: sources[0].name },
    },
  });
  await until('the snapshot to be ready', boundMs, async () => {
    const found = await openObjects(api).get(storageResources.VolumeSnapshot, { namespace, name: kept }, patience());
    return found?.status?.readyToUse === true ? true : 'not yet';
  });
  return volumes;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}
const nameOf = ({ namespace: own, name }: Named): Named => ({ namespace: own, name });

/** Text: why there is none. */
async function volumeOf({ api }: Pick<World, 'api'>, claim: Named): Promise<VolumeOfDriver | string> {
  const objects = openObjects(api);
  const { namespace: own, name } = claim;
  const found = await objects.get(storageResources.PersistentVolumeClaim, { namespace: own, name }, patience());
  if (found?.status?.phase !== 'Bound') return `it is ${found?.status?.phase ?? 'not there'}`;
  const { volumeName = '' } = found.spec;
  const volume = await objects.get(storageResources.PersistentVolume, { name: volumeName }, patience());
  return volume === null ? `there is no PersistentVolume ${volumeName}` : (volume as typeof volume & VolumeOfDriver);
}

/** Does what a user would, or a machine that has a source mounted; returns what was done. */
export async function performVolumeAction(
  world: World,
  volumes: ChaosVolumes,
  { what, lot }: VolumeAction,
): Promise<string> {
  const chosen = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(lot * items.length)];
  /** The same lot is to decide of other things, too. */
  const other = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(lot * 997) % items.length];
  const objects = openObjects(world.api);
  const list = () => patiently(() => objects.list(resources.DataVolume, { namespace }, patience()));
  const make = (wish: Omit<DataVolumeWish, 'name'>) => create(world, volumes, { ...wish, name: volumes.nextName() });
  switch (what) {
    case 'clone': {
      const pvc = chosen(sources.slice(0, 3)) ?? sources[0];
      // A source in use is cloned by some of them.
      const annotations = other([{}, { [volumeAnnotations.crashConsistent]: 'true' }]) ?? {};
      const block = 'block' in pvc && { block: true };
      return await make({ from: { pvc: nameOf(pvc) }, size: other(sizes) ?? null, annotations, ...block });
    }
    case 'cloneMany': {
      const pvc = nameOf(chosen(sources.slice(0, 2)) ?? sources[0]);
      const made = Array.from({ length: manyAtOnce }, () => make({ from: { pvc }, size: null }));
      return (await Promise.all(made)).join(', ');
    }
    case 'cloneElsewhere':
      return await make({ from: { pvc: nameOf(sources[3]) }, size: other(sizes) ?? null });
    case 'cloneSnapshot':
      return await make({ from: { snapshot: { name: kept } }, size: other(sizes) ?? null });
    case 'write': {
      const source = chosen(changing) ?? sources[0];
      const volume = await patiently(() => volumeOf(world, source));
      if (typeof volume === 'string') return `${source.name} is not written: ${volume}`;
      await volumes.log.write(volume, `${source.name} as ${Date.now()} has it`);
      return `write to ${source.namespace}/${source.name}`;
    }
    case 'use': {
      const source = chosen(sources) ?? sources[0];
      const pod = podOf(source, `guest-${String(lot).slice(2)}`);
      await patiently(
        () => world.api.request({ method: 'POST', path: collection(pod), body: pod }, patience()),
        isThere,
      );
      void delay(1_000 + lot * 6_000)
        .then(() => remove(world, objectPath(pod)))
        .catch(() => undefined);
      return `${pod.metadata.name} uses ${source.namespace}/${source.name}`;
    }
    case 'deleteVolume': {
      const volume = chosen((await list()) ?? []);
      if (volume === undefined) return 'there is no DataVolume to delete';
      await patiently(() =>
        objects.delete(resources.DataVolume, { namespace, name: volume.metadata.name }, patience()),
      );
      return `delete DataVolume ${volume.metadata.name} (${volume.status?.phase || 'new'})`;
    }
    case 'deleteClaim': {
      const volume = chosen((await list()) ?? []);
      if (volume === undefined) return 'there is no PVC to delete';
      const { name } = volume.metadata;
      await remove(world, resourcePath('v1', 'persistentvolumeclaims', { namespace, name }));
      return `delete PVC ${name} (${volume.status?.phase || 'new'})`;
    }
    case 'terminate': {
      const name = chosen((await list()) ?? [])?.metadata.name ?? 'none';
      // There may be none, or Temporal is away: that is not an error.
      const said = await world.client.workflow
        .getHandle(dataVolumeId(namespace, name))
        .terminate('chaos')
        .then(
          () => '',
          (error: unknown) => `: ${(error as Error).message}`,
        );
      return `terminate ${dataVolumeId(namespace, name)}${said}`;
    }
  }
}

/** What has its name already goes instead. */
async function create(world: World, { log }: ChaosVolumes, wish: DataVolumeWish): Promise<string> {
  const objects = openObjects(world.api);
  const { name, from, size } = wish;
  const found = await patiently(() => objects.get(resources.DataVolume, { namespace, name }, patience()));
  if (found !== null) {
    await patiently(() => objects.delete(resources.DataVolume, { namespace, name }, patience()));
    return `delete ${name} (${found.status?.phase || 'new'})`;
  }
  const body = dataVolumeObject(wish);
  log.willAsk(`${namespace}/${name}`);
  await patiently(() => world.api.request({ method: 'POST', path: collection(body), body }, patience()), isThere);
  return `clone ${JSON.stringify(from)} to ${name}, ${size ?? 'as large'}`;
}

const collection = (body: Manifest): string => objectPath({ ...body, metadata: { ...body.metadata, name: '' } });

const remove = ({ api }: World, path: string): Promise<unknown> =>
  patiently(() => api.request({ method: 'DELETE', path }, patience()));

/** On no node: nothing of it is ever run, and its claim is in use. */
const podOf = ({ namespace: own, name }: Named, pod: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: own, name: pod },
  spec: {
    containers: [{ name: 'guest', image: 'registry.example.com/guest:1' }],
    volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: name } }],
  },
});

/** At the end no source is used. Returns what has not become of the DataVolumes then, and of their sources. */
export async function restoreVolumes(world: World, volumes: ChaosVolumes): Promise<string[]> {
  const complaints: string[] = [];
  const complain = (error: unknown): number => complaints.push((error as Error).message);
  for (const own of [namespace, golden])
    await remove(world, resourcePath('v1', 'pods', { namespace: own })).catch(complain);
  await until('every DataVolume to be complete', serviceMs, () => observeVolumes(world, volumes)).catch(complain);
  for (const source of sources) complaints.push(...(await observeSource(world, volumes, source)));
  return complaints;
}

async function observeVolumes(world: World, { log }: ChaosVolumes): Promise<true | string> {
  const objects = await openObjects(world.api).list(resources.DataVolume, {}, patience());
  const { dataVolumes, temporary, leftAtDriver, persistentVolumes } = await log.read();
  const saidBy = (uid: string): string => {
    const found = objects.find(({ metadata }) => metadata.uid === uid);
    const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready');
    return `${ready?.reason || 'nothing'}: ${ready?.message ?? ''}`;
  };
  const seen = [
    ...dataVolumes
      .filter((one) => one.isThere && (one.phase !== 'Succeeded' || one.isDeleting || one.content === null))
      .map((one) => `${one.name} is ${one.isDeleting ? 'going' : one.phase || 'new'} and says ${saidBy(one.uid)}`),
    ...temporary.map(({ what }) => `there is ${what}`),
    ...persistentVolumes.filter(({ isClaimed }) => !isClaimed).map(({ name }) => `${name} is no claim's`),
    ...leftAtDriver,
  ];
  return seen.length === 0 || seen.join('; ');
}

/** It is as it was left. */
async function observeSource(world: World, { csi, log }: ChaosVolumes, source: Named): Promise<string[]> {
  const volume = await volumeOf(world, source);
  if (typeof volume === 'string') return [`source ${source.name}: ${volume}`];
  const bytes = (await readVolume(csi, volume)).toString();
  const written = log.writtenTo(volume);
  return bytes === written ? [] : [`source ${source.name} holds ${bytes} instead of ${written}`];
}

/** Every DataVolume goes, and with them all but the sources and the snapshot of the user. Returns what is left. */
export async function removeVolumes(world: World, { log }: ChaosVolumes): Promise<string[]> {
  const objects = openObjects(world.api);
  for (const { metadata } of await objects.list(resources.DataVolume, { namespace }, patience()))
    await objects.delete(resources.DataVolume, { namespace, name: metadata.name }, patience());
  return until('the sources alone to be left', serviceMs, async () => {
    const { dataVolumes, persistentVolumes, temporary, leftAtDriver } = await log.read();
    const seen = {
      dataVolumes: dataVolumes.filter(({ isThere: stays }) => stays).map(({ name }) => name),
      volumes: persistentVolumes.map(({ name }) => name),
      temporary: temporary.map(({ what }) => what),
      leftAtDriver,
    };
    const isSo =
      [seen.dataVolumes, seen.temporary, leftAtDriver].every(({ length }) => length === 0) &&
      seen.volumes.length === sources.length;
    return isSo || JSON.stringify(seen);
  }).then(
    () => [],
    (error: unknown) => [(error as Error).message],
  );
}
