import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as it arrived. */
export interface Received {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON; undefined where there is none. */
  body: unknown;
}

/** What is answered: JSON of any status, raw text, or one of the ways in which an answer does not arrive. */
export type Reply =
  | { status?: number; headers?: Record<string, string | string[]>; json: unknown }
  | { status?: number; headers?: Record<string, string | string[]>; text: string }
  /** The connection is closed before the answer. */
  | 'cut'
  /** The answer is half of what its length says, then the connection is closed. */
  | 'truncated'
  /** The connection stays open and nothing comes. */
  | 'silent'
  /** The head comes, and half of the body. */
  | 'stalled'
  /** No HTTP. */
  | 'garbage';

export interface ScriptedService {
  /** Without a slash at the end. */
  url: string;
  received: Received[];
  close(): Promise<void>;
}

/**
 * An HTTP server on loopback with scripted answers: only for answers that the real counterparts cannot be
 * brought to give.
 */
export async function startScriptedService(
  script: (request: Received) => Reply | Promise<Reply>,
  tls?: ServerOptions,
): Promise<ScriptedService> {
  const received: Received[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://service');
    const raw = await text(request);
    const arrived = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: raw === '' ? undefined : JSON.parse(raw),
    };
    received.push(arrived);
    give(await script(arrived), response);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function give(reply: Reply, response: ServerResponse): void {
  switch (reply) {
    case 'cut':
      return void response.destroy();
    case 'silent':
      return;
    case 'truncated':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"half":', () => response.destroy());
      return;
    case 'stalled':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      return void response.write('{"half":');
    case 'garbage':
      return void response.socket?.end('SMTP ready\r\n\r\n');
    default: {
      const body = 'json' in reply ? JSON.stringify(reply.json) : reply.text;
      response
        .writeHead(reply.status ?? 200, {
          'content-type': 'json' in reply ? 'application/json' : 'text/html',
          ...reply.headers,
        })
        .end(body);
    }
  }
}

/** What Keystone answers to a login. */
export function tokenReply(
  token: string,
  options: { urls?: Partial<Record<'compute' | 'placement', string>>; lifetimeMs?: number; region?: string } = {},
): Reply {
  const issued = Date.parse('2026-01-01T00:00:00Z');
  const catalog = Object.entries(options.urls ?? {}).map(([type, url]) => ({
    type,
    name: type,
    endpoints: [
      { interface: 'public', region_id: options.region ?? 'RegionOne', region: options.region ?? 'RegionOne', url },
      {
        interface: 'internal',
        region_id: options.region ?? 'RegionOne',
        region: options.region ?? 'RegionOne',
        url: `${url}/internal`,
      },
    ],
  }));
  return {
    status: 201,
    headers: { 'x-subject-token': token, 'x-openstack-request-id': 'req-login' },
    json: {
      token: {
        issued_at: new Date(issued).toISOString(),
        expires_at: new Date(issued + (options.lifetimeMs ?? 3_600_000)).toISOString(),
        user: { name: 'drover' },
        project: { name: 'admin' },
        roles: [{ name: 'admin' }],
        catalog,
      },
    },
  };
}

/** Settings that reach the service as Keystone, and as any other service at `/compute` and `/placement`. */
export const settingsFor = (url: string) => ({
  cloud: null,
  sources: ['the test'],
  authUrl: `${url}/v3`,
  credential: { method: 'application_credential' as const, id: 'the-id', secret: 'the-secret' },
  region: 'RegionOne',
  interface: 'public' as const,
  endpointOverrides: {},
  ca: null,
  verify: true,
});
