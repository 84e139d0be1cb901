import type { Aggregate, InstanceDetail, ServerGroup } from '../nova/types.ts';

/** The rules that Nova's filters keep outside Placement: zones, aggregates, tenants. */
export interface HostPlace {
  host: string;
  zone: string;
  /** Values by metadata key, over all aggregates of the host. */
  metadata: ReadonlyMap<string, ReadonlySet<string>>;
}

export function placeOf(host: string, zone: string, aggregates: readonly Aggregate[]): HostPlace {
  const metadata = new Map<string, Set<string>>();
  for (const aggregate of aggregates.filter(({ hosts }) => hosts.includes(host))) {
    for (const [key, value] of Object.entries(aggregate.metadata)) {
      const values = metadata.get(key) ?? metadata.set(key, new Set()).get(key)!;
      for (const one of value.split(',')) values.add(one.trim());
    }
  }
  return { host, zone, metadata };
}

/** Whether the rules allow the server on that host; which of them are on is Nova's configuration, and clouds that use them have them on. */
export const mayGoTo = (instance: InstanceDetail, place: HostPlace): boolean =>
  isInZone(instance, place) && isTenantAllowed(instance.projectId, place) && fitsAggregates(instance.extraSpecs, place);

/** A server stays in the zone it was asked for. Where Nova is too old to say which that is, the one it is in is the safe assumption. */
function isInZone({ pinnedAvailabilityZone, availabilityZone }: InstanceDetail, { zone }: HostPlace): boolean {
  const pinned = pinnedAvailabilityZone === undefined ? availabilityZone : pinnedAvailabilityZone;
  return pinned === null || pinned === zone;
}

/** AggregateMultiTenancyIsolation: `filter_tenant_id…` keeps other projects out. */
function isTenantAllowed(projectId: string, { metadata }: HostPlace): boolean {
  const tenants = [...metadata]
    .filter(([key]) => key.startsWith('filter_tenant_id'))
    .flatMap(([, values]) => [...values]);
  return tenants.length === 0 || tenants.includes(projectId);
}

const aggregateScope = 'aggregate_instance_extra_specs:';

/** AggregateInstanceExtraSpecsFilter, for keys of its own scope. Values with an operator are left to Nova, but the key must be there. */
function fitsAggregates(extraSpecs: Record<string, string>, { metadata }: HostPlace): boolean {
  return Object.entries(extraSpecs)
    .filter(([key]) => key.startsWith(aggregateScope))
    .every(([key, wanted]) => {
      const values = metadata.get(key.slice(aggregateScope.length));
      if (values === undefined) return false;
      return hasOperator(wanted) || values.has(wanted);
    });
}

const hasOperator = (value: string): boolean => /^(<(in|all-in|or)>|s?(==|!=|<=|>=|<|>)|=)(\s|$)/u.test(value);

/** A server group whose policy restricts where its members may be, and where the members are that are not on the source. */
export interface GroupPlacement {
  group: ServerGroup;
  /** Members on other hosts, by host. */
  elsewhere: ReadonlyMap<string, number>;
  /** Members on the source. */
  here: readonly string[];
}

export const isStrict = ({ policy }: ServerGroup): boolean => policy === 'affinity' || policy === 'anti-affinity';

/**
 * Whether the groups allow the server on that host as things stand. Where members of an anti-affinity group on the source go to is
 * packing's to decide; members of an affinity group can only follow each other, which the scheduler never starts by itself.
 */
export function groupsAllow(instanceId: string, host: string, groups: readonly GroupPlacement[]): boolean {
  return groups
    .filter(({ group }) => group.members.includes(instanceId))
    .every(({ group, elsewhere, here }) => {
      if (group.policy === 'anti-affinity') return (elsewhere.get(host) ?? 0) < group.maxServersPerHost;
      if (group.policy === 'affinity')
        return here.every((id) => id === instanceId) && (elsewhere.size === 0 || elsewhere.has(host));
      return true;
    });
}
