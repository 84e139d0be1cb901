import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { csiControl } from '../../lab/csi/control.ts';
import { csiClasses, csiSnapshotClasses } from '../../lab/csi/handle.ts';
import { rbd } from '../../lab/csi/rbd-image.ts';
import type { VolumeOfDriver } from '../../lab/csi/volumes.ts';
import { kubectl } from '../../lab/kubectl.ts';
import { startLab } from '../../lab/lab.ts';
import { cephPrograms } from '../../lab/parts/ceph.ts';
import { until } from './until.ts';

/** Kubernetes with the lab's CSI drivers, in a lab of its own; and Ceph where that is asked for. */

const deadlineMs = 30_000;
export const csiStartTimeoutMs = 20 * 60_000;

/** Root's lab installs what is missing. */
export const canRunCeph = process.getuid?.() === 0 || cephPrograms.missing().length === 0;

export type CsiWorld = Awaited<ReturnType<typeof openCsiWorld>>;
export type CsiDriverName = 'directories' | 'rbd';

export interface ClaimWish {
  readonly storageClass?: string;
  readonly size: string;
  readonly block?: boolean;
  readonly from?: { readonly snapshot: string } | { readonly claim: string };
}

interface Claim {
  readonly status: { readonly phase: string; readonly capacity?: { readonly storage: string } };
  readonly spec: { readonly volumeName?: string };
}

export async function openCsiWorld({ withCeph }: { withCeph: boolean }) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-csi-')));
  const lab = await startLab({
    dir: join(dir, 'lab'),
    parts: withCeph ? ['kubernetes', 'ceph', 'csi'] : ['kubernetes', 'csi'],
  });
  const { kubernetes, csi } = lab.handles;
  const run = (args: readonly string[], object?: object) =>
    kubectl(kubernetes, args, object === undefined ? undefined : JSON.stringify(object));
  const get = async <Kind>(kind: string, name: string): Promise<Kind> =>
    JSON.parse(await run(['get', kind, name, '-o', 'json'])) as Kind;
  const getClaim = (name: string) => get<Claim>('pvc', name);
  return {
    csi,
    driver: (name: CsiDriverName) => {
      const driver = csi[name];
      if (driver === null) throw new Error('the lab has no Ceph');
      return driver;
    },
    kubectl: run,
    get,
    getClaim,
    async claim(name: string, { storageClass, size, block = false, from }: ClaimWish): Promise<void> {
      const dataSource =
        from === undefined
          ? {}
          : 'snapshot' in from
            ? {
                dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: from.snapshot },
              }
            : { dataSource: { kind: 'PersistentVolumeClaim', name: from.claim } };
      await run(['create', '-f', '-'], {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name },
        spec: {
          accessModes: ['ReadWriteOnce'],
          volumeMode: block ? 'Block' : 'Filesystem',
          resources: { requests: { storage: size } },
          ...(storageClass !== undefined && { storageClassName: storageClass }),
          ...dataSource,
        },
      });
    },
    /** Resolves to the volume of a claim once it is bound. */
    async bound(name: string): Promise<VolumeOfDriver> {
      const claim = await until(`claim ${name} to be bound`, deadlineMs, async () => {
        const found = await getClaim(name);
        return found.status.phase === 'Bound' ? found : found.status.phase;
      });
      return get<VolumeOfDriver>('pv', claim.spec.volumeName ?? '');
    },
    /** Resolves to the status of a snapshot once it can be used. */
    async snapshot(name: string, claim: string, of: CsiDriverName) {
      await run(['create', '-f', '-'], {
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshot',
        metadata: { name },
        spec: {
          volumeSnapshotClassName: csiSnapshotClasses[of],
          source: { persistentVolumeClaimName: claim },
        },
      });
      return until(`snapshot ${name} to be ready`, deadlineMs, async () => {
        const { status } = await get<{ status?: { readyToUse?: boolean; restoreSize?: string } }>(
          'volumesnapshot',
          name,
        );
        return status?.readyToUse === true ? status : JSON.stringify(status ?? null);
      });
    },
    async expectCapacity(name: string, size: string): Promise<void> {
      await until(`claim ${name} to have ${size}`, deadlineMs, async () => {
        const { status } = await getClaim(name);
        return status.capacity?.storage === size || JSON.stringify(status);
      });
    },
    /** Nothing is left of what the driver made, not in the cluster nor where its bytes were. */
    async expectNothingLeft(of: CsiDriverName): Promise<void> {
      await until('nothing to be left', deadlineMs, async () => {
        const objects = await run(['get', 'pvc,pv,volumesnapshot,volumesnapshotcontent', '-o', 'name']);
        const bytes = await keptOf(of);
        return (objects.trim() === '' && bytes.length === 0) || `${objects}${bytes.join()}`;
      });
    },
    /** As it was before the test, however far that came. */
    async clear(): Promise<void> {
      await csiControl(csi).clearFaults();
      await run(['delete', 'resourcequota,volumesnapshot,pvc', '--all', '--timeout=60s']);
    },
    async close(): Promise<void> {
      await lab.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };

  async function keptOf(of: CsiDriverName): Promise<string[]> {
    if (of === 'directories')
      return ['volumes', 'snapshots'].flatMap((kind) => readdirSync(join(csi.directories.root, kind)));
    const { rbd: pool } = csi;
    if (pool === null) throw new Error('the lab has no Ceph');
    const lists = await Promise.all([rbd(pool, ['ls', pool.pool]), rbd(pool, ['trash', 'ls', pool.pool])]);
    return lists.flatMap((list) => list.toString().split('\n')).filter((line) => line !== '');
  }
}

export const classOf = (driver: CsiDriverName): string =>
  driver === 'directories' ? csiClasses.default : csiClasses.rbd;
