import { z } from 'zod';

import { droverFailure } from '../failure.ts';
import { registerSecret } from '../redaction.ts';
import {
  checkSettings,
  expandHome,
  findSettingsFile,
  readCertificates,
  readYaml,
  type SearchOptions,
} from './settings-file.ts';

/**
 * How to reach an OpenStack, found as other OpenStack clients find it: a cloud of clouds.yaml (with secure.yaml laid
 * over it), chosen by `OS_CLOUD`, and `OS_*` variables laid over both.
 *
 * @see https://docs.openstack.org/openstacksdk/latest/user/config/configuration.html
 */
export interface OpenStackSettings {
  /** Name of the cloud in clouds.yaml; null where everything comes from `OS_*`. */
  cloud: string | null;
  /** What was read, for people. */
  sources: string[];
  /** Ends in `/v3`. */
  authUrl: string;
  credential: Credential;
  region: string;
  interface: 'public' | 'internal' | 'admin';
  /** URLs that replace the catalog's. */
  endpointOverrides: { compute?: string; placement?: string };
  /** PEM certificates to trust; null: the system's. */
  ca: string | null;
  /** Whether certificates are checked. Only false where clouds.yaml says `verify: false`. */
  verify: boolean;
  /** Where people say which certificates to trust; default: clouds.yaml and `OS_CACERT`. */
  trust?: string;
}

/** A name in a domain, or an id, as Keystone takes them. */
export type Named = { id: string } | { name: string; domain: { id: string } | { name: string } };

export type Credential =
  | { method: 'password'; user: Named; password: string; project: Named }
  | { method: 'application_credential'; id: string; secret: string }
  | { method: 'application_credential'; name: string; user: Named; secret: string };

export interface OpenStackSearchOptions extends SearchOptions {
  /** Cloud of drover's own settings; `OS_CLOUD` overrides it. */
  cloud?: string;
}

/** YAML reads `password: 12345` as a number; people mean the text. */
const text = z.union([z.string(), z.number()], 'expected text').transform(String).optional();

const authSchema = z.looseObject({
  auth_url: text,
  username: text,
  user_id: text,
  password: text,
  user_domain_id: text,
  user_domain_name: text,
  project_id: text,
  project_name: text,
  tenant_id: text,
  tenant_name: text,
  project_domain_id: text,
  project_domain_name: text,
  default_domain: text,
  default_domain_id: text,
  default_domain_name: text,
  domain_id: text,
  domain_name: text,
  application_credential_id: text,
  application_credential_name: text,
  application_credential_secret: text,
});
type Auth = z.infer<typeof authSchema>;

/** Other clients keep more in it than drover reads, so unknown fields are theirs. */
const cloudSchema = z.looseObject({
  profile: z.unknown().optional(),
  auth_type: text,
  auth: authSchema.optional(),
  region_name: text,
  interface: text,
  endpoint_type: text,
  cacert: text,
  verify: z.boolean('expected true or false').nullish(),
  compute_endpoint_override: text,
  placement_endpoint_override: text,
});
type Cloud = z.infer<typeof cloudSchema>;

const cloudsFileSchema = z.looseObject({
  clouds: z.record(z.string(), z.unknown(), 'expected a mapping of names to clouds'),
});

type Environment = Record<string, string | undefined>;

/** @throws InvalidConfiguration naming the file, or the variable, and the field */
export function loadOpenStackSettings(env: Environment, options: OpenStackSearchOptions = {}): OpenStackSettings {
  const chosen = chooseCloud(env, options);
  const merged = overlay(chosen.cloud, fromEnvironment(env));
  const at = whereIn(chosen);
  const { compute_endpoint_override: compute, placement_endpoint_override: placement } = merged;
  return {
    cloud: chosen.name,
    sources: chosen.sources,
    ...connectionOf(merged, at),
    endpointOverrides: {
      ...(compute === undefined ? {} : { compute: httpUrl(compute, at('compute_endpoint_override')) }),
      ...(placement === undefined ? {} : { placement: httpUrl(placement, at('placement_endpoint_override')) }),
    },
    ca: merged.cacert === undefined ? null : readCertificates(expandHome(merged.cacert, options), at('cacert')),
    verify: merged.verify !== false,
  };
}

