import pMap from 'p-map';

import type { Preflight } from '../../contracts/eviction/eviction.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { HostDependencies, Tools } from '../nova/dependencies.ts';
import { type ComputeHost, joinHost } from '../nova/find-host.ts';
import { hasEnded } from '../nova/judge-migration.ts';
import { observeHost } from '../nova/observe-host.ts';
import type { ComputeServiceRecord, Hypervisor, InstanceDetail } from '../nova/types.ts';
import { askPlacement, judgePlacement } from './judge-placement.ts';
import { instanceObstacle, judgeInstance } from './obstacles.ts';
import {
  chooseTargets,
  reportOf,
  type HostCandidate,
  readAgentReport,
  judgeSource,
  type OpenEviction,
  openEvictions,
} from './judge-hosts.ts';
import { type GroupPlacement, isStrict, placeOf, requirementsOf } from './scheduler-rules.ts';

interface PreflightRequest {
  hypervisor: string;
  evictionUid: string;
}

/** Servers that are read one by one are read a few at a time. */
const batch = { concurrency: 4 };

/**
 * Observes the host, its servers and every possible target, and names each obstacle. Changes nothing. What is large (inventories,
 * servers of other hosts) stays in here.
 *
 * @throws HostNotFound, HostAmbiguous, HostAttributeMissing, and what the clients throw
 */
export async function preflightEviction(tools: Tools<HostDependencies>, request: PreflightRequest): Promise<Preflight> {
  const { nova, placement, scope, localDisks } = tools;
  const { signal } = scope;
  const [services, hypervisors] = await Promise.all([nova.computeServices(signal), nova.hypervisors(signal)]);
  const host = joinHost(request.hypervisor, services, hypervisors);
  const [{ observation, instances }, report, evictions] = await Promise.all([
    observeHost(nova, placement, host, signal),
    tools.listHypervisors(signal).then((all) => all.map(readAgentReport)),
    tools.listEvictions(signal).then(openEvictions),
  ]);
  const evicting = evictingHosts(request, host, evictions, services, hypervisors);
  const candidates = hypervisors.flatMap((hypervisor): HostCandidate[] => {
    const service = services.find((one) => one.host === hypervisor.serviceHost && !one.cellDown);
    return service === undefined
      ? []
      : [{ service, hypervisor, report: reportOf(hypervisor, report), isEvicting: evicting.all.has(service.host) }];
  });
  const source = candidates.find(({ hypervisor }) => hypervisor.id === host.hypervisor.id) ?? {
    ...host,
    report: reportOf(host.hypervisor, report),
    isEvicting: false,
  };
  const obstacles = [
    ...judgeSource(host.service.host, host.service, source.report),
    ...instances.flatMap((instance) => judgeInstance(instance, { localDisks })),
    ...(await describeUnconfirmed(tools, observation.unconfirmedResizes)),
  ];
  const toPlace = withoutPlace(instances, observation.migrations);
  if (toPlace.length === 0) return { host: observation, obstacles };
  const { targets, obstacle } = chooseTargets(
    source,
    candidates.filter(({ hypervisor }) => hypervisor.id !== host.hypervisor.id),
  );
  if (obstacle !== null) return { host: observation, obstacles: [...obstacles, obstacle] };
  const [aggregates, groups, others, answers] = await Promise.all([
    nova.aggregates(signal),
    placeGroups(tools, toPlace, instances),
    readOthers(tools, evicting.first),
    askPlacement(placement, toPlace.map(requirementsOf), signal),
  ]);
  const withPlace = targets.map((target) => ({
    ...target,
    place: placeOf(target.service.host, target.service.zone, aggregates),
  }));
  obstacles.push(...judgePlacement({ instances: toPlace, targets: withPlace, candidates: answers, groups, others }));
  return { host: observation, obstacles };
}

