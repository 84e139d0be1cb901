import type { Clock } from '../../runtime/clock.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { type ObserveCall, observedAs } from '../../runtime/telemetry/outside-calls.ts';
import { authenticate } from './authenticate.ts';
import { dial } from './dial.ts';
import type { LibvirtEndpoint } from './endpoint.ts';
import { createOperations } from './operations.ts';
import { type Rpc, createRequest, createRpc } from './rpc.ts';
import type { LibvirtAccess, LibvirtCertificate, LibvirtConnection, LibvirtTimeouts } from './types.ts';
import type { ProcedureArgs, ProcedureName } from './wire/procedures.ts';

/** Below the 15 s that a short activity has; storage and starts belong into longer ones. */
export const defaultLibvirtTimeouts: LibvirtTimeouts = {
  connectMs: 8_000,
  callMs: 10_000,
  startMs: 30_000,
  storageMs: 40_000,
  keepAliveMs: 5_000,
};

/** VIR_DRV_FEATURE_PROGRAM_KEEPALIVE. Asking for it also makes the daemon check whether drover still lives. */
const keepAliveFeature = 10;

const goodByeMs = 1_000;

/** Connects to where a daemon listens, before the login. @throws as {@link dial} */
export type OpenRpc = (
  endpoint: LibvirtEndpoint,
  certificate: LibvirtCertificate | null,
  timeoutMs: number,
  signal: AbortSignal,
) => Promise<Rpc>;

export interface LibvirtOptions {
  clock: Clock;
  timeouts?: Partial<LibvirtTimeouts>;
  observe?: ObserveCall;
  /** What calls and events come by; default: a connection of its own. */
  openRpc?: OpenRpc;
}

const dialRpc =
  (clock: Clock): OpenRpc =>
  async (endpoint, certificate, timeoutMs, signal) =>
    createRpc(await dial(endpoint, certificate, { clock, timeoutMs }, signal), endpoint, clock);

/**
 * Opens the daemon of one host. One connection, no retries; what it starts with `autodestroy` lives as long as it.
 *
 * @throws `LibvirtUnavailable`, `CertificateNotTrusted`, `LibvirtCredentialRefused`, `LibvirtDriverMissing`,
 * `LibvirtRefused`, `HypervisorFailed`, `AnswerMalformed`, `InvalidConfiguration`; the signal's reason when
 * it is aborted
 */
export async function connectLibvirt(
  endpoint: LibvirtEndpoint,
  access: LibvirtAccess,
  options: LibvirtOptions,
  signal: AbortSignal,
): Promise<LibvirtConnection> {
  const timeouts = { ...defaultLibvirtTimeouts, ...options.timeouts };
  const { clock } = options;
  const deadlineMs = clock.monotonicMs() + timeouts.connectMs;
  const leftMs = (): number => Math.max(1, Math.round(deadlineMs - clock.monotonicMs()));
  if (access.credential !== null) registerSecret(access.credential.password);

  const dialled = { system: 'libvirt', verb: 'connect' } as const;
  const open = options.openRpc ?? dialRpc(clock);
  const rpc = await observedAs(
    options.observe,
    dialled,
    signal,
    () => open(endpoint, access.certificate, timeouts.connectMs, signal),
    () => ({ outcome: 'ok', status: null, requestId: '' }),
  );
  const request = createRequest(rpc, endpoint, timeouts, options.observe);
  try {
    const ask = <Name extends ProcedureName>(name: Name, args: ProcedureArgs<Name>) =>
      request(name, args, signal, leftMs());
    await authenticate(ask, endpoint, access.credential);
    const { supported } = await ask('connectSupportsFeature', { feature: keepAliveFeature });
    await ask('connectOpen', { name: endpoint.uri, flags: 0 });
    const { uri } = await ask('connectGetUri', {});
    if (supported !== 0) rpc.keepAlive(timeouts.keepAliveMs);
    return { uri, ...createOperations(rpc, request, timeouts), close: () => close(rpc) };
  } catch (error) {
    rpc.destroy();
    throw error;
  }
}

/** A daemon that does not answer any more is left without a good-bye. */
async function close(rpc: Rpc): Promise<void> {
  // The call has a time-out of its own.
  await rpc
    .call('connectClose', {}, { timeoutMs: goodByeMs, signal: new AbortController().signal })
    .catch(() => undefined);
  rpc.destroy();
}
