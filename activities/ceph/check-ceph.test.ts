import { type ErrorCode, errors } from '../../contracts/errors.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { CallEnd, OutsideCall } from '../../runtime/telemetry/outside-calls.ts';
import { type Received, type Reply, type ScriptedService, startScriptedService } from '../../test/scripted-service.ts';
import { checkCeph, judgeHealth, judgePools, judgeReach } from './check-ceph.ts';
import { type CephOptions, openCeph } from './client.ts';
import type { CephClient, CephHealth, CephHealthCheck, CephSettings } from './types.ts';

const never = new AbortController().signal;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(script: (request: Received) => Reply): Promise<ScriptedService> {
  const service = await startScriptedService(script);
  open.push(service);
  return service;
}
const settingsFor = (dashboards: readonly string[], rest: Partial<CephSettings> = {}): CephSettings => ({
  dashboards,
  user: 'drover',
  password: 'the-password',
  ca: null,
  pools: ['vms'],
  toleratedChecks: [],
  ...rest,
});
function client(settings: CephSettings, options: Partial<CephOptions> = {}): CephClient {
  const ceph = openCeph(settings, { clock: systemClock, ...options });
  open.push(ceph);
  return ceph;
}

const token = (value = 'the-token'): Reply => ({ status: 201, json: { token: value, pwdUpdateRequired: false } });
const healthy: Reply = { json: { health: { status: 'HEALTH_OK', checks: [], mutes: [] } } };
const pools: Reply = { json: [{ pool_name: 'vms', application_metadata: ['rbd'] }] };
/** A dashboard that works, but for one path. */
const but =
  (path: string, reply: Reply) =>
  (request: Received): Reply =>
    request.path === path
      ? reply
      : request.path === '/api/auth'
        ? token()
        : request.path === '/api/pool'
          ? pools
          : healthy;

test('a cluster as it should be: one login, then health and pools, each with its version', async () => {
  const { url, received } = await serve(but('', 'cut'));
  const settings = settingsFor([`${url}/`]);
  const told: [OutsideCall, CallEnd][] = [];
  const checks = await checkCeph(
    client(settings, { observe: (call, end) => told.push([call, end]) }),
    'node-1',
    settings,
    systemClock,
    never,
  );
  expect(checks).toEqual([
    {
      name: 'CephHealthy',
      expectation: 'Ceph is HEALTH_OK',
      outcome: 'passed',
      observed: 'HEALTH_OK',
      code: null,
      durationMs: expect.any(Number),
    },
    {
      name: 'CephPool.vms',
      expectation: 'pool vms exists and is for rbd',
      outcome: 'passed',
      observed: 'it is for rbd',
      code: null,
      durationMs: expect.any(Number),
    },
  ]);
  expect(
    received.map(({ method, path, body, headers }) => [
      method,
      path,
      body,
      headers['accept'],
      headers['authorization'],
    ]),
  ).toEqual([
    [
      'POST',
      '/api/auth',
      { username: 'drover', password: 'the-password' },
      'application/vnd.ceph.api.v1.0+json',
      undefined,
    ],
    ['GET', '/api/health/minimal', undefined, 'application/vnd.ceph.api.v1.0+json', 'Bearer the-token'],
    ['GET', '/api/pool', undefined, 'application/vnd.ceph.api.v1.0+json', 'Bearer the-token'],
  ]);
  expect(told.map(([{ system, verb }, { outcome }]) => `${system} ${verb} ${outcome}`)).toEqual([
    'ceph POST /api/auth ok',
    'ceph GET /api/health/minimal ok',
    'ceph GET /api/pool ok',
  ]);
});

const quick = { timeouts: { headersMs: 300, bodyMs: 300 } };
const json = (status: number, detail: string, code?: string): Reply => ({
  status,
  json: { detail, ...(code === undefined ? {} : { code }) },
});

