import { isIPv6 } from 'node:net';
import { droverFailure } from '../../runtime/failure.ts';
import type { OvsdbRemote } from './types.ts';

const shape = /^(tcp|ssl):(\[[^[\]\s]{1,64}\]|[^:[\]\s]{1,253}):(\d{1,5})$/u;

/** @param template `ssl:{host}:6640` */
export const addressOf = (template: string, host: string): string =>
  template.replaceAll('{host}', () => (isIPv6(host) ? `[${host}]` : host));

/** @throws InvalidConfiguration where that is no address of an OVSDB server */
export function remoteOf(address: string): OvsdbRemote {
  const [, protocol, name = '', port] = shape.exec(address) ?? [];
  if (protocol === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw droverFailure(
      'InvalidConfiguration',
      `“${address.slice(0, 300)}” is no address of an OVSDB server: tcp:HOST:PORT or ssl:HOST:PORT is one`,
    );
  }
  return { protocol: protocol as OvsdbRemote['protocol'], host: name.replaceAll(/[[\]]/gu, ''), port: Number(port) };
}

export const nameOf = ({ protocol, host, port }: OvsdbRemote): string =>
  `${protocol}:${isIPv6(host) ? `[${host}]` : host}:${port}`;
