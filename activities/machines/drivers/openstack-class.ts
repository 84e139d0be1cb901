import { z } from 'zod';

import type { DrivenClass, DriverSecret } from '../../../contracts/machine-safety/driver.ts';
import { type CloudFields, connectionOf, type OpenStackSettings } from '../../../runtime/config/openstack-settings.ts';
import { droverFailure, failureCode, failureDetail } from '../../../runtime/failure.ts';
import { sessionKey } from '../../lib/shared-sessions.ts';
import { type Marks, marksIn, openstackNotation, problemOf } from './marks.ts';
import { certificates, classTags, describeClass, flag, readFields, readRegion, text } from './read-class.ts';

/** Which servers are those of a class. */
export interface OpenStackClass {
  /** For people: `MachineClass team/worker`. */
  readonly what: string;
  readonly region: string;
  readonly marks: Marks;
  readonly settings: OpenStackSettings;
  /** Of the credential and its region: classes with the same share a session. */
  readonly key: string;
}

const providerSpec = z.looseObject(
  {
    spec: z.looseObject(
      { region: z.string('expected text').optional(), tags: classTags },
      'expected a MachineProviderConfig with its spec',
    ),
  },
  'expected a MachineProviderConfig',
);

const httpUrl = text
  .regex(/^https?:\/\/[^\s@\p{Cc}]+$/iu, 'expected the URL of Keystone, without a user or a password')
  .refine((url) => URL.parse(url) !== null, 'expected the URL of Keystone');

/** How the Secret names what clouds.yaml has under `auth`. */
const keys = {
  auth_url: 'authURL',
  username: 'username',
  password: 'password',
  user_domain_id: 'userDomainID',
  user_domain_name: 'userDomainName',
  domain_id: 'domainID',
  domain_name: 'domainName',
  project_id: 'tenantID',
  project_name: 'tenantName',
  application_credential_id: 'applicationCredentialID',
  application_credential_name: 'applicationCredentialName',
  application_credential_secret: 'applicationCredentialSecret',
} as const;

const secretValues = z.looseObject({
  authURL: httpUrl,
  caCert: z.union([z.literal('').transform(() => undefined), certificates]).optional(),
  insecure: flag,
  clientCert: z.string().optional(),
  clientKey: z.string().optional(),
});

/** Sends nothing. @throws InvalidObject */
export function readOpenStackClass(machineClass: DrivenClass, secret: DriverSecret): OpenStackClass {
  const what = describeClass(machineClass);
  const { spec } = readFields(providerSpec, machineClass.providerSpec, `${what}: providerSpec`);
  const region = readRegion(spec.region, machineClass);
  const marks = marksIn(openstackNotation, spec.tags);
  const problem = problemOf(openstackNotation, marks);
  if (problem !== null) throw droverFailure('InvalidObject', `The tags of ${what} ${problem}`);
  const { caCert = null, insecure, clientCert, clientKey } = readFields(secretValues, secret, `The Secret of ${what}`);
  if (clientCert || clientKey)
    throw droverFailure(
      'InvalidObject',
      `The Secret of ${what} has clientCert or clientKey, and drover shows no certificate of its own to OpenStack: use a password or an application credential`,
    );
  const settings: OpenStackSettings = {
    cloud: null,
    sources: [],
    ...connection(what, region, secret),
    endpointOverrides: {},
    ca: caCert,
    verify: !insecure,
    trust: `caCert in the Secret of ${what}`,
  };
  const { authUrl, credential, ca, verify } = settings;
  return {
    what,
    region,
    marks,
    settings,
    key: sessionKey(['openstack', authUrl, region, credential, ca, verify]),
  };
}

/** Empty values count as not set, as tools that fill Secrets leave them behind. */
function connection(what: string, region: string, secret: DriverSecret): ReturnType<typeof connectionOf> {
  const auth: NonNullable<CloudFields['auth']> = Object.fromEntries(
    Object.entries(keys).flatMap(([field, key]) => {
      const value = Object.hasOwn(secret, key) ? secret[key] : undefined;
      return value === undefined || value === ''
        ? []
        : [[field, readFields(text, value, `The Secret of ${what}: ${key}`)]];
    }),
  );
  const at = (field: string): string => {
    const name = field.split('.').at(-1) ?? field;
    return `${Object.hasOwn(keys, name) ? keys[name as keyof typeof keys] : name} in the Secret of ${what}`;
  };
  try {
    return connectionOf({ auth, region_name: region }, at);
  } catch (error) {
    if (failureCode(error) !== 'InvalidConfiguration') throw error;
    throw droverFailure('InvalidObject', failureDetail(error as Parameters<typeof failureDetail>[0]));
  }
}