/** Servers that still need a place: not those on their way out, nor those whose migration has its target's share already. */
function withoutPlace(instances: readonly InstanceDetail[], migrations: readonly Migration[]): InstanceDetail[] {
  const onTheirWay = new Set(
    migrations
      .filter((migration) => migration.targetHost !== null && !hasEnded(migration))
      .map(({ instanceId }) => instanceId),
  );
  return instances.filter(
    ({ id, taskState }) => taskState !== 'deleting' && taskState !== 'soft-deleting' && !onTheirWay.has(id),
  );
}

/**
 * Hosts with another open Eviction: none of them is a target. Of these, the ones whose servers are placed first: they are being emptied
 * already, or their Eviction is older. So two evictions that begin together do not both count on the same room, nor both give way.
 */
function evictingHosts(
  request: PreflightRequest,
  host: ComputeHost,
  evictions: readonly OpenEviction[],
  services: readonly ComputeServiceRecord[],
  hypervisors: readonly Hypervisor[],
) {
  const own = evictions.find(({ uid }) => uid === request.evictionUid);
  const all = new Set<string>();
  const first: ComputeServiceRecord[] = [];
  for (const eviction of evictions) {
    const service = eviction.uid === request.evictionUid ? null : findOther(eviction.hypervisor, services, hypervisors);
    if (service === null || service.host === host.service.host || all.has(service.host)) continue;
    all.add(service.host);
    const isUnderWay = service.disabledReason?.startsWith(disabledReasonPrefix) === true;
    if (isUnderWay || own === undefined || isBefore(eviction, own)) first.push(service);
  }
  return { all, first };
}

const isBefore = (a: OpenEviction, b: OpenEviction): boolean =>
  a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt;

/** An Eviction of a host that is not there, or not to be distinguished from another, concerns no other host's room. */
function findOther(
  name: string,
  services: readonly ComputeServiceRecord[],
  hypervisors: readonly Hypervisor[],
): ComputeServiceRecord | null {
  try {
    return joinHost(name, services, hypervisors).service;
  } catch (error) {
    if (failureCode(error) !== null) return null;
    throw error;
  }
}

async function readOthers(
  { nova, scope }: Tools<HostDependencies>,
  services: readonly ComputeServiceRecord[],
): Promise<InstanceDetail[]> {
  const left = await pMap(
    services,
    async ({ host }) => {
      const [instances, migrations] = await Promise.all([
        nova.servers({ host }, scope.signal),
        nova.migrationsInProgress({ host }, scope.signal),
      ]);
      return withoutPlace(instances, migrations);
    },
    batch,
  );
  return left.flat();
}

/** The strict server groups of the servers to be placed, and where their other members are. */
async function placeGroups(
  { nova, scope }: Tools<HostDependencies>,
  toPlace: readonly InstanceDetail[],
  onSource: readonly InstanceDetail[],
): Promise<GroupPlacement[]> {
  const wanted = new Set(toPlace.flatMap(({ serverGroups }) => serverGroups));
  if (wanted.size === 0) return [];
  const groups = (await nova.serverGroups(scope.signal)).filter((group) => wanted.has(group.id) && isStrict(group));
  const here = new Set(onSource.map(({ id }) => id));
  const away = [...new Set(groups.flatMap(({ members }) => members))].filter((id) => !here.has(id));
  const hosts = new Map(
    await pMap(away, async (id) => [id, (await nova.server(id, scope.signal))?.host ?? null] as const, batch),
  );
  return groups.map((group) => {
    const elsewhere = new Map<string, number>();
    for (const member of group.members) {
      const at = hosts.get(member) ?? null;
      if (at !== null) elsewhere.set(at, (elsewhere.get(at) ?? 0) + 1);
    }
    return { group, elsewhere, here: group.members.filter((id) => here.has(id)) };
  });
}

const describeUnconfirmed = async ({ nova, scope }: Tools<HostDependencies>, ids: readonly string[]) =>
  pMap(
    ids,
    async (id) =>
      instanceObstacle(
        'UnconfirmedResize',
        (await nova.server(id, scope.signal)) ?? { id, name: id },
        'its resize off this host is not confirmed, and the host keeps its disks: confirm or revert the resize',
      ),
    batch,
  );
