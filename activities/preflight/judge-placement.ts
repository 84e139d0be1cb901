import pMap from 'p-map';

import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import type { InstanceDetail } from '../nova/types.ts';
import type { AllocationCandidates, PlacementClient, Resources } from '../placement/types.ts';
import type { HostCandidate } from './judge-hosts.ts';
import { hostObstacle, instanceObstacle, listed } from './obstacles.ts';
import { bookInto, pack, type PackBin, type PackItem } from './pack.ts';
import {
  type GroupPlacement,
  groupsAllow,
  type HostPlace,
  leastOf,
  mayGoTo,
  type Requirements,
  requirementsKey,
  requirementsOf,
} from './scheduler-rules.ts';

export interface PlacementQuestion {
  /** Servers that have to leave. */
  instances: readonly InstanceDetail[];
  targets: readonly (HostCandidate & { place: HostPlace })[];
  /** Placement's answers, by {@link requirementsKey}. */
  candidates: ReadonlyMap<string, CandidateHosts>;
  groups: readonly GroupPlacement[];
  /** Servers of hosts that are being emptied already, whose turn comes first. */
  others: readonly InstanceDetail[];
}

/**
 * Whether there is a place for each server, and for all of them at once. Pure.
 */
export function judgePlacement(question: PlacementQuestion): Obstacle[] {
  const obstacles: Obstacle[] = [];
  const items: PackItem[] = [];
  for (const instance of question.instances) {
    const verdict = placeOne(instance, question);
    if ('obstacle' in verdict) obstacles.push(verdict.obstacle);
    else items.push(itemOf(instance, verdict.allowed, question.groups));
  }
  const bins = openBins(question);
  const earlier = question.others.map((instance) => itemOf(instance, null, []));
  const booked = bookInto(bins, earlier, pack(earlier, bins));
  const { unplaced } = pack(items, booked);
  if (unplaced.length > 0) obstacles.push(describeShortage(unplaced, question));
  return obstacles;
}

/** The hypervisor ids where one server may go, or why there is none. Room is not the question here but where there is none at all. */
function placeOne(
  instance: InstanceDetail,
  { targets, candidates, groups }: PlacementQuestion,
): { allowed: ReadonlySet<string> } | { obstacle: Obstacle } {
  const requirements = requirementsOf(instance);
  const hosts = candidates.get(requirementsKey(requirements));
  const inPlace = targets.filter(({ place }) => mayGoTo(instance, place));
  const suitable = inPlace.filter(({ hypervisor }) => hosts?.suitable.has(hypervisor.id) === true);
  if (suitable.length === 0) {
    const traits = requirements.required.length === 0 ? '' : `; it needs ${listed(requirements.required)}`;
    const why =
      inPlace.length === 0
        ? 'its availability zone, its project or its aggregates allow none of them'
        : `none of them has what its flavor asks for, or any room${traits}`;
    return {
      obstacle: instanceObstacle(
        'NoValidTarget',
        instance,
        `the scheduler can choose none of the ${targets.length} possible targets: ${why}`,
      ),
    };
  }
  const withGroups = suitable.filter(({ place }) => groupsAllow(instance.id, place.host, groups));
  if (withGroups.length === 0) {
    const names = groups
      .filter(({ group }) => group.members.includes(instance.id))
      .map(({ group }) => `${group.name} (${group.policy})`);
    return {
      obstacle: instanceObstacle(
        'ServerGroup',
        instance,
        `its server group ${listed(names)} allows none of the possible targets`,
      ),
    };
  }
  return {
    allowed: new Set(withGroups.map(({ hypervisor }) => hypervisor.id).filter((id) => hosts?.roomy.has(id) === true)),
  };
}

function itemOf(
  instance: InstanceDetail,
  allowed: ReadonlySet<string> | null,
  groups: readonly GroupPlacement[],
): PackItem {
  const apart = groups.filter(({ group }) => group.policy === 'anti-affinity' && group.members.includes(instance.id));
  return {
    id: instance.id,
    needs: requirementsOf(instance).resources,
    allowed,
    apart: apart.map(({ group }) => ({ group: group.id, most: group.maxServersPerHost })),
  };
}

