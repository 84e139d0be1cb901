import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import type { InstanceDetail } from '../nova/types.ts';
import type { Resources } from '../placement/types.ts';
import type { CandidatesByKey } from './ask-placement.ts';
import type { HostCandidate } from './judge-hosts.ts';
import { mayHold, numaDemandOf } from './numa.ts';
import { hostObstacle, instanceObstacle, listed } from './obstacles.ts';
import { bookInto, pack, type PackBin, type PackItem } from './pack.ts';
import {
  type GroupPlacement,
  groupsAllow,
  type HostPlace,
  mayGoTo,
  requirementsKey,
  requirementsOf,
} from './scheduler-rules.ts';

export interface PlacementQuestion {
  /** Servers that have to leave. */
  instances: readonly InstanceDetail[];
  targets: readonly (HostCandidate & { place: HostPlace })[];
  candidates: CandidatesByKey;
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

/**
 * What a preflight cannot find out, for people: in whose NUMA cells there is room. Nova's scheduler knows, and finds no
 * host for a server that fits nowhere; the server then stays where it is, with Nova's words. Null: nothing. Pure.
 */
export function describeUnknown(instances: readonly InstanceDetail[]): string | null {
  const asking = instances.flatMap((instance) => {
    const demand = numaDemandOf(instance);
    return demand === null ? [] : [`${instance.name || instance.id} (${demand.what})`];
  });
  if (asking.length === 0) return null;
  const many = asking.length === 1 ? 'One server asks' : `${asking.length} servers ask`;
  return `${many} for NUMA cells of a target: ${listed(asking, 3)}. Whether any has room in them Nova’s scheduler alone knows, and says as they move`;
}

/**
 * The hypervisor ids where one server may go, or why there is none. Room is not the question here but where there is
 * none at all.
 */
function placeOne(
  instance: InstanceDetail,
  { targets, candidates, groups }: PlacementQuestion,
): { allowed: ReadonlySet<string> } | { obstacle: Obstacle } {
  const requirements = requirementsOf(instance);
  const hosts = candidates.get(requirementsKey(requirements));
  const inPlace = targets.filter(({ place }) => mayGoTo(instance, place));
  const ofKind = inPlace.filter(({ hypervisor }) => hosts?.suitable.has(hypervisor.id) === true);
  const demand = numaDemandOf(instance);
  const suitable = demand === null ? ofKind : ofKind.filter(({ report }) => mayHold(report?.cells ?? [], demand));
  if (suitable.length === 0) {
    const traits = requirements.required.length === 0 ? '' : `; it needs ${listed(requirements.required)}`;
    const why =
      inPlace.length === 0
        ? 'its availability zone, its project or its aggregates allow none of them'
        : ofKind.length > 0 && demand !== null
          ? `the NUMA cells of none of them are large enough for it (${demand.what})`
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
