import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';

import { Agent, buildConnector, type Dispatcher, request as undiciRequest } from 'undici';

import { codeOf, connectionFault } from '../../runtime/connection-faults.ts';
import { failureCode } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import { observed, type ObserveCall, type OutsideCall } from '../../runtime/telemetry/outside-calls.ts';

/** How an outside system is reached. */
export interface HttpOptions {
  /** At once; further requests wait for one of them. */
  connections: number;
  /**
   * Idle connections are dropped before common servers and proxies drop them, so that a request seldom meets a closed
   * one. Default: undici's.
   */
  keepAliveMs?: number;
  /** What is larger is no answer of that system. */
  largestAnswerBytes: number;
  timeouts: HttpTimeouts;
  tls: {
    /** PEM certificates to trust instead of the machine's. */
    ca?: string | null;
    /** SHA-256 of the one certificate to accept, no matter who signed it. */
    thumbprint?: string | null;
    /** Only false where the settings say so. */
    verify?: boolean;
  };
  /** Where people say which certificates to trust, for the words of a failure. */
  trust: string;
  observe?: ObserveCall | undefined;
}

export interface HttpRequest {
  /** What is counted and logged. */
  call: OutsideCall;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  /** Of a stream, `content-length` is among the headers. */
  body?: string | Readable | undefined;
  /** Aborted when it has taken too long, as far as the caller is concerned. */
  overdue?: AbortSignal;
  /** The row of the error table where no complete answer came. */
  failure: (fault: TransportFailure, cause: unknown) => Error;
}

export interface HttpAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  cookies: readonly string[];
  text: string;
  /** The system's own id of the request; empty where it gives none. */
  requestId: string;
}

/** An answer that is too large for memory. */
export interface HttpStream {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
}

/** HTTP/1.1 to one outside system: a pool of connections for each origin, no retries, no redirects. */
export interface HttpClient {
  /** @throws what `failure` makes of it when no complete answer came; the signal's reason when it is aborted */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /**
   * The same, for an answer that is taken piece by piece. What is not taken of it is dropped, with its connection.
   *
   * @throws also the failures of the error table that `take` throws
   */
  receive<Result>(
    request: HttpRequest,
    take: (answer: HttpStream) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result>;
  close(): Promise<void>;
}

/** Nothing is opened before the first request. */
export function openHttp({ trust, observe, timeouts, ...options }: HttpOptions): HttpClient {
  const { ca, thumbprint, verify = true } = options.tls;
  const agent = new Agent({
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    ...(options.keepAliveMs !== undefined && { keepAliveTimeout: options.keepAliveMs }),
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: options.largestAnswerBytes,
    connect:
      typeof thumbprint === 'string'
        ? pinned(thumbprint, timeouts.connectMs)
        : { timeout: timeouts.connectMs, rejectUnauthorized: verify, ...(typeof ca === 'string' && { ca }) },
  });
  const exchange = async <Result>(
    { method, url, headers, body, overdue, failure }: HttpRequest,
    traced: Record<string, string>,
    take: (answer: Dispatcher.ResponseData) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> => {
    signal.throwIfAborted();
    try {
      const answer = await undiciRequest(url, {
        dispatcher: agent,
        method,
        headers: { 'user-agent': 'drover', ...headers, ...traced },
        body: body ?? null,
        signal: overdue === undefined ? signal : AbortSignal.any([signal, overdue]),
      });
      return await take(answer);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (failureCode(error) !== null) throw error;
      throw failure(transportFailure(error, timeouts, trust), error);
    }
  };
  return {
    send: (request, signal) =>
      observed(observe, request.call, signal, (traced) => exchange(request, traced, wholeAnswer, signal)),
    receive: async (request, take, signal) => {
      const { taken } = await observed(observe, request.call, signal, (traced) =>
        exchange(
          request,
          traced,
          async ({ statusCode: status, headers, body }) => {
            try {
              return { status, requestId: '', taken: await take({ status, headers: flat(headers), body }) };
            } finally {
              // Of a body that was taken whole there is nothing left. Its end is no failure.
              body.on('error', () => undefined).destroy();
            }
          },
          signal,
        ),
      );
      return taken;
    },
    close: () => agent.destroy(),
  };
}

async function wholeAnswer({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<HttpAnswer> {
  const received = flat(headers);
  return {
    status,
    headers: received,
    cookies: [headers['set-cookie'] ?? []].flat(),
    text: await body.text(),
    requestId: received['x-openstack-request-id'] ?? received['x-compute-request-id'] ?? '',
  };
}

const thumbprintCode = 'DROVER_THUMBPRINT';

/** Takes the one certificate before anything is sent. A resumed session would not show the certificate. */
function pinned(thumbprint: string, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, rejectUnauthorized: false, maxCachedSessions: 0 });
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null || socket === null) return callback(error ?? new Error('no connection'), null);
      const found = createHash('sha256')
        .update((socket as TLSSocket).getPeerCertificate().raw ?? '')
        .digest('hex');
      if (found === thumbprint) return callback(null, socket);
      socket.destroy();
      callback(Object.assign(new Error(`its certificate has the thumbprint ${found}`), { code: thumbprintCode }), null);
    });
}

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );

