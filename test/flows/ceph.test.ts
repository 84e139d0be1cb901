import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';

import { checkCeph } from '../../activities/ceph/check-ceph.ts';
import { openCeph, type CephOptions } from '../../activities/ceph/client.ts';
import type { CephSettings } from '../../activities/ceph/types.ts';
import type { HostCheck } from '../../contracts/host-check.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { ceph } from '../../lab/parts/ceph-access.ts';
import { killManager, restartManager, setTokenLifetime, startOsd, stopOsd } from '../../lab/parts/ceph-faults.ts';
import type { CephHandle } from '../../lab/parts/ceph-handle.ts';
import { cephPrograms } from '../../lab/parts/ceph.ts';
import { ensureAuthority, ensureCertificate } from '../../lab/pki.ts';
import { runCommand } from '../../lab/run-command.ts';
import { until } from './until.ts';

/** The first run on a machine installs packages. */
const startTimeoutMs = 15 * 60_000;
const testTimeoutMs = 8 * 60_000;
const healthDeadlineMs = 90_000;
/** Root's lab installs what is missing; elsewhere these tests are skipped, which `npm test` lists. */
const canRun = process.getuid?.() === 0 || cephPrograms.missing().length === 0;
const never = new AbortController().signal;

let dir: string;
let lab: Lab<'ceph'>;
let handle: CephHandle;
let password: string;

const settings = (rest: Partial<CephSettings> = {}): CephSettings => ({ dashboards: [handle.dashboardUrl], user: handle.dashboardUser, password, ca: null, pools: [handle.pool], toleratedChecks: [], ...rest });
/** With a client of its own. */
async function check(rest: Partial<CephSettings> = {}, options: CephOptions = {}): Promise<HostCheck[]> {
  const client = openCeph(settings(rest), options);
  try {
    return await checkCeph(client, settings(rest), never);
  } finally {
    await client.close();
  }
}
const codes = (checks: readonly HostCheck[]): object => Object.fromEntries(checks.map(({ name, outcome, code }) => [name, code ?? outcome]));
const asExpected = { CephHealthy: 'passed', 'CephPool.vms': 'passed' };

/** Waits until Ceph itself, asked by its own command, is in that state, and the dashboard has heard of it. */
const untilHealth = (status: string, check = ''): Promise<HostCheck> =>
  until(`Ceph to be ${status} ${check}`, healthDeadlineMs, async () => {
    const { status: own, checks: ownChecks } = JSON.parse(await ceph(handle, ['health', '--format', 'json'])) as { status: string; checks: Record<string, unknown> };
    const [seen] = await checkNow();
    const isSo = own === status && (check === '' || check in ownChecks) && seen?.seen.startsWith(status) === true && seen.seen.includes(check);
    return isSo ? seen : `${own} ${Object.keys(ownChecks).join()}; the dashboard says ${seen?.seen}`;
  });
let watching: ReturnType<typeof openCeph>;
const checkNow = (): Promise<HostCheck[]> => checkCeph(watching, settings(), never);

