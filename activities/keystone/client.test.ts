import { systemClock } from '../../runtime/clock.ts';
import {
  type Received,
  type Reply,
  type ScriptedService,
  settingsFor,
  startScriptedService,
  tokenReply,
} from '../../test/scripted-service.ts';
import { type SessionOptions, endpointIn, openSession } from './client.ts';
import type { KeystoneSession } from './types.ts';

const never = new AbortController().signal;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function keystone(
  script: (request: Received, count: number) => Reply | Promise<Reply>,
): Promise<ScriptedService> {
  const service = await startScriptedService((request) => script(request, service.received.length));
  open.push(service);
  return service;
}
function session(
  url: string,
  options: Partial<SessionOptions> = {},
  settings: Partial<ReturnType<typeof settingsFor>> = {},
): KeystoneSession {
  const opened = openSession({ ...settingsFor(url), ...settings }, { clock: systemClock, ...options });
  open.push(opened);
  return opened;
}

const urls = { compute: 'http://nova/v2.1', placement: 'http://placement' };

test('logs in with an application credential, unscoped, and says who it is', async () => {
  const service = await keystone(() => tokenReply('t1'));
  const opened = session(service.url);
  expect(await opened.token(never)).toBe('t1');
  expect(await opened.identity(never)).toMatchObject({ user: 'drover', project: 'admin', roles: ['admin'] });
  expect(service.received).toHaveLength(1);
  expect(service.received[0]).toMatchObject({
    method: 'POST',
    path: '/v3/auth/tokens',
    body: {
      auth: {
        identity: {
          methods: ['application_credential'],
          application_credential: { id: 'the-id', secret: 'the-secret' },
        },
      },
    },
  });
  expect(service.received[0]?.body).not.toHaveProperty('auth.scope');
});

test('logs in with a password, scoped to the project', async () => {
  const service = await keystone(() => tokenReply('t1'));
  const domain = { name: 'Default' };
  const credential = {
    method: 'password' as const,
    user: { name: 'me', domain },
    password: 'pw',
    project: { name: 'admin', domain },
  };
  const opened = openSession({ ...settingsFor(service.url), credential }, { clock: systemClock });
  open.push(opened);
  await opened.token(never);
  expect(service.received[0]?.body).toEqual({
    auth: {
      identity: { methods: ['password'], password: { user: { name: 'me', domain, password: 'pw' } } },
      scope: { project: { name: 'admin', domain } },
    },
  });
});

test('renews the token a minute before it expires, by its life and our own clock', async () => {
  const service = await keystone((_, count) => tokenReply(`t${count}`, { lifetimeMs: 3_600_000 }));
  let now = 5_000;
  const opened = session(service.url, { clock: { ...systemClock, monotonicMs: () => now } });
  expect(await opened.token(never)).toBe('t1');
  now += 3_600_000 - 60_001;
  expect(await opened.token(never)).toBe('t1');
  now += 2;
  expect(await opened.token(never)).toBe('t2');
  expect(await opened.token(never)).toBe('t2');
});

test('a short life is renewed in its last tenth', async () => {
  const service = await keystone((_, count) => tokenReply(`t${count}`, { lifetimeMs: 8_000 }));
  let now = 0;
  const opened = session(service.url, { clock: { ...systemClock, monotonicMs: () => now } });
  await opened.token(never);
  now = 7_199;
  expect(await opened.token(never)).toBe('t1');
  now = 7_201;
  expect(await opened.token(never)).toBe('t2');
});

test('many at once share one login; one that gives up does not end it for the others', async () => {
  const held = Promise.withResolvers<void>();
  const service = await keystone(async () => {
    await held.promise;
    return tokenReply('t1');
  });
  const opened = session(service.url);
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const impatient = opened.token(controller.signal);
  const others = [
    opened.token(never),
    opened.token(never),
    opened.endpoint('compute', never).catch((error: unknown) => error),
  ];
  controller.abort(reason);
  await expect(impatient).rejects.toBe(reason);
  held.resolve();
  await expect(Promise.all(others)).resolves.toEqual([
    't1',
    't1',
    expect.objectContaining({ type: 'EndpointNotFound' }),
  ]);
  expect(service.received).toHaveLength(1);
});

