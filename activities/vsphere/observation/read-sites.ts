import { z } from 'zod';

import type { ObservationRequest } from '../../../contracts/virtual-machine/activities.ts';
import type { VcenterPlaces } from '../../../runtime/config/vsphere-config.ts';
import type { Tools } from '../dependencies.ts';
import { networkPaths, networkText } from './network-backing.ts';
import { traversal, type ReadObject } from '../properties.ts';
import { vim } from '../wire/kinds.ts';
import type { ManagedObjectReference } from '../wire/values.ts';
import type { ObjectSpec } from '../wire/vim/types.ts';
import type { Inventory } from './inventory.ts';
import { sitePathsOf, type SitePaths } from './site-paths.ts';

/** A host of a zone. */
export interface SiteHost {
  id: string;
  name: string;
  /** Connected, and not in maintenance. */
  isUsable: boolean;
  cpuMHz: number;
  /** DNS name. Left out: it was not read, or the host does not say. */
  node?: string;
}

/** A zone, as far as it is there. */
export interface Site {
  paths: SitePaths;
  datacenter: string | null;
  /** Of the namespace. */
  folder: string | null;
  resourcePool: string | null;
  target: { folder: string | null; resourcePool: string | null };
  cluster: string | null;
  hosts: SiteHost[];
  /** Opaque text by name; null: there is no such network. */
  networks: Record<string, string | null>;
}

/** A datastore of the storage policy. */
export interface SiteDatastore {
  path: string;
  id: string;
  isAccessible: boolean;
  freeBytes: number;
  /** Hosts that can write to it. */
  hosts: string[];
  /** It has no folders of files, as vSAN. Left out: it has. */
  noFolders?: true;
}

/** What is around a VM. */
export interface Surroundings {
  sites: Site[];
  /** Of the policy; null: no policy is named, or settings do not have it. */
  policy: { encrypted: boolean; paths: string[]; datastores: SiteDatastore[] } | null;
  /** Datastores of the policy of instance storage; null: settings do not have it. Left out: there is none. */
  instanceStorage?: SiteDatastore[] | null;
}

type Asked = Pick<
  ObservationRequest,
  'object' | 'folder' | 'resourcePool' | 'networks' | 'profileId' | 'instanceStorage'
>;

/** One call, shared with other observations that ask for the same, and one more for each path that is not cached. */
export async function readSites(
  { scope: { signal } }: Pick<Tools, 'scope'>,
  inventory: Inventory,
  places: VcenterPlaces,
  request: Asked,
): Promise<Surroundings> {
  const all = sitePathsOf(places, request);
  const policy = (request.profileId === null ? undefined : places.storagePolicies[request.profileId]) ?? null;
  const { instanceStorage } = request;
  const ofInstances = places.storagePolicies[instanceStorage?.profileId ?? ''] ?? null;
  const datastores = [...new Set([...(policy?.datastores ?? []), ...(ofInstances?.datastores ?? [])])];
  const paths = [
    ...new Set([
      ...all.flatMap(({ datacenter, folder, resourcePool, target, networks }) => [
        datacenter,
        folder,
        resourcePool,
        target.folder,
        target.resourcePool,
        ...Object.values(networks),
      ]),
      ...datastores,
    ]),
  ];
  // A second time where a path led to something that is gone.
  for (let isAgain = false; ; isAgain = true) {
    const refs = new Map(
      (await Promise.all(paths.map(async (path) => [path, await inventory.find(path, signal)] as const))).flatMap(
        ([path, ref]) => (ref === null ? [] : [[path, ref] as const]),
      ),
    );
    const objectSet = objectSetOf(all, refs, datastores);
    const read =
      objectSet.length === 0 ? [] : await inventory.retrieve({ propSet: propSetOf(request), objectSet }, signal);
    const byId = new Map(read.map((object) => [object.ref.value, object]));
    const gone = [...refs].filter(([, ref]) => !byId.has(ref.value));
    for (const [path] of gone) inventory.forget(path);
    if (gone.length > 0 && !isAgain) continue;
    for (const [path] of gone) refs.delete(path);
    return {
      sites: all.map((site) => toSite(site, refs, byId)),
      policy:
        policy === null
          ? null
          : {
              encrypted: policy.encrypted,
              paths: policy.datastores,
              datastores: policy.datastores.flatMap((path) => toDatastore(path, refs, byId)),
            },
      ...(instanceStorage !== undefined && {
        instanceStorage: ofInstances?.datastores.flatMap((path) => toDatastore(path, refs, byId)) ?? null,
      }),
    };
  }
}

const dnsPaths = ['config.network.dnsConfig.hostName', 'config.network.dnsConfig.domainName'];

const propSetOf = ({ instanceStorage }: Pick<Asked, 'instanceStorage'>) => [
  { type: 'Datacenter', pathSet: ['name'] },
  { type: 'Folder', pathSet: ['name'] },
  { type: 'ResourcePool', pathSet: ['owner'] },
  { type: 'ComputeResource', pathSet: ['host'] },
  {
    type: 'HostSystem',
    pathSet: [
      'name',
      'summary.hardware.cpuMhz',
      'runtime.connectionState',
      'runtime.inMaintenanceMode',
      ...(instanceStorage === undefined ? [] : dnsPaths),
    ],
  },
  {
    type: 'Datastore',
    pathSet: [
      'summary.accessible',
      'summary.freeSpace',
      'summary.maintenanceMode',
      'capability.topLevelDirectoryCreateSupported',
      'host',
    ],
  },
  ...Object.entries(networkPaths).map(([type, pathSet]) => ({ type, pathSet: [...pathSet] })),
];