type Row = [what: string, path: string, reply: Reply, code: string, observed: RegExp];
const faults: Row[] = [
  ['a login that is cut', '/api/auth', 'cut', 'CephUnavailable', /the connection was cut/u],
  ['a login that is truncated', '/api/auth', 'truncated', 'CephUnavailable', /the connection was cut/u],
  [
    'a login without an answer',
    '/api/auth',
    'silent',
    'CephUnavailable',
    /no answer within 0\.3 s \(POST \/api\/auth\)/u,
  ],
  ['a login at something else', '/api/auth', 'garbage', 'AnswerMalformed', /not readable as HTTP/u],
  [
    'a login without a token',
    '/api/auth',
    { status: 201, json: { tokens: [] } },
    'AnswerMalformed',
    /something that is no token/u,
  ],
  [
    'a login answered with HTML',
    '/api/auth',
    { status: 200, text: '<html>' },
    'AnswerMalformed',
    /something that is no token/u,
  ],
  ['a login refused otherwise', '/api/auth', json(401, 'no'), 'CephCredentialRefused', /answered 401/u],
  [
    'a password that must be changed',
    '/api/auth',
    { status: 201, json: { token: 't'.repeat(9), pwdUpdateRequired: true } },
    'CephCredentialRefused',
    /has to change the password/u,
  ],
  ['a bad request', '/api/auth', json(400, 'what?'), 'RequestRefused', /what\?/u],
  [
    'a manager that stands by and redirects',
    '/api/auth',
    { status: 303, headers: { location: 'https://mgr-2:8443/' }, text: '' },
    'CephUnavailable',
    /not that of the active manager; it points to https:\/\/mgr-2:8443\//u,
  ],
  [
    'a manager that stands by and fails',
    '/api/auth',
    { status: 503, text: 'standby' },
    'CephUnavailable',
    /answered 503 to the login of drover: standby/u,
  ],
  ['a health that never comes', '/api/health/minimal', 'silent', 'CephUnavailable', /no answer within 0\.3 s/u],
  ['a health that stops in the middle', '/api/health/minimal', 'stalled', 'CephUnavailable', /stopped in the middle/u],
  [
    'a health that is too large',
    '/api/health/minimal',
    { text: 'x'.repeat(33 * 1024 * 1024) },
    'AnswerMalformed',
    /not readable as HTTP/u,
  ],
  ['a health that is no JSON', '/api/health/minimal', { text: 'OK' }, 'AnswerMalformed', /is no JSON/u],
  [
    'a health of another shape',
    '/api/health/minimal',
    { json: { health: { status: 'HEALTH_OK', checks: {} } } },
    'AnswerMalformed',
    /unexpected health\.checks/u,
  ],
  [
    'a version that is not served',
    '/api/health/minimal',
    json(415, 'Incorrect version: endpoint is 2.0'),
    'RequestRefused',
    /endpoint is 2\.0/u,
  ],
  [
    'an error within',
    '/api/health/minimal',
    json(500, 'boom'),
    'CephUnavailable',
    /answered 500 to GET \/api\/health\/minimal: boom/u,
  ],
  ['a user who may not', '/api/health/minimal', json(403, 'no'), 'CephNotPermitted', /answered 403/u],
  [
    'a token that is refused each time',
    '/api/health/minimal',
    json(401, 'no'),
    'CephCredentialRefused',
    /answered 401/u,
  ],
];
test.each(faults)('%s: the check of its health fails and says why', async (_, path, reply, code, observed) => {
  const { url } = await serve(but(path, reply));
  const settings = settingsFor([url], reply === 'silent' || reply === 'stalled' ? quick : {});
  const checks = await checkCeph(client(settings), 'node-1', settings, systemClock, never);
  expect(checks).toMatchObject([
    { name: 'CephHealthy', outcome: 'failed', code, observed: expect.stringMatching(observed) },
    { name: 'CephPool.vms', outcome: 'skipped', observed: 'Ceph was not reached', code: null },
  ]);
  expect(checks[0]?.observed).not.toContain('the-password');
});