/** How long each part of a request may take. There is no budget of retries: trying again is Temporal's. */
export interface HttpTimeouts {
  connectMs: number;
  /** From the request to the last header of the answer: Nova does its work in this time. */
  headersMs: number;
  /** Between two pieces of the answer's body. */
  bodyMs: number;
}

/** What can go wrong between a request and the end of its answer, in words for people. Keys are codes of undici. */
const wordsByCode: Record<string, (timeouts: HttpTimeouts) => string> = {
  UND_ERR_SOCKET: () => 'the connection was cut before the answer was complete',
  UND_ERR_ABORTED: () => 'the connection was cut before the answer was complete',
  UND_ERR_CONNECT_TIMEOUT: ({ connectMs }) => `no connection within ${seconds(connectMs)}`,
  UND_ERR_HEADERS_TIMEOUT: ({ headersMs }) => `no answer within ${seconds(headersMs)}`,
  UND_ERR_BODY_TIMEOUT: ({ bodyMs }) => `the answer stopped in the middle for ${seconds(bodyMs)}`,
};

/** Codes of answers that came but cannot be read as HTTP or are far too large. */
const malformedCodes = new Set([
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
]);

export interface TransportFailure {
  words: string;
  /** An answer came that cannot be read. */
  malformed: boolean;
  /** One side does not trust the other’s certificate. */
  certificate: boolean;
}

/**
 * What to say of an error that `undici` threw.
 *
 * @param trust where people say which certificates to trust
 */
export function transportFailure(
  error: unknown,
  timeouts: HttpTimeouts,
  trust = 'cacert in clouds.yaml or OS_CACERT',
): TransportFailure {
  const code = codeOf(error);
  if (code === thumbprintCode)
    return {
      words: `${(error as Error).message}, not the one in drover’s settings`,
      malformed: false,
      certificate: true,
    };
  const unreadable = isError(error) && error.name === 'HTTPParserError';
  if (unreadable || malformedCodes.has(code))
    return {
      words: `the answer is not readable as HTTP (${code || (unreadable ? error.message : '')})`,
      malformed: true,
      certificate: false,
    };
  const fault = connectionFault(error);
  if (fault !== null)
    return {
      words: fault.kind === 'untrusted' ? `${fault.words}; check ${trust}` : fault.words,
      malformed: false,
      certificate: fault.kind !== 'connection',
    };
  const words =
    wordsByCode[code]?.(timeouts) ?? `the request failed: ${isError(error) ? error.message : String(error)}`;
  return { words, malformed: false, certificate: false };
}

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
