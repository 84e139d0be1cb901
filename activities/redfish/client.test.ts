import { systemClock } from '../../runtime/clock.ts';
import { redactText } from '../../runtime/redaction.ts';
import { makeCertificate } from '../../test/loopback-certificate.ts';
import {
  refusal,
  rootAnswer,
  startScriptedBmc,
  systemAnswer,
  systemPath,
  systemUuid,
} from '../../test/scripted-bmc.ts';
import type { Received, Reply } from '../../test/scripted-service.ts';
import { createRedfishClient, type ClientOptions } from './client.ts';
import type { BmcSettings, RedfishClient } from './types.ts';

const never = new AbortController().signal;
const tls = makeCertificate();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

type Script = (request: Received, count: number) => Reply | undefined;
async function bmc(script?: Script) {
  const started = await startScriptedBmc(tls, script);
  open.push(started);
  return started;
}
function client(settings: BmcSettings, options: Partial<ClientOptions> = {}): RedfishClient {
  const made = createRedfishClient(settings, { clock: systemClock, ...options });
  open.push(made);
  return made;
}
/** Answers one path so. */
const at =
  (where: string, reply: Reply | ((request: Received) => Reply)): Script =>
  (request) =>
    request.path !== where ? undefined : typeof reply === 'function' ? reply(request) : reply;

test('finds the machine by its UUID in any case of letters, from the service root, with Basic', async () => {
  const service = await bmc();
  expect(await client(service.settings()).findSystem(never)).toEqual({
    path: systemPath,
    uuid: systemUuid.toUpperCase(),
    serial: 'SN-1',
    power: 'On',
    reset: { target: `${systemPath}/Actions/ComputerSystem.Reset`, types: ['On', 'ForceOff', 'GracefulShutdown'] },
  });
  expect(service.received.map(({ path }) => path)).toEqual(['/redfish/v1/', '/redfish/v1/Systems', systemPath]);
  expect(service.received[2]?.headers).toMatchObject({
    authorization: `Basic ${Buffer.from('drover:the-bmc-password').toString('base64')}`,
    'odata-version': '4.0',
  });
});

const selectors: [what: string, system: BmcSettings['system'], asked: number][] = [
  ['serial number', { serial: 'SN-1' }, 3],
  ['path', { path: systemPath }, 1],
  ['path, and is what it should be', { path: systemPath, uuid: systemUuid, serial: 'SN-1' }, 1],
];
test.each(selectors)('finds the machine by %s', async (_, system, asked) => {
  const service = await bmc();
  expect(await client(service.settings({ system })).findSystem(never)).toMatchObject({ path: systemPath });
  expect(service.received).toHaveLength(asked);
});

const strangers: [what: string, system: BmcSettings['system'], script: Script | undefined, words: RegExp][] = [
  [
    'its serial number is another',
    { path: systemPath, serial: 'SN-2' },
    undefined,
    /its serial number is SN-1, not SN-2/u,
  ],
  [
    'it tells no UUID',
    { path: systemPath, uuid: systemUuid },
    at(systemPath, { json: systemAnswer({ UUID: null }) }),
    /its UUID is not reported, not 0f2b/u,
  ],
  [
    'two have the UUID',
    { uuid: systemUuid },
    (request) =>
      at('/redfish/v1/Systems', {
        json: { Members: [{ '@odata.id': systemPath }, { '@odata.id': '/redfish/v1/Systems/2' }] },
      })(request, 0) ?? at('/redfish/v1/Systems/2', { json: systemAnswer() })(request, 0),
    /2 machines of the BMC at \S+ have UUID/u,
  ],
];
test.each(strangers)('is not sure which machine is meant: %s', async (_, system, script, words) => {
  const service = await bmc(script);
  await expect(client(service.settings({ system })).findSystem(never)).rejects.toMatchObject({
    type: 'SystemNotFound',
    nonRetryable: true,
    message: expect.stringMatching(words),
  });
});

