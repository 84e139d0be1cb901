import { z } from 'zod';

import type {
  PolicyBranch,
  PolicyInVcenter,
  PolicyPlace,
  ResourcePolicyVsphereActivities,
} from '../../../contracts/resource-policy/resource-policy.ts';
import type { VcenterPlaces } from '../../../runtime/config/vsphere-config.ts';
import { sitePathsOf, type SitePaths } from '../observation/site-paths.ts';
import type { ReadObject } from '../properties.ts';
import { listModules } from '../rest/cluster-modules.ts';
import type { ManagedObjectReference } from '../wire/values.ts';
import { allocationOf, countsCores, isAllocated, poolPaths, readCpuMHz } from './allocation.ts';
import type { PolicyTools } from './change.ts';

const propSet = [
  { type: 'Folder', pathSet: ['childEntity'] },
  { type: 'ResourcePool', pathSet: [...poolPaths] },
];

/**
 * In every zone of the settings, what the namespace has and what the policy names below it; and the cluster modules.
 */
export async function observePolicyInVcenter(
  { gateway, rest, scope: { signal } }: PolicyTools,
  places: VcenterPlaces,
  { namespace, folder, resourcePool }: Parameters<ResourcePolicyVsphereActivities['observePolicyInVcenter']>[0],
): Promise<PolicyInVcenter> {
  const sites = sitePathsOf(places, {
    object: { namespace, name: '', uid: '' },
    folder,
    resourcePool: resourcePool?.name ?? null,
    networks: [],
  });
  const paths = [
    ...new Set(
      sites.flatMap(({ folder: parent, resourcePool: pool, target }) => [
        parent,
        pool,
        target.folder,
        target.resourcePool,
      ]),
    ),
  ];
  const [modules, ...found] = await Promise.all([
    listModules(rest, signal),
    ...paths.map(async (path) => [path, await gateway.findByPath(path, signal)] as const),
  ]);
  const refs = new Map(found.flatMap(([path, ref]) => (ref === null ? [] : [[path, ref] as const])));
  const read =
    refs.size === 0
      ? []
      : await gateway.retrieve({ propSet, objectSet: [...refs.values()].map((obj) => ({ obj })) }, signal);
  const byId = new Map(read.map((object) => [object.ref.value, object]));
  const here = (path: string): ReadObject | null => byId.get(refs.get(path)?.value ?? '') ?? null;
  const toPlace = async (site: SitePaths): Promise<PolicyPlace> => {
    const pool = here(site.target.resourcePool);
    const parent = here(site.resourcePool);
    const owner = ownerOf(parent);
    const isNamed = resourcePool !== null && pool !== null;
    const cpuMHz = resourcePool === null || parent === null ? 0 : await readCpuMHz(gateway, parent.ref, signal);
    const lacksSpeed = resourcePool !== null && countsCores(resourcePool) && parent !== null && cpuMHz === 0;
    return {
      zone: site.zone,
      cluster: owner?.value ?? null,
      folder: branch(
        site.folder,
        folder === null ? null : site.target.folder,
        here,
        (made) => listOf(made, 'childEntity') === 0,
      ),
      resourcePool: {
        ...branch(
          site.resourcePool,
          resourcePool === null ? null : site.target.resourcePool,
          here,
          (made) => listOf(made, 'vm') === 0 && listOf(made, 'resourcePool') === 0,
        ),
        isAsWanted: !isNamed || isAllocated(pool.properties, allocationOf(resourcePool, cpuMHz)),
        ...(lacksSpeed && { lacksSpeed }),
      },
    };
  };
  return { places: await Promise.all(sites.map(toPlace)), modules };
}

function branch(
  path: string,
  childPath: string | null,
  here: (path: string) => ReadObject | null,
  isEmpty: (made: ReadObject) => boolean,
): PolicyBranch {
  const child = childPath === null ? null : here(childPath);
  return {
    path,
    parent: here(path)?.ref.value ?? null,
    child: child?.ref.value ?? null,
    isEmpty: child !== null && isEmpty(child),
  };
}

const list = z.array(z.unknown()).default([]);
/** What cannot be read is not empty. */
const listOf = ({ properties }: ReadObject, path: string): number =>
  list.safeParse(properties[path]).data?.length ?? Infinity;

const reference = z.object({ type: z.string(), value: z.string() });
const ownerOf = (pool: ReadObject | null): ManagedObjectReference | null =>
  reference.safeParse(pool?.properties['owner']).data ?? null;
