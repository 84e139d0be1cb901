import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { maintenanceReasonPrefix } from '../../contracts/ids.ts';
import { listServices, type Service } from '../../lab/openstack/hosts.ts';
import { getServer, listServers } from '../../lab/openstack/seed.ts';
import type { Session } from '../../lab/openstack/session.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { listEvictions } from '../flows/clear-leftovers.ts';
import { listAggregates } from '../flows/hypervisor-fixture.ts';
import { findProvider, readTraits, shared, trait, zone } from './hypervisor-objects.ts';

/**
 * Where a hypervisor of the matrix is, as Nova, Placement and kube-apiserver have it, and not as drover says. Each
 * judge resolves to what is wrong, a sentence each; empty: nothing. What they expect of aggregates and traits is what
 * `applyNode` asks for.
 */

/** What judges read: another client of OpenStack than drover's, or the models that fakes are made of. */
export interface Judged {
  session: Session;
  api: Kubernetes;
}

type OfOpenStack = Pick<Judged, 'session'>;

const serviceOf = async ({ session }: OfOpenStack, host: string): Promise<Service | null> =>
  (await listServices(session)).find((service) => service.host === host) ?? null;

/** Enabled in Nova, without a reason, not forced down, and in its aggregates. */
export async function judgeService(world: OfOpenStack, host: string): Promise<string[]> {
  const service = await serviceOf(world, host);
  return [
    ...(service?.status === 'enabled'
      ? []
      : [`Nova has ${host} ${service?.status ?? 'no more'}: ${service?.disabled_reason}`]),
    ...(service?.forced_down === true ? [`Nova has ${host} forced down`] : []),
    ...(await judgeAggregates(world, host, [zone, shared])),
  ];
}

async function judgeAggregates({ session }: OfOpenStack, host: string, wanted: readonly string[]): Promise<string[]> {
  const names = (await listAggregates(session)).filter(({ hosts }) => hosts.includes(host)).map(({ name }) => name);
  return names.toSorted().join() === wanted.toSorted().join()
    ? []
    : [`${host} is in aggregates ${names.join(', ') || 'none'} instead of ${wanted.join(', ') || 'none'}`];
}

/** Aggregates and trait, in service or in maintenance. */
export async function judgeMembership(world: OfOpenStack, host: string): Promise<string[]> {
  const provider = await readTraits(world, host);
  return [
    ...(await judgeAggregates(world, host, [zone, shared])),
    ...(provider?.traits.includes(trait) === true
      ? []
      : [`${host} has traits ${provider?.traits.join(', ') ?? 'of no provider'}`]),
  ];
}

/** In service: servers may come, and nothing of a maintenance is left. */
export const judgeInService = async (world: Judged, host: string): Promise<string[]> => [
  ...(await judgeService(world, host)),
  ...(await judgeMembership(world, host)),
  ...(await evictionsOf(world, host)).map(
    ({ metadata }) => `${host} is in service, and Eviction ${metadata.name} is left of its maintenance`,
  ),
];

/** Disabled with drover's reason for that maintenance, and not forced down. */
export async function judgeDisabled(
  world: OfOpenStack,
  host: string,
  mode: Exclude<MaintenanceMode, ''>,
): Promise<string[]> {
  const service = await serviceOf(world, host);
  const isDisabled =
    service?.status === 'disabled' && service.disabled_reason?.startsWith(`${maintenanceReasonPrefix}${mode}`) === true;
  return [
    ...(isDisabled ? [] : [`the service of ${host} is ${service?.status ?? 'not there'}: ${service?.disabled_reason}`]),
    ...(service?.forced_down === true ? [`Nova has ${host} forced down`] : []),
  ];
}

/** In maintenance: disabled, a member as before, empty in Nova and Placement, by an Eviction that says so. */
export async function judgeMaintenance(
  world: Judged,
  host: string,
  mode: Exclude<MaintenanceMode, ''>,
): Promise<string[]> {
  const evictions = (await evictionsOf(world, host)).map(
    ({ metadata, status }) => `${metadata.name} ${findCondition(status?.conditions, 'Evicting')?.reason}`,
  );
  return [
    ...(await judgeDisabled(world, host, mode)),
    ...(await judgeMembership(world, host)),
    ...(await judgeEmpty(world, host)),
    ...(evictions.join() === `${host} Succeeded`
      ? []
      : [`the Evictions of ${host} are ${evictions.join(', ') || 'not there'} instead of one that has succeeded`]),
  ];
}

