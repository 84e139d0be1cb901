import pMap from 'p-map';

import type { Obstacle, Preflight } from '../../contracts/eviction/eviction.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import type { HostDependencies, Tools } from '../nova/dependencies.ts';
import type { ComputeHost } from '../nova/find-host.ts';
import { hasEnded } from '../nova/judge-migration.ts';
import { observeHost } from '../nova/observe-host.ts';
import { findHostIn, plannedWithMs } from '../nova/region-reads.ts';
import type { ComputeServiceRecord, InstanceDetail, ServerGroup } from '../nova/types.ts';
import { type Fleet, fleetOf } from './fleet.ts';
import { chooseTargets, type HostCandidate, type OpenEviction, judgeSource, openEvictions } from './judge-hosts.ts';
import { describeUnknown, judgePlacement } from './judge-placement.ts';
import { instanceObstacle, judgeInstance } from './obstacles.ts';
import { type GroupPlacement, isStrict, placesIn, requirementsOf } from './scheduler-rules.ts';

interface PreflightRequest {
  hypervisor: string;
  evictionUid: string;
}

type PreflightTools = Tools<HostDependencies>;

/** Servers that are read one by one are read a few at a time. */
const batch = { concurrency: 4 };

/**
 * How old what is read of the region may be: its lists, and the servers of hosts that are being emptied. Of those, few
 * leave within half a minute, and as many evictions as there are ask for them.
 */
interface Trust {
  listsMs: number;
  othersMs: number;
}
const planned: Trust = { listsMs: plannedWithMs, othersMs: 30_000 };
const fresh: Trust = { listsMs: 0, othersMs: plannedWithMs };

/**
 * Observes the host, its servers and every possible target, and names each obstacle. Changes nothing. What is large
 * (inventories, servers of other hosts) stays in here, and is shared with the preflights of other hosts; the host
 * itself is observed as it is now.
 *
 * @throws HostNotFound, HostAmbiguous, HostAttributeMissing, and what the clients throw
 */
export async function preflightEviction(tools: PreflightTools, request: PreflightRequest): Promise<Preflight> {
  const { scope, localDisks, region } = tools;
  const { signal } = scope;
  const host = await findHostIn(region, request.hypervisor, signal);
  const { observation, instances } = await observeHost(tools, request.hypervisor, host, signal);
  const subject = {
    request,
    host,
    instances,
    toPlace: withoutPlace(instances, observation.migrations),
    evictions: openEvictions(await tools.listEvictions(signal)),
  };
  // That there is no place is only said after the region was read again: what is trusted may be over by now.
  const first = await judgeRegion(tools, subject, planned);
  const { source, placement } = first.placement.length === 0 ? first : await judgeRegion(tools, subject, fresh);
  const unknown = describeUnknown(subject.toPlace);
  return {
    host: observation,
    obstacles: [
      ...judgeSource(host.service.host, host.service, source.report),
      ...instances.flatMap((instance) => judgeInstance(instance, { localDisks })),
      ...(await describeUnconfirmed(tools, observation.unconfirmedResizes)),
      ...placement,
    ],
    notes: unknown === null ? [] : [unknown],
  };
}

interface Subject {
  request: PreflightRequest;
  host: ComputeHost;
  instances: readonly InstanceDetail[];
  /** Those of them that need a place. */
  toPlace: readonly InstanceDetail[];
  evictions: readonly OpenEviction[];
}

