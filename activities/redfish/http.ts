import { Agent, request as undiciRequest } from 'undici';

import { droverFailure } from '../../runtime/failure.ts';
import { observed, type ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { transportFailure, type HttpTimeouts } from '../openstack/transport-faults.ts';
import { verbOf } from './verb.ts';

/** BMCs are small: an answer of some seconds is usual. Below the 15 s that a short activity has. */
const defaultTimeouts: HttpTimeouts = { connectMs: 4_000, headersMs: 10_000, bodyMs: 10_000 };

/** A system with everything that vendors add has some kilobytes. */
const largestAnswerBytes = 4 * 1024 * 1024;

export interface HttpOptions {
  timeouts?: Partial<HttpTimeouts>;
  observe?: ObserveCall;
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

export interface HttpAnswer {
  status: number;
  text: string;
  /** Of `POST` to the sessions. */
  token: string | null;
  location: string | null;
  /** A BMC has no ids of requests. */
  requestId: '';
}

/** HTTPS to one BMC: one connection, as BMCs bear few; no retries, no redirects. */
export interface Http {
  /** @throws BmcUnreachable when no complete answer came, AnswerMalformed when it is none, the signal's reason when it is aborted */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export function createHttp(origin: string, ca: string | null, options: HttpOptions = {}): Http {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const agent = new Agent({
    connections: 1,
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: largestAnswerBytes,
    connect: { timeout: timeouts.connectMs, rejectUnauthorized: true, ...(ca === null ? {} : { ca }) },
  });
  return {
    send: (request, signal) =>
      observed(options.observe, { system: 'redfish', verb: verbOf(request.method, request.path) }, signal, (headers) =>
        send(agent, origin, timeouts, { ...request, headers: { ...request.headers, ...headers } }, signal),
      ),
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Agent,
  origin: string,
  timeouts: HttpTimeouts,
  { method, path, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  try {
    const answer = await undiciRequest(new URL(path, origin), {
      dispatcher: agent,
      method,
      headers: {
        accept: 'application/json',
        'odata-version': '4.0',
        'user-agent': 'drover',
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
    return {
      status: answer.statusCode,
      text: await answer.body.text(),
      token: header(answer.headers['x-auth-token']),
      location: header(answer.headers['location']),
      requestId: '',
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { words, malformed } = transportFailure(error, timeouts, 'the CA given for this BMC');
    throw droverFailure(
      malformed ? 'AnswerMalformed' : 'BmcUnreachable',
      `The BMC at ${origin}: ${words} (${method} ${path})`,
      { cause: error, details: { method, path } },
    );
  }
}

const header = (value: string | string[] | undefined): string | null =>
  (Array.isArray(value) ? (value[0] ?? null) : (value ?? null)) || null;
