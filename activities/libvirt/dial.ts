import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { LibvirtEndpoint } from './endpoint.ts';
import { transportFault } from './faults.ts';
import type { LibvirtCertificate } from './types.ts';

/** What the daemon sends when it takes the client’s certificate. */
const accepted = 1;

/**
 * A connection on which the daemon listens. Over TLS it has accepted drover’s certificate, which it says with one byte.
 *
 * @throws `LibvirtUnavailable`, `CertificateNotTrusted`, `LibvirtCredentialRefused`; the signal's reason when
 * it is aborted
 */
export async function dial(
  endpoint: LibvirtEndpoint,
  certificate: LibvirtCertificate | null,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const { host, port } = endpoint;
  const socket = endpoint.transport === 'tls' ? startTls(endpoint, certificate) : connectTcp({ host, port });
  socket.setNoDelay(true);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancelTimer = clock.schedule(
    () =>
      reject(
        droverFailure('LibvirtUnavailable', `libvirt at ${host}:${port}: no connection within ${timeoutMs / 1_000} s`),
      ),
    timeoutMs,
  );
  const abort = (): void => reject(signal.reason);
  const fail = (error: Error): void => {
    const { code, words } = transportFault(error);
    reject(droverFailure(code, `libvirt at ${host}:${port}: ${words}`, { cause: error }));
  };
  const closed = (): void => reject(closedEarly(endpoint, certificate));
  signal.addEventListener('abort', abort, { once: true });
  socket.on('error', fail);
  socket.once('close', closed);
  const ready = (): void => {
    if (endpoint.transport === 'tcp' || acceptsCertificate(socket)) resolve();
  };
  const readiness = endpoint.transport === 'tcp' ? 'connect' : 'readable';
  socket.on(readiness, ready);
  try {
    await promise;
    return socket;
  } catch (error) {
    socket.on('error', () => undefined); // errors of a closing connection do not matter
    socket.destroy();
    throw error;
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', abort);
    socket.off('error', fail);
    socket.off('close', closed);
    socket.off(readiness, ready);
  }
}

function startTls({ host, port }: LibvirtEndpoint, certificate: LibvirtCertificate | null): Socket {
  try {
    return connectTls({
      host,
      port,
      minVersion: 'TLSv1.2',
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(certificate === null
        ? {}
        : {
            ca: certificate.ca,
            ...(certificate.cert === null ? {} : { cert: certificate.cert }),
            ...(certificate.key === null ? {} : { key: certificate.key }),
          }),
    });
  } catch (error) {
    // Certificates that OpenSSL cannot read, or a key that belongs to another one.
    throw droverFailure('InvalidConfiguration', 'The certificate or key for libvirt cannot be used', { cause: error });
  }
}

/** Takes exactly the one byte; what follows is the protocol’s. */
function acceptsCertificate(socket: Socket): boolean {
  const byte = socket.read(1) as Buffer | null;
  if (byte === null) return false; // the end of the stream, which `close` reports
  if (byte[0] === accepted) return true;
  socket.destroy();
  return false;
}

/** A daemon that does not take the certificate closes the connection without a word. */
function closedEarly({ transport, host, port }: LibvirtEndpoint, certificate: LibvirtCertificate | null) {
  if (transport === 'tcp')
    return droverFailure('LibvirtUnavailable', `libvirt at ${host}:${port}: the connection was cut`);
  const which =
    certificate?.cert === undefined || certificate.cert === null
      ? 'it asks for a client certificate, and drover has none'
      : 'it does not take drover’s client certificate';
  return droverFailure(
    'LibvirtCredentialRefused',
    `libvirt at ${host}:${port} closed the connection after the TLS handshake: ${which}`,
  );
}
