import type { Aggregate, InstanceDetail, ServerGroup } from '../nova/types.ts';
import type { Resources } from '../placement/types.ts';
import { chosenCpus } from './numa.ts';

/** What the scheduler asks of Placement for a server: how much, and of what kind. */
export interface Requirements {
  resources: Resources;
  required: string[];
  forbidden: string[];
}

/**
 * `resources:VGPU`, `resources1:VGPU`, `resources_GPU:VGPU`; `trait…` likewise. A numbered group asks for more of the
 * same host.
 */
const resourceKey = /^resources(?<group>[A-Za-z0-9_-]{0,64}):(?<name>[A-Z0-9_]+)$/u;
const traitKey = /^trait(?<group>[A-Za-z0-9_-]{0,64}):(?<name>[A-Z0-9_]+)$/u;

/**
 * A server's requirements as Nova derives them from flavor and image. Numbered groups are added up: which provider of a
 * host serves which group is the scheduler's to find out.
 *
 * @see Nova documentation, "Extra Specs": resources, trait, hw:cpu_policy
 */
export function requirementsOf(instance: InstanceDetail): Requirements {
  const before = known.get(instance);
  if (before !== undefined) return before;
  const requirements = readRequirements(instance);
  known.set(instance, requirements);
  return requirements;
}

/** The same servers are judged in many preflights. */
const known = new WeakMap<InstanceDetail, Requirements>();

function readRequirements(instance: InstanceDetail): Requirements {
  const { extraSpecs, imageProperties = {} } = instance;
  const said = (key: string): string | undefined => extraSpecs[`hw:${key}`] ?? imageProperties[`hw_${key}`];
  const dedicated = dedicatedCpus(instance, said);
  const isIsolated = said('emulator_threads_policy') === 'isolate' && dedicated > 0;
  const resources: Resources = {
    VCPU: instance.vcpus - dedicated,
    PCPU: dedicated + (isIsolated ? 1 : 0),
    MEMORY_MB: instance.memoryMiB,
    DISK_GB: instance.localDiskGiB,
  };
  const traits = new Map<string, string>();
  const threads = said('cpu_thread_policy');
  if (threads === 'require' || threads === 'isolate')
    traits.set('HW_CPU_HYPERTHREADING', threads === 'require' ? 'required' : 'forbidden');
  for (const [key, value] of Object.entries({ ...imageProperties, ...extraSpecs })) {
    const resource = resourceKey.exec(key)?.groups;
    if (resource?.['name'] !== undefined && /^\d+$/u.test(value)) {
      const inGroup = resource['group'] === '' ? 0 : (resources[resource['name']] ?? 0);
      resources[resource['name']] = inGroup + Number(value);
    }
    const trait = traitKey.exec(key)?.groups?.['name'];
    if (trait !== undefined) traits.set(trait, value);
  }
  const withValue = (wanted: string): string[] =>
    [...traits]
      .filter(([, value]) => value === wanted)
      .map(([name]) => name)
      .sort();
  return {
    resources: Object.fromEntries(
      Object.entries(resources)
        .filter(([, amount]) => amount > 0)
        .sort(byName),
    ),
    required: withValue('required'),
    forbidden: withValue('forbidden'),
  };
}

/** How many of a server's CPUs are its alone. `mixed`: those that a mask names, of its own numbers. */
function dedicatedCpus({ vcpus }: InstanceDetail, said: (key: string) => string | undefined): number {
  const policy = said('cpu_policy');
  if (policy === 'dedicated') return vcpus;
  const mask = said('cpu_dedicated_mask') ?? said('cpu_realtime_mask');
  if (policy !== 'mixed' || mask === undefined) return 0;
  // A mask that only takes away begins with all.
  return chosenCpus(mask.trim().startsWith('^') ? `0-${vcpus - 1},${mask}` : mask).size;
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/**
 * The same for servers that differ in nothing the scheduler asks Placement for, so that one question answers for all.
 */
export const requirementsKey = (requirements: Requirements): string => JSON.stringify(requirements);

/** The least of the same kind: distinguishes "no such host" from "no room there now". */
export const leastOf = ({ resources, ...kind }: Requirements): Requirements => ({
  ...kind,
  resources: Object.fromEntries(
    Object.entries(resources).map(([name, amount]) => [
      name,
      ['VCPU', 'PCPU', 'MEMORY_MB', 'DISK_GB'].includes(name) ? 1 : amount,
    ]),
  ),
});

/** The rules that Nova's filters keep outside Placement: zones, aggregates, tenants. */
export interface HostPlace {
  host: string;
  zone: string;
  /** Values by metadata key, over all aggregates of the host. */
  metadata: ReadonlyMap<string, ReadonlySet<string>>;
}

export function placesIn(aggregates: readonly Aggregate[]): (host: string, zone: string) => HostPlace {
  const byHost = new Map<string, Map<string, Set<string>>>();
  for (const { hosts, metadata } of aggregates) {
    const values = Object.entries(metadata).map(([key, value]) => ({ key, all: value.split(',') }));
    for (const host of hosts) {
      const known = byHost.get(host) ?? byHost.set(host, new Map()).get(host)!;
      for (const { key, all } of values) {
        const own = known.get(key) ?? known.set(key, new Set()).get(key)!;
        for (const one of all) own.add(one.trim());
      }
    }
  }
  return (host, zone) => ({ host, zone, metadata: byHost.get(host) ?? nothing });
}

const nothing: ReadonlyMap<string, ReadonlySet<string>> = new Map();

/**
 * Whether the rules allow the server on that host; which of them are on is Nova's configuration, and clouds that use
 * them have them on.
 */
export const mayGoTo = (instance: InstanceDetail, place: HostPlace): boolean =>
  isInZone(instance, place) && isTenantAllowed(instance.projectId, place) && fitsAggregates(instance.extraSpecs, place);

/**
 * A server stays in the zone it was asked for. Where Nova is too old to say which that is, the one it is in is
 * the safe assumption.
 */
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

/**
 * AggregateInstanceExtraSpecsFilter, for keys of its own scope. Values with an operator are left to Nova, but the key
 * must be there.
 */
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

/**
 * A server group whose policy restricts where its members may be, and where the members are that are not on the source.
 */
export interface GroupPlacement {
  group: ServerGroup;
  /** Members on other hosts, by host. */
  elsewhere: ReadonlyMap<string, number>;
  /** Members on the source. */
  here: readonly string[];
}

export const isStrict = ({ policy }: ServerGroup): boolean => policy === 'affinity' || policy === 'anti-affinity';

/**
 * Whether the groups allow the server on that host as things stand. Where members of an anti-affinity group on the
 * source go to is packing's to decide; members of an affinity group can only follow each other, which the scheduler
 * never starts by itself.
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
