import type { HealthServer } from './health.ts';
import { serveHealth } from './health.ts';

let server: HealthServer | null = null;
afterEach(() => server?.close());

const serve = async (page: () => Promise<string>): Promise<HealthServer> => {
  const pages = {
    '/healthz': () => ({ ok: true, reasons: [] }),
    '/readyz': () => ({ ok: false, reasons: ['not yet'] }),
  };
  return (server = await serveHealth({
    address: '127.0.0.1:0',
    setting: 'worker.healthAddress',
    pages,
    metrics: { page },
  }));
};
const get = async ({ url }: HealthServer, path: string) => {
  const answer = await fetch(`${url}${path}`);
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};

test('health pages are 200 or 503 with the reasons', async () => {
  const its = await serve(() => Promise.resolve(''));
  expect(await get(its, '/healthz')).toMatchObject({ status: 200, type: 'application/json' });
  expect(await get(its, '/readyz?verbose')).toMatchObject({ status: 503, text: expect.stringContaining('not yet') });
  expect(await get(its, '/other')).toMatchObject({ status: 404, text: expect.stringContaining('/metrics') });
});

test('/metrics is text for Prometheus', async () => {
  const its = await serve(() => Promise.resolve('drover_info 1\n'));
  expect(await get(its, '/metrics')).toEqual({
    status: 200,
    type: expect.stringContaining('text/plain; version=0.0.4'),
    text: 'drover_info 1\n',
  });
});

test('metrics that cannot be made are an error, so that Prometheus shows the process as down', async () => {
  const its = await serve(() => Promise.reject(new Error('the SDK does not answer')));
  expect(await get(its, '/metrics')).toMatchObject({
    status: 500,
    text: expect.stringContaining('the SDK does not answer'),
  });
});

test('an address that is taken is told with its setting', async () => {
  const { url } = await serve(() => Promise.resolve(''));
  const taken = {
    address: new URL(url).host,
    setting: 'worker.healthAddress',
    pages: {},
    metrics: { page: () => Promise.resolve('') },
  };
  await expect(serveHealth(taken)).rejects.toMatchObject({
    type: 'InvalidConfiguration',
    message: expect.stringContaining('worker.healthAddress'),
  });
});
