import { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { KeystoneSession } from '../keystone/types.ts';
import { type Endpoint, openEndpoint } from '../openstack/endpoint.ts';
import type { Refusal } from '../openstack/faults.ts';
import { allPages } from '../openstack/pages.ts';
import { versionedBase } from './client.ts';
import { deleteServerFaults } from './faults.ts';
import type { Accepted } from './types.ts';

/** A server, as far as the driver of machines needs it. */
export interface MachineServer {
  id: string;
  name: string;
  projectId: string;
  metadata: Readonly<Record<string, string>>;
  /** RFC 3339. */
  createdAt: string;
  /** `ACTIVE`, `ERROR` …, for people. */
  status: string;
}

/** What the driver of machines asks of Nova; failures as in types.ts. A member of a project may do all of it. */
export interface MachineCalls {
  /** All servers of the credential’s project that are not deleted. @throws NovaUnavailable also where a cell is down */
  servers(signal: AbortSignal): Promise<MachineServer[]>;
  /** Null where it is gone. @throws NovaUnavailable also where its cell is down */
  server(id: string, signal: AbortSignal): Promise<MachineServer | null>;
  /**
   * @throws InstanceNotFound
   * @throws InstanceBusy 409: another operation holds it
   * @throws RequestRefused it is locked, for example
   */
  deleteServer(id: string, signal: AbortSignal): Promise<Accepted>;
}

/** Of Stein: the first that says which servers it cannot read, instead of leaving them out. */
const microversion = '2.69';

/** Of a server whose cell is down, Nova knows little more than the id. */
const wireServer = z.looseObject({
  // It becomes a part of the provider id.
  id: z.string().regex(/^[\w-]+$/u, 'expected the id of a server'),
  name: z.string().optional(),
  tenant_id: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  created: z.string().optional(),
  status: z.string(),
  'OS-EXT-STS:vm_state': z.string().optional(),
});
type WireServer = z.infer<typeof wireServer>;
const serverPage = z.object({
  servers: z.array(wireServer),
  servers_links: z.array(z.looseObject({ rel: z.string(), href: z.string() })).optional(),
});
const serverAnswer = z.object({ server: wireServer });

export function createMachineCalls(session: KeystoneSession): MachineCalls {
  const nova = openEndpoint(session, { service: 'Nova', type: 'compute', base: versionedBase });
  const path = (id: string): string => `/servers/${encodeURIComponent(id)}`;
  return {
    servers: async (signal) => (await readAll(nova, signal)).flatMap((server) => toServer(server) ?? []),
    server: async (id, signal) => {
      const found = await nova.find({ method: 'GET', path: path(id), microversion, answer: serverAnswer }, signal);
      return found === null ? null : toServer(found.value.server);
    },
    deleteServer: async (id, signal) => {
      const { requestId } = await nova.call(
        { method: 'DELETE', path: path(id), microversion, refused: deletionFaults },
        signal,
      );
      return { requestId };
    },
  };
}

/** Nova filters by no metadata. Without `all_tenants` it lists the project of the token, also for an administrator. */
const readAll = (nova: Endpoint, signal: AbortSignal): Promise<WireServer[]> =>
  allPages(
    async (marker) => {
      const { value } = await nova.call(
        {
          method: 'GET',
          path: '/servers/detail',
          query: marker === undefined ? [] : [['marker', marker]],
          microversion,
          answer: serverPage,
        },
        signal,
      );
      return { items: value.servers, links: value.servers_links };
    },
    (server) => server.id,
  );

/** What waits to be reclaimed is gone for its user. */
const goneStates: readonly string[] = ['deleted', 'soft-delete'];

function toServer(server: WireServer): MachineServer | null {
  const { id, name, tenant_id: projectId, metadata, created, status, 'OS-EXT-STS:vm_state': vmState } = server;
  if (goneStates.includes(vmState ?? '')) return null;
  if (name === undefined || projectId === undefined || metadata === undefined || created === undefined)
    throw droverFailure(
      'NovaUnavailable',
      `Nova says no more of server ${id.slice(0, 80)} than that it is ${status.slice(0, 80)}, as it does while a cell is down`,
    );
  return { id, name, projectId, metadata, createdAt: created, status };
}

/** A locked server, or one in a state that nothing is done to, stays so: Nova’s words say which. */
function deletionFaults(refusal: Refusal): ErrorCode | undefined {
  const code = deleteServerFaults(refusal);
  return code === 'InstanceStateRefused' ? 'RequestRefused' : code;
}
