import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readLibvirtAccess, type LibvirtSettings } from '../../activities/libvirt/access.ts';
import { checkLibvirt } from '../../activities/libvirt/check-libvirt.ts';
import { connectLibvirt } from '../../activities/libvirt/client.ts';
import { endpointOf } from '../../activities/libvirt/endpoint.ts';
import { seeRbdPool } from '../../activities/libvirt/see-rbd-pool.ts';
import { domainType } from '../../activities/libvirt/start-tiny-domain.ts';
import type { Domain, DomainEvent, LibvirtConnection } from '../../activities/libvirt/types.ts';
import { startGuestWatch } from '../../activities/libvirt/watch-guests.ts';
import { newCheckName, ownUuid, tinyDomainXml } from '../../activities/libvirt/xml.ts';
import { systemClock } from '../../activities/nova/wait.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import type { LibvirtHandle } from '../../lab/libvirt/handle.ts';
import { libvirtPrograms } from '../../lab/parts/libvirt.ts';
import { killDomain, killHypervisor, restartHypervisor } from '../../lab/parts/libvirt-faults.ts';
import { until } from './until.ts';

/**
 * libvirt as drover sees it on a hypervisor: real daemons with QEMU. Needs Debian's packages, which root's lab installs; where that is
 * not possible the tests are skipped, which `npm test` lists.
 */
const canRun = process.getuid?.() === 0 || libvirtPrograms.missing().length === 0;
const describeWithLibvirt = canRun ? describe : describe.skip;

/** The first run on a machine installs packages; a daemon's first start looks at every QEMU that there is. */
const startTimeoutMs = 10 * 60_000;
const testTimeoutMs = 120_000;
const deadlineMs = 60_000;
const never = new AbortController().signal;

const open = 'node-1';
const withPassword = 'node-2';