test('reads every page of the machines', async () => {
  const service = await bmc((request) =>
    request.path !== '/redfish/v1/Systems'
      ? undefined
      : request.query.get('page') === '2'
        ? { json: { Members: [{ '@odata.id': systemPath }] } }
        : { json: { Members: [], 'Members@odata.nextLink': '/redfish/v1/Systems?page=2' } },
  );
  await expect(client(service.settings()).findSystem(never)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringMatching(/leads on without an end/u),
  });
  const other = await bmc((request) =>
    request.path === '/redfish/v1/Systems' && request.query.get('page') !== '2'
      ? {
          json: {
            Members: [{ '@odata.id': '/redfish/v1/Systems/0' }],
            'Members@odata.nextLink': '/redfish/v1/Systems?page=2',
          },
        }
      : at('/redfish/v1/Systems/0', { json: systemAnswer({ UUID: 'x' }) })(request, 0),
  );
  expect(await client(other.settings()).findSystem(never)).toMatchObject({ path: systemPath });
});

test.each([
  ['On', 'On'],
  ['Off', 'Off'],
  ['PoweringOn', 'PoweringOn'],
  ['PoweringOff', 'PoweringOff'],
  ['Paused', 'Paused'],
  ['off', 'Unknown'],
  ['Standby', 'Unknown'],
  [null, 'Unknown'],
  [undefined, 'Unknown'],
])('PowerState %p is %s', async (told, power) => {
  const service = await bmc(at(systemPath, { json: systemAnswer({ PowerState: told }) }));
  expect(await client(service.settings()).findSystem(never)).toMatchObject({ power });
});

test('asks for ForceOff where the BMC says to, once', async () => {
  const service = await bmc();
  const opened = client(service.settings());
  await opened.forceOff(await opened.findSystem(never), never);
  expect(service.resets()).toEqual([
    expect.objectContaining({ path: `${systemPath}/Actions/ComputerSystem.Reset`, body: { ResetType: 'ForceOff' } }),
  ]);
});

const unwilling: [what: string, system: object, words: RegExp][] = [
  ['no reset', { Actions: {} }, /no reset at all/u],
  ['no actions', { Actions: null }, /no reset at all/u],
  [
    'no ForceOff',
    {
      Actions: {
        '#ComputerSystem.Reset': {
          target: '/redfish/v1/x',
          'ResetType@Redfish.AllowableValues': ['On', 'PushPowerButton'],
        },
      },
    },
    /only On, PushPowerButton/u,
  ],
];
test.each(unwilling)('a BMC that offers %s is not asked', async (_, system, words) => {
  const service = await bmc(at(systemPath, { json: systemAnswer(system) }));
  const opened = client(service.settings());
  await expect(opened.forceOff(await opened.findSystem(never), never)).rejects.toMatchObject({
    type: 'PowerOffRefused',
    message: expect.stringMatching(words),
  });
  expect(service.resets()).toEqual([]);
});

