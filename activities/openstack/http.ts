import { Agent, request as undiciRequest } from 'undici';

import { transportFailure, type HttpTimeouts } from './transport-faults.ts';
import { errorCodes, type ServiceName } from './services.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { observed, type ObserveCall, type OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import { verbOf } from './verb.ts';

/** Below the 15 s that a short activity has, so that its failure says what took so long. */
const defaultTimeouts: HttpTimeouts = { connectMs: 4_000, headersMs: 12_000, bodyMs: 12_000 };

/** An answer larger than this is no answer of these services. */
const largestAnswerBytes = 64 * 1024 * 1024;

/** Idle connections are dropped before common servers and proxies drop them, so that a request seldom meets a closed one. */
const keepAliveMs = 4_000;

export interface HttpOptions {
  /** PEM certificates to trust instead of the system's. */
  ca?: string;
  /** Only false where the settings say `verify: false`. */
  verify?: boolean;
  timeouts?: Partial<HttpTimeouts>;
  observe?: ObserveCall;
  /**
   * The run that asks, as `X-OpenStack-Request-ID` (oslo.middleware's global request id: `req-` and a UUID). The services write it
   * into their logs beside their own, and pass it on to each other. Null: nobody in particular.
   */
  globalRequestId?: () => string | null;
}

export interface HttpRequest {
  service: ServiceName;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

export interface HttpAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  text: string;
  /** `x-openstack-request-id`; empty where the answer comes from something in between. */
  requestId: string;
}

/** HTTP/1.1 to OpenStack services: a pool of connections per endpoint, no retries, no redirects. */
export interface Http {
  /** @throws the service's `…Unavailable` when no complete answer came; the signal's reason when it is aborted */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export function createHttp(options: HttpOptions = {}): Http {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const agent = new Agent({
    connections: 16,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: largestAnswerBytes,
    connect: {
      timeout: timeouts.connectMs,
      rejectUnauthorized: options.verify !== false,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    },
  });
  return {
    send: (request, signal) => {
      const { service, method, url, body } = request;
      const call = { system: systems[service], verb: verbOf(method, url.pathname, body) };
      const id = options.globalRequestId?.() ?? null;
      const named = id === null ? {} : { 'x-openstack-request-id': id };
      return observed(options.observe, call, signal, (traced) =>
        send(agent, timeouts, { ...request, headers: { ...request.headers, ...named, ...traced } }, signal),
      );
    },
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Agent,
  timeouts: HttpTimeouts,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  try {
    const answer = await undiciRequest(request.url, {
      dispatcher: agent,
      method: request.method,
      headers: {
        accept: 'application/json',
        'user-agent': 'drover',
        ...request.headers,
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal,
    });
    const headers = flat(answer.headers);
    return {
      status: answer.statusCode,
      headers,
      text: await answer.body.text(),
      requestId: headers['x-openstack-request-id'] ?? headers['x-compute-request-id'] ?? '',
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { words, malformed } = transportFailure(error, timeouts);
    const code = malformed ? 'AnswerMalformed' : errorCodes[request.service].unavailable;
    throw droverFailure(
      code,
      `${request.service} at ${request.url.origin}: ${words} (${request.method} ${request.url.pathname})`,
      {
        cause: error,
        details: { method: request.method, path: request.url.pathname },
      },
    );
  }
}

const systems = { Keystone: 'keystone', Nova: 'nova', Placement: 'placement' } as const satisfies Record<
  ServiceName,
  OutsideSystem
>;

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