(canRun ? describe : describe.skip)('Ceph', () => {
  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-ceph-')));
    lab = await startLab({ dir: join(dir, 'lab'), parts: ['ceph'] });
    handle = lab.handles.ceph;
    password = readFileSync(handle.dashboardPasswordFile, 'utf8');
    watching = openCeph(settings());
  }, startTimeoutMs);

  afterAll(async () => {
    await watching?.close();
    await lab?.stop();
    rmSync(dir, { recursive: true, force: true });
  }, testTimeoutMs);

  test('a cluster as it should be; a hypervisor’s own key opens its pool and no other', async () => {
    const checks = await check();
    expect(codes(checks)).toEqual(asExpected);
    expect(checks.map(({ seen }) => seen)).toEqual(['HEALTH_OK', 'it is for rbd']);
    const rbd = (...args: string[]): Promise<string> =>
      runCommand({ command: 'rbd', args: ['--id', handle.client.name, '--keyfile', handle.client.keyFile, '--client-mount-timeout=10', ...args], env: { CEPH_CONF: handle.confFile }, timeoutMs: 60_000 });
    await rbd('create', `${handle.pool}/disk`, '--size', '16M');
    expect((await rbd('ls', handle.pool)).trim()).toBe('disk');
    await rbd('rm', `${handle.pool}/disk`);
  }, testTimeoutMs);

  test('a pool that is missing, one that is for nothing, one that is for something else', async () => {
    await ceph(handle, ['osd', 'pool', 'create', 'bare', '8']);
    await ceph(handle, ['osd', 'pool', 'create', 'objects', '8']);
    await ceph(handle, ['osd', 'pool', 'application', 'enable', 'objects', 'rgw']);
    const pools = [handle.pool, 'nowhere', 'bare', 'objects'];
    await until('the dashboard to know the pools', healthDeadlineMs, async () => {
      const seen = codes(await check({ pools }));
      return 'CephPoolNotRbd' === (seen as Record<string, string>)['CephPool.objects'] ? true : JSON.stringify(seen);
    });
    const checks = (await check({ pools })).slice(1);
    expect(checks.map(({ name, code }) => [name, code])).toEqual([['CephPool.vms', null], ['CephPool.nowhere', 'CephPoolMissing'], ['CephPool.bare', 'CephPoolNotRbd'], ['CephPool.objects', 'CephPoolNotRbd']]);
    expect(checks.map(({ seen }) => seen).slice(1)).toEqual([expect.stringMatching(/^no such pool; there are bare, .*vms\./u), expect.stringMatching(/^it is for no application\./u), expect.stringMatching(/^it is for rgw\./u)]);
    for (const pool of ['bare', 'objects']) await ceph(handle, ['osd', 'pool', 'delete', pool, pool, '--yes-i-really-really-mean-it']);
    await untilHealth('HEALTH_OK');
  }, testTimeoutMs);

  test('the OSD goes: a warning that fails the check, and one that a setting tolerates; it comes back', async () => {
    await stopOsd(handle);
    try {
      expect(await untilHealth('HEALTH_WARN', 'OSD_DOWN')).toMatchObject({ code: 'CephUnhealthy', expectation: 'Ceph is HEALTH_OK', seen: expect.stringMatching(/OSD_DOWN \(1 osds down\)/u) });
      const { checks } = await watching.health(never);
      const all = checks.map(({ type }) => type);
      expect(codes(await check({ toleratedChecks: all }))).toMatchObject({ CephHealthy: 'passed' });
      expect(codes(await check({ toleratedChecks: all.filter((type) => type !== 'OSD_DOWN') }))).toMatchObject({ CephHealthy: 'CephUnhealthy' });
    } finally {
      await startOsd(handle);
    }
    expect(await untilHealth('HEALTH_OK')).toMatchObject({ code: null });
  }, testTimeoutMs);

  test('an error is not tolerated; a warning that somebody muted does not count', async () => {
    await ceph(handle, ['osd', 'set-nearfull-ratio', '0.99']);
    try {
      await untilHealth('HEALTH_ERR', 'OSD_OUT_OF_ORDER_FULL');
      expect(codes(await check({ toleratedChecks: ['OSD_OUT_OF_ORDER_FULL'] }))).toMatchObject({ CephHealthy: 'CephUnhealthy', 'CephPool.vms': 'passed' });
    } finally {
      await ceph(handle, ['osd', 'set-nearfull-ratio', '0.85']);
    }
    await untilHealth('HEALTH_OK');
    await ceph(handle, ['osd', 'set', 'noout']);
    expect(await untilHealth('HEALTH_WARN', 'OSDMAP_FLAGS')).toMatchObject({ code: 'CephUnhealthy' });
    await ceph(handle, ['health', 'mute', 'OSDMAP_FLAGS']);
    expect(await untilHealth('HEALTH_OK')).toMatchObject({ code: null });
    await ceph(handle, ['osd', 'unset', 'noout']);
  }, testTimeoutMs);

  test('the dashboard is down, and up again', async () => {
    await killManager(handle);
    try {
      expect(await check()).toMatchObject([{ name: 'CephHealthy', code: 'CephUnavailable', seen: expect.stringMatching(/the connection was refused/u) }, { outcome: 'skipped' }]);
      await expect(watching.health(never)).rejects.toMatchObject({ type: 'CephUnavailable' });
    } finally {
      await restartManager(handle);
    }
    // The client that saw it go finds it again.
    await untilHealth('HEALTH_OK');
    expect(codes(await check())).toEqual(asExpected);
  }, testTimeoutMs);

  test('a wrong password is said once, and shown nowhere', async () => {
    let logins = 0;
    const wrong = openCeph(settings({ password: 'not-the-password' }), { observe: () => (logins += 1) });
    for (let time = 0; time < 3; time += 1) {
      const [refused, ...others] = await checkCeph(wrong, settings(), never);
      expect(refused).toMatchObject({ name: 'CephHealthy', code: 'CephCredentialRefused', seen: expect.stringMatching(/answered 400 to the login of drover: Invalid credentials/u) });
      expect(refused?.seen).not.toContain('not-the-password');
      expect(others).toMatchObject([{ name: 'CephPool.vms', outcome: 'skipped' }]);
    }
    expect(logins).toBe(1);
    await wrong.close();
  }, testTimeoutMs);

  test('a token that has expired is renewed once, and nobody notices', async () => {
    await setTokenLifetime(handle, 2);
    const verbs: string[] = [];
    const client = openCeph(settings(), { observe: ({ verb }, { outcome }) => verbs.push(`${verb} ${outcome}`) });
    try {
      await client.health(never);
      await until('a token to be refused', 30_000, async () => {
        await client.health(never);
        return verbs.includes('GET /api/health/minimal unauthorized') ? true : `${verbs.length} calls`;
      });
      expect(verbs.filter((verb) => verb.startsWith('POST'))).toEqual(['POST /api/auth ok', 'POST /api/auth ok']);
      expect(verbs.slice(-3)).toEqual(['GET /api/health/minimal unauthorized', 'POST /api/auth ok', 'GET /api/health/minimal ok']);
    } finally {
      await client.close();
      await setTokenLifetime(handle, 28_800);
    }
  }, testTimeoutMs);

  test('the role read-only is enough; a user who may not read pools is told so', async () => {
    const secret = join(dir, 'secret');
    writeFileSync(secret, 'Another-Passw0rd', { mode: 0o600 });
    await ceph(handle, ['dashboard', 'ac-user-create', 'reader', '-i', secret, 'read-only']);
    await ceph(handle, ['dashboard', 'ac-user-create', 'stranger', '-i', secret, 'rgw-manager']);
    const other = { password: 'Another-Passw0rd' };
    expect(codes(await check({ ...other, user: 'reader' }))).toEqual(asExpected);
    expect(codes(await check({ ...other, user: 'stranger' }))).toEqual({ CephHealthy: 'passed', 'CephPool.vms': 'CephNotPermitted' });
  }, testTimeoutMs);

  test('TLS: the authority of the settings is trusted, and no other', async () => {
    const pki = join(dir, 'pki');
    const authority = await ensureAuthority(runCommand, pki);
    const strange = await ensureAuthority(runCommand, pki, 'strange');
    const server = await ensureCertificate(runCommand, pki, authority, { name: 'dashboard', names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    const port = Number(new URL(handle.dashboardUrl).port);
    // As the proxy that often stands before a dashboard.
    const proxy = createServer({ key: readFileSync(server.keyFile), cert: readFileSync(server.certificateFile) }, (near) => {
      const far = connect(port, '127.0.0.1');
      near.on('error', () => far.destroy());
      far.on('error', () => near.destroy());
      near.pipe(far).pipe(near);
    });
    proxy.on('tlsClientError', () => undefined);
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const dashboards = [`https://127.0.0.1:${(proxy.address() as AddressInfo).port}`];
    expect(codes(await check({ dashboards, ca: readFileSync(authority.certificateFile, 'utf8') }))).toEqual(asExpected);
    for (const ca of [null, readFileSync(strange.certificateFile, 'utf8')]) {
      expect(await check({ dashboards, ca })).toMatchObject([{ code: 'CertificateNotTrusted', seen: expect.stringMatching(/its certificate is not trusted; check the ca of the dashboard/u) }, { outcome: 'skipped' }]);
    }
    proxy.close();
  }, testTimeoutMs);
});
