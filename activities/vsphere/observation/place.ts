import type { ObservationRequest } from '../../../contracts/virtual-machine/activities.ts';
import type { PlacedAt, Placement } from '../../../contracts/virtual-machine/observation.ts';
import type { Site, SiteDatastore, Surroundings } from './read-sites.ts';

/**
 * Where a new VM goes: the zone of its label, or else the first in which everything is there; of the policy's
 * datastores the one that was chosen for it before, else one on which its image is cached, else the one with the most
 * room. The host is left to DRS. Messages go on from “Waiting for”. Pure.
 *
 * @param settings how its vCenter's settings are called, for messages: `vsphere.vcenters.prod`
 */
export function choosePlace(
  { sites, policy }: Pick<Surroundings, 'sites' | 'policy'>,
  wanted: Pick<ObservationRequest, 'zone' | 'profileId'> &
    Partial<Pick<ObservationRequest, 'chosenDatastore' | 'cachedOn'>>,
  settings: string,
): Placement {
  if (sites.length === 0) return { kind: 'error', message: `a zone to put it in: name one in ${settings}.zones` };
  const candidates = wanted.zone === null ? sites : sites.filter(({ paths }) => paths.zone === wanted.zone);
  if (candidates.length === 0)
    return {
      kind: 'zoneMismatch',
      message: `zone ${wanted.zone}, which ${settings}.zones does not have: it has ${sites.map(({ paths }) => paths.zone).join(', ')}. Correct the label, or name the zone there`,
    };
  if (wanted.profileId === null)
    return { kind: 'notReady', message: 'the storage policy of its storage class, which says where its disks go' };
  if (policy === null)
    return {
      kind: 'error',
      message: `storage policy ${wanted.profileId}: name its datastores in ${settings}.storagePolicies`,
    };
  const chosen = policy.datastores.filter(({ id }) => id === wanted.chosenDatastore);
  for (const site of chosen.length === 0 ? [] : candidates) {
    const kept = placeIn(site, chosen, settings);
    if (typeof kept !== 'string') return { kind: 'placed', at: kept };
  }
  const problems: string[] = [];
  for (const site of candidates) {
    const found = placeIn(site, policy.datastores, settings, wanted.cachedOn);
    if (typeof found !== 'string') return { kind: 'placed', at: found };
    problems.push(found);
  }
  return { kind: 'notReady', message: problems.join('; or ') };
}

/** Or what it lacks, in words. */
function placeIn(
  { paths, datacenter, target, hosts }: Site,
  datastores: readonly SiteDatastore[],
  settings: string,
  cachedOn: readonly string[] = [],
): PlacedAt | string {
  const { zone } = paths;
  const where = `${settings}.zones.${zone}`;
  if (datacenter === null) return `datacenter ${paths.datacenter} of zone ${zone}: correct ${where}`;
  if (target.folder === null)
    return `folder ${paths.target.folder} of zone ${zone}: create it in vCenter, or correct ${where}.folder`;
  if (target.resourcePool === null)
    return `resource pool ${paths.target.resourcePool} of zone ${zone}: create it in vCenter, or correct ${where}.resourcePool`;
  const usable = hosts.filter(({ isUsable }) => isUsable);
  if (usable.length === 0) return `a host of zone ${zone} that is connected and not in maintenance`;
  const reachable = datastores.filter(
    (datastore) => datastore.isAccessible && usable.some(({ id }) => datastore.hosts.includes(id)),
  );
  const isCached = ({ id, freeBytes }: SiteDatastore): number => Number(freeBytes > 0 && cachedOn.includes(id));
  const [roomiest] = reachable.toSorted(
    (a, b) => isCached(b) - isCached(a) || b.freeBytes - a.freeBytes || (a.path < b.path ? -1 : 1),
  );
  if (roomiest === undefined) return `a datastore of its storage policy that the hosts of zone ${zone} can write to`;
  if (roomiest.freeBytes <= 0) return `room on ${reachable.map(({ path }) => path).join(', ')}`;
  return {
    zone,
    datacenter,
    folder: target.folder,
    resourcePool: target.resourcePool,
    datastore: roomiest.id,
    host: null,
    cpuMHz: slowest(usable),
    ...(roomiest.noFolders === true && { noFolders: true as const }),
  };
}

/** 0: nothing is known. */
export const slowest = (hosts: readonly { cpuMHz: number }[]): number => {
  const known = hosts.map(({ cpuMHz }) => cpuMHz).filter((mhz) => mhz > 0);
  return known.length === 0 ? 0 : Math.min(...known);
};