function openBins({ targets, candidates, groups }: PlacementQuestion): PackBin[] {
  const free = new Map<string, Resources>();
  for (const answer of candidates.values()) for (const [id, left] of answer.free) free.set(id, left);
  return targets.flatMap(({ hypervisor, place }) => {
    const left = free.get(hypervisor.id);
    if (left === undefined) return [];
    return [
      {
        id: hypervisor.id,
        free: left,
        members: Object.fromEntries(groups.map(({ group, elsewhere }) => [group.id, elsewhere.get(place.host) ?? 0])),
      },
    ];
  });
}

function describeShortage(unplaced: readonly string[], { instances, targets, others }: PlacementQuestion): Obstacle {
  const left = instances.filter(({ id }) => unplaced.includes(id));
  const needs: Resources = {};
  for (const instance of left)
    for (const [name, amount] of Object.entries(requirementsOf(instance).resources))
      needs[name] = (needs[name] ?? 0) + amount;
  const amounts = Object.entries(needs).map(([name, amount]) => `${amount} ${name}`);
  const before = others.length === 0 ? '' : `, after ${others.length} servers of hosts that are being emptied already`;
  return hostObstacle(
    'CapacityShort',
    `${left.length} of ${instances.length} servers do not fit on the ${targets.length} possible targets together with the rest${before}: ${listed(left.map(({ name }) => name))} (${amounts.join(', ')})`,
  );
}

/** Placement's answer, by host: ids are those of the hosts' root providers, which are the hypervisors'. */
export interface CandidateHosts {
  /** Where all of it fits now. */
  roomy: ReadonlySet<string>;
  /** Where that kind could be; the same unless there is room nowhere. */
  suitable: ReadonlySet<string>;
  /** What is left on each host that occurred. */
  free: ReadonlyMap<string, Resources>;
}

/** Requests that Placement is sent at once. */
const atOnce = 4;

/**
 * Asks Placement once per distinct requirement, and a second time for the least of its kind where there is room nowhere: to distinguish "no such
 * host" from "no room". Placement applies traits, resource classes, pinned CPUs and devices as it does for the scheduler.
 */
export async function askPlacement(
  placement: PlacementClient,
  all: readonly Requirements[],
  signal: AbortSignal,
): Promise<Map<string, CandidateHosts>> {
  const distinct = [...new Map(all.map((requirements) => [requirementsKey(requirements), requirements]))];
  const answers = await pMap(
    distinct,
    async ([key, requirements]) => [key, await ask(placement, requirements, signal)] as const,
    { concurrency: atOnce },
  );
  return new Map(answers);
}

async function ask(
  placement: PlacementClient,
  requirements: Requirements,
  signal: AbortSignal,
): Promise<CandidateHosts> {
  const query = (wanted: Requirements) =>
    placement.allocationCandidates({ ...wanted, forbidden: [...wanted.forbidden, disabled] }, signal);
  const answer = await query(requirements);
  const roomy = rootsOf(answer);
  if (roomy.size > 0) return { roomy, suitable: roomy, free: freeOf(answer) };
  const least = await query(leastOf(requirements));
  return { roomy, suitable: rootsOf(least), free: freeOf(least) };
}

/** Nova puts it on hosts whose service is disabled, and keeps the scheduler off them by it. */
const disabled = 'COMPUTE_STATUS_DISABLED';

const rootsOf = ({ candidates, providers }: AllocationCandidates): Set<string> =>
  new Set(
    candidates.flatMap(({ allocations }) =>
      Object.keys(allocations).map((provider) => providers[provider]?.rootUuid ?? provider),
    ),
  );

const freeOf = ({ providers }: AllocationCandidates): Map<string, Resources> =>
  new Map(
    Object.entries(providers)
      .filter(([uuid, { rootUuid }]) => uuid === rootUuid)
      .map(([uuid, { resources }]) => [
        uuid,
        Object.fromEntries(Object.entries(resources).map(([name, { capacity, used }]) => [name, capacity - used])),
      ]),
  );
