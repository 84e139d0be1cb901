import { z } from 'zod';

import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { networkPaths, networkText } from '../../vsphere/observation/network-backing.ts';
import { asPathPart } from '../../vsphere/observation/site-paths.ts';
import { type ReadObject, traversal } from '../../vsphere/properties.ts';
import type { ManagedObjectReference } from '../../vsphere/wire/values.ts';
import type { PoolVcenter } from './pool-vcenters.ts';

/** What is read of a pool to know where its VMs go. */
export interface PoolOfPlaces {
  metadata: Pick<VsphereAgentPool['metadata'], 'namespace' | 'name'>;
  spec: Pick<VsphereAgentPool['spec'], 'hostedClusterRef' | 'vsphere'>;
}

/** A datastore of the datastore cluster. */
export interface PodMember {
  id: string;
  name: string;
  /** Accessible, and not in maintenance. */
  isUsable: boolean;
  freeBytes: number;
  capacityBytes: number;
}

export interface Pod {
  ref: ManagedObjectReference;
  name: string;
  /** vCenter recommends which datastore to take (Storage DRS). */
  recommends: boolean;
  members: PodMember[];
}

/** Where VMs of a pool go, as vCenter names it. */
export interface PoolPlaces {
  datacenter: string;
  folderPath: string;
  resourcePool: string;
  /** What a card is connected to (network-backing.ts). */
  network: string;
  pod: Pod;
}

type Reading = Pick<PoolVcenter, 'name' | 'inventory'>;

/** A path, or what is below the datacenter’s folder of that kind. */
const pathIn = (datacenter: string, kind: 'vm' | 'host' | 'network' | 'datastore', value: string): string =>
  value.startsWith('/') ? value : `${datacenter}/${kind}/${value}`;

const datacenterPath = ({ spec }: PoolOfPlaces): string => `/${spec.vsphere.datacenter.replaceAll(/^\/+|\/+$/gu, '')}`;

/** Of the folder of the pool’s VMs. */
export const folderPathOf = (pool: PoolOfPlaces): string =>
  pathIn(
    datacenterPath(pool),
    'vm',
    (pool.spec.vsphere.folder || pool.spec.hostedClusterRef.name).replace(/\/+$/u, ''),
  );

/** @throws VsphereObjectNotFound naming the field; InvalidObject where a name is that of several resource pools */
export async function readPoolPlaces(vcenter: Reading, pool: PoolOfPlaces, signal: AbortSignal): Promise<PoolPlaces> {
  const at = datacenterPath(pool);
  const { network, resourcePool } = pool.spec.vsphere;
  // All else is below it.
  const datacenter = await find(vcenter, pool, 'datacenter', [at], signal);
  const networks = [...new Set([pathIn(at, 'network', network), pathIn(at, 'network', asPathPart(network))])];
  const [networkRef, poolRef, pod] = await Promise.all([
    find(vcenter, pool, 'network', networks, signal),
    findResourcePool(vcenter, pool, at, resourcePool, signal),
    readPod(vcenter, pool, signal),
  ]);
  return {
    datacenter: datacenter.value,
    folderPath: folderPathOf(pool),
    resourcePool: poolRef.value,
    network: await readNetwork(vcenter, pool, networkRef, signal),
    pod,
  };
}

type Field = 'datacenter' | 'network' | 'resourcePool' | 'datastoreCluster';

const missing = (vcenter: Reading, { metadata, spec }: PoolOfPlaces, field: Field): Error =>
  droverFailure(
    'VsphereObjectNotFound',
    `vCenter ${vcenter.name} has no ${words[field]} ${spec.vsphere[field]}, which pool ${metadata.namespace ?? ''}/${metadata.name} names in spec.vsphere.${field}`,
  );
const words: Readonly<Record<Field, string>> = {
  datacenter: 'datacenter',
  network: 'network',
  resourcePool: 'resource pool',
  datastoreCluster: 'datastore cluster',
};