const reset = `${systemPath}/Actions/ComputerSystem.Reset`;
const faults: [what: string, where: string, reply: Reply, code: string, words: RegExp][] = [
  [
    '401',
    systemPath,
    { status: 401, json: refusal('Incorrect username or password') },
    'BmcCredentialRefused',
    /answered 401 to GET .*: Incorrect username or password/u,
  ],
  [
    '403',
    reset,
    { status: 403, json: refusal('x', 'Insufficient privilege.') },
    'BmcCredentialRefused',
    /Insufficient privilege/u,
  ],
  ['404 of a machine', systemPath, { status: 404, json: refusal('gone') }, 'SystemNotFound', /gone/u],
  [
    '404 of something in between',
    systemPath,
    { status: 404, text: '<h1>nothing here</h1>' },
    'AnswerMalformed',
    /nothing here/u,
  ],
  ['404 of the collection', '/redfish/v1/Systems', { status: 404, json: refusal('gone') }, 'AnswerMalformed', /gone/u],
  ['400', '/redfish/v1/Systems', { status: 400, json: refusal('bad') }, 'RequestRefused', /bad/u],
  ['429', systemPath, { status: 429, text: '' }, 'BmcUnreachable', /429 .*no words/u],
  ['500', systemPath, { status: 500, json: refusal('internal') }, 'BmcUnreachable', /internal/u],
  ['503', reset, { status: 503, json: refusal('booting') }, 'BmcUnreachable', /booting/u],
  [
    'a redirect',
    systemPath,
    { status: 307, headers: { location: 'https://elsewhere/' }, text: '' },
    'AnswerMalformed',
    /307/u,
  ],
  [
    '400 to the reset',
    reset,
    { status: 400, json: refusal('general', 'ForceOff is not allowed now.') },
    'PowerOffRefused',
    /answered 400 to POST .*ForceOff is not allowed now/u,
  ],
  ['409 to the reset', reset, { status: 409, json: refusal('conflict') }, 'PowerOffRefused', /conflict/u],
  ['501 to the reset', reset, { status: 501, json: refusal('Unsupported') }, 'PowerOffRefused', /Unsupported/u],
  ['no JSON', systemPath, { text: 'On' }, 'AnswerMalformed', /is no JSON: On/u],
  ['another shape', systemPath, { json: { PowerState: 1 } }, 'AnswerMalformed', /unexpected PowerState/u],
  ['a root without systems', '/redfish/v1/', { json: {} }, 'AnswerMalformed', /names no Systems/u],
  [
    'a link to another place',
    '/redfish/v1/Systems',
    { json: { Members: [{ '@odata.id': 'https://elsewhere/redfish/v1/Systems/1' }] } },
    'AnswerMalformed',
    /leads elsewhere: https:\/\/elsewhere/u,
  ],
  [
    'a link without a scheme',
    '/redfish/v1/Systems',
    { json: { Members: [{ '@odata.id': '//elsewhere/redfish/v1/Systems/1' }] } },
    'AnswerMalformed',
    /leads elsewhere/u,
  ],
  [
    'a link out of Redfish',
    '/redfish/v1/Systems',
    { json: { Members: [{ '@odata.id': '/redfish/v1/../../admin' }] } },
    'AnswerMalformed',
    /leads elsewhere/u,
  ],
  ['cut', systemPath, 'cut', 'BmcUnreachable', /the connection was cut/u],
  ['truncated', systemPath, 'truncated', 'BmcUnreachable', /the connection was cut/u],
  ['cut at the reset', reset, 'cut', 'BmcUnreachable', /the connection was cut before the answer was complete \(POST/u],
  ['garbage', systemPath, 'garbage', 'AnswerMalformed', /not readable as HTTP/u],
];
test.each(faults)('%s', async (_, where, reply, code, words) => {
  const service = await bmc(at(where, reply));
  const opened = client(service.settings());
  const done = async () => opened.forceOff(await opened.findSystem(never), never);
  const failure = await done().catch((error: unknown) => error);
  expect(failure).toMatchObject({ type: code, message: expect.stringMatching(words) });
  expect(service.received.filter(({ path }) => path === where)).toHaveLength(1);
  expect(JSON.stringify(failure)).not.toContain('the-bmc-password');
});

test.each(['silent', 'stalled'] as const)('an answer that is %s ends at the time-out', async (reply) => {
  const service = await bmc(at(systemPath, reply));
  await expect(
    client(service.settings(), { timeouts: { headersMs: 300, bodyMs: 300 } }).findSystem(never),
  ).rejects.toMatchObject({ type: 'BmcUnreachable', message: expect.stringMatching(/0\.3 s/u) });
});

test('ends with the signal’s reason, before and while waiting', async () => {
  const reason = new Error('cancelled');
  const controller = new AbortController();
  const service = await bmc(
    at(systemPath, () => {
      controller.abort(reason);
      return 'silent';
    }),
  );
  await expect(client(service.settings()).findSystem(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(service.received).toHaveLength(0);
  await expect(client(service.settings()).findSystem(controller.signal)).rejects.toBe(reason);
});

test('checks the certificate: only the CA given is trusted, and only for its name', async () => {
  const service = await bmc();
  await expect(client(service.settings({ ca: null })).findSystem(never)).rejects.toMatchObject({
    type: 'BmcUnreachable',
    message: expect.stringMatching(/its certificate is not trusted; check the CA given for this BMC/u),
  });
  await expect(client(service.settings({ ca: makeCertificate().cert })).findSystem(never)).rejects.toMatchObject({
    type: 'BmcUnreachable',
  });
  await expect(
    client(service.settings({ url: service.url.replace('127.0.0.1', 'localhost') })).findSystem(never),
  ).rejects.toThrow(/its certificate is for another name/u);
  expect(service.received).toHaveLength(0);
});

test.each([
  ['http', { url: 'http://bmc' }, /must be an https URL/u],
  ['no URL', { url: 'bmc' }, /must be an https URL/u],
  ['no selector', { system: {} }, /Which machine/u],
  ['an empty selector', { system: { uuid: '' } }, /Which machine/u],
  ['a path elsewhere', { system: { path: 'https://elsewhere/redfish/v1/Systems/1' } }, /no path of a machine/u],
])('settings with %s are refused before anything is sent', async (_, change, words) => {
  const service = await bmc();
  expect(() => client(service.settings(change))).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration', message: expect.stringMatching(words) as string }),
  );
});

describe('with a session', () => {
  const sessions = '/redfish/v1/SessionService/Sessions';
  const session = (token: string): Reply => ({
    status: 201,
    headers: { 'x-auth-token': token, location: `${sessions}/7` },
    json: {},
  });

  test('opens one before the first request, and closes it', async () => {
    const service = await bmc((request) =>
      request.path === sessions
        ? session('the-session-token')
        : request.path === `${sessions}/7`
          ? { status: 204, text: '' }
          : undefined,
    );
    const opened = createRedfishClient(service.settings({ auth: 'session', system: { path: systemPath } }), {
      clock: systemClock,
    });
    await opened.findSystem(never);
    await opened.readSystem(systemPath, never);
    expect(redactText('the-session-token')).toBe('[redacted]');
    await opened.close();
    expect(service.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /redfish/v1/',
      `POST ${sessions}`,
      `GET ${systemPath}`,
      `GET ${systemPath}`,
      `DELETE ${sessions}/7`,
    ]);
    expect(service.received[0]?.headers).not.toHaveProperty('authorization');
    expect(service.received[1]?.body).toEqual({ UserName: 'drover', Password: 'the-bmc-password' });
    for (const request of service.received.slice(2))
      expect(request.headers).toMatchObject({ 'x-auth-token': 'the-session-token' });
  });

  test('a session that is refused is replaced, once', async () => {
    let logins = 0;
    const service = await bmc((request) => {
      if (request.path === sessions) return session(`session-token-${(logins += 1)}`);
      return request.headers['x-auth-token'] === 'session-token-1'
        ? { status: 401, json: refusal('expired') }
        : undefined;
    });
    const opened = client(service.settings({ auth: 'session', system: { path: systemPath } }), { clock: systemClock });
    expect(await opened.findSystem(never)).toMatchObject({ power: 'On' });
    expect(logins).toBe(2);
  });

  test('one that is refused again is the credential’s fault', async () => {
    const service = await bmc((request) =>
      request.path === sessions
        ? session('session-token-x')
        : request.path === systemPath
          ? { status: 401, json: refusal('expired') }
          : undefined,
    );
    await expect(
      client(service.settings({ auth: 'session', system: { path: systemPath } })).findSystem(never),
    ).rejects.toMatchObject({ type: 'BmcCredentialRefused' });
    expect(service.received.filter(({ path }) => path === sessions)).toHaveLength(2);
  });

  const logins: [what: string, script: Script, code: string, words: RegExp][] = [
    [
      '401',
      at(sessions, { status: 401, json: refusal('wrong') }),
      'BmcCredentialRefused',
      /answered 401 to the login: wrong/u,
    ],
    [
      '400',
      at(sessions, { status: 400, json: refusal('wrong') }),
      'BmcCredentialRefused',
      /answered 400 to the login: wrong/u,
    ],
    ['503', at(sessions, { status: 503, json: refusal('too many sessions') }), 'BmcUnreachable', /too many sessions/u],
    ['no token', at(sessions, { status: 201, json: {} }), 'AnswerMalformed', /no X-Auth-Token/u],
    [
      'no sessions',
      at('/redfish/v1/', { json: { ...rootAnswer, Links: {} } }),
      'AnswerMalformed',
      /names no Sessions/u,
    ],
    [
      'sessions elsewhere',
      at('/redfish/v1/', {
        json: { ...rootAnswer, Links: { Sessions: { '@odata.id': 'https://elsewhere/redfish/v1/Sessions' } } },
      }),
      'AnswerMalformed',
      /leads elsewhere/u,
    ],
  ];
  test.each(logins)('a login that ends in %s', async (_, script, code, words) => {
    const service = await bmc(script);
    await expect(client(service.settings({ auth: 'session' })).findSystem(never)).rejects.toMatchObject({
      type: code,
      message: expect.stringMatching(words),
    });
  });

  test('a session that cannot be closed delays no call', async () => {
    const service = await bmc((request) =>
      request.path === sessions ? session('session-token-y') : request.method === 'DELETE' ? 'cut' : undefined,
    );
    const opened = createRedfishClient(service.settings({ auth: 'session', system: { path: systemPath } }), {
      clock: systemClock,
    });
    await opened.findSystem(never);
    await expect(opened.close()).resolves.toBeUndefined();
  });
});
