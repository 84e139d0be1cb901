import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { Tools } from './dependencies.ts';
import { findService } from './find-host.ts';
import { serviceState } from './observe-host.ts';
import type { ComputeServiceRecord } from './types.ts';

/**
 * Takes a host out of Nova: its compute service, its hypervisor, its aggregates and, where nothing is allocated any more, its resource
 * provider. Only the service that is meant: one that has registered since under the same name is left alone. Safe to repeat and to run
 * twice at once. Allocations of servers that were evacuated go with it.
 *
 * nova-compute must not be started again on a machine that still has guests: it would refuse, as a new service that finds servers
 * (docs/compatibility.md#how-nova-answers).
 *
 * @param request.host the compute service's `host`
 * @param request.serviceId as it was registered
 * @throws HostEnabled, HostUp, HostNotEmpty what stands against it; Stopped
 * @throws HostAttributeMissing Nova does not tell everything about the host, so that "empty" would be a guess
 * @see Compute API, "Delete Compute Service"
 */
export async function ensureServiceDeleted(
  tools: Tools,
  { host, serviceId }: { host: string; serviceId: string },
): Promise<void> {
  const { nova, scope } = tools;
  const services = await nova.computeServices(scope.signal);
  const service = services.find(({ id }) => id === serviceId);
  if (service === undefined) {
    // The id of a service is not told while its cell is down.
    if (services.some((other) => other.host === host && other.cellDown)) findService(services, host);
    return;
  }
  try {
    judgeDeletion(
      service,
      host,
      service.status === 'disabled' && service.state === 'down' ? await serversOn(tools, service.host) : [],
    );
    const mutation = {
      action: 'ensureServiceDeleted',
      cause: 'its host is decommissioned',
      object: `compute-service/${host}`,
      before: { serviceId, ...serviceState(service) },
      after: null,
    };
    await mutate(tools, mutation, () => nova.deleteService(serviceId, scope.signal));
  } catch (error) {
    // Of two that delete at once, one finds it gone at any of its requests, and Nova may answer it 500.
    const code = failureCode(error);
    if (code !== 'HostNotFound' && code !== 'NovaUnavailable') throw error;
    if ((await nova.computeServices(scope.signal)).some(({ id }) => id === serviceId)) throw error;
  }
}

const serversOn = async ({ nova, scope }: Tools, host: string): Promise<string[]> =>
  (await nova.servers({ host }, scope.signal)).map(({ id }) => id);

/** How many servers a failure names. */
const mostNamed = 5;

/** Pure. @throws HostNotFound, HostEnabled, HostUp, HostNotEmpty */
export function judgeDeletion(
  service: Pick<ComputeServiceRecord, 'host' | 'status' | 'state'>,
  host: string,
  servers: readonly string[],
): void {
  if (service.host !== host)
    throw droverFailure('HostNotFound', `That compute service is ${service.host}’s, not ${host}’s`);
  if (service.status === 'enabled')
    throw droverFailure('HostEnabled', `The compute service of ${host} is enabled, so it is not removed`);
  // It would register again at once.
  if (service.state === 'up')
    throw droverFailure('HostUp', `nova-compute on ${host} is running, so its service is not removed`);
  if (servers.length === 0) return;
  const named = servers.slice(0, mostNamed).join(', ');
  throw droverFailure(
    'HostNotEmpty',
    `${servers.length} ${servers.length === 1 ? 'server is' : 'servers are'} on ${host}: ${named}${servers.length > mostNamed ? ', …' : ''}`,
  );
}
