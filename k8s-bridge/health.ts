import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { droverFailure } from '../runtime/failure.ts';

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

/**
 * Serves health pages as JSON: 200 when all is well, 503 with the reasons when not.
 *
 * @param address host:port; port 0 takes a free one
 * @throws InvalidConfiguration when the address cannot be had
 */
export async function serveHealth(address: string, pages: HealthPages): Promise<HealthServer> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/gu, '');
  const server = createServer((request, response) => {
    const page = pages[(request.url ?? '').replace(/\?.*$/u, '') as `/${string}`];
    void (async () => {
      const health = page === undefined || request.method !== 'GET' ? null : await answerOf(page);
      response.writeHead(health === null ? 404 : health.ok ? 200 : 503, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify(health ?? { ok: false, reasons: [`there are: ${Object.keys(pages).join(', ')}`] }, null, 2)}\n`);
    })();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(droverFailure('InvalidConfiguration', `bridge.healthAddress ${address} cannot be had: ${error.message}`, { cause: error })));
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

async function answerOf(page: () => Health | Promise<Health>): Promise<Health> {
  try {
    return await page();
  } catch (error) {
    return { ok: false, reasons: [error instanceof Error ? error.message : String(error)] };
  }
}
