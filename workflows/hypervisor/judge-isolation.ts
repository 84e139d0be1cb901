import type { AggregateFacts } from '../../contracts/hypervisor/hypervisor.ts';

/** Nova's scheduler lets only the projects named there onto the hosts of an aggregate; several keys may begin so. */
const tenantKey = 'filter_tenant_id';

/**
 * Why the test aggregate keeps nobody off its hosts; null: it does, or there is none. Pure.
 *
 * @see Nova's configuration guide, AggregateMultiTenancyIsolation and limit_tenants_to_placement_aggregate
 */
export function isolationProblem(aggregates: readonly AggregateFacts[], testAggregate: string): string | null {
  const found = aggregates.find(({ name }) => name === testAggregate);
  if (
    found === undefined ||
    Object.entries(found.metadata).some(([key, value]) => key.startsWith(tenantKey) && value.trim() !== '')
  )
    return null;
  return `aggregate ${testAggregate} keeps nobody off: set its property ${tenantKey} to the project of the tests`;
}
