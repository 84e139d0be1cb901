import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { labClock } from '../../lab/clock.ts';
import type { CsiHandle } from '../../lab/csi/handle.ts';
import { readVolume, type VolumeOfDriver, writeVolume } from '../../lab/csi/volumes.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { type ReadDriver, type ReadVolumeObject, type VolumeChange, volumeFacts } from '../invariants/read-volumes.ts';
import type { OfVolumes } from '../invariants/snapshot.ts';
import { type Followed, followObjects } from './object-log.ts';

/** All objects of what the invariants read of volumes. */
const paths: readonly (readonly [kind: string, path: string])[] = [
  ['DataVolume', resourcePath('cdi.kubevirt.io/v1beta1', 'datavolumes')],
  ['ObjectTransfer', resourcePath('cdi.kubevirt.io/v1beta1', 'objecttransfers')],
  ['PersistentVolumeClaim', resourcePath('v1', 'persistentvolumeclaims')],
  ['PersistentVolume', resourcePath('v1', 'persistentvolumes')],
  ['VolumeSnapshot', resourcePath('snapshot.storage.k8s.io/v1', 'volumesnapshots')],
  ['VolumeSnapshotContent', resourcePath('snapshot.storage.k8s.io/v1', 'volumesnapshotcontents')],
  ['Job', resourcePath('batch/v1', 'jobs')],
];

type Held = ReturnType<ReadDriver['history']>[number];

/**
 * What DataVolumes, and what they are made from and of, went through since the log was opened, on the lab's
 * driver of directories.
 */
export interface VolumeLog {
  /** For the invariants, with what the driver has now. */
  read(): Promise<OfVolumes>;
  /** As a machine that has the volume mounted. Whatever is written to a volume that is cloned is written here. */
  write(volume: VolumeOfDriver, bytes: string): Promise<void>;
  /** What was written last; undefined: nothing was. */
  writtenTo(volume: VolumeOfDriver): string | undefined;
  /** A DataVolume of that full name is created from now on: that is before any client can see it. */
  willAsk(fullName: string): void;
  close(): Promise<void>;
}

type Seen = Omit<ReadVolumeObject, 'kind'>;

/** Follows them from now on. */
export async function openVolumeLog(api: Kubernetes, csi: CsiHandle): Promise<VolumeLog> {
  const followed: (readonly [string, Followed<Seen>])[] = [];
  for (const [kind, path] of paths) followed.push([kind, await followObjects<Seen>(api, [path])]);
  const written = new Map<string, Held[]>();
  const askedMs = new Map<string, number>();
  return {
    async read() {
      const changes = followed
        // Of what is built in, a list does not say the kind.
        .flatMap(([kind, { events }]) => events.map((event) => ({ ...event, object: { ...event.object, kind } })))
        .toSorted((a, b) => a.atMs - b.atMs);
      return volumeFacts(
        changes.map((change) => asAsked(change, askedMs)),
        [await readDriver(csi, written)],
      );
    },
    async write(volume, bytes) {
      const { volumeHandle } = volume.spec.csi;
      const held = written.get(volumeHandle) ?? [{ fromMs: 0, content: '' }];
      written.set(volumeHandle, [...held, { fromMs: labClock().now(), content: bytes }]);
      await writeVolume(csi, volume, Buffer.from(bytes));
    },
    writtenTo: ({ spec }) => written.get(spec.csi.volumeHandle)?.at(-1)?.content,
    willAsk: (fullName) => void askedMs.set(fullName, labClock().now()),
    async close() {
      await Promise.all(followed.map(([, one]) => one.close()));
    },
  };
}

/** A watch shows a DataVolume after it was created, which may be after its source was cut. */
function asAsked(change: VolumeChange, askedMs: ReadonlyMap<string, number>): VolumeChange {
  const { type, object } = change;
  const { namespace, name, creationTimestamp = '' } = object.metadata;
  if (type !== 'ADDED' || object.kind !== 'DataVolume') return change;
  const knownMs = Math.max(askedMs.get(`${namespace}/${name}`) ?? 0, Date.parse(creationTimestamp));
  return { ...change, atMs: Math.min(change.atMs, knownMs) };
}

/** As the driver notes it beside the bytes. */
const recordedBytes = (folder: string): number =>
  (JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8')) as { SizeBytes: number }).SizeBytes;

async function readDriver(csi: CsiHandle, written: ReadonlyMap<string, readonly Held[]>): Promise<ReadDriver> {
  const { name, root } = csi.directories;
  const volumes = readdirSync(join(root, 'volumes')).map((id) => ({
    id,
    bytes: recordedBytes(join(root, 'volumes', id)),
  }));
  const contentOf = async (folder: string, id: string): Promise<string> => {
    const volumeMode = readdirSync(join(root, folder, id)).includes('disk') ? 'Block' : 'Filesystem';
    const place = { spec: { volumeMode, csi: { driver: name, volumeHandle: join('..', folder, id) } } };
    return (await readVolume(csi, place)).toString();
  };
  const contents = new Map<string, string>();
  for (const { id } of volumes) contents.set(id, await contentOf('volumes', id));
  const snapshots: { id: string; content: string }[] = [];
  for (const id of readdirSync(join(root, 'snapshots')))
    snapshots.push({ id, content: await contentOf('snapshots', id) });
  return {
    name,
    volumes,
    snapshots,
    history(id) {
      const content = contents.get(id);
      return written.get(id) ?? (content === undefined ? [] : [{ fromMs: 0, content }]);
    },
  };
}
