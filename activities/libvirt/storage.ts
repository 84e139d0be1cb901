import { unless, virErrors } from './faults.ts';
import type { Request } from './rpc.ts';
import type { LibvirtConnection, LibvirtTimeouts, StoragePool } from './types.ts';
import { cephSecretXml, rbdPoolXml } from './xml.ts';

type Storage = Pick<
  LibvirtConnection,
  | 'findPool'
  | 'pools'
  | 'defineRbdPool'
  | 'startPool'
  | 'poolInfo'
  | 'refreshPool'
  | 'poolVolumes'
  | 'removePool'
  | 'ensureCephSecret'
  | 'removeSecret'
>;

/** virStoragePoolState. */
const running = 2;

/** Pools of RBD images and the keys that open them. */
export function createStorage(request: Request, { storageMs }: Pick<LibvirtTimeouts, 'storageMs'>): Storage {
  const isRunning = async (pool: StoragePool, signal: AbortSignal): Promise<boolean> =>
    (await request('storagePoolGetInfo', { pool }, signal)).state === running;

  return {
    findPool: async (name, signal) =>
      (await unless([virErrors.noStoragePool], request('storagePoolLookupByName', { name }, signal)))?.pool ?? null,

    pools: async (signal) => (await request('connectListAllStoragePools', { needResults: 1, flags: 0 }, signal)).pools,

    defineRbdPool: async (pool, signal) =>
      (await request('storagePoolDefineXml', { xml: rbdPoolXml(pool), flags: 0 }, signal)).pool,

    startPool: async (pool, signal) => {
      if (await isRunning(pool, signal)) return;
      // Refused where another client has started it meanwhile.
      await unless([virErrors.operationInvalid], request('storagePoolCreate', { pool, flags: 0 }, signal, storageMs));
    },

    poolInfo: async (pool, signal) => {
      const { state, capacity, allocation, available } = await request('storagePoolGetInfo', { pool }, signal);
      return {
        isRunning: state === running,
        capacityBytes: Number(capacity),
        allocationBytes: Number(allocation),
        availableBytes: Number(available),
      };
    },

    refreshPool: async (pool, signal) =>
      void (await request('storagePoolRefresh', { pool, flags: 0 }, signal, storageMs)),

    poolVolumes: async (pool, signal) => {
      const { volumes } = await request(
        'storagePoolListAllVolumes',
        { pool, needResults: 1, flags: 0 },
        signal,
        storageMs,
      );
      return volumes.map(({ name }) => name);
    },

    removePool: async (pool, signal) => {
      const gone = [virErrors.noStoragePool];
      if (await unless(gone, isRunning(pool, signal)))
        await unless(gone, request('storagePoolDestroy', { pool }, signal, storageMs));
      await unless(gone, request('storagePoolUndefine', { pool }, signal));
    },

    ensureCephSecret: async ({ uuid, user, key }, signal) => {
      const { secret } = await request('secretDefineXml', { xml: cephSecretXml(uuid, user), flags: 0 }, signal);
      await request('secretSetValue', { secret, value: key, flags: 0 }, signal);
    },

    removeSecret: async (uuid, signal) => {
      const found = await unless([virErrors.noSecret], request('secretLookupByUuid', { uuid }, signal));
      if (found !== null) await unless([virErrors.noSecret], request('secretUndefine', found, signal));
    },
  };
}
