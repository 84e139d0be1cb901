import { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import type { KeystoneSession } from '../keystone/types.ts';
import { type Endpoint, openEndpoint } from '../openstack/endpoint.ts';
import type { Refusal } from '../openstack/faults.ts';
import { allPages } from '../openstack/pages.ts';

/** A port, as far as the driver of machines needs it. */
export interface Port {
  id: string;
  name: string;
  projectId: string;
  tags: readonly string[];
  /** Whether a server, or anything else, has it. */
  isUsed: boolean;
  /** RFC 3339; null where this Neutron keeps no times. */
  createdAt: string | null;
  /** Changes with each change; null where this Neutron counts none. */
  revision: number | null;
}

/** What the driver of machines asks of Neutron. Failures: those of every service, `NeutronUnavailable` among them. */
export interface PortCalls {
  /** Those that have all of the tags. */
  ports(tags: readonly string[], signal: AbortSignal): Promise<Port[]>;
  /** Null where it is gone. */
  port(id: string, signal: AbortSignal): Promise<Port | null>;
  /**
   * Deletes it unless it was changed since it was read, as far as this Neutron counts changes: it deletes a port that a
   * server has, too.
   *
   * @returns false: it was gone
   * @throws ObjectConflict it was changed
   */
  deletePort(port: Pick<Port, 'id' | 'revision'>, signal: AbortSignal): Promise<boolean>;
}

const wirePort = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  project_id: z.string(),
  device_id: z.string(),
  device_owner: z.string(),
  tags: z.array(z.string()).default([]),
  created_at: z.string().nullish(),
  revision_number: z.number().nullish(),
});
const portPage = z.object({
  ports: z.array(wirePort),
  ports_links: z.array(z.looseObject({ rel: z.string(), href: z.string() })).optional(),
});
const portAnswer = z.object({ port: wirePort });

/** Neutron has no microversions. */
const microversion = '2.0';

/** @throws EndpointNotFound at the first call where the cloud has no Neutron */
export function createPortCalls(session: KeystoneSession): PortCalls {
  const neutron = openEndpoint(session, { service: 'Neutron', type: 'network', base: versionedBase });
  const path = (id: string): string => `/ports/${encodeURIComponent(id)}`;
  return {
    ports: async (tags, signal) => (await readAll(neutron, tags, signal)).map(toPort),
    port: async (id, signal) => {
      const found = await neutron.find({ method: 'GET', path: path(id), microversion, answer: portAnswer }, signal);
      return found === null ? null : toPort(found.value.port);
    },
    deletePort: async ({ id, revision }, signal) => {
      const headers = revision === null ? {} : { 'if-match': `revision_number=${revision}` };
      const call = { method: 'DELETE', path: path(id), microversion, headers, refused: deletionFaults } as const;
      return (await neutron.find(call, signal)) !== null;
    },
  };
}

const versionedBase = (url: string): string => `${url.replace(/\/+$/u, '').replace(/\/v2\.0$/u, '')}/v2.0`;

const deletionFaults = ({ status }: Refusal): ErrorCode | undefined =>
  status === 412 || status === 409 ? 'ObjectConflict' : undefined;

const readAll = (
  neutron: Endpoint,
  tags: readonly string[],
  signal: AbortSignal,
): Promise<z.infer<typeof wirePort>[]> =>
  allPages(
    async (marker) => {
      const query: [string, string][] = [
        ['tags', tags.join(',')],
        ...(marker === undefined ? [] : [['marker', marker] as [string, string]]),
      ];
      const { value } = await neutron.call(
        { method: 'GET', path: '/ports', query, microversion, answer: portPage },
        signal,
      );
      return { items: value.ports, links: value.ports_links };
    },
    (port) => port.id,
  );

const toPort = (port: z.infer<typeof wirePort>): Port => ({
  id: port.id,
  name: port.name,
  projectId: port.project_id,
  tags: port.tags,
  isUsed: port.device_id !== '' || port.device_owner !== '',
  createdAt: port.created_at ?? null,
  revision: port.revision_number ?? null,
});
