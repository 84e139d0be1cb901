import type { ObservationRequest } from '../../../contracts/virtual-machine/activities.ts';
import type { PlacedAt, Placement } from '../../../contracts/virtual-machine/observation.ts';
import type { Site, SiteDatastore, SiteHost, Surroundings } from './read-sites.ts';

/**
 * Where a new VM goes: the zone of its label, or else the first in which everything is there; of the policy's
 * datastores the one that was chosen for it before, else one on which its image is cached, else the one with the most
 * room. The host is left to DRS, unless there is instance storage: that is on one. Messages go on from “Waiting for”.
 * Pure.
 *
 * @param settings how its vCenter's settings are called, for messages: `vsphere.vcenters.prod`
 */
export function choosePlace(
  surroundings: Pick<Surroundings, 'sites' | 'policy' | 'instanceStorage'>,
  wanted: Pick<ObservationRequest, 'zone' | 'profileId'> &
    Partial<Pick<ObservationRequest, 'chosenDatastore' | 'cachedOn' | 'instanceStorage'>>,
  settings: string,
): Placement {
  const { sites, policy } = surroundings;
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
  const { instanceStorage } = wanted;
  const local = surroundings.instanceStorage ?? null;
  if (instanceStorage !== undefined && local === null)
    return {
      kind: 'error',
      message: `storage policy ${instanceStorage.profileId} of its instance storage: name its datastores in ${settings}.storagePolicies`,
    };
  const hosts = instanceStorage === undefined ? null : { ...instanceStorage, datastores: local ?? [] };
  const chosen = policy.datastores.filter(({ id }) => id === wanted.chosenDatastore);
  for (const site of chosen.length === 0 ? [] : candidates) {
    const kept = placeIn(site, chosen, hosts, settings);
    if (typeof kept !== 'string') return { kind: 'placed', at: kept };
  }
  const problems: string[] = [];
  for (const site of candidates) {
    const found = placeIn(site, policy.datastores, hosts, settings, wanted.cachedOn);
    if (typeof found !== 'string') return { kind: 'placed', at: found };
    problems.push(found);
  }
  return { kind: 'notReady', message: problems.join('; or ') };
}

type InstanceStorage = NonNullable<ObservationRequest['instanceStorage']> & { datastores: readonly SiteDatastore[] };

/** Or what it lacks, in words. */
function placeIn(
  { paths, datacenter, target, hosts }: Site,
  datastores: readonly SiteDatastore[],
  instanceStorage: InstanceStorage | null,
  settings: string,
  cachedOn: readonly string[] = [],
): PlacedAt | string {
  const { zone } = paths;
  const where = `${settings}.zones.${zone}`;
  if (datacenter === null) return `datacenter ${paths.datacenter} of zone ${zone}: correct ${where}`;
  const { folder, resourcePool } = target;
  const lacking = (what: string, key: 'folder' | 'resourcePool'): string => {
    const isOfPolicy = paths.target[key] !== paths[key];
    const remedy = isOfPolicy
      ? 'its resource policy, which names it, has not made it'
      : `create it in vCenter, or correct ${where}.${key}`;
    return `${what} ${paths.target[key]} of zone ${zone}: ${remedy}`;
  };
  if (folder === null) return lacking('folder', 'folder');
  if (resourcePool === null) return lacking('resource pool', 'resourcePool');
  const connected = hosts.filter(({ isUsable }) => isUsable);
  if (connected.length === 0) return `a host of zone ${zone} that is connected and not in maintenance`;
  const host = instanceStorage === null ? null : chooseHost(connected, instanceStorage, datastores, zone);
  if (typeof host === 'string') return host;
  const usable = host === null ? connected : [host];
  const reachable = datastores.filter(
    (datastore) => datastore.isAccessible && usable.some(({ id }) => datastore.hosts.includes(id)),
  );
  const isCached = ({ id, freeBytes }: SiteDatastore): number => Number(freeBytes > 0 && cachedOn.includes(id));
  const [roomiest] = reachable.toSorted(
    (a, b) => isCached(b) - isCached(a) || b.freeBytes - a.freeBytes || (a.path < b.path ? -1 : 1),
  );
  if (roomiest === undefined)
    return `a datastore of its storage policy that ${host === null ? `the hosts of zone ${zone}` : `host ${host.name}, which has its instance storage,`} can write to`;
  if (roomiest.freeBytes <= 0) return `room on ${reachable.map(({ path }) => path).join(', ')}`;
  return {
    zone,
    datacenter,
    folder,
    resourcePool,
    datastore: roomiest.id,
    host: host?.id ?? null,
    ...(host !== null && { node: host.node ?? host.name }),
    cpuMHz: slowest(usable),
    ...(roomiest.noFolders === true && { noFolders: true as const }),
  };
}

/**
 * The host of instance storage: the one that was chosen before, or that with the most room on a datastore of its
 * policy. Or what is missing, in words.
 */
function chooseHost(
  hosts: readonly SiteHost[],
  { host: before, avoid, isBound, bytes, datastores: local }: InstanceStorage,
  datastores: readonly SiteDatastore[],
  zone: string,
): SiteHost | string {
  const kept = hosts.find(({ id }) => id === before);
  if (kept !== undefined) return kept;
  if (isBound) return `host ${before}, which has its instance storage, to be connected and not in maintenance`;
  const reached = ({ id }: SiteHost, among: readonly SiteDatastore[]): readonly SiteDatastore[] =>
    among.filter((one) => one.isAccessible && one.hosts.includes(id));
  const freeOf = (host: SiteHost): number => Math.max(-1, ...reached(host, local).map(({ freeBytes }) => freeBytes));
  const [best] = hosts
    .filter((host) => freeOf(host) >= bytes && reached(host, datastores).length > 0)
    .toSorted(
      (a, b) => Number(a.id === avoid) - Number(b.id === avoid) || freeOf(b) - freeOf(a) || (a.name < b.name ? -1 : 1),
    );
  return (
    best ??
    `a host of zone ${zone} that can write to a datastore of its storage policy, and has ${bytes} bytes free on one of the policy of its instance storage`
  );
}

/** 0: nothing is known. */
export const slowest = (hosts: readonly { cpuMHz: number }[]): number => {
  const known = hosts.map(({ cpuMHz }) => cpuMHz).filter((mhz) => mhz > 0);
  return known.length === 0 ? 0 : Math.min(...known);
};
