import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { serveCodec, type CodecServer, type CodecServerSettings } from './codec-server.ts';
import { createLogger } from '../telemetry/logging.ts';
import { createPayloadCodec } from './payload-codec.ts';

const codec = createPayloadCodec({ current: 'k', keys: new Map([['k', Buffer.alloc(32, 7)]]) });
const origin = 'http://127.0.0.1:8233';
const token = 'a-token-of-the-codec-endpoint';

const open: CodecServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serve(change: Partial<CodecServerSettings> = {}): Promise<{ url: string; log: () => string }> {
  let lines = '';
  const log = createLogger({
    level: 'info',
    component: 'codec-server',
    destination: { write: (line) => void (lines += line) },
  });
  const server = await serveCodec(codec, { listen: '127.0.0.1:0', origin, token: null, ...change }, log);
  open.push(server);
  return { url: server.url, log: () => lines };
}

const json = { 'content-type': 'application/json' };
const plain = {
  payloads: [
    {
      metadata: { encoding: Buffer.from('json/plain').toString('base64') },
      data: Buffer.from('"canary"').toString('base64'),
    },
  ],
};
const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

test('what it encodes it decodes again, and its log says who asked and nothing of what', async () => {
  const { url, log } = await serve();
  const encoded = await (await post(`${url}/encode`, plain)).text();
  expect(encoded).not.toContain(plain.payloads[0]?.data);
  const decoded = await post(`${url}/decode`, encoded, { 'x-namespace': 'default', origin });
  expect(await decoded.json()).toEqual(plain);
  expect(decoded.headers.get('access-control-allow-origin')).toBe(origin);
  expect(decoded.headers.get('cache-control')).toBe('no-store');
  expect(log()).toContain('"verb":"decode","payloads":1,"namespace":"default"');
  expect(log()).not.toMatch(/canary|ImNhbmFyeSI/u);
});

test('a browser that asks beforehand is told what the Web UI may send', async () => {
  const { url } = await serve({ token });
  const answer = await fetch(`${url}/decode`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  expect([
    answer.status,
    answer.headers.get('access-control-allow-origin'),
    answer.headers.get('access-control-allow-headers'),
  ]).toEqual([204, origin, 'Authorization, Content-Type, X-Namespace']);
});

/** `fetch` sets the Host itself. */
const withHost = (url: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asking = httpRequest(
      `${url}/decode`,
      { method: 'POST', headers: { ...json, host } },
      (answer) => void text(answer).then(() => resolve(answer.statusCode ?? 0), reject),
    );
    asking.on('error', reject).end('{"payloads":[]}');
  });

test('a name that an attacker points to this machine is not its address, but with a token any name is', async () => {
  const [without, withToken] = [await serve(), await serve({ token })];
  await expect(withHost(without.url, 'evil.example')).resolves.toBe(403);
  await expect(withHost(without.url, 'localhost:8234')).resolves.toBe(200);
  await expect(withHost(withToken.url, 'codec.example')).resolves.toBe(401);
});

const refused: [
  what: string,
  status: number,
  ask: (url: string) => Promise<Response>,
  change?: Partial<CodecServerSettings>,
][] = [
  ['a page of another origin', 403, (url) => post(`${url}/decode`, plain, { origin: 'https://evil.example' })],
  ['any page where none is named', 403, (url) => post(`${url}/decode`, plain, { origin }), { origin: null }],
  ['a form', 415, (url) => post(`${url}/decode`, plain, { 'content-type': 'text/plain' })],
  ['no token', 401, (url) => post(`${url}/decode`, plain), { token }],
  ['a wrong token', 401, (url) => post(`${url}/decode`, plain, { authorization: `Bearer ${token}x` }), { token }],
  ['another path', 404, (url) => post(`${url}/keys`, plain)],
  ['another method', 405, (url) => fetch(`${url}/decode`)],
  ['no JSON', 400, (url) => post(`${url}/decode`, '{"payloads":')],
  ['no payloads', 400, (url) => post(`${url}/decode`, { payloads: [{ data: 7 }] })],
  [
    'a key that it lacks',
    400,
    (url) =>
      post(`${url}/decode`, {
        payloads: [
          {
            metadata: { encoding: Buffer.from('binary/encrypted').toString('base64'), 'encryption-key-id': 'b2xk' },
            data: '',
          },
        ],
      }),
  ],
  ['too much', 413, (url) => post(`${url}/decode`, `"${'x'.repeat(17 * 1024 * 1024)}"`)],
];
test.each(refused)('%s is refused with %i, and nothing is decoded', async (_, status, ask, change = {}) => {
  const { url } = await serve(change);
  const answer = await ask(url);
  expect(answer.status).toBe(status);
  expect(await answer.text()).toMatch(/^\{"message":"[^"]/u);
});

test('the right token opens', async () => {
  const { url } = await serve({ token });
  expect((await post(`${url}/decode`, plain, { authorization: `Bearer ${token}` })).status).toBe(200);
});

test('bytes that are no HTTP do not end it', async () => {
  const { url } = await serve();
  await new Promise<void>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end('\x16\x03\x01 garbage\r\n\r\n'));
    socket
      .on('close', () => resolve())
      .on('error', () => undefined)
      .resume();
  });
  expect((await post(`${url}/decode`, { payloads: [] })).status).toBe(200);
});

test.each([
  ['0.0.0.0:0', null, /could decode all payloads: give a token file/u],
  ['example:0', null, /could decode all payloads/u],
  ['127.0.0.1', null, /is no host:port/u],
  ['127.0.0.1:99999', null, /is no host:port/u],
])('it does not listen on %s', async (listen, withToken, words) => {
  await expect(serve({ listen, token: withToken })).rejects.toMatchObject({
    type: 'InvalidConfiguration',
    message: expect.stringMatching(words),
  });
});
