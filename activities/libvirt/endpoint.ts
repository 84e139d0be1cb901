import { isIP } from 'node:net';

import { droverFailure } from '../../runtime/failure.ts';

/** Where and how a daemon is reached, and what it is asked to open. */
export interface LibvirtEndpoint {
  transport: 'tcp' | 'tls';
  /** A name or an IP address, without brackets. */
  host: string;
  port: number;
  /** The daemon's own URI, such as `qemu:///system`. */
  uri: string;
}

/** What libvirtd and virtproxyd listen on. */
const defaultPorts = { tcp: 16_509, tls: 16_514 } as const;

const longestName = 253;
const longestTemplate = 1_000;
/** Nothing that could become another part of the URI. */
const hostPattern = /^[A-Za-z0-9:._-]{1,253}$/u;
const placeholder = '{host}';
const drivers = 'qemu|ch|test';
const pattern = new RegExp(
  `^(${drivers})\\+(tcp|tls)://(\\[[0-9A-Fa-f:.]{2,45}\\]|[A-Za-z0-9._-]{1,253})(?::(\\d{1,5}))?(/[A-Za-z0-9._/-]{1,200})$`,
  'u',
);

/**
 * The endpoint of one host.
 *
 * @param connectUri such as `qemu+tls://{host}/system`; an IPv6 address gets its brackets
 * @param host name or IP address
 * @throws InvalidConfiguration
 */
export function endpointOf(connectUri: string, host: string): LibvirtEndpoint {
  if (!hostPattern.test(host))
    throw droverFailure('InvalidConfiguration', `${host.slice(0, longestName)} is no name or address of a host`);
  const authorityOfHost = isIP(host) === 6 ? `[${host}]` : host;
  const uri = connectUri.slice(0, longestTemplate).replaceAll(placeholder, () => authorityOfHost);
  const [, driver, transport, authority, digits, path] = pattern.exec(uri) ?? [];
  if (
    driver === undefined ||
    authority === undefined ||
    path === undefined ||
    (transport !== 'tcp' && transport !== 'tls')
  )
    throw invalid(uri, 'is not of the form qemu+tls://{host}/system, ch+tcp://{host}:16509/system');
  const port = digits === undefined ? defaultPorts[transport] : Number(digits);
  if (port < 1 || port > 65_535) throw invalid(uri, 'has no port between 1 and 65535');
  return { transport, host: authority.replaceAll(/[[\]]/gu, ''), port, uri: `${driver}://${path}` };
}

const invalid = (uri: string, what: string) => droverFailure('InvalidConfiguration', `The libvirt URI ${uri} ${what}`);
