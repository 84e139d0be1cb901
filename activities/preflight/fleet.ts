import type { Hypervisor as HypervisorObject } from '../../contracts/crds/hypervisor.ts';
import { failureCode } from '../../runtime/failure.ts';
import { joinHost } from '../nova/find-host.ts';
import type { ComputeServiceRecord, Hypervisor } from '../nova/types.ts';
import { type HostCandidate, readAgentReport, type ReportOf, reportsBy } from './judge-hosts.ts';

/**
 * The hosts of a region, indexed: of thousands, each preflight asks for all, and for those with an Eviction by name.
 */
export interface Fleet {
  /** Those that have both a service and a hypervisor, of cells that answer. */
  hosts: readonly Omit<HostCandidate, 'isEvicting'>[];
  reportOf: ReportOf;
  /** By a name that a user or a Hypervisor gives the host; null where there is none, or more than one. */
  serviceOf: (name: string) => ComputeServiceRecord | null;
}

const indexed = new WeakMap<readonly object[], { of: readonly object[]; fleet: Fleet }>();

/** What was made of the same lists before is not made again: they are shared by many preflights. */
export function fleetOf(
  services: readonly ComputeServiceRecord[],
  hypervisors: readonly Hypervisor[],
  objects: readonly HypervisorObject[],
): Fleet {
  const of = [hypervisors, objects];
  const before = indexed.get(services);
  if (before?.of.every((list, index) => list === of[index]) === true) return before.fleet;
  const fleet = indexFleet(services, hypervisors, objects);
  indexed.set(services, { of, fleet });
  return fleet;
}

function indexFleet(
  services: readonly ComputeServiceRecord[],
  hypervisors: readonly Hypervisor[],
  objects: readonly HypervisorObject[],
): Fleet {
  const byHost = new Map(services.filter(({ cellDown }) => !cellDown).map((service) => [service.host, service]));
  const reportOf = reportsBy(objects.map(readAgentReport));
  const found = new Map<string, ComputeServiceRecord | null>();
  const find = (name: string): ComputeServiceRecord | null => {
    try {
      return joinHost(name, services, hypervisors).service;
    } catch (error) {
      if (failureCode(error) !== null) return null;
      throw error;
    }
  };
  return {
    hosts: hypervisors.flatMap((hypervisor) => {
      const service = byHost.get(hypervisor.serviceHost);
      return service === undefined ? [] : [{ service, hypervisor, report: reportOf(hypervisor) }];
    }),
    reportOf,
    serviceOf(name) {
      const known = found.get(name);
      if (known !== undefined) return known;
      const service = find(name);
      found.set(name, service);
      return service;
    },
  };
}
