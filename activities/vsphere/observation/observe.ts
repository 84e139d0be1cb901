import { droverFailure } from '../../../runtime/failure.ts';
import type { ObservationRequest, VcenterObservation } from '../../../contracts/virtual-machine/activities.ts';
import type { Candidate, ObservedNetwork, ObservedVm } from '../../../contracts/virtual-machine/observation.ts';
import type { VcenterPlaces } from '../../../runtime/config/vsphere-config.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { readBootId, toObservedVm, type VmPlace } from './vm.ts';
import type { Tools } from '../dependencies.ts';
import type { VcenterRest } from '../rest/client.ts';
import { isMember } from '../rest/cluster-modules.ts';
import type { RecentObservations } from '../watch/recent-observations.ts';
import { digestOf, toWatched } from '../watch/watched.ts';
import { onlyOne, possible, toCandidates, type Finds } from './candidates.ts';
import type { Inventory } from './inventory.ts';
import { probeGuestInfo } from './guest-info.ts';
import { isoPaths, type Isos } from './isos.ts';
import { choosePlace, slowest } from './place.ts';
import type { Profiles } from './profiles.ts';
import { readPart } from './read-part.ts';
import { readCandidates, type FoundVm } from './read-candidates.ts';
import { readSites, type Site } from './read-sites.ts';
import { unnamedNetwork } from './site-paths.ts';

interface Around {
  inventory: Inventory;
  isos: Isos;
  profiles: Profiles;
  rest: VcenterRest;
  recent: Pick<RecentObservations, 'noteObservation'>;
}

/**
 * Everything that decisions about a VM need of vCenter: what is around it, the VMs that could be it, and all of the one
 * that is.
 */
export async function observeVirtualMachineInVcenter(
  tools: Pick<Tools, 'gateway' | 'scope' | 'clock'>,
  around: Around,
  places: VcenterPlaces,
  request: ObservationRequest,
): Promise<VcenterObservation> {
  const { gateway, scope, clock } = tools;
  const { signal } = scope;
  const startedMs = clock.now();
  const withUuid = (uuid: string | null): Promise<string[]> =>
    uuid === null ? Promise.resolve([]) : gateway.findByInstanceUuid(uuid, signal);
  const [idBefore, surroundings, byInstanceUuid, byUid, isos] = await Promise.all([
    gateway.managerId(signal),
    readSites(tools, around.inventory, places, request),
    withUuid(request.instanceUuid),
    withUuid(request.instanceUuid === request.object.uid ? null : request.object.uid),
    isoPaths(tools, around.isos, request.isos),
  ]);
  const { sites, policy } = surroundings;
  const finds = {
    uniqueId: request.uniqueId,
    recordedUuid: request.recordedUuid,
    isBeingMade: request.isBeingMade,
    byInstanceUuid,
    byUid: request.instanceUuid === request.object.uid ? byInstanceUuid : byUid,
    folders: idsOf(sites, ({ folder }) => folder),
    targetFolders: idsOf(sites, ({ target }) => target.folder),
  };
  const { found, candidates } = await findCandidates(tools, around.inventory, finds, request);
  const own = found.find(({ vm }) => vm.id === onlyOne(request.object, candidates)) ?? null;
  const stateDigest = own === null ? null : digestOf(toWatched(own.vm.properties));
  if (own !== null) around.recent.noteObservation(own.vm.id, stateDigest, startedMs);
  else if (request.uniqueId !== null && !found.some(({ vm }) => vm.id === request.uniqueId))
    around.recent.noteObservation(request.uniqueId, null, startedMs);
  const placement = choosePlace(surroundings, request, settingsOf(gateway.vcenter));
  const place = own === null ? null : placeOf(own, sites);
  const zone = place?.zone ?? (placement.kind === 'placed' ? placement.at.zone : request.zone);
  const cluster = own?.pool?.owner ?? sites.find(({ paths }) => paths.zone === zone)?.cluster ?? null;
  const module = request.modules[cluster ?? ''];
  const membership = own === null ? notIn : await moduleOf(tools, around.rest, own.vm.id, module);
  const vm =
    own === null || place === null ? null : await observedVmOf(tools, own, { ...place, ...membership }, request);
  // What is there keeps what it was made with.
  const isUnknown =
    own === null && request.profileId !== null && (await around.profiles.lacks(request.profileId, signal));
  // Of the session of before: with the next one it may be another vCenter, in which the VM only seems to be gone.
  const managerId = await gateway.managerId(signal);
  if (managerId !== idBefore)
    throw droverFailure(
      'VsphereUnavailable',
      `vCenter ${gateway.vcenter} is another one (${managerId}) than when the observation began (${idBefore}): it is observed anew`,
    );
  return {
    managerId,
    cluster,
    placement,
    candidates,
    vm,
    stateDigest,
    storage:
      request.profileId === null
        ? null
        : {
            hasDatastore: policy?.datastores.some(({ isAccessible }) => isAccessible) ?? false,
            encrypted: policy?.encrypted ?? false,
            ...(isUnknown && { unknownProfile: true as const }),
          },
    network: networksOf(
      request.networks,
      sites.find(({ paths }) => paths.zone === zone) ?? sites[0],
      settingsOf(gateway.vcenter),
    ),
    probe: own === null ? null : probeGuestInfo(request.guestInfo, own.vm.config?.extraConfig ?? null),
    ...isos,
  };
}

