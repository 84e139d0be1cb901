import type { RbdPool } from '../../../activities/libvirt/types.ts';
import type { Handlers } from './libvirt-handlers.ts';
import { LibvirtRefused } from './libvirt-refusal.ts';

/** What a client of Ceph's asks for. */
export interface RbdRequest {
  cephPool: string;
  monitors: RbdPool['monitors'];
  /** null: it has none to show. */
  login: { user: string; key: string } | null;
}

export interface StorageOptions {
  /** Names of the images of a pool. @throws LibvirtRefused, after as long as libvirt tries */
  listImages: (request: RbdRequest) => Promise<readonly string[]>;
}

export interface Storage {
  handlers: Pick<
    Handlers,
    | 'connectListAllStoragePools'
    | 'storagePoolLookupByName'
    | 'storagePoolDefineXml'
    | 'storagePoolGetInfo'
    | 'storagePoolCreate'
    | 'storagePoolRefresh'
    | 'storagePoolListAllVolumes'
    | 'storagePoolDestroy'
    | 'storagePoolUndefine'
    | 'secretLookupByUuid'
    | 'secretDefineXml'
    | 'secretSetValue'
    | 'secretUndefine'
  >;
  /** Plain data: what is left on the host. */
  state(): { pools: readonly { name: string; cephPool: string; isRunning: boolean }[]; secrets: readonly string[] };
  /** The daemon has ended: what it kept in memory only is lost. */
  forget(): void;
}

interface Pool extends Omit<RbdPool, 'auth'> {
  auth: { user: string; secretUuid: string } | null;
  isRunning: boolean;
  images: readonly string[];
  /** As Ceph had it when it was last read. */
  capacity: bigint;
}

/** virStoragePoolState. */
const states = { inactive: 0, running: 2 } as const;
const clusterBytes = 4n * 1_024n ** 3n;
/** VIR_SECRET_USAGE_TYPE_CEPH. */
const cephUsage = 2;

