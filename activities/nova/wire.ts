import { z } from 'zod';

/**
 * What Nova answers, as far as drover reads it. Unknown fields are ignored; a known one of another type
 * is an AnswerMalformed.
 *
 * @see Compute API reference; the microversions are pinned in activities/nova/client.ts
 */

const links = z.array(z.looseObject({ rel: z.string(), href: z.string() })).optional();

const fullService = z.looseObject({
  id: z.string(),
  binary: z.string(),
  host: z.string(),
  zone: z.string(),
  status: z.enum(['enabled', 'disabled']),
  state: z.enum(['up', 'down']),
  disabled_reason: z.string().nullable(),
  forced_down: z.boolean(),
});
/** All that is known of a service whose cell is down (2.69). */
const lostService = z.looseObject({ binary: z.string(), host: z.string(), status: z.literal('UNKNOWN') });
export const service = z.discriminatedUnion('status', [fullService, lostService]);
export type WireService = z.infer<typeof service>;
export const serviceList = z.object({ services: z.array(service) });
export const serviceAnswer = z.object({ service });

export const hypervisor = z.looseObject({
  id: z.string(),
  hypervisor_hostname: z.string(),
  hypervisor_type: z.string(),
  hypervisor_version: z.number(),
  state: z.enum(['up', 'down']),
  status: z.enum(['enabled', 'disabled']),
  service: z.looseObject({ id: z.string(), host: z.string() }),
});
export type WireHypervisor = z.infer<typeof hypervisor>;
export const hypervisorPage = z.object({ hypervisors: z.array(hypervisor), hypervisors_links: links });
/** `with_servers` (2.53); empty lists are included since 2.75. */
export const hypervisorsWithServers = z.object({
  hypervisors: z.array(hypervisor.extend({ servers: z.array(z.looseObject({ uuid: z.string() })) })),
});

/** Everything but the id is missing where the server's cell is down; the host is where the credential is no admin's. */
export const server = z.looseObject({
  id: z.string(),
  status: z.string(),
  name: z.string().nullish(),
  tenant_id: z.string().optional(),
  user_id: z.string().optional(),
  created: z.string().optional(),
  'OS-EXT-SRV-ATTR:host': z.string().nullish(),
  'OS-EXT-SRV-ATTR:hypervisor_hostname': z.string().nullish(),
  'OS-EXT-STS:task_state': z.string().nullish(),
  'OS-EXT-STS:vm_state': z.string().optional(),
  'OS-EXT-AZ:availability_zone': z.string().nullish(),
  pinned_availability_zone: z.string().nullish(),
  locked: z.boolean().optional(),
  flavor: z
    .looseObject({
      original_name: z.string(),
      vcpus: z.number(),
      ram: z.number(),
      disk: z.number(),
      ephemeral: z.number(),
      swap: z.number(),
      extra_specs: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  image: z
    .union([z.literal(''), z.looseObject({ id: z.string(), properties: z.record(z.string(), z.unknown()).optional() })])
    .nullish(),
  'os-extended-volumes:volumes_attached': z.array(z.looseObject({ id: z.string() })).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  trusted_image_certificates: z.array(z.string()).nullish(),
  server_groups: z.array(z.string()).optional(),
  config_drive: z.union([z.string(), z.boolean()]).nullish(),
  fault: z.looseObject({ message: z.string() }).optional(),
});
export type WireServer = z.infer<typeof server>;
export const serverPage = z.object({ servers: z.array(server), servers_links: links });
export const serverAnswer = z.object({ server });
export const newServerAnswer = z.object({ server: z.looseObject({ id: z.string() }) });
export const consoleAnswer = z.object({ output: z.string() });

export const serverGroup = z.looseObject({
  id: z.string(),
  name: z.string(),
  policy: z.string().nullable(),
  rules: z.looseObject({ max_server_per_host: z.coerce.number().optional() }).nullish(),
  members: z.array(z.string()),
});
export type WireServerGroup = z.infer<typeof serverGroup>;
export const serverGroupPage = z.object({ server_groups: z.array(serverGroup) });

export const aggregate = z.looseObject({
  id: z.number(),
  uuid: z.string(),
  name: z.string(),
  availability_zone: z.string().nullable(),
  hosts: z.array(z.string()),
  metadata: z.record(z.string(), z.string()),
});
export const aggregateList = z.object({ aggregates: z.array(aggregate) });

/** `/os-migrations`. Hosts are null where the policy hides them. */
export const migration = z.looseObject({
  id: z.number(),
  uuid: z.string(),
  instance_uuid: z.string(),
  migration_type: z.string(),
  status: z.string(),
  source_compute: z.string().nullable(),
  dest_compute: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string().nullish(),
});
export type WireMigration = z.infer<typeof migration>;
export const migrationPage = z.object({ migrations: z.array(migration), migrations_links: links });

/** `/servers/{id}/migrations/{id}`: a live migration in progress, with counters. */
export const serverMigration = z.looseObject({
  id: z.number(),
  server_uuid: z.string(),
  status: z.string(),
  source_compute: z.string().nullable(),
  dest_compute: z.string().nullable(),
  memory_total_bytes: z.number().nullable(),
  memory_processed_bytes: z.number().nullable().optional(),
  memory_remaining_bytes: z.number().nullable(),
  disk_total_bytes: z.number().nullable(),
  disk_remaining_bytes: z.number().nullable(),
  created_at: z.string(),
  updated_at: z.string().nullish(),
});
export type WireServerMigration = z.infer<typeof serverMigration>;
export const serverMigrationAnswer = z.object({ migration: serverMigration });

export const instanceActionList = z.object({
  instanceActions: z.array(z.looseObject({ action: z.string(), request_id: z.string().nullable() })),
});
export const instanceAction = z.object({
  instanceAction: z.looseObject({
    message: z.string().nullish(),
    events: z
      .array(
        z.looseObject({
          event: z.string(),
          result: z.string().nullish(),
          details: z.string().nullish(),
          traceback: z.string().nullish(),
          finish_time: z.string().nullish(),
        }),
      )
      .optional(),
  }),
});
export type WireInstanceAction = z.infer<typeof instanceAction>['instanceAction'];

/** The version document of `/v2.1`. */
export const versionDocument = z.object({
  version: z.looseObject({
    version: z.string().regex(/^\d+\.\d+$/u, 'expected a microversion'),
    min_version: z.string(),
  }),
});
