import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

import { checkCeph } from '../../activities/ceph/check-ceph.ts';
import { checkOvs } from '../../activities/ovs/check-ovs.ts';
import { connectOvsdb, remoteOf } from '../../activities/ovs/ovsdb.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { cephPrograms } from '../../lab/parts/ceph.ts';
import { libvirtPrograms } from '../../lab/parts/libvirt.ts';
import { defaultBridges } from '../../lab/parts/ovs-bridges.ts';
import { ovsPrograms } from '../../lab/parts/ovs.ts';
import { ensureAuthority, ensureCertificate } from '../../lab/pki.ts';
import { readProcess } from '../../lab/processes.ts';
import { runCommand } from '../../lab/run-command.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type CephSubject, cephContract } from '../contracts/hosts/ceph.ts';
import { libvirtChecksContract } from '../contracts/hosts/libvirt-checks.ts';
import { type StorageSubject, libvirtStorageContract } from '../contracts/hosts/libvirt-storage.ts';
import { libvirtContract } from '../contracts/hosts/libvirt.ts';
import { type OvsSubject, ovsContract } from '../contracts/hosts/ovs.ts';
import { type RedfishSubject, redfishContract } from '../contracts/hosts/redfish.ts';
import { never } from '../contracts/hosts/subject.ts';
import { cephOfLab } from './contract-hosts/ceph.ts';
import { libvirtOfLab } from './contract-hosts/libvirt.ts';
import { ovsOfLab } from './contract-hosts/ovs.ts';
import { redfishOfLab } from './contract-hosts/redfish.ts';
import { until } from './until.ts';

/**
 * What is on and around a hypervisor: the suites of the fakes on the real counterparts, and what only the wire shows.
 */

/** The first run on a machine installs packages. */
const startTimeoutMs = 20 * 60_000;
const cephTimeoutMs = 8 * 60_000;
const probeTimeoutMs = 30_000;
/** Root's lab installs what is missing; elsewhere these tests are skipped, which `npm test` lists. */
const canRun =
  process.getuid?.() === 0 ||
  [libvirtPrograms, ovsPrograms, cephPrograms].every((programs) => programs.missing().length === 0);
const describeWithPackages = canRun ? describe : describe.skip;

let dir: string;
beforeAll(() => void (dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-hosts-')))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describeWithPackages('Open vSwitch', () => {
  let lab: Lab<'ovs'>;
  let subject: OvsSubject;
  beforeAll(async () => {
    lab = await startLab({ dir: join(dir, 'ovs'), parts: ['ovs'], ovs: { hosts: ['node-1', 'node-2'] } });
    subject = await ovsOfLab(lab.handles.ovs, dir);
  }, startTimeoutMs);
  afterAll(() => lab?.stop());

  ovsContract(() => subject, defaultBridges);

  const check = (remote: string) =>
    checkOvs(
      subject,
      'node-1',
      { remote, credential: subject.credential, bridges: { required: ['br-int'], optional: [] } },
      never,
    );

  test('a certificate that is for another name is not trusted', async () => {
    expect(await check(subject.hostOf('node-1').ssl.replace('127.0.0.1', 'localhost'))).toMatchObject([
      { code: 'CertificateNotTrusted', observed: expect.stringMatching(/its certificate is for another name/u) },
      { outcome: 'skipped' },
    ]);
  });

  test('TLS where there is none, and none where there is', async () => {
    const { tcp, ssl } = subject.hostOf('node-1');
    expect(await check(tcp.replace('tcp:', 'ssl:'))).toMatchObject([
      { name: 'OvsReachable', code: 'OvsUnavailable' },
      { outcome: 'skipped' },
    ]);
    expect(await check(ssl.replace('ssl:', 'tcp:'))).toMatchObject([
      { name: 'OvsReachable', code: expect.stringMatching(/^(AnswerMalformed|OvsUnavailable)$/u) },
      { outcome: 'skipped' },
    ]);
  });

  test('the server refuses what it does not know', async () => {
    const connection = await connectOvsdb(remoteOf(subject.hostOf('node-1').tcp), { clock: systemClock }, never);
    await expect(connection.request('transact', ['Nowhere'], never)).rejects.toMatchObject({
      type: 'RequestRefused',
      message: expect.stringMatching(/refused transact: unknown database/u),
    });
    await expect(connection.request('no_such_method', [], never)).rejects.toMatchObject({
      type: 'RequestRefused',
      message: expect.stringMatching(/refused no_such_method: unknown method/u),
    });
    connection.close();
  });

  test('a connection that is idle for long is kept: the server’s probes are answered', async () => {
    let sent = '';
    const upstream = remoteOf(subject.hostOf('node-1').tcp);
    const tap = createServer((near) => {
      const far = connect(upstream.port, upstream.host);
      near
        .on('data', (bytes) => (sent += bytes.toString()))
        .pipe(far)
        .pipe(near);
    });
    tap.listen(0, '127.0.0.1');
    await once(tap, 'listening');
    const connection = await connectOvsdb(
      { ...upstream, port: (tap.address() as AddressInfo).port },
      { clock: systemClock },
      never,
    );
    await until(
      'an answer to the server’s probe',
      probeTimeoutMs,
      () => sent.includes('"id":"echo"') || `the client sent ${sent}`,
    );
    expect(await connection.request('list_dbs', [], never)).toContain('Open_vSwitch');
    connection.close();
    tap.close();
  });
});

