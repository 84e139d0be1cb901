import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the proxy answers in the place of the service. */
export interface Fault {
  status: number;
  body: string;
}

/** Decides by method and path with query; null lets the request pass. */
export type Faults = (method: string, url: string) => Fault | null;

export interface FaultyProxy {
  url: string;
  /** From now on. */
  inject(faults: Faults): void;
  /** Every request passes again. */
  cure(): void;
  close(): Promise<void>;
}

const noFaults: Faults = () => null;

/** Stands between drover and one OpenStack service, and answers in its place what that service seldom says. */
export async function openFaultyProxy(target: string): Promise<FaultyProxy> {
  const base = new URL(target);
  let faults = noFaults;
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const onward = forward({ hostname: base.hostname, port: base.port, method: request.method, path: request.url, headers: { ...request.headers, host: base.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };
  const server = createServer((request, response) => {
    const fault = faults(request.method ?? '', request.url ?? '');
    if (fault === null) return pass(request, response);
    request.resume();
    response.writeHead(fault.status, { 'content-type': 'application/json', 'x-openstack-request-id': 'req-of-the-proxy' }).end(fault.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${base.pathname}`,
    inject: (next) => void (faults = next),
    cure: () => void (faults = noFaults),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