async function find(
  vcenter: Reading,
  pool: PoolOfPlaces,
  field: Field,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ManagedObjectReference> {
  for (const path of paths) {
    const found = await vcenter.inventory.find(path, signal);
    if (found !== null) return found;
  }
  throw missing(vcenter, pool, field);
}

/** Forgets what a path led to: it is gone, or was put elsewhere. */
export function forgetPlaces({ inventory }: Reading, pool: PoolOfPlaces): void {
  const at = datacenterPath(pool);
  const { network, resourcePool, datastoreCluster } = pool.spec.vsphere;
  for (const path of [
    at,
    folderPathOf(pool),
    pathIn(at, 'network', network),
    pathIn(at, 'host', resourcePool),
    `${pathIn(at, 'host', resourcePool)}/Resources`,
    pathIn(at, 'datastore', datastoreCluster),
  ])
    inventory.forget(path);
}

/** By its path below the datacenter’s hosts, that of its cluster for the one at its root, or its name. */
async function findResourcePool(
  vcenter: Reading,
  pool: PoolOfPlaces,
  datacenter: string,
  value: string,
  signal: AbortSignal,
): Promise<ManagedObjectReference> {
  const path = pathIn(datacenter, 'host', value.replace(/\/+$/u, ''));
  const found = await vcenter.inventory.find(path, signal);
  if (found?.type === 'ResourcePool' || found?.type === 'VirtualApp') return found;
  if (found !== null && found.type.endsWith('ComputeResource')) {
    const root = await vcenter.inventory.find(`${path}/Resources`, signal);
    if (root !== null) return root;
  }
  if (value.includes('/')) throw missing(vcenter, pool, 'resourcePool');
  const hosts = await vcenter.inventory.find(`${datacenter}/host`, signal);
  const named =
    hosts === null
      ? []
      : (
          await vcenter.inventory.retrieve(
            {
              propSet: [{ type: 'ResourcePool', pathSet: ['name'] }],
              objectSet: [{ obj: hosts, skip: true, selectSet: [...allPools] }],
            },
            signal,
          )
        ).filter(({ properties }) => properties['name'] === value);
  const [only, ...others] = named;
  if (only === undefined) throw missing(vcenter, pool, 'resourcePool');
  if (others.length > 0)
    throw droverFailure(
      'InvalidObject',
      `${named.length} resource pools of vCenter ${vcenter.name} are called ${value}: give spec.vsphere.resourcePool of pool ${pool.metadata.namespace ?? ''}/${pool.metadata.name} as a path, such as cluster/Resources/${value}`,
    );
  return only.ref;
}

const named = (name: string) => ({ $type: 'SelectionSpec', name });
/** From a folder of hosts to all resource pools below it. */
const allPools = [
  { ...traversal('Folder', 'childEntity', [named('folders'), named('roots')]), name: 'folders' },
  { ...traversal('ComputeResource', 'resourcePool', [named('pools')]), name: 'roots' },
  { ...traversal('ResourcePool', 'resourcePool', [named('pools')]), name: 'pools' },
] as const;

async function readNetwork(
  vcenter: Reading,
  pool: PoolOfPlaces,
  ref: ManagedObjectReference,
  signal: AbortSignal,
): Promise<string> {
  const read = await vcenter.inventory.retrieve(
    {
      propSet: Object.entries(networkPaths).map(([type, pathSet]) => ({ type, pathSet: [...pathSet] })),
      objectSet: [
        { obj: ref, selectSet: [traversal('DistributedVirtualPortgroup', 'config.distributedVirtualSwitch')] },
      ],
    },
    signal,
  );
  const byId = new Map(read.map((object) => [object.ref.value, object]));
  const text = networkText(
    byId.get(ref.value)?.properties ?? {},
    (id) => z.string().safeParse(byId.get(id)?.properties['uuid']).data,
  );
  if (text === null) throw missing(vcenter, pool, 'network');
  return text;
}

const enabledPath = 'podStorageDrsEntry.storageDrsConfig.podConfig.enabled';
const memberPaths = ['name', 'summary.accessible', 'summary.freeSpace', 'summary.capacity', 'summary.maintenanceMode'];
const member = z.object({
  name: z.string(),
  'summary.accessible': z.boolean().default(false),
  'summary.freeSpace': z.number().default(0),
  'summary.capacity': z.number().default(0),
  'summary.maintenanceMode': z.string().default('normal'),
});

/** The datastore cluster of a pool, with what is in it. One call. @throws VsphereObjectNotFound */
export async function readPod(vcenter: Reading, pool: PoolOfPlaces, signal: AbortSignal): Promise<Pod> {
  const path = pathIn(datacenterPath(pool), 'datastore', pool.spec.vsphere.datastoreCluster);
  const ref = await find(vcenter, pool, 'datastoreCluster', [path], signal);
  if (ref.type !== 'StoragePod') throw missing(vcenter, pool, 'datastoreCluster');
  const read = await vcenter.inventory.retrieve(
    {
      propSet: [
        { type: 'StoragePod', pathSet: ['name', enabledPath] },
        { type: 'Datastore', pathSet: memberPaths },
      ],
      objectSet: [{ obj: ref, selectSet: [traversal('StoragePod', 'childEntity')] }],
    },
    signal,
  );
  const own = read.find((object) => object.ref.value === ref.value);
  if (own === undefined) {
    vcenter.inventory.forget(path);
    throw missing(vcenter, pool, 'datastoreCluster');
  }
  return {
    ref,
    name: z.string().catch('').parse(own.properties['name']),
    recommends: own.properties[enabledPath] === true,
    members: read.flatMap(toMember),
  };
}

function toMember({ ref, properties }: ReadObject): PodMember[] {
  const read = ref.type === 'Datastore' ? member.safeParse(properties).data : undefined;
  return read === undefined
    ? []
    : [
        {
          id: ref.value,
          name: read.name,
          isUsable: read['summary.accessible'] && read['summary.maintenanceMode'] === 'normal',
          freeBytes: read['summary.freeSpace'],
          capacityBytes: read['summary.capacity'],
        },
      ];
}