describeWithPackages('libvirt', () => {
  let lab: Lab<'libvirt' | 'ceph'>;
  let subject: StorageSubject;
  beforeAll(async () => {
    lab = await startLab({
      dir: join(dir, 'libvirt'),
      parts: ['libvirt', 'ceph'],
      libvirt: { hosts: ['node-1', 'node-2'], withPassword: ['node-2'] },
    });
    subject = libvirtOfLab(lab.handles.libvirt, lab.handles.ceph, dir);
  }, startTimeoutMs);
  afterAll(() => lab?.stop(), startTimeoutMs);

  libvirtChecksContract(() => subject);
  libvirtContract(() => subject);
  libvirtStorageContract(() => subject);
});

describeWithPackages('Ceph', () => {
  let lab: Lab<'ceph'>;
  let subject: CephSubject;
  beforeAll(async () => {
    lab = await startLab({ dir: join(dir, 'ceph'), parts: ['ceph'] });
    subject = cephOfLab(lab.handles.ceph, dir);
  }, startTimeoutMs);
  afterAll(() => lab?.stop(), startTimeoutMs);

  cephContract(() => subject, cephTimeoutMs);

  test(
    'TLS: the authority of the settings is trusted, and no other',
    async () => {
      const pki = join(dir, 'pki');
      const authority = await ensureAuthority(runCommand, pki);
      const strange = await ensureAuthority(runCommand, pki, 'strange');
      const server = await ensureCertificate(runCommand, pki, authority, {
        name: 'dashboard',
        names: ['IP:127.0.0.1'],
        usage: 'serverAuth',
      });
      const port = Number(new URL(lab.handles.ceph.dashboardUrl).port);
      // As the proxy that often stands before a dashboard.
      const proxy = createTlsServer(
        { key: readFileSync(server.keyFile), cert: readFileSync(server.certificateFile) },
        (near) => {
          const far = connect(port, '127.0.0.1');
          near.on('error', () => far.destroy());
          far.on('error', () => near.destroy());
          near.pipe(far).pipe(near);
        },
      );
      proxy.on('tlsClientError', () => undefined);
      proxy.listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      const check = async (ca: string | null) => {
        const settings = {
          ...subject.settings,
          dashboards: [`https://127.0.0.1:${(proxy.address() as AddressInfo).port}`],
          ca,
        };
        const client = subject.openCeph(settings);
        try {
          return await checkCeph(client, 'node-1', settings, systemClock, never);
        } finally {
          await client.close();
        }
      };
      expect((await check(readFileSync(authority.certificateFile, 'utf8'))).map(({ outcome }) => outcome)).toEqual([
        'passed',
        'passed',
      ]);
      for (const ca of [null, readFileSync(strange.certificateFile, 'utf8')]) {
        expect(await check(ca)).toMatchObject([
          {
            code: 'CertificateNotTrusted',
            observed: expect.stringMatching(/its certificate is not trusted; check the ca of the dashboard/u),
          },
          { outcome: 'skipped' },
        ]);
      }
      proxy.close();
    },
    cephTimeoutMs,
  );
});

describe('Redfish', () => {
  let lab: Lab<'redfish'>;
  let subject: RedfishSubject;
  beforeAll(async () => {
    lab = await startLab({ dir: join(dir, 'redfish'), parts: ['redfish'] });
    subject = redfishOfLab(lab.handles.redfish);
  }, startTimeoutMs);
  afterAll(() => lab?.stop());

  redfishContract(() => subject);

  test('the password is in no process argument', () => {
    const { dir: of, passwordFile } = lab.handles.redfish;
    expect(readProcess(of, 'redfish').args.join(' ')).not.toContain(readFileSync(passwordFile, 'utf8'));
  });
});
