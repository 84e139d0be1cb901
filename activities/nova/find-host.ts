import { droverFailure } from '../../runtime/failure.ts';
import { resolveHost, type HostNames } from './resolve-host.ts';
import type { ComputeServiceRecord, Hypervisor, NovaClient } from './types.ts';

/** One compute host by all its names. */
export interface ComputeHost {
  service: ComputeServiceRecord;
  hypervisor: Hypervisor;
}

/**
 * The host that a person's or a Hypervisor's name means.
 *
 * @throws HostNotFound, HostAmbiguous as {@link resolveHost}; HostNotFound too where nova-compute never registered a hypervisor
 * @throws HostAttributeMissing its cell is down, so nothing that Nova says of it can be believed
 */
export async function findHost(nova: NovaClient, name: string, signal: AbortSignal): Promise<ComputeHost> {
  const [services, hypervisors] = await Promise.all([nova.computeServices(signal), nova.hypervisors(signal)]);
  return joinHost(name, services, hypervisors);
}

export function joinHost(
  name: string,
  services: readonly ComputeServiceRecord[],
  hypervisors: readonly Hypervisor[],
): ComputeHost {
  const { serviceHost, hypervisor } = resolveHost(name, namesOfAll(services, hypervisors));
  const service = findService(services, serviceHost);
  if (hypervisor === null)
    throw droverFailure('HostNotFound', `nova-compute on ${serviceHost} has not registered a hypervisor`);
  return { service, hypervisor };
}

/** Every host of Nova's by both names, those without a hypervisor too. */
export function namesOfAll<Known extends Hypervisor>(
  services: readonly ComputeServiceRecord[],
  hypervisors: readonly Known[],
): (HostNames & { hypervisor: Known | null })[] {
  const known = new Set(hypervisors.map(({ serviceHost }) => serviceHost));
  return [
    ...hypervisors.map((hypervisor) => ({
      serviceHost: hypervisor.serviceHost,
      hypervisorHostname: hypervisor.hypervisorHostname,
      hypervisor,
    })),
    ...services
      .filter(({ host }) => !known.has(host))
      .map(({ host }) => ({ serviceHost: host, hypervisorHostname: host, hypervisor: null })),
  ];
}

/** The compute service of exactly that host. @throws HostNotFound, HostAttributeMissing as {@link findHost} */
export function findService(services: readonly ComputeServiceRecord[], host: string): ComputeServiceRecord {
  const service = services.find((candidate) => candidate.host === host);
  if (service === undefined) throw droverFailure('HostNotFound', `Nova has no nova-compute service on host ${host}`);
  if (service.cellDown) throw droverFailure('HostAttributeMissing', `The cell of host ${host} is down`);
  return service;
}
