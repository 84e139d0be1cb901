import type { Endpoint } from '../openstack/endpoint.ts';
import { allPages } from '../openstack/pages.ts';
import {
  aggregateFaults,
  consoleFaults,
  createServerFaults,
  deleteServerFaults,
  deleteServiceFaults,
  evacuateFaults,
} from './faults.ts';
import type { Accepted, HostCalls, HypervisorWithServers, InstanceDetail, NewServerCalls } from './types.ts';
import { toHypervisor, toInstance } from './wire-map.ts';
import * as wire from './wire.ts';

const microversion = '2.94';

/**
 * From 2.88 on, Nova asks every nova-compute for its uptime to list the hypervisors, and a hung one hangs the listing.
 */
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

export function newServerCalls(
  nova: Endpoint,
  serverMicroversion: (signal: AbortSignal) => Promise<string>,
): NewServerCalls {
  const path = (id: string): string => `/servers/${encodeURIComponent(id)}`;
  return {
    serversNamed: async (name, signal) =>
      readServersNamed(nova, await serverMicroversion(signal), name, (found) => found === name, signal),
    serversNamedLike: async (prefix, signal) =>
      readServersNamed(nova, await serverMicroversion(signal), prefix, (found) => found.startsWith(prefix), signal),
    createServer: async ({ name, flavorId, imageId, host, metadata }, signal) => {
      const body = { server: { name, flavorRef: flavorId, imageRef: imageId, networks: 'none', host, metadata } };
      const { value, requestId } = await nova.call(
        {
          method: 'POST',
          path: '/servers',
          microversion,
          body,
          answer: wire.newServerAnswer,
          refused: createServerFaults,
        },
        signal,
      );
      return { id: value.server.id, requestId };
    },
    deleteServer: async (id, signal) => {
      const { requestId } = await nova.call(
        { method: 'DELETE', path: path(id), microversion, refused: deleteServerFaults },
        signal,
      );
      return { requestId };
    },
    consoleOutput: async (id, lines, signal) => {
      const body = { 'os-getConsoleOutput': { length: lines } };
      const { value } = await nova.call(
        {
          method: 'POST',
          path: `${path(id)}/action`,
          microversion,
          body,
          answer: wire.consoleAnswer,
          refused: consoleFaults,
        },
        signal,
      );
      return value.output;
    },
  };
}

/**
 * Nova reads the filter as a regular expression, in which a name finds at least itself: the caller compares the names.
 */
async function readServersNamed(
  nova: Endpoint,
  microversionOfServers: string,
  name: string,
  isMeant: (name: string) => boolean,
  signal: AbortSignal,
): Promise<InstanceDetail[]> {
  const servers = await allPages(
    async (marker) => {
      const query: [string, string][] = [
        ['all_tenants', 'true'],
        ['name', name],
        ...(marker === undefined ? [] : [['marker', marker] as [string, string]]),
      ];
      const { value } = await nova.call(
        { method: 'GET', path: '/servers/detail', query, microversion: microversionOfServers, answer: wire.serverPage },
        signal,
      );
      return { items: value.servers, links: value.servers_links };
    },
    (server) => server.id,
  );
  return servers
    .filter((server) => isMeant(server.name ?? ''))
    .map((server) => toInstance(server))
    .filter(({ vmState }) => vmState !== 'deleted')
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id));
}
