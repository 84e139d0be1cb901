import type { ApplicationFailure } from '@temporalio/common';
import { type Socket, connect as connectTcp, isIPv6 } from 'node:net';
import { connect as connectTls } from 'node:tls';

import type { ErrorCode } from '../../contracts/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ConnectionFault, connectionFault } from '../../runtime/connection-faults.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import { redactedStart, registerSecret } from '../../runtime/redaction.ts';
import { type CallOutcome, type ObserveCall, observedAs } from '../../runtime/telemetry/outside-calls.ts';
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
    // Read before it is removed: an answer that cannot be read fails what still waits.
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

  /**
   * What takes too long or is no longer wanted ends the connection: an answer that came later would belong to no call.
   */
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

const codes: Record<ConnectionFault['kind'], ErrorCode> = {
  connection: 'OvsUnavailable',
  untrusted: 'CertificateNotTrusted',
  certificate: 'CertificateNotTrusted',
  refused: 'CertificateNotTrusted',
};

/** What an error of the socket means. */
export function socketFailure(error: unknown, server: string): ApplicationFailure {
  const fault = connectionFault(error);
  if (fault === null)
    return droverFailure(
      'OvsUnavailable',
      `${server}: the connection failed: ${isError(error) ? error.message : String(error)}`,
      { cause: error },
    );
  return droverFailure(codes[fault.kind], `${server}: ${fault.words}`, { cause: error });
}

export interface OvsdbRefusal {
  error: string;
  details?: string | undefined;
}

/** Of what another system wrote. */
const longestWords = 600;

/** An answer that says no. */
export const refusalFailure = ({ error, details }: OvsdbRefusal, what: string, server: string): ApplicationFailure =>
  droverFailure(
    'RequestRefused',
    `${server} refused ${what}: ${redactedStart(details === undefined ? error : `${error}: ${details}`, longestWords)}`,
  );

/** Takes the next bytes that came; gives the objects that are complete now. */
type TakeBytes = (bytes: Uint8Array) => unknown[];

const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);
const blank = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Cuts a stream of JSON objects, which nothing separates, at the closing brace of each (RFC 7047, section 4: JSON-RPC
 * over a stream).
 *
 * @param mostBytes of one object
 * @throws AnswerMalformed for anything else than objects, and for one that is too large; then there is no going on
 */
export function splitObjects(mostBytes: number): TakeBytes {
  let parts: Uint8Array[] = [];
  let length = 0;
  let depth = 0;
  let inText = false;
  let escaped = false;

  const keep = (bytes: Uint8Array): void => {
    length += bytes.length;
    if (length > mostBytes)
      throw droverFailure('AnswerMalformed', `A message of an OVSDB server has more than ${mostBytes} bytes`);
    parts.push(bytes);
  };
  const complete = (): unknown => {
    const text = Buffer.concat(parts).toString('utf8');
    parts = [];
    length = 0;
    try {
      return JSON.parse(text);
    } catch {
      throw droverFailure('AnswerMalformed', 'A message of an OVSDB server is no JSON');
    }
  };

  return (bytes) => {
    const objects: unknown[] = [];
    let from = 0;
    // By index: an iterator would be slow over megabytes.
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inText = false;
      } else if (depth === 0) {
        if (blank.has(byte)) continue;
        if (byte !== 0x7b)
          throw droverFailure(
            'AnswerMalformed',
            'What an OVSDB server sent is no JSON object; is the port that of another service, or does it speak TLS?',
          );
        from = at;
        depth = 1;
      } else if (byte === quote) inText = true;
      else if (opening.has(byte)) depth += 1;
      else if (closing.has(byte)) {
        depth -= 1;
        if (depth > 0) continue;
        keep(bytes.subarray(from, at + 1));
        objects.push(complete());
      }
    }
    if (depth > 0) keep(bytes.subarray(from));
    return objects;
  };
}
