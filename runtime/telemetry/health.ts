import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { droverFailure } from '../failure.ts';
import type { Metrics } from './metrics.ts';
import { pageContentType } from './metrics.ts';

/** The answer of a health page. */
export interface Health {
  ok: boolean;
  /** What is not as it should be, as sentences. */
  reasons: string[];
  [detail: string]: unknown;
}

export interface HealthServer {
  /** `http://host:port` */
  url: string;
  close(): Promise<void>;
}

/** Page → its answer. */
export type HealthPages = Readonly<Record<`/${string}`, () => Health | Promise<Health>>>;

export interface HealthOptions {
  /** host:port; port 0 takes a free one. */
  address: string;
  /** The setting that says so, for the error. */
  setting: string;
  pages: HealthPages;
  /** Shown as `/metrics`. */
  metrics: Pick<Metrics, 'page'>;
}

/**
 * Serves health pages as JSON: 200 when all is well, 503 with the reasons when not; and `/metrics` for Prometheus.
 *
 * @throws InvalidConfiguration when the address cannot be had
 */
export async function serveHealth({ address, setting, pages, metrics }: HealthOptions): Promise<HealthServer> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/gu, '');
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/u, '') as `/${string}`;
    const page = pages[path];
    void (async () => {
      if (request.method !== 'GET') return answer(response, 404, unknown(pages));
      if (path === '/metrics') return await showMetrics(response, metrics);
      if (page === undefined) return answer(response, 404, unknown(pages));
      const health = await healthOf(page);
      answer(response, health.ok ? 200 : 503, health);
    })();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        droverFailure('InvalidConfiguration', `${setting} ${address} cannot be had: ${error.message}`, {
          cause: error,
        }),
      ),
    );
    server.listen(Number(address.slice(colon + 1)), host, resolve);
  });
  const { address: bound, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${bound}]` : bound}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, health: Health): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(health, null, 2)}\n`);
}

const unknown = (pages: HealthPages): Health => ({
  ok: false,
  reasons: [`there are: ${[...Object.keys(pages), '/metrics'].join(', ')}`],
});

async function healthOf(page: () => Health | Promise<Health>): Promise<Health> {
  try {
    return await page();
  } catch (error) {
    return { ok: false, reasons: [wordsOf(error)] };
  }
}

/** A page that cannot be made is an error to Prometheus, which then shows the process as down. */
async function showMetrics(response: ServerResponse, metrics: Pick<Metrics, 'page'>): Promise<void> {
  try {
    const text = await metrics.page();
    response.writeHead(200, { 'content-type': pageContentType });
    response.end(text);
  } catch (error) {
    answer(response, 500, { ok: false, reasons: [wordsOf(error)] });
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
