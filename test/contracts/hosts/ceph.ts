import { checkCeph } from '../../../activities/ceph/check-ceph.ts';
import type { CephOptions } from '../../../activities/ceph/client.ts';
import type { CephClient, CephSettings } from '../../../activities/ceph/types.ts';
import type { HostCheck } from '../../../contracts/hypervisor/host-check.ts';
import { until } from '../../flows/until.ts';
import { bodyOf, never, type Subject } from './subject.ts';

/** A cluster of one OSD with the pool `vms`, which is for rbd, and the dashboard of one manager. */
export interface CephSubject extends Subject {
  openCeph: (settings: CephSettings, options?: Pick<CephOptions, 'observe'>) => CephClient;
  /** What opens the dashboard as an administrator; pools: `vms`. */
  settings: CephSettings;
  /** What Ceph's own command says, which the dashboard hears of some time later. */
  health: () => Promise<{ status: string; checks: readonly string[] }>;
  createPool: (name: string, application: string | null) => Promise<void>;
  deletePool: (name: string) => Promise<void>;
  stopOsd: () => Promise<void>;
  startOsd: () => Promise<void>;
  /** `HEALTH_ERR` by OSD_OUT_OF_ORDER_FULL while it is so. */
  setRatiosOutOfOrder: (areSo: boolean) => Promise<void>;
  /** `HEALTH_WARN` by OSDMAP_FLAGS while it is set. */
  setNoOut: (isSet: boolean) => Promise<void>;
  mute: (check: string) => Promise<void>;
  killManager: () => Promise<void>;
  restartManager: () => Promise<void>;
  setTokenLifetime: (seconds: number) => Promise<void>;
  addUser: (name: string, password: string, role: 'read-only' | 'rgw-manager') => Promise<void>;
}

const healthDeadlineMs = 90_000;
const tokenDeadlineMs = 30_000;

const codes = (checks: readonly HostCheck[]): Record<string, string> =>
  Object.fromEntries(checks.map(({ name, outcome, code }) => [name, code ?? outcome]));
const asExpected = { CephHealthy: 'passed', 'CephPool.vms': 'passed' };