describeWithLibvirt('libvirt', () => {
  let dir: string;
  let lab: Lab<'libvirt'>;
  let handle: LibvirtHandle;
  const connections: LibvirtConnection[] = [];

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'drover-libvirt-'));
    lab = await startLab({ dir: join(dir, 'lab'), parts: ['libvirt'], libvirt: { hosts: [open, withPassword], withPassword: [withPassword] } });
    handle = lab.handles.libvirt;
  }, startTimeoutMs);

  afterEach(async () => {
    await Promise.all(connections.splice(0).map((one) => one.close()));
  });

  afterAll(async () => {
    await lab?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const addressOf = (host: string): string => handle.addresses[host] ?? '';

  const settingsOf = (changes: Partial<LibvirtSettings> = {}): LibvirtSettings => ({
    connectUri: handle.tcpUri,
    tls: { caFile: handle.caFile, certFile: handle.certFile, keyFile: handle.keyFile },
    sasl: null,
    minimumVersion: '8.0.0',
    kernelPath: null,
    timeouts: { startMs: deadlineMs },
    ...changes,
  });
  const overTls = (changes: Partial<LibvirtSettings> = {}): LibvirtSettings => settingsOf({ connectUri: handle.tlsUri, ...changes });
  const password = () => ({ user: handle.user, passwordFile: handle.passwordFile });

  async function connect(host: string, settings = settingsOf()): Promise<LibvirtConnection> {
    const connection = await connectLibvirt(endpointOf(settings.connectUri, addressOf(host)), await readLibvirtAccess(settings, never), { timeouts: settings.timeouts }, never);
    connections.push(connection);
    return connection;
  }

  async function startVm(libvirt: LibvirtConnection, autodestroy = true): Promise<Domain> {
    const { domainTypes } = await libvirt.capabilities(never);
    return libvirt.createDomain(tinyDomainXml(newCheckName(), domainType(libvirt.uri, domainTypes), null), { autodestroy }, never);
  }

  const names = async (libvirt: LibvirtConnection): Promise<string[]> => (await libvirt.domains(never)).map(({ name }) => name);

  test.each([
    ['TCP', open, () => settingsOf()],
    ['TLS with a client certificate', open, () => overTls()],
    ['TLS with a password besides', withPassword, () => overTls({ sasl: password() })],
  ])(
    'the check over %s: reached, new enough, a tiny VM starts; nothing is left',
    async (_, host, settings) => {
      const { checks, versions } = await checkLibvirt(addressOf(host), settings(), never);
      expect(checks.map(({ name, outcome, code }) => [name, outcome, code])).toEqual([
        ['LibvirtReachable', 'passed', null],
        ['LibvirtVersion', 'passed', null],
        ['LibvirtStartsVm', 'passed', null],
      ]);
      expect(checks[2]?.seen).toMatch(/^a VM of type (kvm|qemu) was running and was destroyed$/u);
      expect(versions).toEqual({ libvirt: expect.stringMatching(/^\d+\.\d+\.\d+$/u), hypervisor: expect.stringMatching(/^\d+\.\d+\.\d+$/u), driver: 'QEMU', hostname: expect.any(String) });
      expect(await names(await connect(host, settings()))).toEqual([]);
    },
    testTimeoutMs,
  );

  test(
    'twice at once on one host: both pass',
    async () => {
      const both = await Promise.all([checkLibvirt(addressOf(open), settingsOf(), never), checkLibvirt(addressOf(open), settingsOf(), never)]);
      expect(both.flatMap(({ checks }) => checks.map(({ outcome }) => outcome))).toEqual(Array.from({ length: 6 }, () => 'passed'));
      expect(await names(await connect(open))).toEqual([]);
    },
    testTimeoutMs,
  );

  test('a libvirt that is too old is a finding with both versions, and the VM is tried all the same', async () => {
    const { checks } = await checkLibvirt(addressOf(open), settingsOf({ minimumVersion: '99.0.0' }), never);
    expect(checks.map(({ outcome }) => outcome)).toEqual(['passed', 'failed', 'passed']);
    expect(checks[1]).toMatchObject({ expectation: 'libvirt 99.0.0 or newer', seen: expect.stringMatching(/^libvirt \d+\.\d+\.\d+ with QEMU /u), code: null });
  }, testTimeoutMs);

  describe('a daemon that is not opened is a finding that says why', () => {
    const found = async (host: string, settings: LibvirtSettings) => {
      const { checks, versions } = await checkLibvirt(addressOf(host), settings, never);
      expect(checks.slice(1).map(({ outcome }) => outcome)).toEqual(['skipped', 'skipped']);
      expect(versions).toBeNull();
      return checks[0];
    };

    test('no driver for Cloud Hypervisor', async () => {
      const check = await found(open, settingsOf({ connectUri: `ch+tcp://{host}:${handle.ports.tcp}/system` }));
      expect(check).toMatchObject({ outcome: 'failed', code: 'LibvirtDriverMissing', seen: expect.stringContaining('no connection driver available for ch:///system') });
    });

    test('no client certificate', async () => {
      expect(await found(open, overTls({ tls: { caFile: handle.caFile, certFile: null, keyFile: null } }))).toMatchObject({ code: 'LibvirtCredentialRefused', seen: expect.stringContaining('asks for a client certificate') });
    });

    test('no password', async () => {
      expect(await found(withPassword, overTls())).toMatchObject({ code: 'LibvirtCredentialRefused', seen: expect.stringContaining('asks for a user and a password') });
    });

    test('a wrong password, which nobody gets to see', async () => {
      const passwordFile = join(dir, 'wrong-password');
      writeFileSync(passwordFile, 'not-the-password\n');
      const check = await found(withPassword, overTls({ sasl: { user: handle.user, passwordFile } }));
      expect(check).toMatchObject({ code: 'LibvirtCredentialRefused' });
      expect(JSON.stringify(check)).not.toContain('not-the-password');
    });

    test('an authority that did not sign the host’s certificate', async () => {
      expect(await found(open, overTls({ tls: { caFile: handle.certFile, certFile: handle.certFile, keyFile: handle.keyFile } }))).toMatchObject({ code: 'CertificateNotTrusted' });
    });

    test('a file that is not there', async () => {
      expect(await found(open, overTls({ sasl: { user: 'drover', passwordFile: join(dir, 'nowhere') } }))).toMatchObject({ code: 'InvalidConfiguration', seen: expect.stringContaining('nowhere') });
    });

    test('a path that QEMU’s driver does not have', async () => {
      expect(await found(open, settingsOf({ connectUri: handle.tcpUri.replace(handle.qemuPath, '/nowhere') }))).toMatchObject({ outcome: 'failed', seen: expect.stringContaining("'/nowhere'") });
    });
  });

  test(
    'a VM from its start to its end, with the events that tell it',
    async () => {
      const libvirt = await connect(open);
      const stop = new AbortController();
      const events = await libvirt.domainEvents(stop.signal);
      const domain = await startVm(libvirt);
      expect(await libvirt.domainState(domain, never)).toBe('running');
      expect(await libvirt.domains(never)).toContainEqual({ ...domain, state: 'running' });
      await libvirt.resetDomain(domain, never);
      await libvirt.removeDomain(domain, never);
      await libvirt.removeDomain(domain, never);
      await expect(libvirt.domainState(domain, never)).rejects.toMatchObject({ type: 'DomainNotFound' });
      expect(await untilStopped(events, domain)).toEqual(expect.arrayContaining([{ domain, type: 'started' }, { domain, type: 'rebooted' }, { domain, type: 'stopped', detail: 'destroyed' }]));
      stop.abort();
    },
    testTimeoutMs,
  );

  test(
    'QEMU that is killed is told as a failure of the hypervisor',
    async () => {
      const libvirt = await connect(open);
      const events = await libvirt.domainEvents(never);
      const domain = await startVm(libvirt);
      killDomain(domain.name);
      expect((await untilStopped(events, domain)).at(-1)).toEqual({ domain, type: 'stopped', detail: 'failed' });
    },
    testTimeoutMs,
  );

  test(
    'whoever listens to the guests of a host is told of one that stopped and should run, and of QEMUs that are killed',
    async () => {
      const libvirt = await connect(open);
      const notices: string[] = [];
      const wanted = new Set<string>();
      const watch = startGuestWatch({
        open: async (signal) => connectLibvirt(endpointOf(handle.tcpUri, addressOf(open)), await readLibvirtAccess(settingsOf(), signal), {}, signal),
        shouldRun: ({ uuid }) => Promise.resolve(wanted.has(uuid)),
        notice: ({ verdict, domain }) => notices.push(`${verdict} ${domain.name}`),
        limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 3 },
        verifyAfterMs: 200,
        clock: systemClock,
      });
      try {
        await until('the connection', deadlineMs, () => watch.isConnected || 'not yet');
        const [ordered, unasked, first, second] = [await startVm(libvirt), await startVm(libvirt), await startVm(libvirt), await startVm(libvirt)];
        wanted.add(unasked.uuid);
        await libvirt.removeDomain(ordered, never);
        await libvirt.removeDomain(unasked, never);
        await until('the one that should run', deadlineMs, () => notices.includes(`evict ${unasked.name}`) || 'not yet');
        killDomain(first.name);
        await until('the first that is killed', deadlineMs, () => notices.includes(`evict ${first.name}`) || 'not yet');
        expect(watch.judge()).toBeNull();
        killDomain(second.name);
        await until('three to be the host’s trouble', deadlineMs, () => watch.judge() !== null || 'not yet');
        expect(watch.judge()).toContain('3 guests failed');
        expect(notices).not.toContain(`evict ${ordered.name}`);
      } finally {
        await watch.stop();
      }
      expect(watch.isConnected).toBe(false);
    },
    testTimeoutMs,
  );

  test(
    'a VM is gone when the process that started it is killed',
    async () => {
      const libvirt = await connect(open);
      const starter = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, 'libvirt/start-vm.ts'), handle.tcpUri, addressOf(open)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(starter.stdout.setEncoding('utf8'), 'data')) as [string];
      const name = line.trim();
      expect(await names(libvirt)).toContain(name);
      starter.kill('SIGKILL');
      await until(`${name} to be destroyed`, deadlineMs, async () => ((await names(libvirt)).includes(name) ? `${name} is there` : {}));
    },
    testTimeoutMs,
  );

  test(
    'storage: a pool is defined, found and removed; one without Ceph fails in libvirt’s 30 s, and its connection lives on',
    async () => {
      const libvirt = await connect(open);
      const name = 'drover-check-vms';
      const pool = { name, uuid: ownUuid(name), cephPool: 'vms', monitors: [{ host: '127.0.0.1', port: 1 }], auth: { user: 'libvirt', secretUuid: ownUuid('secret') } };
      await libvirt.ensureCephSecret({ uuid: ownUuid('secret'), user: 'libvirt', key: Buffer.alloc(16, 1) }, never);
      expect(await libvirt.defineRbdPool(pool, never)).toEqual({ name, uuid: pool.uuid });
      await libvirt.ensureCephSecret({ uuid: ownUuid('secret'), user: 'libvirt', key: Buffer.alloc(16, 2) }, never);
      const defined = await libvirt.defineRbdPool({ ...pool, auth: null }, never);
      expect(await libvirt.pools(never)).toContainEqual(defined);
      expect((await libvirt.poolInfo(defined, never)).isRunning).toBe(false);

      const seen = await seeRbdPool(libvirt, { ...pool, auth: null }, never);
      expect(seen).toMatchObject({ outcome: 'failed', code: 'HypervisorFailed', message: expect.stringContaining('RADOS monitor') });
      expect(seen.durationMs).toBeGreaterThan(25_000);
      expect(await libvirt.pools(never)).toEqual([]);

      await libvirt.removePool(defined, never);
      await libvirt.removePool(defined, never);
      expect(await libvirt.findPool(name, never)).toBeNull();
      await expect(libvirt.poolInfo(defined, never)).rejects.toMatchObject({ type: 'StoragePoolNotFound' });
      await libvirt.removeSecret(ownUuid('secret'), never);
      await libvirt.removeSecret(ownUuid('secret'), never);
    },
    testTimeoutMs,
  );

  test(
    'a hypervisor without power: what is under way fails, the check says so, and finds it well afterwards',
    async () => {
      const libvirt = await connect(withPassword, overTls({ sasl: password() }));
      const events = (await libvirt.domainEvents(never))[Symbol.asyncIterator]();
      await killHypervisor(handle, withPassword);
      await expect(events.next()).rejects.toMatchObject({ type: 'LibvirtUnavailable' });
      const { checks } = await checkLibvirt(addressOf(withPassword), overTls({ sasl: password() }), never);
      expect(checks[0]).toMatchObject({ outcome: 'failed', code: 'LibvirtUnavailable', seen: expect.stringContaining('the connection was refused') });
      await restartHypervisor(handle, withPassword);
      const { checks: again } = await checkLibvirt(addressOf(withPassword), overTls({ sasl: password() }), never);
      expect(again.map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'passed']);
    },
    testTimeoutMs,
  );

  test('a check that is cancelled ends with the signal’s reason', async () => {
    const aborter = new AbortController();
    const checked = checkLibvirt(addressOf(open), settingsOf(), aborter.signal);
    aborter.abort(new Error('enough'));
    await expect(checked).rejects.toThrow('enough');
  });
});

/** The domain's events up to the one that says that it stopped. */
async function untilStopped(events: AsyncIterable<DomainEvent>, domain: Domain): Promise<DomainEvent[]> {
  const seen: DomainEvent[] = [];
  for await (const event of events) {
    if (event.domain.uuid !== domain.uuid) continue;
    seen.push(event);
    if (event.type === 'stopped') break;
  }
  return seen;
}
