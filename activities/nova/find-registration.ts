import type { ComputeService } from '../../contracts/eviction/instance.ts';
import { failureCode } from '../../runtime/failure.ts';
import { findService, firstLabel, namesOfAll, resolveHost } from './find-host.ts';
import { serviceState } from './observe-host.ts';
import type { RegionReads } from './region-reads.ts';
import type { ComputeServiceRecord, Hypervisor, NovaClient } from './types.ts';

/** What Nova has under a host's name. */
export interface Registration {
  /** The compute service's `host`: what everything else of Nova's is asked for. */
  host: string;
  zone: string;
  /** UUID. */
  serviceId: string;
  service: ComputeService;
  /** Null: nova-compute runs, and has not registered a hypervisor, or is not mapped to a cell. */
  hypervisor: RegisteredHypervisor | null;
}

export interface RegisteredHypervisor {
  /** UUID; also that of the Placement resource provider. */
  id: string;
  hostname: string;
  /** `QEMU`, `CH`, … */
  type: string;
  /** As `9.2.0`. */
  version: string;
  /** How many servers Nova has on the host. */
  servers: number;
}

/**
 * Finds the registration of nova-compute on a host, by the name that a Node or a person gives the host: exactly that
 * name, or the only one with the same short name (docs/compatibility.md#hazards, H1 and H12). One request of its own,
 * and the list of services, which many share.
 *
 * @param trustedMs how long ago that may have been read
 * @returns null where Nova knows no such host (yet, or any more)
 * @throws HostAmbiguous; HostAttributeMissing its cell is down
 */
export async function findRegistration(
  { nova, region }: { nova: NovaClient; region: RegionReads },
  name: string,
  trustedMs: number,
  signal: AbortSignal,
): Promise<Registration | null> {
  const [services, named] = await Promise.all([
    region.services(trustedMs, signal),
    nova.hypervisorsNamed(firstLabel(name), signal),
  ]);
  const match = matchRegistration(name, services, named);
  // Read at the same time: a hypervisor without its service is one that has just come or just gone.
  if (match === null || !services.some(({ host }) => host === match.serviceHost)) return null;
  const service = findService(services, match.serviceHost);
  // A hypervisor may have a hostname that has nothing in common with its service's host.
  const hypervisor =
    match.hypervisor ??
    (await region.hypervisors(trustedMs, signal)).find(({ serviceHost }) => serviceHost === service.host) ??
    null;
  const servers =
    match.hypervisor === null && hypervisor !== null
      ? (await region.serversOn(service.host, 0, signal)).length
      : (match.hypervisor?.servers.length ?? 0);
  return {
    host: service.host,
    zone: service.zone,
    serviceId: service.id,
    service: serviceState(service),
    hypervisor: hypervisor && { ...describe(hypervisor), servers },
  };
}

type Match<Known> = { serviceHost: string; hypervisor: Known | null };

/** The one host of that name, with or without a hypervisor. @throws HostAmbiguous */
export function matchRegistration<Known extends Hypervisor>(
  name: string,
  services: readonly ComputeServiceRecord[],
  hypervisors: readonly Known[],
): Match<Known> | null {
  try {
    return resolveHost(name, namesOfAll(services, hypervisors));
  } catch (error) {
    if (failureCode(error) === 'HostNotFound') return null;
    throw error;
  }
}

const describe = ({
  id,
  hypervisorHostname: hostname,
  hypervisorType: type,
  hypervisorVersion,
}: Hypervisor): Omit<RegisteredHypervisor, 'servers'> => ({
  id,
  hostname,
  type,
  version: unpackVersion(hypervisorVersion),
});

/** Nova packs a version as major × 1 000 000 + minor × 1 000 + release. */
export const unpackVersion = (packed: number): string =>
  [Math.floor(packed / 1_000_000), Math.floor(packed / 1_000) % 1_000, packed % 1_000].join('.');