const idsOf = (sites: readonly Site[], of: (site: Site) => string | null): string[] => [
  ...new Set(sites.flatMap((site) => of(site) ?? [])),
];

/**
 * The VMs that could be the object's. Its own is mostly found by its id or its UUID; only where it is not, its name is
 * asked for, and the list of all.
 */
async function findCandidates(
  tools: Pick<Tools, 'gateway' | 'scope'>,
  inventory: Inventory,
  finds: Omit<Finds, 'listed' | 'byName'>,
  { object, vmName, mayBeMade }: ObservationRequest,
): Promise<{ found: FoundVm[]; candidates: Candidate[] }> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  const judge = async (more: Pick<Finds, 'listed' | 'byName'>) => {
    const given = { ...finds, ...more };
    const found = await readCandidates(tools, possible(object, vmName, given));
    return { found, candidates: toCandidates(object, vmName, given, found) };
  };
  const listed = await inventory.vmsIn(finds.folders, false, signal);
  const first = await judge({ listed, byName: [] });
  if (onlyOne(object, first.candidates) !== null) return first;
  const [anew, ...named] = await Promise.all([
    // It may have another name and another UUID by now.
    mayBeMade ? inventory.vmsIn(finds.folders, true, signal) : listed,
    ...finds.targetFolders.map((folder) => gateway.findInFolder(folder, vmName, signal)),
  ]);
  const byName = named.flatMap((one) => (one.kind === 'vm' ? [one.vm.id] : []));
  return await judge({ listed: anew, byName });
}

const settingsOf = (vcenter: string): string => `vsphere.vcenters.${vcenter}`;

const observedVmOf = async (
  tools: Pick<Tools, 'gateway' | 'scope'>,
  { vm }: FoundVm,
  place: VmPlace,
  request: ObservationRequest,
): Promise<ObservedVm> =>
  toObservedVm(vm, place, await readBootId(tools, vm), {
    interfaces: request.networks.map(({ name }) => name),
    extraConfigKeys: request.extraConfigKeys,
    madeDisks: request.madeDisks,
  });

type Membership = Pick<VmPlace, 'clusterModule' | 'unknownModule'>;
const notIn: Membership = { clusterModule: null };

/** The module that it shall be in, where it is. Null: it is not, none is asked about, or there is none. */
async function moduleOf(
  { clock, scope }: Pick<Tools, 'clock' | 'scope'>,
  rest: VcenterRest,
  vmId: string,
  module: string | undefined,
): Promise<Membership> {
  if (module === undefined) return notIn;
  return readPart<Membership>(
    clock,
    scope.signal,
    async (signal) => {
      const isIn = await isMember(rest, module, vmId, signal).catch((error: unknown) =>
        failureCode(error) === 'VsphereObjectNotFound' ? false : Promise.reject(error),
      );
      return isIn ? { clusterModule: module } : notIn;
    },
    (unknownModule) => ({ ...notIn, unknownModule }),
  );
}

/** Pure. */
export function placeOf(
  { vm, host, pool, folder, task }: FoundVm,
  sites: readonly Pick<Site, 'paths' | 'folder' | 'resourcePool' | 'cluster' | 'hosts'>[],
): Omit<VmPlace, keyof Membership> {
  const isIn = (id: string | null, parent: string | null | undefined, of: string | null): boolean =>
    of !== null && (id === of || parent === of);
  const inPool = sites.filter(({ resourcePool }) => isIn(vm.resourcePoolId, pool?.parent, resourcePool));
  // Several zones may share a cluster: that of its pool is its own.
  const [site] = [...inPool, ...sites.filter(({ cluster }) => cluster !== null && cluster === pool?.owner)];
  return {
    location:
      sites.length === 0
        ? null
        : {
            resourcePool: inPool.length > 0,
            folder: sites.some((one) => isIn(vm.folderId, folder?.parent, one.folder)),
          },
    zone: site?.paths.zone ?? null,
    hostName: host?.name || null,
    cpuMHz: slowest(site?.hosts ?? []) || (host?.cpuMHz ?? 0),
    task,
  };
}

/** Pure. */
export function networksOf(
  asked: ObservationRequest['networks'],
  site: Pick<Site, 'paths' | 'networks'> | undefined,
  settings: string,
): ObservedNetwork | null {
  if (asked.length === 0) return null;
  return {
    interfaces: asked.map(({ name, network }) => {
      const key = network ?? unnamedNetwork;
      const path = site?.paths.networks[key];
      const backing = site?.networks[key] ?? null;
      return { name, backing, message: backing === null ? networkMissing(network, path, settings) : '' };
    }),
  };
}

const networkMissing = (network: string | null, path: string | undefined, settings: string): string =>
  network === null && path === undefined
    ? `it names no network: name one in spec.network.interfaces, or set in ${settings}.networks.default the path of one for all that name none`
    : `there is no network ${path ?? network ?? ''}: create it in vCenter, or name its path in ${settings}.networks`;
