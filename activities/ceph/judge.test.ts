import { errors, type ErrorCode } from '../../contracts/errors.ts';
import { judgeHealth, judgePools, judgeReach } from './judge.ts';
import type { CephHealth, CephHealthCheck } from './types.ts';

const warns = (type: string, rest: Partial<CephHealthCheck> = {}): CephHealthCheck => ({
  type,
  severity: 'HEALTH_WARN',
  message: `${type.toLowerCase()} said`,
  muted: false,
  ...rest,
});
const health = (status: string, ...checks: CephHealthCheck[]): CephHealth => ({ status, checks });

/** What was seen, with what to do about a failure. */
const found = (seen: string, code: ErrorCode | null) =>
  code === null
    ? { outcome: 'passed', seen, code }
    : { outcome: 'failed', seen: `${seen}. ${errors[code].advice}`, code };

type Row = [what: string, tolerated: string[], health: CephHealth, code: ErrorCode | null, seen: string];
const rows: Row[] = [
  ['fine', [], health('HEALTH_OK'), null, 'HEALTH_OK'],
  ['fine, with a check that is muted', [], health('HEALTH_OK', warns('OSD_DOWN', { muted: true })), null, 'HEALTH_OK'],
  ['a warning', [], health('HEALTH_WARN', warns('OSD_DOWN')), 'CephUnhealthy', 'HEALTH_WARN: OSD_DOWN (osd_down said)'],
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
test.each(rows)('%s', (_, tolerated, seenHealth, code, seen) => {
  expect(judgeHealth(tolerated, seenHealth)).toMatchObject({ name: 'CephHealthy', ...found(seen, code) });
});

test('the expectation names what is tolerated', () => {
  expect(judgeHealth([], health('HEALTH_OK')).expectation).toBe('Ceph is HEALTH_OK');
  expect(judgeHealth(['OSD_NEARFULL', 'POOL_NEARFULL'], health('HEALTH_OK')).expectation).toBe(
    'Ceph is HEALTH_OK, or HEALTH_WARN with no more than OSD_NEARFULL, POOL_NEARFULL',
  );
});

const pools = [
  { name: 'vms', applications: ['rbd'] },
  { name: 'files', applications: ['cephfs'] },
  { name: 'both', applications: ['rgw', 'rbd'] },
  { name: 'bare', applications: [] },
];
const poolRows: [name: string, code: ErrorCode | null, seen: string][] = [
  ['vms', null, 'it is for rbd'],
  ['both', null, 'it is for rgw, rbd'],
  ['files', 'CephPoolNotRbd', 'it is for cephfs'],
  ['bare', 'CephPoolNotRbd', 'it is for no application'],
  ['volumes', 'CephPoolMissing', 'no such pool; there are bare, both, files, vms'],
  ['VMS', 'CephPoolMissing', 'no such pool; there are bare, both, files, vms'],
];
test.each(poolRows)('pool %s', (name, code, seen) => {
  expect(judgePools([name], pools)).toEqual([
    { name: `CephPool.${name}`, expectation: `pool ${name} exists and is for rbd`, ...found(seen, code) },
  ]);
});

test('a cluster without pools, and one with hundreds', () => {
  expect(judgePools(['vms'], [])).toMatchObject([
    { seen: expect.stringMatching(/^no such pool; there is none at all\./u) },
  ]);
  const many = Array.from({ length: 300 }, (_, index) => ({ name: `pool-${index}`, applications: ['rbd'] }));
  expect(judgePools(['vms'], many)[0]?.seen).toMatch(
    /^no such pool; there are pool-0, pool-1, pool-10, pool-100, pool-101, and 295 more\./u,
  );
});

test.each([
  [12, '12 images'],
  [1, '1 image'],
  [0, '0 images'],
])('a hypervisor that lists %d', (images, seen) => {
  expect(judgeReach('node-1', { pool: 'vms', durationMs: 3, outcome: 'listed', images })).toEqual({
    name: 'CephPoolReached.vms',
    expectation: 'node-1 lists pool vms',
    outcome: 'passed',
    seen,
    code: null,
  });
});

test('a hypervisor that cannot list the pool', () => {
  const message = 'libvirt on node-1: failed to connect to the RADOS monitor. Do something.';
  expect(
    judgeReach('node-1', { pool: 'vms', durationMs: 30_060, outcome: 'failed', code: 'CephUnavailable', message }),
  ).toMatchObject({ outcome: 'failed', seen: message, code: 'CephUnavailable' });
});
