import { makeCertificate } from '../../test/loopback-certificate.ts';
import { type Reply, type ScriptedService, startScriptedService } from '../../test/scripted-service.ts';
import { type Http, type HttpOptions, createHttp, verbOf } from './http.ts';

const never = new AbortController().signal;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(
  script: () => Reply | Promise<Reply>,
  tls?: { key: string; cert: string },
): Promise<ScriptedService> {
  const service = await startScriptedService(script, tls);
  open.push(service);
  return service;
}
function client(options: HttpOptions = {}): Http {
  const http = createHttp(options);
  open.push(http);
  return http;
}
const get = (http: Http, url: string, signal = never) =>
  http.send({ service: 'Nova', method: 'GET', url: new URL(`${url}/servers`), headers: {} }, signal);

test('sends JSON and gives back what came, with the request id', async () => {
  const service = await serve(() => ({ status: 202, headers: { 'X-OpenStack-Request-Id': 'req-1' }, json: { a: 1 } }));
  const answer = await client().send(
    {
      service: 'Nova',
      method: 'POST',
      url: new URL(`${service.url}/x?y=1`),
      headers: { 'x-auth-token': 't' },
      body: { b: 2 },
    },
    never,
  );
  expect(answer).toMatchObject({ status: 202, text: '{"a":1}', requestId: 'req-1' });
  expect(service.received[0]).toMatchObject({
    method: 'POST',
    path: '/x',
    headers: { 'x-auth-token': 't', 'content-type': 'application/json' },
    body: { b: 2 },
  });
});

test('names the run that asks, where there is one', async () => {
  const service = await serve(() => ({ json: {} }));
  let asks: string | null = 'req-6f70656e-7374-6163-6b2e-6f7267206964';
  const http = client({ globalRequestId: () => asks });
  await get(http, service.url);
  asks = null;
  await get(http, service.url);
  expect(service.received.map(({ headers }) => headers['x-openstack-request-id'])).toEqual([
    'req-6f70656e-7374-6163-6b2e-6f7267206964',
    undefined,
  ]);
});

/** Only for tests of time-outs: on a busy machine an answer may well take so long. */
const impatient = { timeouts: { headersMs: 300, bodyMs: 300 } };

const interruptions: [reply: Reply, code: string, words: RegExp][] = [
  ['cut', 'NovaUnavailable', /the connection was cut before the answer was complete/u],
  ['truncated', 'NovaUnavailable', /the connection was cut before the answer was complete/u],
  ['silent', 'NovaUnavailable', /no answer within 0\.3 s/u],
  ['stalled', 'NovaUnavailable', /the answer stopped in the middle for 0\.3 s/u],
  ['garbage', 'AnswerMalformed', /the answer is not readable as HTTP/u],
];
test.each(interruptions)('an answer that is %s is %s, and asked once only', async (reply, code, words) => {
  const service = await serve(() => reply);
  const http = client(reply === 'silent' || reply === 'stalled' ? impatient : {});
  const failure = await get(http, service.url).catch((error: unknown) => error);
  expect(failure).toMatchObject({ type: code, message: expect.stringMatching(words) });
  expect(failure).toMatchObject({ message: expect.stringContaining(`Nova at ${new URL(service.url).origin}: `) });
  expect(service.received).toHaveLength(1);
});

test('no server there is NovaUnavailable', async () => {
  const service = await startScriptedService(() => 'cut');
  await service.close();
  await expect(get(client(), service.url)).rejects.toMatchObject({
    type: 'NovaUnavailable',
    nonRetryable: false,
    message: expect.stringMatching(/the connection was refused \(GET \/servers\)/u),
  });
});

test('an unknown name is NovaUnavailable', async () => {
  await expect(get(client(), 'http://nova.invalid')).rejects.toMatchObject({
    type: 'NovaUnavailable',
    message: expect.stringMatching(/its name does not resolve/u),
  });
});

