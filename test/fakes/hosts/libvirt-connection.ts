import type { LibvirtEndpoint } from '../../../activities/libvirt/endpoint.ts';
import { transportFault } from '../../../activities/libvirt/faults.ts';
import type { EventListener, Rpc } from '../../../activities/libvirt/rpc.ts';
import type { LibvirtAccess, LibvirtCertificate } from '../../../activities/libvirt/types.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { VirtualClock } from '../../simulator/clock.ts';
import type { Network } from '../../simulator/network.ts';
import { currentProcess, runIn } from '../../simulator/process.ts';
import { within } from '../within.ts';
import type { LibvirtDaemon } from './libvirt-daemon.ts';
import type { Session } from './libvirt-handlers.ts';

export interface ConnectionOptions {
  clock: VirtualClock;
  network: Network;
  /**
   * The daemon that listens there. null: a machine without power, nothing comes back.
   *
   * @throws what dialling throws for a name that is none
   */
  daemonAt: (endpoint: LibvirtEndpoint, certificate: LibvirtCertificate | null) => LibvirtDaemon | null;
}

/** Intervals without a sign of life after which the daemon counts as gone: the real client notices at the sixth. */
const silentIntervals = 6;
/** The longest way of an event. */
const latencyMs = 5;

/** The client's end of a connection, on which the real client's verbs work. */
export async function dialFake(
  options: ConnectionOptions,
  endpoint: LibvirtEndpoint,
  access: LibvirtAccess,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Rpc> {
  const { clock, network, daemonAt } = options;
  const { host, port } = endpoint;
  const fault = (code: string): Error => {
    const { code: type, words } = transportFault(Object.assign(new Error(code), { code }));
    return droverFailure(type, `libvirt at ${host}:${port}: ${words}`);
  };
  const late = (): Error =>
    droverFailure('LibvirtUnavailable', `libvirt at ${host}:${port}: no connection within ${timeoutMs / 1_000} s`);
  const process = currentProcess();
  return within(clock, timeoutMs, late, signal, (bounded) => {
    const dial = async (): Promise<Rpc> => {
      const daemon = daemonAt(endpoint, access.certificate);
      if (daemon === null) return new Promise<never>(() => undefined);
      if (daemon.service.state === 'down') throw fault('ECONNREFUSED');
      // Where it is frozen the kernel takes the connection, but TLS needs the daemon.
      if (endpoint.transport === 'tls') await daemon.service.serving(() => fault('ECONNRESET'));
      return runIn(process, () => connect(options, daemon, endpoint, access));
    };
    return network.call({ system: 'libvirt', verb: 'connect' }, dial, bounded, () => fault('ECONNRESET'));
  });
}

function connect(
  { clock, network }: ConnectionOptions,
  daemon: LibvirtDaemon,
  { host, port }: LibvirtEndpoint,
  { credential }: LibvirtAccess,
): Rpc {
  const process = currentProcess();
  const where = `libvirt at ${host}:${port}`;
  const closed = (words: string): Error => droverFailure('LibvirtUnavailable', `${where}: ${words}`);
  const pending = new Set<AbortController>();
  const listeners = new Set<EventListener>();
  /** What the daemon has sent and the client has not got: one stream, in order. */
  const under: (() => void)[] = [];
  let lost: Error | null = null;
  let silence = (): void => undefined;
  let stopWatching = (): void => undefined;

  const lose = (failure: Error): void => {
    if (lost !== null) return;
    lost = failure;
    silence();
    stopWatching();
    daemon.close(session);
    for (const call of pending) call.abort(failure);
    for (const listener of listeners) listener.lost(failure);
    listeners.clear();
  };
  const send = (arrive: () => void): void => {
    under.push(arrive);
    runIn(process, () => clock.soon(latencyMs, () => under.shift()?.()));
  };
  const session: Session = {
    isAlive: () => process.isAlive,
    credential,
    uri: null,
    kinds: new Set(),
    send: ({ procedure, payload }) =>
      send(() => {
        // What the network does not bring ends the connection, once the signs of life are missed.
        if (network.isAway('libvirt')) return lose(closed('the connection was cut'));
        for (const listener of listeners) listener.event(procedure, payload);
      }),
    cut: () => send(() => lose(closed('the connection was closed'))),
  };
  daemon.open(session);

  return {
    async call(name, args, { timeoutMs, signal }) {
      signal.throwIfAborted();
      if (lost !== null) throw lost;
      const call = new AbortController();
      const abort = (): void => call.abort(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      pending.add(call);
      const cut = (): Error => closed('the connection was cut');
      const answer = async () => {
        await daemon.service.serving(cut);
        // A connection that was lost meanwhile carries nothing any more.
        if (lost !== null) throw lost;
        return daemon.answer(session, name, args);
      };
      const failed = (): Error => {
        lose(cut());
        return cut();
      };
      const late = (): Error => closed(`no answer to ${name} within ${timeoutMs / 1_000} s`);
      try {
        return await within(clock, timeoutMs, late, call.signal, (bounded) =>
          network.call({ system: 'libvirt', verb: name }, answer, bounded, failed),
        );
      } finally {
        pending.delete(call);
        signal.removeEventListener('abort', abort);
      }
    },

    keepAlive(intervalMs) {
      const watch = (state: 'up' | 'down' | 'frozen'): void => {
        silence();
        if (state !== 'frozen' || lost !== null) return;
        const silentMs = silentIntervals * intervalMs;
        silence = runIn(process, () =>
          clock.schedule(() => lose(closed(`no sign of life for ${(silentMs / 1_000).toFixed(1)} s`)), silentMs),
        );
      };
      stopWatching();
      stopWatching = daemon.service.onChange(watch);
      watch(daemon.service.state);
    },

    listen(listener) {
      if (lost !== null) listener.lost(lost);
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },

    destroy: () => lose(closed('drover closed the connection')),
  };
}
