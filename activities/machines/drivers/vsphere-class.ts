import { z } from 'zod';

import type { DrivenClass, DriverSecret } from '../../../contracts/machine-safety/driver.ts';
import type { VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { registerSecret } from '../../../runtime/redaction.ts';
import { sessionKey } from '../../lib/shared-sessions.ts';
import { isWritable } from '../../vsphere/wire/xml.ts';
import { type Marks, marksIn, problemOf, vsphereNotation } from './marks.ts';
import { certificates, classTags, describeClass, flag, readFields, readRegion, text } from './read-class.ts';

/** Where the VMs of a class are, and what marks them. */
export interface VsphereClass {
  /** For people: `MachineClass team/worker`. */
  readonly what: string;
  readonly region: string;
  /** In vCenter’s inventory: `/dc/vm/folder`. */
  readonly folderPath: string;
  readonly marks: Marks;
  readonly settings: VcenterSettings;
  /** Of the credential: classes with the same share a session. */
  readonly key: string;
}

const writable = text.refine(isWritable, 'holds a character that cannot be sent to vCenter');

/** A slash within a name is written `%2f`, as in every path of vCenter. */
const path = writable.regex(
  /^[^/]+(\/[^/]+)*$/u,
  'expected a path without a slash at its ends, such as gardener/team-a',
);

const providerSpec = z.looseObject(
  { region: z.string('expected text').optional(), datacenter: path, folder: path, tags: classTags },
  'expected what the driver of vSphere takes',
);

const secretValues = z.looseObject({
  vsphereHost: text.regex(/^(\[[0-9a-f:.]+\]|[^\s/@?#:\\[\]]+)(:\d{1,5})?$/iu, 'expected HOST or HOST:PORT'),
  vsphereUsername: writable,
  vspherePassword: writable,
  vsphereInsecureSSL: flag,
  vsphereCACert: certificates.optional(),
  vsphereThumbprint: z
    .string('expected text')
    .regex(/^([0-9a-f]{2}:?){31}[0-9a-f]{2}$/iu, 'expected the SHA-256 thumbprint of the certificate')
    .transform((value) => value.replaceAll(':', '').toLowerCase())
    .optional(),
});

/** What a worker may ask of one vCenter; drover’s settings say it of the vCenters that they name only. */
const budget = { calls: 8, callsPerSecond: 100, tasks: 32 };

/** Sends nothing. @throws InvalidObject */
export function readVsphereClass(machineClass: DrivenClass, secret: DriverSecret): VsphereClass {
  const what = describeClass(machineClass);
  const spec = readFields(providerSpec, machineClass.providerSpec, `${what}: providerSpec`);
  const region = readRegion(spec.region, machineClass);
  const marks = marksIn(vsphereNotation, spec.tags);
  const problem = problemOf(vsphereNotation, marks);
  if (problem !== null) throw droverFailure('InvalidObject', `The tags of ${what} ${problem}`);
  const values = readFields(secretValues, secret, `The Secret of ${what}`);
  const { vsphereHost: host, vsphereUsername: username, vspherePassword: password } = values;
  const { vsphereCACert: ca = null, vsphereThumbprint: thumbprint = null } = values;
  registerSecret(password);
  if (values.vsphereInsecureSSL && ca === null && thumbprint === null)
    throw droverFailure(
      'InvalidObject',
      `The Secret of ${what} sets vsphereInsecureSSL, and drover deletes nothing at a vCenter whose certificate is not verified: add its CA as vsphereCACert, or its SHA-256 as vsphereThumbprint`,
    );
  return {
    what,
    region,
    folderPath: `/${spec.datacenter}/vm/${spec.folder}`,
    marks,
    settings: {
      name: host,
      url: `https://${host}`,
      credential: () => Promise.resolve({ username, password }),
      // The one certificate says more than who signed it.
      ca: thumbprint === null ? ca : null,
      thumbprint,
      budget,
      places: { zones: {}, storagePolicies: {}, networks: {} },
      trust: `vsphereCACert in the Secret of ${what}`,
    },
    key: sessionKey(['vsphere', host, username, password, ca, thumbprint]),
  };
}
