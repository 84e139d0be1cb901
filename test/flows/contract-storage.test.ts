import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { csiControl, type CsiCode, type CsiMethod } from '../../lab/csi/control.ts';
import { csiClasses, csiSnapshotClasses } from '../../lab/csi/handle.ts';
import { readVolume, type VolumeOfDriver, writeVolume } from '../../lab/csi/volumes.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { describeStorage, type StorageTest } from '../contracts/storage.ts';

/** What clones rely on, with upstream's own binder, sidecars and snapshot-controller. */
let root: string;
let lab: Lab<'kubernetes' | 'csi'>;
let kubernetes: Kubernetes;
let counter = 0;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-contract-')));
  const dir = process.env['DROVER_LAB'] ?? join(root, 'lab');
  lab = await startLab({ dir, parts: ['kubernetes', 'csi'] });
  kubernetes = connectKubernetes({ kubeconfig: lab.handles.kubernetes.kubeconfig });
}, 1_200_000);

afterAll(async () => {
  await kubernetes.close();
  if (process.env['DROVER_LAB'] === undefined) await lab.stop();
  rmSync(root, { recursive: true, force: true });
}, 60_000);

const never = new AbortController().signal;

/** Each test has two namespaces of its own. */
const onLab: StorageTest = (title, body) => {
  test(
    title,
    async () => {
      counter += 1;
      const { csi } = lab.handles;
      const control = csiControl(csi);
      const namespaces = [`storage-${counter}-a`, `storage-${counter}-b`] as const;
      for (const name of namespaces)
        await applyObject(kubernetes, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      const volumeOf = async (name: string): Promise<VolumeOfDriver> =>
        (await kubernetes.request(
          { method: 'GET', path: resourcePath('v1', 'persistentvolumes', { name }) },
          never,
        )) as VolumeOfDriver;
      try {
        await body({
          kubernetes,
          namespaces,
          driver: csi.directories.name,
          classes: { plain: csiClasses.default, fixed: csiClasses.fixed, delayed: csiClasses.waiting },
          snapshotClass: csiSnapshotClasses.directories,
          read: async (volume) => (await readVolume(csi, await volumeOf(volume))).toString(),
          write: async (volume, content) => writeVolume(csi, await volumeOf(volume), Buffer.from(content)),
          has: async (handle) =>
            ['volumes', 'snapshots'].some((folder) => existsSync(join(csi.directories.root, folder, handle))),
          fail: (method, code, times = 1) =>
            control.inject({ method: method as CsiMethod, code: code as CsiCode, count: times }),
          delay: (method, delayMs) => control.inject({ method: method as CsiMethod, delayMs }),
        });
      } finally {
        await control.clearFaults();
      }
    },
    180_000,
  );
};

describe('storage of the lab', () => {
  describeStorage(onLab);
});
