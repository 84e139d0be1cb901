import { randomUUID } from 'node:crypto';
import { type Condition, findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { labClock } from '../../lab/clock.ts';
import { listServices } from '../../lab/openstack/hosts.ts';
import { OpenStackError, type Session } from '../../lab/openstack/session.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { unlessAbsent } from '../flows/clear-leftovers.ts';
import { ensureFixtureAggregates, listAggregates, nodeManifest } from '../flows/hypervisor-fixture.ts';
import { until } from '../flows/until.ts';
import type { Environment, Region } from './environment.ts';

/** What hypervisors of the matrix have in common. */

export const zone = 'az-matrix';
export const shared = 'matrix';
export const trait = 'CUSTOM_DROVER_MATRIX';
const readyMs = 60_000;
const patience = (): AbortSignal => AbortSignal.timeout(20_000);

/**
 * The aggregates that the scenarios' hosts are to be in.
 *
 * @param isZone false where hosts may have servers before: Nova lets none of those into another zone
 */
export const ensureAggregates = ({ session }: Pick<Region, 'session'>, isZone = true): Promise<void> =>
  ensureFixtureAggregates(session, isZone ? { zone, others: [shared] } : { others: [zone, shared] });

/** What a Hypervisor says of itself. */
export const lifecycleOf = (
  object: { status?: { conditions?: readonly Condition[] | undefined } | undefined } | null,
): Pick<Condition, 'reason' | 'status' | 'message' | 'lastTransitionTime'> =>
  findCondition(object?.status?.conditions, hypervisorConditions.lifecycle) ?? {
    reason: 'nothing',
    status: 'Unknown',
    message: '',
    lastTransitionTime: '',
  };

/**
 * The Node of a host, as its kubelet and the node's owner leave it: drover is to take it into service without tests.
 */
export async function applyNode({ api }: Pick<Environment, 'api'>, name: string, isTested = false): Promise<void> {
  const body = nodeManifest(name, {
    zone,
    aggregates: [shared],
    customTraits: [trait],
    ...(isTested && { lifecycle: 'true' }),
  });
  await api.request({ method: 'POST', path: resourcePath('v1', 'nodes'), body }, patience());
}

/** The Node of a host that drover does not drive: it only is there. */
export async function applyNeighbour({ api }: Pick<Environment, 'api'>, name: string): Promise<void> {
  await api.request(
    { method: 'POST', path: resourcePath('v1', 'nodes'), body: nodeManifest(name, { zone, lifecycle: null }) },
    patience(),
  );
}

/** As its kubelet reports it: the machine is well, or whatever is said, and has that address. */
export async function reportReady(
  { api }: Pick<Environment, 'api'>,
  name: string,
  address: string,
  { ready = 'True', bootId }: { ready?: 'True' | 'Unknown'; bootId?: string } = {},
): Promise<void> {
  const nodeInfo =
    bootId === undefined
      ? {}
      : {
          nodeInfo: {
            bootID: bootId,
            machineID: name,
            systemUUID: name,
            kernelVersion: '6',
            osImage: 'x',
            containerRuntimeVersion: 'x',
            kubeletVersion: 'v1',
            kubeProxyVersion: 'v1',
            operatingSystem: 'linux',
            architecture: 'amd64',
          },
        };
  const conditions = [
    {
      type: 'Ready',
      status: ready,
      reason: 'FaultMatrix',
      message: 'fault matrix',
      lastTransitionTime: new Date(labClock().now()).toISOString(),
    },
  ];
  const body = { status: { conditions, ...nodeInfo, addresses: [{ type: 'InternalIP', address }] } };
  await api.request(
    { method: 'PATCH', patchType: 'merge', path: resourcePath('v1', 'nodes', { name, subresource: 'status' }), body },
    patience(),
  );
}

/**
 * As a host is that was never a hypervisor: no objects, in no aggregate, registered in Nova. It must be empty: Nova
 * lets no server change its zone.
 */
export async function removeHypervisor(
  environment: Pick<Environment, 'api'> & Pick<Region, 'session' | 'fleet'>,
  host: string,
): Promise<void> {
  await removeObjectsOf(environment, host);
  await leaveAggregates(environment, host);
  await removeTrait(environment, host);
  await ensureRegistered(environment, host);
}

/** As another client does in Nova: out of all of them, or of one. */
export async function leaveAggregates(
  { session }: Pick<Region, 'session'>,
  host: string,
  only: string | null = null,
): Promise<void> {
  for (const { id, name, hosts } of await listAggregates(session))
    if (hosts.includes(host) && (only === null || name === only))
      await session.compute('POST', `/os-aggregates/${id}/action`, { body: { remove_host: { host } } });
}

/** So that no run drives it any more. */
export async function removeObjectsOf({ api }: Pick<Environment, 'api'>, host: string): Promise<void> {
  for (const path of [
    resourcePath('v1', 'nodes', { name: host }),
    resourcePath('kvm.cloud.sap/v1', 'hypervisors', { name: host }),
  ])
    await unlessAbsent(() => api.request({ method: 'DELETE', path }, patience()));
}

/**
 * nova-compute of the host runs, and Nova knows it; where its service was removed, it comes back on an empty machine.
 * drover may remove the service at any moment, also while it starts: what to do is decided anew until it stays.
 */
export async function ensureRegistered(
  { session, fleet }: Pick<Region, 'session' | 'fleet'>,
  host: string,
): Promise<void> {
  const seen = async (): Promise<{ isRunning: boolean; isKnown: boolean }> => ({
    isRunning: (await fleet.hosts())[host]?.running === true,
    isKnown: (await listServices(session)).some((service) => service.host === host),
  });
  await until(`${host} to be registered again`, readyMs, async () => {
    const { isRunning, isKnown } = await seen();
    if (isRunning && isKnown) return true;
    if (isRunning) await fleet.crash(host);
    await (isKnown ? fleet.start(host) : fleet.reinstall(host));
    return (await seen()).isKnown || 'not yet';
  });
}

/**
 * Takes {@link trait} off the host, and out of Placement where no other provider has it. Otherwise only the first run
 * would have to make it.
 */
export async function removeTrait(region: Pick<Region, 'session'>, host: string): Promise<void> {
  const provider = await readTraits(region, host);
  if (provider?.traits.includes(trait) !== true) return;
  const { session } = region;
  await session.placement('PUT', provider.path, {
    body: {
      resource_provider_generation: provider.resource_provider_generation,
      traits: provider.traits.filter((one) => one !== trait),
    },
  });
  await session.placement('DELETE', `/traits/${trait}`).catch((error: unknown) => {
    // Another host has it too.
    if (!(error instanceof OpenStackError && error.status === 409)) throw error;
  });
}

/** The resource provider of the host, whose name begins with the host's; null: Placement has none. */
export async function findProvider(session: Session, host: string): Promise<{ uuid: string } | null> {
  const { resource_providers: providers } = await session.placement<{
    resource_providers: { uuid: string; name: string }[];
  }>('GET', '/resource_providers');
  return providers.find(({ name }) => name === host || name.startsWith(`${host}.`)) ?? null;
}

/** An allocation on the host that no server has, as Nova leaves them behind. */
export async function leaveAllocation({ session }: Pick<Region, 'session'>, host: string): Promise<void> {
  const { uuid = '' } = (await findProvider(session, host)) ?? {};
  const body = {
    allocations: { [uuid]: { resources: { VCPU: 1 } } },
    consumer_generation: null,
    consumer_type: 'INSTANCE',
    project_id: 'p',
    user_id: 'u',
  };
  await session.placement('PUT', `/allocations/${randomUUID()}`, { body });
}

/** Of the host's resource provider; null: Placement has none. */
export async function readTraits(
  { session }: Pick<Region, 'session'>,
  host: string,
): Promise<{ path: string; traits: string[]; resource_provider_generation: number } | null> {
  const provider = await findProvider(session, host);
  if (provider === null) return null;
  const path = `/resource_providers/${provider.uuid}/traits`;
  return {
    path,
    ...(await session.placement<{ traits: string[]; resource_provider_generation: number }>('GET', path)),
  };
}
