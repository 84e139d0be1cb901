import { droverFailure } from '../../runtime/failure.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { type HttpTimeouts, openHttp } from '../lib/http.ts';

/**
 * Below the 15 s that a short activity has, so that its failure says what took so long: a check may log in
 * before it asks.
 */
const defaultTimeouts: HttpTimeouts = { connectMs: 3_000, headersMs: 6_000, bodyMs: 6_000 };

/** The dashboard of a cluster of thousands of pools answers with about a tenth of that. */
const largestAnswerBytes = 32 * 1024 * 1024;

export interface DashboardRequest {
  method: 'GET' | 'POST';
  /** Without a slash at the end. */
  base: string;
  /** Has no names in it, so it is also what is counted. */
  path: string;
  /** Of this endpoint: the dashboard refuses any other. `1.0` */
  version: string;
  token?: string;
  /** Sent as JSON. */
  body?: unknown;
}

export interface DashboardAnswer {
  status: number;
  text: string;
  /** Empty: the dashboard names requests in the body of refusals only. */
  requestId: '';
  /** Where a redirect points to; empty otherwise. */
  location: string;
}

export interface DashboardHttp {
  /** @throws CephUnavailable, CertificateNotTrusted, AnswerMalformed; the signal's reason */
  send(request: DashboardRequest, signal: AbortSignal): Promise<DashboardAnswer>;
  close(): Promise<void>;
}

export interface DashboardHttpOptions {
  ca: string | null;
  timeouts?: Partial<HttpTimeouts>;
  observe?: ObserveCall;
}

/** HTTP to the dashboards of one cluster. */
export function createDashboardHttp({ ca, observe, ...options }: DashboardHttpOptions): DashboardHttp {
  const client = openHttp({
    connections: 4,
    largestAnswerBytes,
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    tls: { ca },
    trust: 'the ca of the dashboard in drover’s settings',
    observe,
  });
  return {
    send: async ({ method, base, path, version, token, body }, signal) => {
      const { status, text, headers } = await client.send(
        {
          call: { system: 'ceph', verb: `${method} ${path}` },
          method,
          url: new URL(`${base}${path}`),
          headers: {
            accept: `application/vnd.ceph.api.v${version}+json`,
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          body: body === undefined ? undefined : JSON.stringify(body),
          failure: ({ words, malformed, certificate }, cause) =>
            droverFailure(
              malformed ? 'AnswerMalformed' : certificate ? 'CertificateNotTrusted' : 'CephUnavailable',
              `the Ceph dashboard ${base}: ${words} (${method} ${path})`,
              { cause },
            ),
        },
        signal,
      );
      return { status, text, requestId: '', location: headers['location'] ?? '' };
    },
    close: () => client.close(),
  };
}