test('a refused token is replaced, once for all who were refused', async () => {
  const service = await keystone((_, count) => tokenReply(`t${count}`));
  const opened = session(service.url);
  const sent: string[] = [];
  const send = async (token: string) => {
    sent.push(token);
    return { status: token === 't1' ? 401 : 200, headers: {}, text: '', requestId: '' };
  };
  const answers = await Promise.all([1, 2, 3].map(() => opened.use(send, never)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(sent.toSorted()).toEqual(['t1', 't1', 't1', 't2', 't2', 't2']);
  expect(service.received).toHaveLength(2);
});

test('a login that failed is tried again by the next caller, and by no other', async () => {
  const service = await keystone((_, count) => (count === 1 ? 'cut' : tokenReply('t2')));
  const opened = session(service.url);
  await expect(opened.token(never)).rejects.toMatchObject({ type: 'KeystoneUnavailable' });
  expect(service.received).toHaveLength(1);
  expect(await opened.token(never)).toBe('t2');
});

test('finds endpoints by type, region and interface; overrides win', async () => {
  const service = await keystone(() => tokenReply('t1', { urls }));
  const opened = session(service.url);
  expect(await opened.endpoint('compute', never)).toBe('http://nova/v2.1');
  const internal = openSession(
    { ...settingsFor(service.url), interface: 'internal', endpointOverrides: { placement: 'http://proxy' } },
    { clock: systemClock },
  );
  open.push(internal);
  expect(await internal.endpoint('compute', never)).toBe('http://nova/v2.1/internal');
  expect(await internal.endpoint('placement', never)).toBe('http://proxy');
  await expect(session(service.url, {}, { region: 'Elsewhere' }).endpoint('compute', never)).rejects.toMatchObject({
    type: 'EndpointNotFound',
    message: expect.stringMatching(
      /no public endpoint of type compute in region Elsewhere; it has public in RegionOne, internal in RegionOne/u,
    ),
  });
});

const refusals: [what: string, reply: Reply, code: string, words: RegExp][] = [
  [
    '401',
    {
      status: 401,
      headers: { 'x-openstack-request-id': 'req-1' },
      json: { error: { message: 'The request you have made requires authentication.' } },
    },
    'CredentialRefused',
    /requires authentication.*req-1/u,
  ],
  ['403', { status: 403, json: { error: { message: 'The account is locked.' } } }, 'CredentialRefused', /locked/u],
  ['404', { status: 404, text: 'Not Found' }, 'InvalidConfiguration', /answered 404 to the login/u],
  [
    '400',
    { status: 400, json: { error: { message: 'Expecting to find domain.' } } },
    'RequestRefused',
    /Expecting to find domain/u,
  ],
  ['429', { status: 429, text: '' }, 'KeystoneUnavailable', /429/u],
  ['503', { status: 503, text: '<h1>no</h1>' }, 'KeystoneUnavailable', /503 to the login: no/u],
  ['no token', { status: 201, json: { token: {} } }, 'AnswerMalformed', /no X-Subject-Token/u],
  ['no JSON', { status: 201, headers: { 'x-subject-token': 't' }, text: '<html>' }, 'AnswerMalformed', /is no JSON/u],
  [
    'another shape',
    { status: 201, headers: { 'x-subject-token': 't' }, json: { token: { issued_at: 'now' } } },
    'AnswerMalformed',
    /unexpected token\.issued_at/u,
  ],
];
test.each(refusals)('a login that ends in %s', async (_, reply, code, words) => {
  const service = await keystone(() => reply);
  await expect(session(service.url).token(never)).rejects.toMatchObject({
    type: code,
    message: expect.stringMatching(words),
  });
});

describe('catalog', () => {
  const catalog = (url: string) => [
    { type: 'compute', endpoints: [{ interface: 'public', region_id: 'RegionOne', url }] },
  ];
  const find = (url: string) => endpointIn(catalog(url), 'compute', 'RegionOne', 'public');

  test.each(['http://nova/v2.1', 'https://nova.example:8774/v2.1/%(tenant_id)s', 'http://[::1]:8774'])(
    '%s is an endpoint',
    (url) => expect(find(url)).toBe(url),
  );

  test.each([
    '',
    'nova',
    '//nova/v2.1',
    'file:///etc/passwd',
    'http://',
    'http://nova\u0000',
    'http://nova /v2.1',
    `http://nova/${'/'.repeat(3_000)}x`,
  ])('%j is none', (url) => {
    expect(() => find(url)).toThrow(
      expect.objectContaining({
        type: 'EndpointNotFound',
        message: expect.stringMatching(/no usable public endpoint of type compute in region RegionOne/u),
      }),
    );
  });
});