test('many who ask at once share one login', async () => {
  const { url, received } = await serve(but('', 'cut'));
  const ceph = client(settingsFor([url]));
  await Promise.all(Array.from({ length: 20 }, () => ceph.health(never)));
  expect(received.filter(({ path }) => path === '/api/auth')).toHaveLength(1);
});

test('the active manager is found among several, and again when it changes', async () => {
  const standby = json(503, 'standby');
  let active = 0;
  const dashboards = await Promise.all(
    [0, 1].map((number) =>
      serve((request) =>
        active === number
          ? but('', 'cut')(request)
          : request.path === '/api/auth'
            ? { status: 303, headers: { location: 'http://elsewhere/' }, text: '' }
            : standby,
      ),
    ),
  );
  const ceph = client(settingsFor(dashboards.map(({ url }) => url)));
  await ceph.health(never);
  active = 1;
  await expect(ceph.health(never)).rejects.toMatchObject({ type: 'CephUnavailable' });
  await expect(ceph.health(never)).resolves.toMatchObject({ status: 'HEALTH_OK' });
  expect(dashboards[1]?.received.map(({ path }) => path)).toEqual(['/api/auth', '/api/health/minimal']);
  active = 2;
  await expect(ceph.health(never)).rejects.toMatchObject({ type: 'CephUnavailable' });
  await expect(ceph.health(never)).rejects.toMatchObject({
    type: 'CephUnavailable',
    message: expect.stringMatching(/points to http:\/\/elsewhere\/.*points to http:\/\/elsewhere\//u),
  });
});

test('a refused login is not repeated for a minute: the dashboard locks users', async () => {
  const { url, received } = await serve(but('/api/auth', json(400, 'Invalid credentials', 'invalid_credentials')));
  let nowMs = 0;
  const ceph = client(settingsFor([url, url]), { clock: { ...systemClock, monotonicMs: () => nowMs } });
  for (let time = 0; time < 5; time += 1)
    await expect(ceph.health(never)).rejects.toMatchObject({ type: 'CephCredentialRefused' });
  expect(received).toHaveLength(1);
  nowMs = 60_000;
  await expect(ceph.health(never)).rejects.toMatchObject({ type: 'CephCredentialRefused' });
  expect(received).toHaveLength(2);
});

test('ends with the signal’s reason; others who wait for the same login go on', async () => {
  const reason = new Error('cancelled');
  const login = Promise.withResolvers<Reply>();
  const arrived = Promise.withResolvers<void>();
  const service = await startScriptedService(({ path }) => {
    if (path !== '/api/auth') return healthy;
    arrived.resolve();
    return login.promise;
  });
  open.push(service);
  const settings = settingsFor([service.url]);
  const ceph = client(settings);
  await expect(checkCeph(ceph, 'node-1', settings, systemClock, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const given = checkCeph(ceph, 'node-1', settings, systemClock, controller.signal);
  const kept = ceph.health(never);
  await arrived.promise;
  controller.abort(reason);
  await expect(given).rejects.toBe(reason);
  login.resolve(token());
  await expect(kept).resolves.toMatchObject({ status: 'HEALTH_OK' });
});

describe('judge', () => {
  const warns = (type: string, rest: Partial<CephHealthCheck> = {}): CephHealthCheck => ({
    type,
    severity: 'HEALTH_WARN',
    message: `${type.toLowerCase()} said`,
    details: [],
    muted: false,
    ...rest,
  });
  const health = (status: string, ...checks: CephHealthCheck[]): CephHealth => ({ status, checks });

  /** What was observed, with what to do about a failure. */
  const found = (observed: string, code: ErrorCode | null) =>
    code === null
      ? { outcome: 'passed', observed, code }
      : { outcome: 'failed', observed: `${observed}. ${errors[code].advice}`, code };

  type Row = [what: string, tolerated: string[], health: CephHealth, code: ErrorCode | null, observed: string];
  const rows: Row[] = [
    ['fine', [], health('HEALTH_OK'), null, 'HEALTH_OK'],
    [
      'fine, with a check that is muted',
      [],
      health('HEALTH_OK', warns('OSD_DOWN', { muted: true })),
      null,
      'HEALTH_OK',
    ],
    [
      'a warning',
      [],
      health('HEALTH_WARN', warns('OSD_DOWN')),
      'CephUnhealthy',
      'HEALTH_WARN: OSD_DOWN (osd_down said)',
    ],
    [
      'a warning that is tolerated',
      ['OSD_NEARFULL'],
      health('HEALTH_WARN', warns('OSD_NEARFULL')),
      null,
      'HEALTH_WARN: OSD_NEARFULL (osd_nearfull said)',
    ],
    [
      'a tolerated warning and another',
      ['OSD_NEARFULL'],
      health('HEALTH_WARN', warns('OSD_NEARFULL'), warns('OSD_DOWN')),
      'CephUnhealthy',
      'HEALTH_WARN: OSD_DOWN (osd_down said)',
    ],
    [
      'a tolerated warning and a muted other',
      ['OSD_NEARFULL'],
      health('HEALTH_WARN', warns('OSD_NEARFULL'), warns('OSD_DOWN', { muted: true })),
      null,
      'HEALTH_WARN: OSD_NEARFULL (osd_nearfull said)',
    ],
    [
      'a warning that only resembles a tolerated one',
      ['OSD_NEARFULL'],
      health('HEALTH_WARN', warns('POOL_NEARFULL')),
      'CephUnhealthy',
      'HEALTH_WARN: POOL_NEARFULL (pool_nearfull said)',
    ],
    ['a warning without a check', ['OSD_NEARFULL'], health('HEALTH_WARN'), 'CephUnhealthy', 'HEALTH_WARN'],
    [
      'a warning of which all checks are muted',
      [],
      health('HEALTH_WARN', warns('OSD_DOWN', { muted: true })),
      'CephUnhealthy',
      'HEALTH_WARN',
    ],
    [
      'an error',
      [],
      health('HEALTH_ERR', warns('PG_DAMAGED', { severity: 'HEALTH_ERR' })),
      'CephUnhealthy',
      'HEALTH_ERR: PG_DAMAGED (pg_damaged said)',
    ],
    [
      'an error of a tolerated name',
      ['PG_DAMAGED'],
      health('HEALTH_ERR', warns('PG_DAMAGED', { severity: 'HEALTH_ERR' })),
      'CephUnhealthy',
      'HEALTH_ERR: PG_DAMAGED (pg_damaged said)',
    ],
    [
      'an error whose checks are all tolerated warnings',
      ['OSD_NEARFULL'],
      health('HEALTH_ERR', warns('OSD_NEARFULL')),
      'CephUnhealthy',
      'HEALTH_ERR: OSD_NEARFULL (osd_nearfull said)',
    ],
    [
      'a warning with a tolerated check that is an error',
      ['PG_DAMAGED'],
      health('HEALTH_WARN', warns('PG_DAMAGED', { severity: 'HEALTH_ERR' })),
      'CephUnhealthy',
      'HEALTH_WARN: PG_DAMAGED (pg_damaged said)',
    ],
    [
      'something unknown',
      ['OSD_NEARFULL'],
      health('HEALTH_PURPLE', warns('OSD_NEARFULL')),
      'CephUnhealthy',
      'HEALTH_PURPLE: OSD_NEARFULL (osd_nearfull said)',
    ],
  ];
  test.each(rows)('%s', (_, tolerated, observedHealth, code, observed) => {
    expect(judgeHealth('node-1', tolerated, observedHealth)).toMatchObject({
      name: 'CephHealthy',
      ...found(observed, code),
      ...(code !== null && { beyondHost: true }),
    });
  });

  const osd = (...details: string[]): CephHealth => health('HEALTH_WARN', warns('OSD_DOWN', { details }));
  test.each([
    ['one of its OSDs', 'node-1', osd('osd.3 (root=default,host=node-1) is down'), true],
    ['by its full name too', 'node-1.example', osd('osd.3 (root=default,host=NODE-1) is down'), true],
    ['among others', 'node-1', osd('osd.1 (host=node-2) is down', 'host node-1.example (rack=a) is down'), true],
    ['in the summary', 'node-1', health('HEALTH_WARN', warns('X', { message: 'hosts: node-1, node-2' })), true],
    ['a name that only begins so', 'node-1', osd('osd.3 (root=default,host=node-10) is down'), false],
    ['or ends so', 'node-1', osd('osd.3 (root=default,host=my-node-1) is down'), false],
    ['nothing by name', 'node-1', osd(), false],
  ])('a warning about the host itself is its own: %s', (_what, host, observed, isIts) => {
    expect(judgeHealth(host, [], observed).beyondHost ?? false).toBe(!isIts);
  });

  test('of several warnings its own is named', () => {
    const observed = health(
      'HEALTH_WARN',
      warns('POOL_NEARFULL'),
      warns('OSD_DOWN', { details: ['host node-1 is down'] }),
    );
    expect(judgeHealth('node-1', [], observed).observed).toMatch(/^HEALTH_WARN: OSD_DOWN \(osd_down said\)\./u);
  });

  test('the expectation names what is tolerated', () => {
    expect(judgeHealth('node-1', [], health('HEALTH_OK')).expectation).toBe('Ceph is HEALTH_OK');
    expect(judgeHealth('node-1', ['OSD_NEARFULL', 'POOL_NEARFULL'], health('HEALTH_OK')).expectation).toBe(
      'Ceph is HEALTH_OK, or HEALTH_WARN with no more than OSD_NEARFULL, POOL_NEARFULL',
    );
  });

  const pools = [
    { name: 'vms', applications: ['rbd'] },
    { name: 'files', applications: ['cephfs'] },
    { name: 'both', applications: ['rgw', 'rbd'] },
    { name: 'bare', applications: [] },
  ];
  const poolRows: [name: string, code: ErrorCode | null, observed: string][] = [
    ['vms', null, 'it is for rbd'],
    ['both', null, 'it is for rgw, rbd'],
    ['files', 'CephPoolNotRbd', 'it is for cephfs'],
    ['bare', 'CephPoolNotRbd', 'it is for no application'],
    ['volumes', 'CephPoolMissing', 'no such pool; there are bare, both, files, vms'],
    ['VMS', 'CephPoolMissing', 'no such pool; there are bare, both, files, vms'],
  ];
  test.each(poolRows)('pool %s', (name, code, observed) => {
    expect(judgePools([name], pools)).toEqual([
      {
        name: `CephPool.${name}`,
        expectation: `pool ${name} exists and is for rbd`,
        ...found(observed, code),
        ...(code !== null && { beyondHost: true }),
      },
    ]);
  });

  test('a cluster without pools, and one with hundreds', () => {
    expect(judgePools(['vms'], [])).toMatchObject([
      { observed: expect.stringMatching(/^no such pool; there is none at all\./u) },
    ]);
    const many = Array.from({ length: 300 }, (_, index) => ({ name: `pool-${index}`, applications: ['rbd'] }));
    expect(judgePools(['vms'], many)[0]?.observed).toMatch(
      /^no such pool; there are pool-0, pool-1, pool-10, pool-100, pool-101, and 295 more\./u,
    );
  });

  test.each([
    [12, '12 images'],
    [1, '1 image'],
    [0, '0 images'],
  ])('a hypervisor that lists %d', (images, observed) => {
    expect(judgeReach('node-1', { pool: 'vms', durationMs: 3, outcome: 'listed', images })).toEqual({
      name: 'CephPoolReached.vms',
      expectation: 'node-1 lists pool vms',
      outcome: 'passed',
      observed,
      code: null,
    });
  });

  test('a hypervisor that cannot list the pool', () => {
    const message = 'libvirt on node-1: failed to connect to the RADOS monitor. Do something.';
    expect(
      judgeReach('node-1', { pool: 'vms', durationMs: 30_060, outcome: 'failed', code: 'CephUnavailable', message }),
    ).toMatchObject({ outcome: 'failed', observed: message, code: 'CephUnavailable' });
  });
});
