import { isIP } from 'node:net';

import { droverFailure } from '../../runtime/failure.ts';
import type { ComputeServiceRecord, Hypervisor } from './types.ts';

/** One compute host by all its names. */
export interface ComputeHost {
  service: ComputeServiceRecord;
  hypervisor: Hypervisor;
}

/**
 * The host that a person's or a Hypervisor's name means.
 *
 * @throws HostNotFound, HostAmbiguous as {@link resolveHost}; HostNotFound too where nova-compute never
 * registered a hypervisor
 * @throws HostAttributeMissing its cell is down, so nothing that Nova says of it can be believed
 */
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

/** The compute service of exactly that host. @throws HostNotFound, HostAttributeMissing as {@link joinHost} */
export function findService(services: readonly ComputeServiceRecord[], host: string): ComputeServiceRecord {
  const service = services.find((candidate) => candidate.host === host);
  if (service === undefined) throw droverFailure('HostNotFound', `Nova has no nova-compute service on host ${host}`);
  if (service.cellDown) throw droverFailure('HostAttributeMissing', `The cell of host ${host} is down`);
  return service;
}

/** The two names that Nova has for one host. */
export interface HostNames {
  /** The compute service's `host`, as in `OS-EXT-SRV-ATTR:host`. */
  serviceHost: string;
  hypervisorHostname: string;
}

/**
 * Finds the one host that `name` means: a host of exactly that name, else the only one with the same short name where
 * either side has no domain. Two names with different domains are two hosts, and a part of a name is never a match
 * (docs/compatibility.md#hazards, H1 and H12). Everything after this compares the service's `host` exactly.
 *
 * @throws HostNotFound
 * @throws HostAmbiguous the message names the hosts
 */
export function resolveHost<T extends HostNames>(name: string, hosts: readonly T[]): T {
  const exact = hosts.filter((host) => namesOf(host).includes(name));
  const matches =
    exact.length > 0 ? exact : hosts.filter((host) => namesOf(host).some((known) => sameShortName(name, known)));
  const [match, ...others] = matches;
  if (match === undefined) throw droverFailure('HostNotFound', `No compute host is called ${name}`);
  if (others.length > 0) throw droverFailure('HostAmbiguous', `${name} can mean ${matches.map(describe).join(', ')}`);
  return match;
}

const namesOf = ({ serviceHost, hypervisorHostname }: HostNames): string[] => [serviceHost, hypervisorHostname];

const describe = ({ serviceHost, hypervisorHostname }: HostNames): string =>
  serviceHost === hypervisorHostname ? serviceHost : `${serviceHost} (${hypervisorHostname})`;

/**
 * Whether both may name one host: the same first label, case apart as in DNS, and at most one of them with a domain.
 */
export function sameShortName(a: string, b: string): boolean {
  if (isIP(a) !== 0 || isIP(b) !== 0) return false;
  if (a.includes('.') && b.includes('.')) return a.toLowerCase() === b.toLowerCase();
  return shortName(a) === shortName(b);
}

const shortName = (name: string): string => firstLabel(name).toLowerCase();

/** What every name of a host contains, however long it is written; an address has no shorter form. */
export const firstLabel = (name: string): string => (isIP(name) !== 0 ? name : (name.split('.', 1)[0] ?? ''));
