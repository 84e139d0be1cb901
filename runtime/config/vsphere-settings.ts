import { readFile } from 'node:fs/promises';

import { droverFailure } from '../failure.ts';
import { isError } from '../is-error.ts';
import { registerSecret } from '../redaction.ts';
import type { Config } from './config-schema.ts';
import { checkSettings, expandHome, readCertificates, type SearchOptions } from './settings-file.ts';
import {
  vsphereConfig,
  type VcenterBudget,
  type VcenterConfig,
  type VcenterPlaces,
  type VsphereConfig,
} from './vsphere-config.ts';

export interface VcenterCredential {
  username: string;
  password: string;
}

/** How to reach one vCenter. */
export interface VcenterSettings {
  /** As people call it, in settings and task queues. */
  name: string;
  /** `https://vcenter.example`, without a slash at the end. */
  url: string;
  /** Read anew for each login. @throws InvalidConfiguration; the signal's reason */
  credential: (signal: AbortSignal) => Promise<VcenterCredential>;
  /** PEM certificates to trust; null: the system's. */
  ca: string | null;
  /**
   * SHA-256 of the only certificate that is taken, in lower case and without colons; null: certificates are verified.
   */
  thumbprint: string | null;
  budget: VcenterBudget;
  places: VcenterPlaces;
  /** Where people say which certificates to trust; default: drover’s settings. */
  trust?: string;
}

type Environment = Record<string, string | undefined>;

/** Whether any kind is on that needs a vCenter. What is switched off need not be well described. */
export const speaksToVcenters = ({ modes: { VirtualMachine, VsphereAgent } }: Pick<Config, 'modes'>): boolean =>
  VirtualMachine !== 'off' || VsphereAgent !== 'off';

/**
 * The vCenters of drover's settings; without any, the one of `GOVC_URL`, `GOVC_USERNAME`, `GOVC_PASSWORD` and
 * `GOVC_TLS_CA_CERTS`, as `govc` takes them.
 *
 * @throws InvalidConfiguration naming the field, or the variable
 */
export function loadVcenters(
  { vcenters }: VsphereConfig,
  env: Environment = process.env,
  options: SearchOptions = {},
): VcenterSettings[] {
  const named = Object.entries(vcenters).map(([name, config]) => fromConfig(name, config, options));
  if (named.length > 0) return named;
  return env['GOVC_URL'] ? [fromEnvironment(env['GOVC_URL'], env, options)] : [];
}

function fromConfig(
  name: string,
  {
    url,
    username,
    usernameFile,
    passwordFile,
    caFile,
    thumbprint,
    budget,
    zones,
    storagePolicies,
    networks,
  }: VcenterConfig,
  options: SearchOptions,
): VcenterSettings {
  const file = (path: string): string => expandHome(path, options);
  const credential = async (signal: AbortSignal): Promise<VcenterCredential> => ({
    username: username ?? (await readSecret(file(usernameFile ?? ''), `the user of vCenter ${name}`, signal)),
    password: await readSecret(file(passwordFile), `the password of vCenter ${name}`, signal),
  });
  return {
    name,
    url,
    credential,
    ca: caFile === null ? null : readCertificates(file(caFile), `vsphere.vcenters.${name}.caFile`),
    thumbprint,
    budget,
    places: { zones, storagePolicies, networks },
  };
}

function fromEnvironment(given: string, env: Environment, options: SearchOptions): VcenterSettings {
  const withScheme = given.includes('://') ? given : `https://${given}`;
  const url = URL.parse(withScheme);
  if (url === null)
    throw droverFailure('InvalidConfiguration', 'GOVC_URL is no address of a vCenter, such as https://vcenter.example');
  if (/^(1|true)$/iu.test(env['GOVC_INSECURE'] ?? ''))
    throw droverFailure(
      'InvalidConfiguration',
      'GOVC_INSECURE is set, and drover verifies every certificate: name the CA in GOVC_TLS_CA_CERTS, or write a thumbprint into vsphere.vcenters.',
    );
  const username = env['GOVC_USERNAME'] || decodeURIComponent(url.username);
  const password = env['GOVC_PASSWORD'] || decodeURIComponent(url.password);
  if (username === '' || password === '')
    throw droverFailure(
      'InvalidConfiguration',
      'GOVC_URL is set without a user or a password: set GOVC_USERNAME and GOVC_PASSWORD.',
    );
  registerSecret(password);
  const name = url.hostname.replaceAll(/[^a-z0-9.-]/gu, '');
  // The rest is checked, and given its defaults, where settings are.
  const config = checkSettings(
    vsphereConfig,
    {
      vcenters: {
        [name]: { url: `${url.protocol}//${url.host}${url.pathname}`, username, passwordFile: 'GOVC_PASSWORD' },
      },
    },
    'GOVC_URL',
  ).vcenters[name];
  if (config === undefined) throw droverFailure('InvalidConfiguration', 'GOVC_URL names no host');
  const ca = env['GOVC_TLS_CA_CERTS']
    ? readCertificates(expandHome(env['GOVC_TLS_CA_CERTS'], options), 'GOVC_TLS_CA_CERTS')
    : null;
  return {
    name,
    url: config.url,
    credential: () => Promise.resolve({ username, password }),
    ca,
    thumbprint: null,
    budget: config.budget,
    places: { zones: config.zones, storagePolicies: config.storagePolicies, networks: config.networks },
  };
}

async function readSecret(path: string, what: string, signal: AbortSignal): Promise<string> {
  try {
    return (await readFile(path, { encoding: 'utf8', signal })).replace(/\r?\n$/u, '');
  } catch (error) {
    signal.throwIfAborted();
    throw droverFailure(
      'InvalidConfiguration',
      `The file of ${what} cannot be read: ${isError(error) ? error.message : String(error)}`,
    );
  }
}