test('ends with the signal’s reason, before, while waiting and while reading', async () => {
  const reason = new Error('cancelled');
  const service = await serve(() => 'silent');
  await expect(get(client(), service.url, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(service.received).toHaveLength(0);
  for (const reply of ['silent', 'stalled'] as const) {
    const arrived = Promise.withResolvers<void>();
    const slow = await serve(() => {
      arrived.resolve();
      return reply;
    });
    const controller = new AbortController();
    const answer = get(client(), slow.url, controller.signal);
    await arrived.promise;
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
  }
});

test('checks certificates: untrusted is refused, a CA bundle is honoured, only verify: false goes on without', async () => {
  const tls = makeCertificate();
  const { url } = await serve(() => ({ json: {} }), tls);
  await expect(get(client(), url)).rejects.toMatchObject({
    type: 'NovaUnavailable',
    message: expect.stringMatching(/its certificate is not trusted; check cacert in clouds\.yaml or OS_CACERT/u),
  });
  await expect(get(client({ ca: tls.cert }), url)).resolves.toMatchObject({ status: 200 });
  await expect(get(client({ verify: false }), url)).resolves.toMatchObject({ status: 200 });
  await expect(get(client({ ca: tls.cert }), url.replace('127.0.0.1', 'localhost'))).rejects.toThrow(
    /its certificate is for another name/u,
  );
});

describe('verb', () => {
  const id = '6f1f9d5a-0f0e-4d0c-9f61-0a4b5c6d7e8f';

  type Row = [method: string, path: string, body: unknown, verb: string];
  const rows: Row[] = [
    ['GET', '/compute/v2.1/servers/detail', undefined, 'GET /servers/detail'],
    ['GET', `/v2.1/servers/${id}`, undefined, 'GET /servers/{id}'],
    [
      'POST',
      `/v2.1/servers/${id}/action`,
      { 'os-migrateLive': { host: 'node-2' } },
      'POST /servers/{id}/action os-migrateLive',
    ],
    ['POST', `/v2.1/servers/${id}/action`, { migrate: null }, 'POST /servers/{id}/action migrate'],
    [
      'POST',
      `/v2.1/servers/${id}/migrations/17/action`,
      { force_complete: null },
      'POST /servers/{id}/migrations/{id}/action force_complete',
    ],
    ['DELETE', `/v2.1/servers/${id}/migrations/17`, undefined, 'DELETE /servers/{id}/migrations/{id}'],
    [
      'GET',
      `/v2.1/servers/${id}/os-instance-actions/req-${id}`,
      undefined,
      'GET /servers/{id}/os-instance-actions/{id}',
    ],
    ['PUT', `/v2.1/os-services/${id}`, { status: 'disabled' }, 'PUT /os-services/{id}'],
    ['GET', `/placement/resource_providers/${id}/traits`, undefined, 'GET /resource_providers/{id}/traits'],
    ['GET', `/placement/allocations/${id}`, undefined, 'GET /allocations/{id}'],
    ['PUT', '/placement/traits/CUSTOM_FAST', undefined, 'PUT /traits/{id}'],
    ['PUT', `/placement/resource_providers/${id}/traits`, { traits: [] }, 'PUT /resource_providers/{id}/traits'],
    [
      'POST',
      '/v2.1/os-aggregates/7/action',
      { add_host: { host: 'node-1' } },
      'POST /os-aggregates/{id}/action add_host',
    ],
    ['POST', '/v2.1/servers', { server: {} }, 'POST /servers'],
    ['POST', '/identity/v3/auth/tokens', { auth: {} }, 'POST /auth/tokens'],
    ['GET', '/v2.1/', undefined, 'GET /'],
    ['GET', '/who/knows', undefined, 'GET /'],
  ];

  test.each(rows)('%s %s', (method, path, body, verb) => {
    expect(verbOf(method, path, body)).toBe(verb);
  });
});