/** Pools of RBD images and Ceph's keys, as the storage and secret drivers of a libvirt daemon hold them. */
export function createStorage({ listImages }: StorageOptions): Storage {
  const pools = new Map<string, Pool>();
  const secrets = new Map<string, { usageId: string; key: string | null }>();

  const asked = ({ uuid, name }: { uuid: string; name: string }): Pool => {
    const pool = pools.get(uuid);
    if (pool === undefined)
      throw new LibvirtRefused(
        'noStoragePool',
        `Storage pool not found: no storage pool with matching uuid '${uuid}' (${name})`,
      );
    return pool;
  };
  const needsRunning = (pool: Pool): Pool => {
    if (!pool.isRunning)
      throw new LibvirtRefused(
        'operationInvalid',
        `Requested operation is not valid: storage pool '${pool.name}' is not active`,
      );
    return pool;
  };
  const needsStopped = (pool: Pool, how: 'already' | 'still'): Pool => {
    if (pool.isRunning)
      throw new LibvirtRefused(
        'operationInvalid',
        `Requested operation is not valid: storage pool '${pool.name}' is ${how} active`,
      );
    return pool;
  };
  const reach = async (pool: Pool): Promise<void> => {
    const { cephPool, monitors, auth } = pool;
    pool.images = await listImages({
      cephPool,
      monitors,
      login: auth === null ? null : { user: auth.user, key: keyOf(auth.secretUuid) },
    });
    pool.capacity = clusterBytes;
  };
  const secretOf = (uuid: string): { usageId: string; key: string | null } => {
    const secret = secrets.get(uuid);
    if (secret === undefined)
      throw new LibvirtRefused('noSecret', `Secret not found: no secret with matching uuid '${uuid}'`);
    return secret;
  };
  const keyOf = (uuid: string): string => secretOf(uuid).key ?? '';
  const wire = ({ name, uuid }: Pool) => ({ name, uuid });

  return {
    handlers: {
      connectListAllStoragePools: () => ({ pools: [...pools.values()].map(wire), count: pools.size }),
      storagePoolLookupByName({ name }) {
        const pool = [...pools.values()].find((one) => one.name === name);
        if (pool === undefined)
          throw new LibvirtRefused(
            'noStoragePool',
            `Storage pool not found: no storage pool with matching name '${name}'`,
          );
        return { pool: wire(pool) };
      },
      storagePoolDefineXml({ xml }) {
        const pool = readPool(xml);
        const other = [...pools.values()].find((one) => (one.name === pool.name) !== (one.uuid === pool.uuid));
        if (other !== undefined)
          throw new LibvirtRefused(
            'operationFailed',
            `operation failed: pool '${other.name}' ${other.name === pool.name ? 'already exists' : 'is already defined'} with uuid ${other.uuid}`,
          );
        const before = pools.get(pool.uuid);
        pools.set(pool.uuid, {
          ...pool,
          isRunning: before?.isRunning ?? false,
          images: before?.images ?? [],
          capacity: before?.capacity ?? 0n,
        });
        return { pool: { name: pool.name, uuid: pool.uuid } };
      },
      storagePoolGetInfo({ pool }) {
        const { isRunning, capacity } = asked(pool);
        return { state: isRunning ? states.running : states.inactive, capacity, allocation: 0n, available: capacity };
      },
      async storagePoolCreate({ pool }) {
        const found = needsStopped(asked(pool), 'already');
        await reach(found);
        found.isRunning = true;
        return {};
      },
      async storagePoolRefresh({ pool }) {
        const found = needsRunning(asked(pool));
        try {
          await reach(found);
        } catch (error) {
          found.isRunning = false;
          throw error;
        }
        return {};
      },
      storagePoolListAllVolumes({ pool }) {
        const { name, cephPool, images } = needsRunning(asked(pool));
        return {
          volumes: images.map((image) => ({ pool: name, name: image, key: `${cephPool}/${image}` })),
          count: images.length,
        };
      },
      storagePoolDestroy({ pool }) {
        needsRunning(asked(pool)).isRunning = false;
        return {};
      },
      storagePoolUndefine({ pool }) {
        pools.delete(needsStopped(asked(pool), 'still').uuid);
        return {};
      },
      secretLookupByUuid: ({ uuid }) => ({ secret: { uuid, usageType: cephUsage, usageId: secretOf(uuid).usageId } }),
      secretDefineXml({ xml }) {
        const { uuid, usageId } = readSecret(xml);
        secrets.set(uuid, { usageId, key: secrets.get(uuid)?.key ?? null });
        return { secret: { uuid, usageType: cephUsage, usageId } };
      },
      secretSetValue({ secret, value }) {
        secretOf(secret.uuid).key = value.toString('base64');
        return {};
      },
      secretUndefine({ secret }) {
        secretOf(secret.uuid);
        secrets.delete(secret.uuid);
        return {};
      },
    },
    state: () => ({
      pools: [...pools.values()].map(({ name, cephPool, isRunning }) => ({ name, cephPool, isRunning })),
      secrets: [...secrets.keys()],
    }),
    forget() {
      secrets.clear();
      for (const pool of pools.values()) pool.isRunning = false;
    },
  };
}

function readPool(xml: string): Omit<Pool, 'isRunning' | 'images' | 'capacity'> {
  const [, name, uuid] = /<name>([^<]+)<\/name><uuid>([^<]+)<\/uuid><source>/u.exec(xml) ?? [];
  const [, cephPool] = /<source><name>([^<]+)<\/name>/u.exec(xml) ?? [];
  const [, user, secretUuid] = /<auth username='([^']+)' type='ceph'><secret uuid='([^']+)'\/>/u.exec(xml) ?? [];
  if (name === undefined || uuid === undefined || cephPool === undefined)
    throw new LibvirtRefused('xml', 'XML error: missing pool source name element');
  const monitors = [...xml.matchAll(/<host name='([^']+)' port='(\d+)'\/>/gu)].map(([, host = '', port]) => ({
    host,
    port: Number(port),
  }));
  return {
    name,
    uuid,
    cephPool,
    monitors,
    auth: user === undefined || secretUuid === undefined ? null : { user, secretUuid },
  };
}

function readSecret(xml: string): { uuid: string; usageId: string } {
  const [, uuid] = /<uuid>([^<]+)<\/uuid>/u.exec(xml) ?? [];
  const [, usageId] = /<usage type='ceph'><name>([^<]+)<\/name>/u.exec(xml) ?? [];
  if (uuid === undefined || usageId === undefined)
    throw new LibvirtRefused('xml', 'XML error: Ceph usage specified, but name is missing');
  return { uuid, usageId };
}
