import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { checkOvs } from '../../activities/ovs/check-ovs.ts';
import { openOvs } from '../../activities/ovs/client.ts';
import { connectOvsdb } from '../../activities/ovs/ovsdb.ts';
import { remoteOf } from '../../activities/ovs/remote.ts';
import type { OvsdbCredential, OvsSettings } from '../../activities/ovs/types.ts';
import type { HostCheck } from '../../contracts/host-check.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import type { OvsHost } from '../../lab/parts/ovs-handle.ts';
import { defaultBridges, setBridges } from '../../lab/parts/ovs-bridges.ts';
import { freezeOvsdb, killOvsdb, restartOvsdb, thawOvsdb } from '../../lab/parts/ovs-faults.ts';
import { ovsPrograms } from '../../lab/parts/ovs.ts';
import { ensureAuthority, ensureCertificate } from '../../lab/pki.ts';
import { runCommand } from '../../lab/run-command.ts';
import { until } from './until.ts';

/** The first run on a machine installs packages. */
const startTimeoutMs = 10 * 60_000;
/** Root's lab installs what is missing; elsewhere these tests are skipped, which `npm test` lists. */
const canRun = process.getuid?.() === 0 || ovsPrograms.missing().length === 0;
const never = new AbortController().signal;

let dir: string;
let lab: Lab<'ovs'>;
let credential: OvsdbCredential;

const host = (name = 'node-1'): OvsHost => lab.handles.ovs.hosts[name] as OvsHost;
const settings = (rest: Partial<OvsSettings> = {}): OvsSettings => ({ remote: host().ssl, credential, bridges: { required: ['br-int', 'br-ex'], optional: ['br-provider'] }, ...rest });
/** Where the server was not reached. */
const unseen = Array.from({ length: 3 }, () => ({ outcome: 'skipped', seen: 'Open vSwitch was not reached' }));
const check = (rest: Partial<OvsSettings> = {}): Promise<HostCheck[]> => checkOvs('node-1', settings(rest), never);
/** By name, what came of it. */
const codes = (checks: readonly HostCheck[]): object => Object.fromEntries(checks.map(({ name, outcome, code }) => [name, code ?? outcome]));
const asExpected = { OvsReachable: 'passed', 'OvsBridge.br-int': 'passed', 'OvsBridge.br-ex': 'passed', 'OvsBridge.br-provider': 'passed' };