/** Fields as clouds.yaml names them; empty texts count as missing only where one is needed. */
export type CloudFields = Pick<Cloud, 'auth_type' | 'auth' | 'region_name' | 'interface' | 'endpoint_type'>;

/** Registers the secrets among the fields. @throws InvalidConfiguration naming the place that `at` gives */
export function connectionOf(
  { auth_type: type, auth = {}, ...fields }: CloudFields,
  at: At,
): Pick<OpenStackSettings, 'authUrl' | 'credential' | 'region' | 'interface'> {
  for (const secret of [auth.password, auth.application_credential_secret])
    if (secret !== undefined) registerSecret(secret);
  return {
    authUrl: identityUrl(needed(auth.auth_url, at('auth.auth_url')), at('auth.auth_url')),
    credential: credentialOf(type, auth, at),
    region: needed(fields.region_name, at('region_name')),
    interface: interfaceOf(fields.interface ?? fields.endpoint_type ?? 'public', at('interface')),
  };
}

interface ChosenCloud {
  name: string | null;
  cloud: Cloud;
  sources: string[];
}

/**
 * As openstacksdk: a named cloud; else the environment alone, if it says where Keystone is; else the only cloud
 * of the file.
 */
function chooseCloud(env: Environment, options: OpenStackSearchOptions): ChosenCloud {
  const wanted = env['OS_CLOUD'] || options.cloud || null;
  if (wanted === null && env['OS_AUTH_URL']) return { name: null, cloud: {}, sources: ['the environment'] };
  const file = env['OS_CLIENT_CONFIG_FILE'] || findSettingsFile('openstack', ['clouds.yaml', 'clouds.yml'], options);
  if (!file) {
    const missing =
      wanted === null ? 'OS_AUTH_URL is not set and there is no' : `Cloud ${wanted} is chosen, but there is no`;
    throw droverFailure('InvalidConfiguration', `${missing} clouds.yaml in ., ~/.config/openstack or /etc/openstack.`);
  }
  const secureFile =
    env['OS_CLIENT_SECURE_FILE'] || findSettingsFile('openstack', ['secure.yaml', 'secure.yml'], options);
  const clouds = checkSettings(cloudsFileSchema, readYaml(file), file).clouds;
  const name = wanted ?? onlyCloud(Object.keys(clouds), file);
  if (!Object.hasOwn(clouds, name))
    throw droverFailure('InvalidConfiguration', `${file} has no cloud ${name}; it has ${listed(Object.keys(clouds))}.`);
  const cloud = readCloud(clouds[name], name, file);
  if (cloud.profile !== undefined)
    throw droverFailure(
      'InvalidConfiguration',
      `${file}: clouds.${name}.profile: profiles of vendors are not supported; write the fields themselves.`,
    );
  const secure = secureFile === null ? {} : readSecure(secureFile, name);
  return { name, cloud: overlay(cloud, secure), sources: [file, ...(secureFile === null ? [] : [secureFile])] };
}

function onlyCloud(names: string[], file: string): string {
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return name;
  throw droverFailure(
    'InvalidConfiguration',
    `${file} has ${names.length === 0 ? 'no clouds' : `several clouds (${listed(names)})`}; set OS_CLOUD, or openstack.cloud in drover’s settings.`,
  );
}

const listed = (names: string[]): string => (names.length === 0 ? 'none' : names.join(', '));

const readCloud = (data: unknown, name: string, file: string): Cloud =>
  checkSettings(cloudSchema, data ?? {}, `${file}: clouds.${name}`);

function readSecure(file: string, name: string): Cloud {
  const { clouds } = checkSettings(cloudsFileSchema, readYaml(file), file);
  return Object.hasOwn(clouds, name) ? readCloud(clouds[name], name, file) : {};
}

