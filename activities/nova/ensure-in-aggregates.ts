import { addToAggregates, notFound, removeFromAggregates } from './change-aggregates.ts';
import type { Tools } from './dependencies.ts';
import type { Aggregate } from './types.ts';

/** An aggregate that the host is in, as a Hypervisor's status shows it. */
export interface Membership {
  name: string;
  uuid: string;
  /** `availability_zone` among them. */
  metadata: Record<string, string>;
}

export interface MembershipChange {
  /** Names that no aggregate has; nothing is done about any while there are some. */
  missing: string[];
  add: Aggregate[];
  remove: Aggregate[];
}

/**
 * Brings a host into exactly the named aggregates. It is added before it is removed, so that no moment leaves it without the filter that
 * keeps guests off it, and nothing is removed unless all was added (hypervisor.md B.4). A host that is to change its availability zone is
 * refused by Nova, which has a host in one zone only. Safe to repeat and to run twice at once.
 *
 * @param request.host the compute service's `host`
 * @returns what it is in then, in the order of the names
 * @throws AggregateNotFound all names that no aggregate has; AggregateRefused, HostNotFound, ProviderConflict, Stopped
 */
export async function ensureInAggregates(
  tools: Tools,
  { host, names }: { host: string; names: readonly string[] },
): Promise<Membership[]> {
  const { nova, scope } = tools;
  const change = compareMemberships(await nova.aggregates(scope.signal), host, names);
  if (change.missing.length > 0) throw notFound(change.missing);
  if (change.add.length > 0) await addToAggregates(tools, { host, aggregates: change.add });
  if (change.remove.length > 0) await removeFromAggregates(tools, { host, aggregates: change.remove });
  const known = await nova.aggregates(scope.signal);
  return [...new Set(names)].flatMap((name) =>
    known.filter((aggregate) => aggregate.name === name && aggregate.hosts.includes(host)).map(toMembership),
  );
}

/** Pure. Names of aggregates are unique in Nova. */
export function compareMemberships(
  known: readonly Aggregate[],
  host: string,
  names: readonly string[],
): MembershipChange {
  const isWanted = ({ name }: Aggregate): boolean => names.includes(name);
  return {
    missing: [...new Set(names)].filter((name) => !known.some((aggregate) => aggregate.name === name)),
    add: known.filter((aggregate) => isWanted(aggregate) && !aggregate.hosts.includes(host)),
    remove: known.filter((aggregate) => !isWanted(aggregate) && aggregate.hosts.includes(host)),
  };
}

const toMembership = ({ name, uuid, metadata }: Aggregate): Membership => ({ name, uuid, metadata });
