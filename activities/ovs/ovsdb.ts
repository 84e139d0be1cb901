import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import { observedAs, type CallOutcome, type ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { refusalFailure, socketFailure, type OvsdbRefusal } from './faults.ts';
import { splitObjects } from './json-stream.ts';
import { nameOf } from './remote.ts';
import type { OvsdbCredential, OvsdbRemote, OvsdbTimeouts } from './types.ts';
import { message, refusal } from './wire.ts';

/** Below the 15 s that a short activity has, so that its failure says what took so long. */
const defaultTimeouts: OvsdbTimeouts = { connectMs: 4_000, answerMs: 8_000 };

/** A host with thousands of ports answers with about a tenth of that. */
const largestMessageBytes = 16 * 1024 * 1024;

export interface OvsdbOptions {
  clock: Clock;
  /** Needed for `ssl`. */
  credential?: OvsdbCredential | null;
  timeouts?: Partial<OvsdbTimeouts>;
  mostBytes?: number;
  observe?: ObserveCall;
}

/** A connection to an OVSDB server. What goes wrong with it ends it, and fails all that is asked. */
export interface OvsdbConnection {
  /** `tcp:10.0.0.1:6640`, for people. */
  server: string;
  /**
   * Sends a request; resolves to the result as it came.
   *
   * @throws OvsUnavailable, AnswerMalformed; RequestRefused where the server says no; the signal's reason
   */
  request(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>;
  close(): void;
}

type Answer = { result: unknown } | { refused: OvsdbRefusal };

/**
 * Connects to an OVSDB server (JSON-RPC 1.0 of RFC 7047, over TCP or TLS).
 *
 * @throws OvsUnavailable, CertificateNotTrusted, InvalidConfiguration; the signal's reason
 */
export async function connectOvsdb(
  remote: OvsdbRemote,
  options: OvsdbOptions,
  signal: AbortSignal,
): Promise<OvsdbConnection> {
  signal.throwIfAborted();
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const server = `the OVSDB server ${nameOf(remote)}`;
  const socket = openSocket(remote, options.credential ?? null);
  const opened = Promise.withResolvers<void>();
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let ended: { reason: unknown } | null = null;
  let lastId = 0;

  const end = (reason: unknown): void => {
    if (ended !== null) return;
    ended = { reason };
    socket.destroy();
    opened.reject(reason);
    for (const one of waiting.values()) one.reject(reason);
    waiting.clear();
  };
  const send = (content: object): void => {
    socket.write(JSON.stringify(content));
    if (socket.writableLength > largestMessageBytes)
      end(droverFailure('OvsUnavailable', `${server} sends and does not read`));
  };
  const receive = (content: unknown): void => {
    const { data } = message.safeParse(content);
    if (data === undefined)
      throw droverFailure('AnswerMalformed', `A message of ${server} is neither a request nor an answer`);
    // The server asks a client that is silent for a while whether it still lives, and drops one that does not answer.
    if ('method' in data)
      return data.method === 'echo' && data.id !== null && data.id !== undefined
        ? send({ id: data.id, result: data.params, error: null })
        : undefined;
    const asked = typeof data.id === 'number' ? waiting.get(data.id) : undefined;
    if (asked === undefined) throw droverFailure('AnswerMalformed', `${server} answered a request that was not sent`);
    // Read before it is forgotten: an answer that cannot be read fails what still waits.
    const answer = answerOf(data.error, data.result, server);
    waiting.delete(data.id as number);
    asked.resolve(answer);
  };

  const take = splitObjects(options.mostBytes ?? largestMessageBytes);
  socket.on('data', (bytes: Buffer) => {
    try {
      for (const content of take(bytes)) receive(content);
    } catch (error) {
      end(error);
    }
  });
  socket.on('error', (error) => end(socketFailure(error, server)));
  socket.on('close', () =>
    end(droverFailure('OvsUnavailable', `${server}: the connection was cut before the answer was complete`)),
  );
  socket.once(remote.protocol === 'ssl' ? 'secureConnect' : 'connect', () => opened.resolve());

  /** What takes too long or is no longer wanted ends the connection: an answer that came later would be nobody's. */
  const bounded = async <Value>(
    awaited: Promise<Value>,
    limitMs: number,
    missing: string,
    wanted: AbortSignal,
  ): Promise<Value> => {
    const abort = (): void => end(wanted.reason);
    const cancelTimer = options.clock.schedule(
      () => end(droverFailure('OvsUnavailable', `${server}: ${missing} within ${limitMs / 1_000} s`)),
      limitMs,
    );
    wanted.addEventListener('abort', abort, { once: true });
    try {
      return await awaited;
    } finally {
      cancelTimer();
      wanted.removeEventListener('abort', abort);
    }
  };
  const ask = (method: string, params: readonly unknown[], wanted: AbortSignal): Promise<Answer> => {
    wanted.throwIfAborted();
    if (ended !== null) throw ended.reason;
    const asked = Promise.withResolvers<Answer>();
    lastId += 1;
    waiting.set(lastId, asked);
    send({ method, params, id: lastId });
    return bounded(asked.promise, timeouts.answerMs, `no answer to ${method}`, wanted);
  };

  await observedAs(
    options.observe,
    { system: 'ovs', verb: 'connect' },
    signal,
    () => bounded(opened.promise, timeouts.connectMs, 'no connection', signal),
    () => ({ outcome: 'ok', status: null, requestId: '' }),
  );
  return {
    server,
    request: async (method, params, wanted) => {
      const answer = await observedAs(
        options.observe,
        { system: 'ovs', verb: method },
        wanted,
        async () => ask(method, params, wanted),
        endOf,
      );
      if ('refused' in answer) throw refusalFailure(answer.refused, method, server);
      return answer.result;
    },
    close: () => end(new Error('the connection was closed')),
  };
}

const endOf = (answer: Answer): { outcome: CallOutcome; status: null; requestId: '' } => ({
  outcome: 'refused' in answer ? 'refused' : 'ok',
  status: null,
  requestId: '',
});

function answerOf(error: unknown, result: unknown, server: string): Answer {
  if (error === null || error === undefined) return { result };
  const { data } = refusal.safeParse(error);
  if (data === undefined)
    throw droverFailure('AnswerMalformed', `${server} answered with an error of another shape than RFC 7047’s`);
  return { refused: data };
}

function openSocket({ protocol, host, port }: OvsdbRemote, credential: OvsdbCredential | null): Socket {
  if (protocol === 'tcp') return connectTcp({ host, port });
  if (credential === null)
    throw droverFailure('InvalidConfiguration', `ssl:${host}:${port} needs a CA, a client certificate and its key`);
  const { ca, certificate: cert, key } = credential;
  registerSecret(key);
  try {
    return connectTls({ host, port, ca, cert, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    // OpenSSL's words; they quote nothing of the key.
    throw droverFailure(
      'InvalidConfiguration',
      `The certificates for ssl:${host}:${port} cannot be read: ${isError(error) ? error.message : String(error)}`,
    );
  }
}