/** What drover expects of a Ceph dashboard. @param subject of the test that runs; it may be the same for all */
export function cephContract(subject: () => CephSubject, timeoutMs: number): void {
  const contract = (name: string, body: (ceph: CephSubject) => Promise<unknown>): void =>
    test(name, bodyOf(subject, body), timeoutMs);

  /** With a client of its own. */
  async function check(rest: Partial<CephSettings> = {}): Promise<HostCheck[]> {
    const settings = { ...subject().settings, ...rest };
    const client = subject().openCeph(settings);
    try {
      return await checkCeph(client, 'node-1', settings, subject().clock, never);
    } finally {
      await client.close();
    }
  }
  /** Waits until Ceph itself is in that state, and the dashboard has heard of it. */
  const untilHealth = (status: string, type = ''): Promise<HostCheck> =>
    until(`Ceph to be ${status} ${type}`, healthDeadlineMs, async () => {
      const own = await subject().health();
      const [observed] = await check();
      const isSo =
        own.status === status &&
        (type === '' || own.checks.includes(type)) &&
        observed?.observed.startsWith(status) === true &&
        observed.observed.includes(type);
      return isSo ? observed : `${own.status} ${own.checks.join()}; the dashboard says ${observed?.observed}`;
    });

  contract('a cluster as it should be', async () => {
    const checks = await check();
    expect(codes(checks)).toEqual(asExpected);
    expect(checks.map(({ observed }) => observed)).toEqual(['HEALTH_OK', 'it is for rbd']);
  });

  contract('a pool that is missing, one that is for nothing, one that is for something else', async (ceph) => {
    await ceph.createPool('bare', null);
    await ceph.createPool('objects', 'rgw');
    const pools = ['vms', 'nowhere', 'bare', 'objects'];
    await until('the dashboard to know the pools', healthDeadlineMs, async () => {
      const observed = codes(await check({ pools }));
      return observed['CephPool.objects'] === 'CephPoolNotRbd' || JSON.stringify(observed);
    });
    const checks = (await check({ pools })).slice(1);
    expect(checks.map(({ name, code }) => [name, code])).toEqual([
      ['CephPool.vms', null],
      ['CephPool.nowhere', 'CephPoolMissing'],
      ['CephPool.bare', 'CephPoolNotRbd'],
      ['CephPool.objects', 'CephPoolNotRbd'],
    ]);
    expect(checks.map(({ observed }) => observed).slice(1)).toEqual([
      expect.stringMatching(/^no such pool; there are bare, .*vms\./u),
      expect.stringMatching(/^it is for no application\./u),
      expect.stringMatching(/^it is for rgw\./u),
    ]);
    for (const pool of ['bare', 'objects']) await ceph.deletePool(pool);
    await untilHealth('HEALTH_OK');
  });

  contract(
    'the OSD goes: a warning that fails the check, and one that a setting tolerates; it comes back',
    async (ceph) => {
      await ceph.stopOsd();
      try {
        expect(await untilHealth('HEALTH_WARN', 'OSD_DOWN')).toMatchObject({
          code: 'CephUnhealthy',
          expectation: 'Ceph is HEALTH_OK',
          observed: expect.stringMatching(/OSD_DOWN \(1 osds down\)/u),
        });
        const client = ceph.openCeph(ceph.settings);
        const all = (await client.health(never)).checks.map(({ type }) => type);
        await client.close();
        expect(codes(await check({ toleratedChecks: all }))).toMatchObject({ CephHealthy: 'passed' });
        expect(codes(await check({ toleratedChecks: all.filter((type) => type !== 'OSD_DOWN') }))).toMatchObject({
          CephHealthy: 'CephUnhealthy',
        });
      } finally {
        await ceph.startOsd();
      }
      expect(await untilHealth('HEALTH_OK')).toMatchObject({ code: null });
    },
  );

  contract('an error is not tolerated; a warning that is muted does not count', async (ceph) => {
    await ceph.setRatiosOutOfOrder(true);
    try {
      await untilHealth('HEALTH_ERR', 'OSD_OUT_OF_ORDER_FULL');
      expect(codes(await check({ toleratedChecks: ['OSD_OUT_OF_ORDER_FULL'] }))).toMatchObject({
        CephHealthy: 'CephUnhealthy',
        'CephPool.vms': 'passed',
      });
    } finally {
      await ceph.setRatiosOutOfOrder(false);
    }
    await untilHealth('HEALTH_OK');
    await ceph.setNoOut(true);
    expect(await untilHealth('HEALTH_WARN', 'OSDMAP_FLAGS')).toMatchObject({ code: 'CephUnhealthy' });
    await ceph.mute('OSDMAP_FLAGS');
    expect(await untilHealth('HEALTH_OK')).toMatchObject({ code: null });
    await ceph.setNoOut(false);
  });

  contract('the dashboard is down, and up again; the client that saw it go finds it', async (ceph) => {
    const watching = ceph.openCeph(ceph.settings);
    expect(await watching.health(never)).toMatchObject({ status: 'HEALTH_OK' });
    await ceph.killManager();
    try {
      expect(await check()).toMatchObject([
        {
          name: 'CephHealthy',
          code: 'CephUnavailable',
          observed: expect.stringMatching(/the connection was refused/u),
        },
        { outcome: 'skipped' },
      ]);
      await expect(watching.health(never)).rejects.toMatchObject({ type: 'CephUnavailable' });
    } finally {
      await ceph.restartManager();
    }
    await untilHealth('HEALTH_OK');
    expect(await watching.health(never)).toMatchObject({ status: 'HEALTH_OK' });
    await watching.close();
    expect(codes(await check())).toEqual(asExpected);
  });

  contract('a wrong password is sent once, and shown nowhere', async (ceph) => {
    let logins = 0;
    const wrong = ceph.openCeph({ ...ceph.settings, password: 'not-the-password' }, { observe: () => (logins += 1) });
    for (let time = 0; time < 3; time += 1) {
      const [refused, ...others] = await checkCeph(wrong, 'node-1', ceph.settings, ceph.clock, never);
      expect(refused).toMatchObject({
        name: 'CephHealthy',
        code: 'CephCredentialRefused',
        observed: expect.stringMatching(/answered 400 to the login of drover: Invalid credentials/u),
      });
      expect(refused?.observed).not.toContain('not-the-password');
      expect(others).toMatchObject([{ name: 'CephPool.vms', outcome: 'skipped' }]);
    }
    expect(logins).toBe(1);
    await wrong.close();
  });

  contract('a token that has expired is renewed once, without a failure', async (ceph) => {
    await ceph.setTokenLifetime(2);
    const verbs: string[] = [];
    const client = ceph.openCeph(ceph.settings, {
      observe: ({ verb }, { outcome }) => verbs.push(`${verb} ${outcome}`),
    });
    try {
      await client.health(never);
      await until('a token to be refused', tokenDeadlineMs, async () => {
        await client.health(never);
        return verbs.includes('GET /api/health/minimal unauthorized') || `${verbs.length} calls`;
      });
      expect(verbs.filter((verb) => verb.startsWith('POST'))).toEqual(['POST /api/auth ok', 'POST /api/auth ok']);
      expect(verbs.slice(-3)).toEqual([
        'GET /api/health/minimal unauthorized',
        'POST /api/auth ok',
        'GET /api/health/minimal ok',
      ]);
    } finally {
      await client.close();
      await ceph.setTokenLifetime(28_800);
    }
  });

  contract('the role read-only is enough; a user who may not read pools is reported', async (ceph) => {
    const password = 'Another-Passw0rd';
    await ceph.addUser('reader', password, 'read-only');
    await ceph.addUser('stranger', password, 'rgw-manager');
    expect(codes(await check({ password, user: 'reader' }))).toEqual(asExpected);
    expect(codes(await check({ password, user: 'stranger' }))).toEqual({
      CephHealthy: 'passed',
      'CephPool.vms': 'CephNotPermitted',
    });
  });
}
