import { droverFailure } from '../../runtime/failure.ts';
import type { BmcConfig } from '../../runtime/config/node-failure-config.ts';
import { requireText, type ReadText } from '../../runtime/read-text.ts';
import type { BmcSettings } from './types.ts';

/** Whether a BMC is configured for that host. Pure. */
export function hasBmc(config: BmcConfig | null, host: string): config is BmcConfig {
  const own = config === null ? undefined : ownEntry(config, host);
  return own !== undefined && (own.url ?? config?.url ?? null) !== null;
}

/** A name may be that of something that every object has. */
const ownEntry = ({ hosts }: BmcConfig, host: string): BmcConfig['hosts'][string] | undefined =>
  Object.hasOwn(hosts, host) ? hosts[host] : undefined;

/**
 * How the BMC of a host is reached, with the password as its file has it now: a Secret may have been renewed. Which
 * machine is meant must be said for each host, so that none is powered off by mistake.
 *
 * @throws SystemNotFound for a host without a BMC; InvalidConfiguration where a file cannot be read
 */
export async function findBmc(
  config: BmcConfig | null,
  host: string,
  readText: ReadText,
  signal: AbortSignal,
): Promise<BmcSettings> {
  if (!hasBmc(config, host))
    throw droverFailure(
      'SystemNotFound',
      `No BMC of ${host} is configured: set nodeFailure.bmc.hosts, with the machine’s path, UUID or serial number`,
    );
  const { url, ...system } = ownEntry(config, host) ?? {};
  const { username, passwordFile, caFile, auth } = config;
  const file = passwordFile.replaceAll('{host}', () => host);
  const text = (name: string): Promise<string> => requireText(readText, name, 'What opens the BMCs', signal);
  const [password, ca] = await Promise.all([text(file), caFile === null ? null : text(caFile)]);
  return {
    url: url ?? (config.url ?? '').replaceAll('{host}', () => host),
    username,
    password: password.replace(/\r?\n$/u, ''),
    auth,
    ca,
    system: withoutUndefined(system),
  };
}

const withoutUndefined = (system: {
  path?: string | undefined;
  uuid?: string | undefined;
  serial?: string | undefined;
}): BmcSettings['system'] => ({
  ...(system.path === undefined ? {} : { path: system.path }),
  ...(system.uuid === undefined ? {} : { uuid: system.uuid }),
  ...(system.serial === undefined ? {} : { serial: system.serial }),
});
