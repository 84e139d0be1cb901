import type { Endpoint } from '../openstack/endpoint.ts';
import { aggregateFaults, deleteServiceFaults, evacuateFaults } from './faults.ts';
import type { Accepted, HostCalls, HypervisorWithServers } from './types.ts';
import { toHypervisor } from './wire-map.ts';
import * as wire from './wire.ts';

const microversion = '2.94';

/** From 2.88 on, Nova asks every nova-compute for its uptime to list the hypervisors, and a hung one hangs the listing. */
export const hypervisorsMicroversion = '2.87';

export function hostCalls(nova: Endpoint): HostCalls {
  const changeAggregate = async (
    id: number,
    action: 'add_host' | 'remove_host',
    host: string,
    signal: AbortSignal,
  ): Promise<Accepted> => {
    const call = {
      method: 'POST',
      path: `/os-aggregates/${id}/action`,
      microversion,
      body: { [action]: { host } },
      refused: aggregateFaults,
    } as const;
    return accepted(await nova.call(call, signal));
  };
  return {
    schedulersUp: async (signal) => {
      const { value } = await nova.call(
        {
          method: 'GET',
          path: '/os-services',
          query: [['binary', 'nova-scheduler']],
          microversion,
          answer: wire.serviceList,
        },
        signal,
      );
      return value.services.filter(
        (service) => service.binary === 'nova-scheduler' && service.status !== 'UNKNOWN' && service.state === 'up',
      ).length;
    },
    hypervisorsNamed: (part, signal) => readHypervisorsNamed(nova, part, signal),
    deleteService: async (id, signal) =>
      accepted(
        await nova.call(
          {
            method: 'DELETE',
            path: `/os-services/${encodeURIComponent(id)}`,
            microversion,
            refused: deleteServiceFaults,
          },
          signal,
        ),
      ),
    addToAggregate: (id, host, signal) => changeAggregate(id, 'add_host', host, signal),
    removeFromAggregate: (id, host, signal) => changeAggregate(id, 'remove_host', host, signal),
    evacuate: async (id, { host }, signal) => {
      const body = { evacuate: host === null ? {} : { host } };
      return accepted(
        await nova.call(
          {
            method: 'POST',
            path: `/servers/${encodeURIComponent(id)}/action`,
            microversion,
            body,
            refused: evacuateFaults,
          },
          signal,
        ),
      );
    },
  };
}

const accepted = ({ requestId }: Accepted): Accepted => ({ requestId });

/** Nova answers 404 where no name contains the pattern, and does not page this listing. */
async function readHypervisorsNamed(
  nova: Endpoint,
  part: string,
  signal: AbortSignal,
): Promise<HypervisorWithServers[]> {
  const query: [string, string][] = [
    ['hypervisor_hostname_pattern', part],
    ['with_servers', 'true'],
  ];
  const answer = await nova.find(
    {
      method: 'GET',
      path: '/os-hypervisors/detail',
      query,
      microversion: hypervisorsMicroversion,
      answer: wire.hypervisorsWithServers,
    },
    signal,
  );
  return (answer?.value.hypervisors ?? []).map((found) => ({
    ...toHypervisor(found),
    servers: found.servers.map(({ uuid }) => uuid),
  }));
}