/** Later fields win, those of `auth` one by one. */
function overlay(under: Cloud, over: Cloud): Cloud {
  const set = <Fields extends object>(fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
  return { ...under, ...set(over), auth: { ...under.auth, ...set(over.auth ?? {}) } };
}

/** Empty variables count as not set, as shells leave them behind. */
function fromEnvironment(env: Environment): Cloud {
  const value = (field: string): string | undefined => env[`OS_${field.toUpperCase()}`] || undefined;
  const auth = Object.fromEntries(Object.keys(authSchema.shape).map((field) => [field, value(field)])) as Auth;
  return {
    auth,
    auth_type: value('auth_type'),
    region_name: value('region_name'),
    interface: value('interface') ?? value('endpoint_type'),
    cacert: value('cacert'),
    compute_endpoint_override: value('compute_endpoint_override'),
    placement_endpoint_override: value('placement_endpoint_override'),
  };
}

/** Where a person sets a field. */
export type At = (field: string) => string;

const whereIn =
  ({ name, sources }: ChosenCloud): At =>
  (field) => {
    const variable = `OS_${(field.split('.').at(-1) ?? field).toUpperCase()}`;
    return name === null ? variable : `clouds.${name}.${field} in ${sources.join(' or ')}, or ${variable}`;
  };

function needed(value: string | undefined, where: string): string {
  if (value !== undefined && value !== '') return value;
  throw droverFailure('InvalidConfiguration', `OpenStack’s settings are incomplete: set ${where}.`);
}

function credentialOf(type: string | undefined, auth: Auth, at: At): Credential {
  const hasApplicationCredential =
    auth.application_credential_id !== undefined || auth.application_credential_name !== undefined;
  switch (type ?? (hasApplicationCredential ? 'v3applicationcredential' : 'password')) {
    case 'v3applicationcredential':
      return applicationCredential(auth, at);
    case 'password':
    case 'v3password':
      return {
        method: 'password',
        user: named(auth.user_id, auth.username, domain(auth, 'user'), at('auth.username')),
        password: needed(auth.password, at('auth.password')),
        project: named(
          auth.project_id ?? auth.tenant_id,
          auth.project_name ?? auth.tenant_name,
          domain(auth, 'project'),
          at('auth.project_name'),
        ),
      };
    default:
      throw droverFailure(
        'InvalidConfiguration',
        `auth_type ${type} is not supported: set ${at('auth_type')} to password or v3applicationcredential.`,
      );
  }
}

function applicationCredential(auth: Auth, at: At): Credential {
  const secret = needed(auth.application_credential_secret, at('auth.application_credential_secret'));
  if (auth.application_credential_id !== undefined)
    return { method: 'application_credential', id: auth.application_credential_id, secret };
  const name = needed(auth.application_credential_name, at('auth.application_credential_id'));
  return {
    method: 'application_credential',
    name,
    user: named(auth.user_id, auth.username, domain(auth, 'user'), at('auth.username')),
    secret,
  };
}

function named(
  id: string | undefined,
  name: string | undefined,
  inDomain: { id: string } | { name: string },
  where: string,
): Named {
  return id !== undefined && id !== '' ? { id } : { name: needed(name, where), domain: inDomain };
}

/** Without any domain it is `default`, as the `openstack` command takes it. */
function domain(auth: Auth, of: 'user' | 'project'): { id: string } | { name: string } {
  const id =
    auth[`${of}_domain_id`] ??
    (auth[`${of}_domain_name`] === undefined ? (auth.domain_id ?? auth.default_domain_id) : undefined);
  if (id !== undefined) return { id };
  const name = auth[`${of}_domain_name`] ?? auth.domain_name ?? auth.default_domain_name;
  return name === undefined ? { id: auth.default_domain ?? 'default' } : { name };
}

/** Old files say `publicURL`. */
function interfaceOf(value: string, where: string): OpenStackSettings['interface'] {
  const name = value.replace(/URL$/u, '');
  if (name === 'public' || name === 'internal' || name === 'admin') return name;
  throw droverFailure('InvalidConfiguration', `The interface is ${value}: set ${where} to public, internal or admin.`);
}

/** Longer than any address of a service. */
const longestUrl = 2_048;

function httpUrl(value: string, where: string): string {
  if (value.length > longestUrl)
    throw droverFailure('InvalidConfiguration', `The URL is longer than ${longestUrl} characters: correct ${where}.`);
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw droverFailure('InvalidConfiguration', `${value} is no http or https URL: correct ${where}.`);
  if (url.username !== '' || url.password !== '')
    throw droverFailure('InvalidConfiguration', `The URL holds a user or password: correct ${where}.`);
  return value.replace(/\/+$/u, '');
}

function identityUrl(value: string, where: string): string {
  const url = httpUrl(value, where);
  if (url.endsWith('/v2.0'))
    throw droverFailure('InvalidConfiguration', `${value} is the Identity API v2.0, which is gone: correct ${where}.`);
  return url.endsWith('/v3') ? url : `${url}/v3`;
}
