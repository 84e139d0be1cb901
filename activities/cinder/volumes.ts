import { z } from 'zod';

import type { KeystoneSession } from '../keystone/types.ts';
import { type Endpoint, openEndpoint } from '../openstack/endpoint.ts';
import { allPages } from '../openstack/pages.ts';

/** A volume, as far as the driver of machines needs it. */
export interface Volume {
  id: string;
  name: string;
  metadata: Readonly<Record<string, string>>;
  /** Whether a server has it, or anything else goes on with it: Cinder says `available` of one that is free. */
  isUsed: boolean;
  /** RFC 3339. */
  createdAt: string;
}

/** What the driver of machines asks of Cinder. Failures: those of every service, `CinderUnavailable` among them. */
export interface VolumeCalls {
  /** All of the credential’s project. */
  volumes(signal: AbortSignal): Promise<Volume[]>;
  /** Null where it is gone, or of another project. */
  volume(id: string, signal: AbortSignal): Promise<Volume | null>;
  /** Cinder deletes none that is in use. @returns false: it was gone. @throws RequestRefused it is in use */
  deleteVolume(id: string, signal: AbortSignal): Promise<boolean>;
}

const wireVolume = z.looseObject({
  id: z.string().min(1),
  name: z.string().nullable(),
  status: z.string(),
  attachments: z.array(z.unknown()),
  metadata: z.record(z.string(), z.string()),
  created_at: z.string(),
});
const volumePage = z.object({
  volumes: z.array(wireVolume),
  volumes_links: z.array(z.looseObject({ rel: z.string(), href: z.string() })).optional(),
});
const volumeAnswer = z.object({ volume: wireVolume });

/** The first of API v3. */
const microversion = '3.0';

/** @throws EndpointNotFound at the first call where the cloud has no Cinder */
export function createVolumeCalls(session: KeystoneSession): VolumeCalls {
  const cinder = openEndpoint(session, { service: 'Cinder', type: 'volumev3' });
  const path = (id: string): string => `/volumes/${encodeURIComponent(id)}`;
  return {
    volumes: async (signal) => (await readAll(cinder, signal)).map(toVolume),
    volume: async (id, signal) => {
      const found = await cinder.find({ method: 'GET', path: path(id), microversion, answer: volumeAnswer }, signal);
      return found === null ? null : toVolume(found.value.volume);
    },
    deleteVolume: async (id, signal) =>
      (await cinder.find({ method: 'DELETE', path: path(id), microversion }, signal)) !== null,
  };
}

const readAll = (cinder: Endpoint, signal: AbortSignal): Promise<z.infer<typeof wireVolume>[]> =>
  allPages(
    async (marker) => {
      const query: [string, string][] = marker === undefined ? [] : [['marker', marker]];
      const { value } = await cinder.call(
        { method: 'GET', path: '/volumes/detail', query, microversion, answer: volumePage },
        signal,
      );
      return { items: value.volumes, links: value.volumes_links };
    },
    (volume) => volume.id,
  );

const toVolume = ({ id, name, status, attachments, metadata, created_at }: z.infer<typeof wireVolume>): Volume => ({
  id,
  name: name ?? '',
  metadata,
  isUsed: status !== 'available' || attachments.length > 0,
  // Cinder means UTC, and does not say it.
  createdAt: /(Z|[+-]\d\d:?\d\d)$/u.test(created_at) ? created_at : `${created_at}Z`,
});
