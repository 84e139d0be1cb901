import type { Endpoint } from '../openstack/endpoint.ts';
import { allPages } from '../openstack/pages.ts';
import { consoleFaults, createServerFaults, deleteServerFaults } from './faults.ts';
import type { InstanceDetail, NewServerCalls } from './types.ts';
import { toInstance } from './wire-map.ts';
import * as wire from './wire.ts';

const microversion = '2.94';

export function newServerCalls(
  nova: Endpoint,
  serverMicroversion: (signal: AbortSignal) => Promise<string>,
): NewServerCalls {
  const path = (id: string): string => `/servers/${encodeURIComponent(id)}`;
  return {
    serversNamed: async (name, signal) => readServersNamed(nova, await serverMicroversion(signal), name, signal),
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

/** Nova reads the filter as a regular expression, in which a name finds at least itself. */
async function readServersNamed(
  nova: Endpoint,
  microversionOfServers: string,
  name: string,
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
  const named = servers.filter((server) => server.name === name).map((server) => toInstance(server));
  return named
    .filter(({ vmState }) => vmState !== 'deleted')
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id));
}
