import { droverFailure } from '../../runtime/failure.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { type HttpTimeouts, openHttp } from '../lib/http.ts';

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
  /**
   * @throws BmcUnreachable when no complete answer came, AnswerMalformed when it is none, the signal's reason when it
   * is aborted
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export function createHttp(origin: string, ca: string | null, options: HttpOptions = {}): Http {
  const client = openHttp({
    connections: 1,
    largestAnswerBytes,
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    tls: { ca },
    trust: 'the CA given for this BMC',
    observe: options.observe,
  });
  return {
    send: async ({ method, path, headers, body }, signal) => {
      const answer = await client.send(
        {
          call: { system: 'redfish', verb: verbOf(method, path) },
          method,
          url: new URL(path, origin),
          headers: {
            accept: 'application/json',
            'odata-version': '4.0',
            ...headers,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          body: body === undefined ? undefined : JSON.stringify(body),
          failure: ({ words, malformed }, cause) =>
            droverFailure(
              malformed ? 'AnswerMalformed' : 'BmcUnreachable',
              `The BMC at ${origin}: ${words} (${method} ${path})`,
              { cause, details: { method, path } },
            ),
        },
        signal,
      );
      const { status, text } = answer;
      return {
        status,
        text,
        token: answer.headers['x-auth-token'] || null,
        location: answer.headers['location'] || null,
        requestId: '',
      };
    },
    close: () => client.close(),
  };
}

/** What can stand in a path and is no id of anything. */
const words = new Set(['redfish', 'v1', 'Systems', 'Actions', 'ComputerSystem.Reset', 'SessionService', 'Sessions']);

/** What a request does, without ids: `POST /redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset`. Pure. */
export function verbOf(method: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  return `${method} /${segments
    .slice(0, 6)
    .map((segment) => (words.has(segment) ? segment : '{id}'))
    .join('/')}`;
}