function objectSetOf(
  sites: readonly SitePaths[],
  refs: ReadonlyMap<string, ManagedObjectReference>,
  datastores: readonly string[],
): ObjectSpec[] {
  const select = (paths: readonly string[], selectSet: ObjectSpec['selectSet'] = []): [string, ObjectSpec][] =>
    paths.flatMap((path) => {
      const obj = refs.get(path);
      return obj === undefined ? [] : [[obj.value, { obj, selectSet }] as [string, ObjectSpec]];
    });
  // What is selected further comes last, and wins.
  return [
    ...new Map([
      ...select([
        ...datastores,
        ...sites.flatMap(({ datacenter, folder, target }) => [datacenter, folder, target.folder, target.resourcePool]),
      ]),
      ...select(
        sites.flatMap(({ networks }) => Object.values(networks)),
        [traversal('DistributedVirtualPortgroup', 'config.distributedVirtualSwitch')],
      ),
      ...select(
        sites.map(({ resourcePool }) => resourcePool),
        [traversal('ResourcePool', 'owner', [traversal('ComputeResource', 'host')])],
      ),
    ]).values(),
  ];
}

type ById = ReadonlyMap<string, ReadObject>;
type Refs = ReadonlyMap<string, ManagedObjectReference>;

const reference = z.object({ value: z.string() });
const idOf = (ref: unknown): string | null => reference.safeParse(ref).data?.value ?? null;

const host = z.object({
  name: z.string().default(''),
  'summary.hardware.cpuMhz': z.number().default(0),
  'runtime.connectionState': z.string().default(''),
  'runtime.inMaintenanceMode': z.boolean().default(false),
  'config.network.dnsConfig.hostName': z.string().default(''),
  'config.network.dnsConfig.domainName': z.string().default(''),
});

function toSite(paths: SitePaths, refs: Refs, byId: ById): Site {
  const resourcePool = refs.get(paths.resourcePool)?.value ?? null;
  const cluster = idOf(byId.get(resourcePool ?? '')?.properties['owner']);
  const hosts = z
    .array(reference)
    .catch([])
    .parse(byId.get(cluster ?? '')?.properties['host']);
  return {
    paths,
    datacenter: refs.get(paths.datacenter)?.value ?? null,
    folder: refs.get(paths.folder)?.value ?? null,
    resourcePool,
    target: {
      folder: refs.get(paths.target.folder)?.value ?? null,
      resourcePool: refs.get(paths.target.resourcePool)?.value ?? null,
    },
    cluster,
    hosts: hosts.flatMap(({ value: id }) => {
      const parsed = host.safeParse(byId.get(id)?.properties).data;
      return parsed === undefined
        ? []
        : [
            {
              id,
              name: parsed.name,
              isUsable: parsed['runtime.connectionState'] === 'connected' && !parsed['runtime.inMaintenanceMode'],
              cpuMHz: parsed['summary.hardware.cpuMhz'],
              ...nodeOf(parsed),
            },
          ];
    }),
    networks: Object.fromEntries(
      Object.entries(paths.networks).map(([name, path]) => [
        name,
        networkText(
          byId.get(refs.get(path)?.value ?? '')?.properties ?? {},
          (id) => z.string().safeParse(byId.get(id)?.properties['uuid']).data,
        ),
      ]),
    ),
  };
}

/** As vSphere's Kubernetes names the node of a host. */
function nodeOf({
  'config.network.dnsConfig.hostName': name,
  'config.network.dnsConfig.domainName': domain,
}: z.output<typeof host>): Pick<SiteHost, 'node'> {
  if (name === '') return {};
  return { node: (domain === '' ? name : `${name}.${domain}`).toLowerCase() };
}

const datastore = z.object({
  'summary.accessible': z.boolean().default(false),
  'summary.freeSpace': z.number().default(0),
  'summary.maintenanceMode': z.string().default('normal'),
  'capability.topLevelDirectoryCreateSupported': z.boolean().default(true),
  host: z.array(vim('DatastoreHostMount')).default([]),
});

function toDatastore(path: string, refs: Refs, byId: ById): SiteDatastore[] {
  const id = refs.get(path)?.value;
  const parsed = datastore.safeParse(byId.get(id ?? '')?.properties).data;
  if (id === undefined || parsed === undefined) return [];
  return [
    {
      path,
      id,
      isAccessible: parsed['summary.accessible'] && parsed['summary.maintenanceMode'] === 'normal',
      freeBytes: parsed['summary.freeSpace'],
      ...(!parsed['capability.topLevelDirectoryCreateSupported'] && { noFolders: true as const }),
      hosts: parsed.host
        .filter(
          ({ mountInfo }) =>
            mountInfo.accessMode === 'readWrite' && mountInfo.mounted !== false && mountInfo.accessible !== false,
        )
        .map(({ key }) => key.value),
    },
  ];
}
