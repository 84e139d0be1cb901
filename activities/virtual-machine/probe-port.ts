import { Resolver } from 'node:dns/promises';
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

/** Finds an address of a name; null: there is none. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<string | null>;

/**
 * By DNS itself, and not as the machine looks up names: that holds a thread until a silent server is given up, and the
 * worker has few of them, which all of its own connections need. The name is taken as it is written, without search
 * domains.
 */
const askDns: ResolveName = async (name, signal) => {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [address] = await resolver.resolve4(name).catch(() => (signal.aborted ? [] : resolver.resolve6(name)));
    return address ?? null;
  } catch {
    return null;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

interface Prober {
  clock: Clock;
  isForbiddenAddress?: typeof isForbidden;
  resolveName?: ResolveName;
}

export const openPortProber =
  ({ clock, isForbiddenAddress = isForbidden, resolveName = askDns }: Prober): ProbePort =>
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
      const knocking = knock({ host, port, refused, isForbiddenAddress, resolveName }, closing.signal);
      const answer = await Promise.race([over, knocking]);
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
  resolveName: ResolveName;
}

async function knock(
  { host, port, refused, isForbiddenAddress, resolveName }: Knock,
  signal: AbortSignal,
): Promise<PortAnswer> {
  // The address that was judged is the one that is connected to.
  const address = isIP(host) === 0 ? await resolveName(host, signal) : host;
  if (address === null) return refused('DNS knows no such name');
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