/** Nova has no server there, and Placement no allocation. */
async function judgeEmpty(world: OfOpenStack, host: string): Promise<string[]> {
  const servers = (await listServers(world.session, host)).map(({ name }) => name);
  const provider = await findProvider(world.session, host);
  const consumers = provider === null ? [] : await consumersOf(world, provider.uuid);
  return [
    ...(servers.length === 0 ? [] : [`Nova has ${servers.join(', ')} on ${host}`]),
    ...(consumers.length === 0 ? [] : [`Placement has allocations of ${consumers.join(', ')} on ${host}`]),
  ];
}

async function consumersOf({ session }: OfOpenStack, providerId: string): Promise<string[]> {
  const { allocations } = await session.placement<{ allocations: Record<string, object> }>(
    'GET',
    `/resource_providers/${providerId}/allocations`,
  );
  return Object.keys(allocations);
}

/** Servers that were moved off the host run elsewhere, and hold what they need there and nowhere else. */
export async function judgeMoved({ session }: OfOpenStack, host: string, ids: Iterable<string>): Promise<string[]> {
  const found: string[] = [];
  for (const id of ids) {
    const { name, status, 'OS-EXT-STS:task_state': task, 'OS-EXT-SRV-ATTR:host': now } = await getServer(session, id);
    if (now === null || now === host) found.push(`server ${name} is on ${now ?? 'no host'}, and was to leave ${host}`);
    if (status !== 'ACTIVE' || task !== null) found.push(`server ${name} is ${status}, ${task ?? 'idle'}`);
    const { allocations } = await session.placement<{ allocations: Record<string, object> }>(
      'GET',
      `/allocations/${id}`,
    );
    const provider = now === null ? null : await findProvider(session, now);
    if (Object.keys(allocations).join() !== provider?.uuid)
      found.push(
        `server ${name} on ${now} has allocations of providers ${Object.keys(allocations).join(', ') || 'none'}`,
      );
  }
  return found;
}

/** A host that lives is not fenced: what left it was moved live, and nothing was evacuated. */
export async function judgeMovedLive({ session }: OfOpenStack, host: string, ids: Iterable<string>): Promise<string[]> {
  const { migrations } = await session.compute<{
    migrations: { instance_uuid: string; migration_type: string; source_compute: string }[];
  }>('GET', '/os-migrations');
  const own = new Set(ids);
  const others = migrations.filter(
    ({ instance_uuid: id, migration_type: type, source_compute: source }) =>
      own.has(id) && source === host && type !== 'live-migration',
  );
  return others.map(
    ({ instance_uuid: id, migration_type: type }) => `server ${id} left ${host} by ${type}, and the host lives`,
  );
}

/**
 * Out of the cloud: no service, no hypervisor, no provider, in no aggregate; and no server, which would be on a host
 * that is no more.
 */
export async function judgeDecommissioned(world: OfOpenStack, host: string): Promise<string[]> {
  const { session } = world;
  const service = await serviceOf(world, host);
  const provider = await findProvider(session, host);
  const { hypervisors } = await session.compute<{ hypervisors: { id: string; service: { host: string } }[] }>(
    'GET',
    '/os-hypervisors/detail',
  );
  return [
    ...(service === null ? [] : [`Nova still has service ${service.id} of ${host}`]),
    ...hypervisors
      .filter((hypervisor) => hypervisor.service.host === host)
      .map(({ id }) => `Nova still has hypervisor ${id} of ${host}`),
    ...(provider === null ? [] : [`Placement still has provider ${provider.uuid} of ${host}`]),
    ...(await judgeAggregates(world, host, [])),
    ...(await judgeEmpty(world, host)),
  ];
}

/**
 * Wherever a run was stopped: what is taken away goes in order, the host emptied first: aggregates, service, provider.
 */
export async function judgeOrder(world: OfOpenStack, host: string): Promise<string[]> {
  const service = await serviceOf(world, host);
  const provider = await findProvider(world.session, host);
  if (service !== null)
    return provider === null ? [`Placement has no provider of ${host}, and Nova still has its service`] : [];
  return [
    ...(await judgeAggregates(world, host, [])),
    ...(await listServers(world.session, host)).map(
      ({ name }) => `Nova has no service of ${host}, and server ${name} on it`,
    ),
  ];
}

const evictionsOf = async ({ api }: Pick<Judged, 'api'>, host: string): Promise<Eviction[]> =>
  (await listEvictions(api)).filter(({ spec }) => spec.hypervisor === host);