/** The host among all, and the obstacles that lie in what the others have no room or no place for. */
async function judgeRegion(
  tools: PreflightTools,
  subject: Subject,
  trust: Trust,
): Promise<{ source: HostCandidate; placement: Obstacle[] }> {
  const { region, candidates, scope, listHypervisors } = tools;
  const { signal } = scope;
  const { host, toPlace, instances } = subject;
  const [services, hypervisors, reports] = await Promise.all([
    region.services(trust.listsMs, signal),
    region.hypervisors(trust.listsMs, signal),
    listHypervisors(signal),
  ]);
  const fleet = fleetOf(services, hypervisors, reports);
  const evicting = evictingHosts(subject, fleet);
  const source = { ...host, report: fleet.reportOf(host.hypervisor), isEvicting: false };
  if (toPlace.length === 0) return { source, placement: [] };
  const others = fleet.hosts
    .filter(({ hypervisor }) => hypervisor.id !== host.hypervisor.id)
    .map((one): HostCandidate => ({ ...one, isEvicting: evicting.all.has(one.service.host) }));
  const { targets, obstacle } = chooseTargets(source, others);
  if (obstacle !== null) return { source, placement: [obstacle] };
  const [aggregates, groups, toPlaceBefore, answers] = await Promise.all([
    region.aggregates(trust.listsMs, signal),
    placeGroups(tools, toPlace, instances, targets.length),
    readOthers(tools, evicting.first, trust),
    candidates.read(toPlace.map(requirementsOf), trust.listsMs, signal),
  ]);
  const placeOf = placesIn(aggregates);
  const withPlace = targets.map((target) => ({ ...target, place: placeOf(target.service.host, target.service.zone) }));
  const question = { instances: toPlace, targets: withPlace, candidates: answers, groups, others: toPlaceBefore };
  return { source, placement: judgePlacement(question) };
}

/**
 * Servers that still need a place: not those on their way out, nor those whose migration has its
 * target's share already.
 */
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
 * Hosts with another open Eviction: none of them is a target. Of these, the ones whose servers are placed first: they
 * are being emptied already, or their Eviction is older. So two evictions that begin together do not both count on the
 * same room, nor both give way. One that only observes claims no room, so that all others come before it.
 */
function evictingHosts({ request, host, evictions }: Subject, fleet: Fleet) {
  const own = evictions.find(({ uid }) => uid === request.evictionUid);
  const all = new Set<string>();
  const first: ComputeServiceRecord[] = [];
  for (const eviction of evictions) {
    // An Eviction of a host that is not there, or not to be distinguished from another, concerns no other host's room.
    const service = eviction.uid === request.evictionUid ? null : fleet.serviceOf(eviction.hypervisor);
    if (service === null || service.host === host.service.host || all.has(service.host)) continue;
    all.add(service.host);
    const isUnderWay = service.disabledReason?.startsWith(disabledReasonPrefix) === true;
    if (isUnderWay || own === undefined || isBefore(eviction, own)) first.push(service);
  }
  return { all, first };
}

const isBefore = (a: OpenEviction, b: OpenEviction): boolean =>
  a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt;

async function readOthers(
  { region, scope }: PreflightTools,
  services: readonly ComputeServiceRecord[],
  trust: Trust,
): Promise<InstanceDetail[]> {
  if (services.length === 0) return [];
  const migrations = await region.migrations(trust.listsMs, scope.signal);
  const left = await pMap(
    services,
    async ({ host }) => withoutPlace(await region.serversOn(host, trust.othersMs, scope.signal), migrations),
    batch,
  );
  return left.flat();
}

/**
 * The strict server groups of the servers to be placed, and where their other members are. Those of an anti-affinity
 * group with fewer members than there are targets are not looked for: wherever they are, there is another host.
 */
async function placeGroups(
  { region, scope }: PreflightTools,
  toPlace: readonly InstanceDetail[],
  onSource: readonly InstanceDetail[],
  targets: number,
): Promise<GroupPlacement[]> {
  const wanted = new Set(toPlace.flatMap(({ serverGroups }) => serverGroups));
  if (wanted.size === 0) return [];
  const all = await region.serverGroups(plannedWithMs, scope.signal);
  const groups = all.filter((group) => wanted.has(group.id) && isStrict(group));
  const here = new Set(onSource.map(({ id }) => id));
  const isNarrow = ({ policy, members }: ServerGroup): boolean =>
    policy !== 'anti-affinity' || members.length >= targets;
  const away = new Set(groups.filter(isNarrow).flatMap(({ members }) => members.filter((id) => !here.has(id))));
  const hosts = new Map(
    await pMap(away, async (id) => [id, await region.hostOf(id, planned.othersMs, scope.signal)] as const, batch),
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

const describeUnconfirmed = async ({ nova, scope }: PreflightTools, ids: readonly string[]) =>
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
