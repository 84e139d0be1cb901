import { join } from 'node:path';
import { ceph } from '../parts/ceph-access.ts';
import type { CephHandle } from '../parts/ceph-handle.ts';
import { writePrivateFile } from '../private-files.ts';

const POOL = 'csi';
const CLIENT = 'csi';

/** Where the driver keeps its images, and as whom. */
export interface CsiPool {
  readonly confFile: string;
  readonly pool: string;
  readonly client: { readonly name: string; readonly keyringFile: string };
  /** Which cluster that is: the lab's Ceph is a new one with each start. */
  readonly fsid: string;
}

/** Makes a pool for the driver, and a client that may use it and nothing else. */
export async function openCsiPool(handle: CephHandle, dir: string): Promise<CsiPool> {
  const keyringFile = join(dir, 'csi.keyring');
  const makePool = async () => {
    await ceph(handle, ['osd', 'pool', 'create', POOL, '8', '8']);
    await ceph(handle, ['osd', 'pool', 'application', 'enable', POOL, 'rbd']);
  };
  const profiles = [
    ['mon', 'profile rbd'],
    ['osd', `profile rbd pool=${POOL}`],
    ['mgr', `profile rbd pool=${POOL}`],
  ];
  const [fsid, keyring] = await Promise.all([
    ceph(handle, ['fsid']),
    ceph(handle, ['auth', 'get-or-create', `client.${CLIENT}`, ...profiles.flat()]),
    makePool(),
  ]);
  writePrivateFile(keyringFile, keyring);
  return { confFile: handle.confFile, pool: POOL, client: { name: CLIENT, keyringFile }, fsid: fsid.trim() };
}
