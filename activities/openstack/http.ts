import { droverFailure } from '../../runtime/failure.ts';
import type { ObserveCall, OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import { type HttpTimeouts, openHttp } from '../lib/http.ts';
import { type ServiceName, errorCodes } from './faults.ts';

/** Below the 15 s that a short activity has, so that its failure says what took so long. */
const defaultTimeouts: HttpTimeouts = { connectMs: 4_000, headersMs: 12_000, bodyMs: 12_000 };

/** An answer larger than this is no answer of these services. */
const largestAnswerBytes = 64 * 1024 * 1024;

/**
 * Idle connections are dropped before common servers and proxies drop them, so that a request seldom meets
 * a closed one.
 */
const keepAliveMs = 4_000;

export interface HttpOptions {
  /** PEM certificates to trust instead of the system's. */
  ca?: string;
  /** Only false where the settings say `verify: false`. */
  verify?: boolean;
  /** Where people say which certificates to trust. Default: {@link defaultTrust}. */
  trust?: string;
  timeouts?: Partial<HttpTimeouts>;
  observe?: ObserveCall;
  /**
   * The run that asks, as `X-OpenStack-Request-ID` (oslo.middleware's global request id: `req-` and a UUID). The
   * services write it into their logs beside their own, and pass it on to each other. Null: no user.
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

const defaultTrust = 'cacert in clouds.yaml or OS_CACERT';

export function createHttp(options: HttpOptions = {}): Http {
  const client = openHttp({
    connections: 16,
    keepAliveMs,
    largestAnswerBytes,
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    tls: { ca: options.ca ?? null, verify: options.verify !== false },
    trust: options.trust ?? defaultTrust,
    observe: options.observe,
  });
  return {
    send: ({ service, method, url, headers, body }, signal) => {
      const id = options.globalRequestId?.() ?? null;
      return client.send(
        {
          call: { system: systems[service], verb: verbOf(method, url.pathname, body) },
          method,
          url,
          headers: {
            accept: 'application/json',
            ...headers,
            ...(id !== null && { 'x-openstack-request-id': id }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          body: body === undefined ? undefined : JSON.stringify(body),
          failure: ({ words, malformed }, cause) =>
            droverFailure(
              malformed ? 'AnswerMalformed' : errorCodes[service].unavailable,
              `${service} at ${url.origin}: ${words} (${method} ${url.pathname})`,
              { cause, details: { method, path: url.pathname } },
            ),
        },
        signal,
      );
    },
    close: () => client.close(),
  };
}

const systems = {
  Keystone: 'keystone',
  Nova: 'nova',
  Placement: 'placement',
  Neutron: 'neutron',
  Cinder: 'cinder',
  Glance: 'glance',
} as const satisfies Record<ServiceName, OutsideSystem>;

/** The collections drover reads or changes; a path starts with one of them, behind whatever the catalog's URL has. */
const collections = [
  'servers',
  'os-services',
  'os-hypervisors',
  'os-aggregates',
  'os-migrations',
  'os-server-groups',
  'resource_providers',
  'allocation_candidates',
  'allocations',
  'traits',
  'ports',
  'volumes',
  'images',
  'auth',
];

/** What can follow in a path and is no name or id of anything. */
const words = new Set([
  ...collections,
  'detail',
  'action',
  'migrations',
  'os-instance-actions',
  'traits',
  'aggregates',
  'inventories',
  'usages',
  'tokens',
]);

/**
 * What a request does, without names and ids, so that there are few: `GET /servers/{id}`. Of an action, also
 * which one. Pure.
 *
 * @param path of the URL
 * @param body as it is sent
 */
export function verbOf(method: string, path: string, body: unknown): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  const start = segments.findIndex((segment) => collections.includes(segment));
  if (start === -1) return `${method} /`;
  const template = segments.slice(start).map((segment) => (words.has(segment) ? segment : '{id}'));
  const action =
    template.at(-1) === 'action' && typeof body === 'object' && body !== null ? Object.keys(body)[0] : undefined;
  return `${method} /${template.join('/')}${action === undefined ? '' : ` ${action}`}`;
}