(canRun ? describe : describe.skip)('Open vSwitch', () => {
  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-ovs-')));
    lab = await startLab({ dir: join(dir, 'lab'), parts: ['ovs'], ovs: { hosts: ['node-1', 'node-2'] } });
    const { caFile, client } = lab.handles.ovs;
    credential = { ca: readFileSync(caFile, 'utf8'), certificate: readFileSync(client.certificateFile, 'utf8'), key: readFileSync(client.keyFile, 'utf8') };
  }, startTimeoutMs);

  afterAll(async () => {
    await lab?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  beforeEach(() => setBridges(host(), defaultBridges));

  test('a host as it should be, over TCP and over TLS with a client certificate', async () => {
    for (const remote of [host().tcp, host().ssl]) {
      const checks = await check({ remote });
      expect(codes(checks)).toEqual(asExpected);
      expect(checks.map(({ seen }) => seen)).toEqual(['version 3.1.0, 2 bridges', 'it has 2 ports', 'it has 3 ports', 'there is none']);
      for (const { durationMs } of checks) expect(durationMs).toBeGreaterThanOrEqual(0);
    }
  });

  test('a bridge that is missing, and that comes', async () => {
    await setBridges(host(), [{ name: 'br-int' }]);
    const [, , missing] = await check();
    expect(missing).toMatchObject({ name: 'OvsBridge.br-ex', expectation: 'bridge br-ex exists and works', code: 'OvsBridgeMissing', seen: expect.stringMatching(/^no such bridge; there is br-int\. The network agent/u) });
    await setBridges(host(), [...defaultBridges, { name: 'br-provider' }]);
    expect(codes(await check())).toEqual(asExpected);
    await setBridges(host(), []);
    expect(codes(await check())).toEqual({ ...asExpected, 'OvsBridge.br-int': 'OvsBridgeMissing', 'OvsBridge.br-ex': 'OvsBridgeMissing' });
  });

  test('what ovs-vswitchd says is wrong with a bridge fails it; with a guest’s port it is only told', async () => {
    await setBridges(host(), [
      { name: 'br-int', ports: [{ name: 'tap0', error: 'could not open network device tap0 (No such device)' }] },
      { name: 'br-ex', error: 'could not add network device br-ex to ofproto (File exists)' },
      { name: 'br-provider', error: 'could not open network device' },
    ]);
    const checks = await check();
    expect(codes(checks)).toEqual({ OvsReachable: 'passed', 'OvsBridge.br-int': 'passed', 'OvsBridge.br-ex': 'OvsBridgeFaulty', 'OvsBridge.br-provider': 'OvsBridgeFaulty' });
    expect(checks[1]?.seen).toBe('it has 2 ports; 1 of its interfaces in error: tap0: could not open network device tap0 (No such device)');
    expect(checks[2]?.seen).toMatch(/^its own interface: could not add network device br-ex to ofproto \(File exists\)\./u);
  });

  test('a host with hundreds of ports', async () => {
    await setBridges(host(), [{ name: 'br-int', ports: Array.from({ length: 250 }, (_, index) => `tap${index}`) }, { name: 'br-ex' }]);
    const client = await openOvs(remoteOf(host().ssl), { credential }, never);
    const view = await client.view(never);
    client.close();
    const bridge = view.bridges.find(({ name }) => name === 'br-int');
    expect(bridge?.ports).toHaveLength(251);
    expect(bridge?.ports.map(({ name }) => name)).toContain('tap249');
    expect(bridge?.ports.every(({ interfaces }) => interfaces.length === 1)).toBe(true);
  });

  test('the server is down, and up again with its bridges; the other hosts’ are not concerned', async () => {
    await killOvsdb(lab.handles.ovs, 'node-1');
    try {
      for (const remote of [host().tcp, host().ssl]) expect(await check({ remote })).toMatchObject([{ name: 'OvsReachable', code: 'OvsUnavailable', seen: expect.stringContaining(`${remote}: the connection was refused`) }, ...unseen]);
      expect(codes(await checkOvs('node-2', settings({ remote: host('node-2').ssl }), never))).toEqual(asExpected);
    } finally {
      await restartOvsdb(lab.handles.ovs, 'node-1');
    }
    expect(codes(await check())).toEqual(asExpected);
  });

  test('the server dies or hangs while it is asked', async () => {
    const connection = await connectOvsdb(remoteOf(host().tcp), { timeouts: { answerMs: 500 } }, never);
    freezeOvsdb(lab.handles.ovs, 'node-1');
    try {
      await expect(connection.request('list_dbs', [], never)).rejects.toMatchObject({ type: 'OvsUnavailable', message: expect.stringMatching(/no answer to list_dbs within 0\.5 s/u) });
      // The kernel still takes connections.
      expect(await check({ timeouts: { connectMs: 500, answerMs: 500 } })).toMatchObject([{ code: 'OvsUnavailable', seen: expect.stringMatching(/no connection within 0\.5 s/u) }, ...unseen]);
    } finally {
      thawOvsdb(lab.handles.ovs, 'node-1');
    }
    const open = await connectOvsdb(remoteOf(host().tcp), {}, never);
    freezeOvsdb(lab.handles.ovs, 'node-1');
    const asked = open.request('list_dbs', [], never).catch((error: unknown) => error);
    await killOvsdb(lab.handles.ovs, 'node-1');
    await restartOvsdb(lab.handles.ovs, 'node-1');
    expect(await asked).toMatchObject({ type: 'OvsUnavailable', message: expect.stringMatching(/the connection was cut/u) });
  });

  test('TLS: an authority that we do not trust, a client that the server does not trust, another name', async () => {
    const strange = join(dir, 'strange');
    const authority = await ensureAuthority(runCommand, strange);
    const client = await ensureCertificate(runCommand, strange, authority, { name: 'drover', usage: 'clientAuth' });
    const strangers = { ca: readFileSync(authority.certificateFile, 'utf8'), certificate: readFileSync(client.certificateFile, 'utf8'), key: readFileSync(client.keyFile, 'utf8') };
    expect(await check({ credential: { ...credential, ca: strangers.ca } })).toMatchObject([{ name: 'OvsReachable', code: 'CertificateNotTrusted', seen: expect.stringMatching(/its certificate is not trusted/u) }, ...unseen]);
    expect(await check({ credential: { ...strangers, ca: credential.ca } })).toMatchObject([{ code: 'CertificateNotTrusted', seen: expect.stringMatching(/it refuses our certificate/u) }, ...unseen]);
    expect(await check({ remote: host().ssl.replace('127.0.0.1', 'localhost') })).toMatchObject([{ code: 'CertificateNotTrusted', seen: expect.stringMatching(/its certificate is for another name/u) }, ...unseen]);
    expect(codes(await check())).toEqual(asExpected);
  });

  test('TLS where there is none, and none where there is', async () => {
    expect(await check({ remote: host().tcp.replace('tcp:', 'ssl:') })).toMatchObject([{ name: 'OvsReachable', code: 'OvsUnavailable' }, ...unseen]);
    expect(await check({ remote: host().ssl.replace('ssl:', 'tcp:') })).toMatchObject([{ name: 'OvsReachable', code: expect.stringMatching(/^(AnswerMalformed|OvsUnavailable)$/u) }, ...unseen]);
  });

  test('the server refuses what it does not know', async () => {
    const connection = await connectOvsdb(remoteOf(host().tcp), {}, never);
    await expect(connection.request('transact', ['Nowhere'], never)).rejects.toMatchObject({ type: 'RequestRefused', message: expect.stringMatching(/refused transact: unknown database/u) });
    await expect(connection.request('no_such_method', [], never)).rejects.toMatchObject({ type: 'RequestRefused', message: expect.stringMatching(/refused no_such_method: unknown method/u) });
    connection.close();
  });

  test('a connection that is idle for long is kept: the server’s probes are answered', async () => {
    let said = '';
    const upstream = remoteOf(host().tcp);
    const tap = createServer((near) => {
      const far = connect(upstream.port, upstream.host);
      near.on('data', (bytes) => (said += bytes.toString())).pipe(far).pipe(near);
    });
    tap.listen(0, '127.0.0.1');
    await once(tap, 'listening');
    const connection = await connectOvsdb({ ...upstream, port: (tap.address() as AddressInfo).port }, {}, never);
    await until('an answer to the server’s probe', 30_000, () => (said.includes('"id":"echo"') ? true : `the client said ${said}`));
    expect(await connection.request('list_dbs', [], never)).toContain('Open_vSwitch');
    connection.close();
    tap.close();
  });
});
