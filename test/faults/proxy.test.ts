import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FaultProxy, ProxyFault } from './proxy.ts';
import { openFaultProxy } from './proxy.ts';

let target: Server;
let received: string[];
let proxy: FaultProxy;

beforeEach(async () => {
  received = [];
  target = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(`${request.method} ${request.url} ${body}`);
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"answer":"whole"}');
    });
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  proxy = await openFaultProxy({
    system: 'nova',
    target: `http://127.0.0.1:${(target.address() as AddressInfo).port}/v2.1`,
  });
});
afterEach(async () => {
  await proxy.close();
  target.closeAllConnections();
  await new Promise((resolve) => target.close(resolve));
});

const migrate = () =>
  fetch(`${proxy.url}/servers/5f0a/action`, {
    method: 'POST',
    body: '{"os-migrateLive":{}}',
    headers: { 'x-openstack-request-id': 'req-0190d1f0-0000-7000-8000-000000000001' },
  });

test('requests pass, and are recorded with what they ask for and whose they are', async () => {
  const answer = await migrate();
  expect(answer.status).toBe(202);
  await expect(answer.json()).resolves.toEqual({ answer: 'whole' });
  expect(received).toEqual(['POST /v2.1/servers/5f0a/action {"os-migrateLive":{}}']);
  expect(proxy.calls).toMatchObject([
    {
      system: 'nova',
      method: 'POST',
      path: '/v2.1/servers/5f0a/action',
      action: 'os-migrateLive',
      runId: '0190d1f0-0000-7000-8000-000000000001',
      outcome: 202,
    },
  ]);
});

const once = (fault: ProxyFault): void => {
  let left = 1;
  proxy.inject(({ action }) => (action === 'os-migrateLive' && left-- > 0 ? fault : null));
};

test('a request that is dropped has no effect; one whose answer is cut has', async () => {
  once({ do: 'drop' });
  await expect(migrate()).rejects.toThrow('fetch failed');
  expect(received).toEqual([]);
  once({ do: 'cut' });
  await expect(migrate()).rejects.toThrow('fetch failed');
  expect(received).toHaveLength(1);
  await expect(migrate()).resolves.toMatchObject({ status: 202 });
  expect(proxy.calls.map(({ outcome }) => outcome)).toEqual(['drop', 'cut', 202]);
});

test.each([
  [{ do: 'answer', status: 429, body: '{"overLimit":{}}', headers: { 'retry-after': '1' } }, 429],
  [{ do: 'answer', status: 401, body: '{}' }, 401],
  [{ do: 'answer', status: 503, body: 'no JSON' }, 503],
] as const)('%j is the answer', async (fault, status) => {
  once(fault);
  const answer = await migrate();
  expect(answer.status).toBe(status);
  await expect(answer.text()).resolves.toBe(fault.body);
  expect(received).toEqual([]);
});

test('bodies come in half, or as nonsense', async () => {
  once({ do: 'truncate' });
  await expect(migrate().then((answer) => answer.text())).rejects.toThrow('terminated');
  once({ do: 'malform' });
  await expect(migrate().then((answer) => answer.json())).rejects.toThrow('JSON');
  expect(received).toHaveLength(2);
});

test('a delay is a delay', async () => {
  once({ do: 'delay', ms: 80 });
  const sinceMs = performance.now();
  await migrate();
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(75);
});

test('behind a partition the counterpart is not reached, until it is cured', async () => {
  proxy.partition();
  await expect(migrate()).rejects.toThrow('fetch failed');
  expect(received).toEqual([]);
  proxy.cure();
  await expect(migrate()).resolves.toMatchObject({ status: 202 });
  expect(proxy.calls.map(({ outcome }) => outcome)).toEqual(['partition', 202]);
});
