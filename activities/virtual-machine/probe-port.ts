import { lookup } from 'node:dns/promises';
import { BlockList, connect, isIP } from 'node:net';

import type { Clock } from '../../runtime/clock.ts';

/** A port that a readiness probe names. */
export interface PortTarget {
  /** An address or a name. */
  host: string;
  port: number;
  timeoutMs: number;
}

export interface PortAnswer {
  passed: boolean;
  message: string;
}

/** Connects, and closes at once: nothing is sent or read. Never fails but by its signal. */
export type ProbePort = (target: PortTarget, signal: AbortSignal) => Promise<PortAnswer>;

/** An observation has 15 s for everything: one that would take longer counts as no answer. */
export const longestProbeMs = 5_000;

/**
 * Of the worker's machine and of the network that it is in: no guest has these, and what listens there is no user's to
 * ask about.
 */
const own = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
] as const)
  own.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 127],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  own.addSubnet(net, bits, 'ipv6');

/** Also as IPv6 writes the addresses of IPv4. Pure. */
export function isForbidden(address: string): boolean {
  const mapped = /^::ffff:(?<v4>[\d.]+)$/iu.exec(address)?.groups?.['v4'];
  const plain = mapped ?? address;
  return isIP(plain) === 0 || own.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
}

export const openPortProber =
  ({ clock, isForbiddenAddress = isForbidden }: { clock: Clock; isForbiddenAddress?: typeof isForbidden }): ProbePort =>
  async ({ host, port, timeoutMs }, signal) => {
    const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const refused = (why: string): PortAnswer => ({ passed: false, message: `${where} from this worker: ${why}` });
    const limitMs = Math.min(timeoutMs, longestProbeMs);
    const { promise: over, resolve: end } = Promise.withResolvers<PortAnswer>();
    const cancelTimer = clock.schedule(() => end(refused(`no answer within ${limitMs / 1_000} s`)), limitMs);
    const abort = (): void => end(refused('the probe was cancelled'));
    signal.addEventListener('abort', abort, { once: true });
    const closing = new AbortController();
    try {
      const answer = await Promise.race([over, knock({ host, port, refused, isForbiddenAddress }, closing.signal)]);
      signal.throwIfAborted();
      return answer;
    } finally {
      closing.abort();
      cancelTimer();
      signal.removeEventListener('abort', abort);
    }
  };

interface Knock extends Pick<PortTarget, 'host' | 'port'> {
  refused: (why: string) => PortAnswer;
  isForbiddenAddress: typeof isForbidden;
}

async function knock({ host, port, refused, isForbiddenAddress }: Knock, signal: AbortSignal): Promise<PortAnswer> {
  let address = host;
  try {
    // The address that was judged is the one that is connected to.
    if (isIP(host) === 0) address = (await lookup(host)).address;
  } catch {
    return refused('there is no such name');
  }
  if (isForbiddenAddress(address))
    return refused('no guest has such an address: name the guest’s own, or leave the host out');
  if (signal.aborted) return refused('the probe was cancelled');
  const { promise, resolve } = Promise.withResolvers<PortAnswer>();
  const socket = connect({ host: address, port });
  const close = (): void => void socket.destroy();
  signal.addEventListener('abort', close, { once: true });
  socket.once('connect', () => resolve({ passed: true, message: '' }));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(refused(error.code ?? error.message)));
  socket.once('close', () => resolve(refused('it was closed')));
  return await promise;
}
