import { z } from 'zod';

import { count, optionalText, text } from './setting-types.ts';

/**
 * The section `vsphere` of drover's settings: the vCenters that drover speaks to, by names that people choose. Users
 * and passwords stand in files, such as a mounted Secret, and are read at each login, so that a rotated one is taken.
 */

const url = z
  .string()
  .regex(
    /^https:\/\/[^\s/@?#]+(\/(sdk)?)?$/u,
    'expected https://HOST or https://HOST:PORT, without a user or a password',
  )
  .transform((value) => value.replace(/\/(sdk)?$/u, ''));

const thumbprint = z
  .string()
  .regex(
    /^([0-9a-f]{2}:?){31}[0-9a-f]{2}$/iu,
    'expected the SHA-256 thumbprint of the certificate: 64 hexadecimal digits',
  )
  .transform((value) => value.replaceAll(':', '').toLowerCase());

/** As `govc find` shows it. */
const inventoryPath = z
  .string()
  .regex(/^(\/[^/]+){2,}$/u, 'expected a path in vCenter’s inventory, such as /DC0/vm/team-a');

/** `{namespace}` in it stands for the namespace of the object. */
const vmFolder = inventoryPath.regex(
  /^(\/[^/]+)+?\/vm(\/|$)/u,
  'expected a folder of VMs, such as /DC0/vm/{namespace}',
);
const resourcePool = inventoryPath.regex(
  /^(\/[^/]+)+?\/host\/.+\/Resources(\/|$)/u,
  'expected a resource pool, such as /DC0/host/DC0_C0/Resources/{namespace}',
);

const vcenter = z
  .strictObject({
    url,
    username: optionalText,
    usernameFile: optionalText,
    passwordFile: text,
    /** Who vCenter's certificate must be signed by; null: what the system trusts. */
    caFile: optionalText,
    /** Or the one certificate itself. */
    thumbprint: thumbprint.nullable().default(null),
    /** Where VMs go, by the zones that the label of an object names. */
    zones: z.record(text, z.strictObject({ folder: vmFolder, resourcePool })).default({}),
    /** By the `storagePolicyID` that a StorageClass names. */
    storagePolicies: z
      .record(
        text,
        z.strictObject({ datastores: z.array(inventoryPath).min(1), encrypted: z.boolean().default(false) }),
      )
      .default({}),
    /**
     * Networks that are not `/<datacenter>/network/<name>`; `default`: of interfaces that name none. `{namespace}`
     * stands for that of the object.
     */
    networks: z.record(text, inventoryPath).default({}),
    budget: z
      .strictObject({
        /** Calls at once, of one worker. */
        calls: count(8, 64),
        callsPerSecond: count(100, 1_000),
        /** Tasks that one worker has started and that have not ended. */
        tasks: count(32, 640),
      })
      .prefault({}),
  })
  .refine(({ username, usernameFile }) => (username === null) !== (usernameFile === null), {
    path: ['username'],
    error: 'expected username or usernameFile',
  })
  .refine(({ caFile, thumbprint: pin }) => caFile === null || pin === null, {
    path: ['thumbprint'],
    error: 'expected caFile or thumbprint, not both',
  });

/** What stands in task queues and ids. */
const name = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/u, 'expected a name of lower-case letters, digits, - and .');

export const vsphereConfig = z.strictObject({ vcenters: z.record(name, vcenter).default({}) }).prefault({});

export type VsphereConfig = z.infer<typeof vsphereConfig>;
export type VcenterConfig = VsphereConfig['vcenters'][string];
export type VcenterBudget = VcenterConfig['budget'];
/** Where VMs and their disks go in a vCenter. */
export type VcenterPlaces = Pick<VcenterConfig, 'zones' | 'storagePolicies' | 'networks'>;
