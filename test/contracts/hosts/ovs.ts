import { checkOvs } from '../../../activities/ovs/check-ovs.ts';
import { remoteOf } from '../../../activities/ovs/ovsdb.ts';
import type { OpenOvs, OvsdbCredential, OvsSettings } from '../../../activities/ovs/types.ts';
import type { HostCheck } from '../../../contracts/hypervisor/host-check.ts';
import type { BridgeRow } from '../../../lab/parts/ovs-bridges.ts';
import type { OvsHost } from '../../../lab/parts/ovs-handle.ts';
import type { ObserveCall } from '../../../runtime/telemetry/outside-calls.ts';
import { bodyOf, never, type Subject } from './subject.ts';

/** The OVSDB servers of the hosts node-1 and node-2, which have the lab's bridges. */
export interface OvsSubject extends Subject {
  openOvs: (...args: [...Parameters<OpenOvs>, observe?: ObserveCall]) => ReturnType<OpenOvs>;
  hostOf: (name: string) => OvsHost;
  credential: OvsdbCredential;
  /** Of another authority. */
  strangers: OvsdbCredential;
  /** Of node-1; the others' stay as they are. */
  setBridges: (bridges: readonly BridgeRow[]) => Promise<void>;
  /** Of node-1. */
  freeze: () => void;
  thaw: () => void;
  kill: () => Promise<void>;
  restart: () => Promise<void>;
}

const codes = (checks: readonly HostCheck[]): object =>
  Object.fromEntries(checks.map(({ name, outcome, code }) => [name, code ?? outcome]));
const asExpected = {
  OvsReachable: 'passed',
  'OvsBridge.br-int': 'passed',
  'OvsBridge.br-ex': 'passed',
  'OvsBridge.br-provider': 'passed',
};
const unseen = Array.from({ length: 3 }, () => ({ outcome: 'skipped', observed: 'Open vSwitch was not reached' }));
const impatient = { connectMs: 500, answerMs: 500 };

/** What drover expects of the OVSDB server of a hypervisor. @param subject of the test that runs */
export function ovsContract(subject: () => OvsSubject, defaultBridges: readonly BridgeRow[]): void {
  const contract = (name: string, body: (ovs: OvsSubject) => Promise<unknown>): void =>
    test(name, bodyOf(subject, body));
  const settings = (rest: Partial<OvsSettings> = {}): OvsSettings => ({
    remote: subject().hostOf('node-1').ssl,
    credential: subject().credential,
    bridges: { required: ['br-int', 'br-ex'], optional: ['br-provider'] },
    ...rest,
  });
  const check = (rest: Partial<OvsSettings> = {}, signal = never): Promise<HostCheck[]> =>
    checkOvs(subject(), 'node-1', settings(rest), signal);

  beforeEach(() => subject().run(() => subject().setBridges(defaultBridges)));

  contract('a host as it should be, over TCP and over TLS with a client certificate', async ({ hostOf }) => {
    for (const remote of [hostOf('node-1').tcp, hostOf('node-1').ssl]) {
      const checks = await check({ remote });
      expect(codes(checks)).toEqual(asExpected);
      expect(checks.map(({ observed }) => observed)).toEqual([
        'version 3.1.0, 2 bridges',
        'it has 2 ports',
        'it has 3 ports',
        'there is none',
      ]);
    }
  });

  contract('every call is counted', async ({ openOvs, hostOf }) => {
    const calls: string[] = [];
    const client = await openOvs(
      remoteOf(hostOf('node-1').tcp),
      { credential: null },
      never,
      ({ system, verb }, { outcome, status }) => calls.push(`${system} ${verb} ${outcome} ${status}`),
    );
    expect(await client.databases(never)).toEqual(expect.arrayContaining(['Open_vSwitch', '_Server']));
    await client.view(never);
    client.close();
    expect(calls).toEqual(['ovs connect ok null', 'ovs list_dbs ok null', 'ovs transact ok null']);
  });

  contract(
    'what is in the database: bridges with their ports and interfaces',
    async ({ openOvs, hostOf, credential, setBridges }) => {
      await setBridges([
        { name: 'br-int', ports: ['tap0', { name: 'tap1', error: 'no such device' }] },
        { name: 'br-ex', error: 'cannot be made' },
      ]);
      const client = await openOvs(remoteOf(hostOf('node-1').ssl), { credential }, never);
      const { version, bridges } = await client.view(never);
      client.close();
      const port = (name: string, rest: object) => ({
        name,
        interfaces: [{ name, type: '', error: null, ofport: expect.any(Number), ...rest }],
      });
      expect(version).toBe('3.1.0');
      expect(bridges).toHaveLength(2);
      expect(bridges).toEqual(
        expect.arrayContaining([
          {
            name: 'br-int',
            datapathType: '',
            ports: expect.arrayContaining([
              port('br-int', { type: 'internal' }),
              port('tap0', {}),
              port('tap1', { error: 'no such device', ofport: -1 }),
            ]),
          },
          {
            name: 'br-ex',
            datapathType: '',
            ports: [port('br-ex', { type: 'internal', error: 'cannot be made', ofport: -1 })],
          },
        ]),
      );
    },
  );

  contract('a bridge that is missing, and that comes', async ({ setBridges }) => {
    await setBridges([{ name: 'br-int' }]);
    const [, , missing] = await check();
    expect(missing).toMatchObject({
      name: 'OvsBridge.br-ex',
      expectation: 'bridge br-ex exists and works',
      code: 'OvsBridgeMissing',
      observed: expect.stringMatching(/^no such bridge; there is br-int\. The network agent/u),
    });
    await setBridges([...defaultBridges, { name: 'br-provider' }]);
    expect(codes(await check())).toEqual(asExpected);
    await setBridges([]);
    expect(codes(await check())).toEqual({
      ...asExpected,
      'OvsBridge.br-int': 'OvsBridgeMissing',
      'OvsBridge.br-ex': 'OvsBridgeMissing',
    });
  });

  contract(
    'what ovs-vswitchd says is wrong with a bridge fails it; with a guest’s port it is only mentioned',
    async ({ setBridges }) => {
      await setBridges([
        { name: 'br-int', ports: [{ name: 'tap0', error: 'could not open network device tap0 (No such device)' }] },
        { name: 'br-ex', error: 'could not add network device br-ex to ofproto (File exists)' },
        { name: 'br-provider', error: 'could not open network device' },
      ]);
      const checks = await check();
      expect(codes(checks)).toEqual({
        OvsReachable: 'passed',
        'OvsBridge.br-int': 'passed',
        'OvsBridge.br-ex': 'OvsBridgeFaulty',
        'OvsBridge.br-provider': 'OvsBridgeFaulty',
      });
      expect(checks[1]?.observed).toBe(
        'it has 2 ports; 1 of its interfaces in error: tap0: could not open network device tap0 (No such device)',
      );
      expect(checks[2]?.observed).toMatch(
        /^its own interface: could not add network device br-ex to ofproto \(File exists\)\./u,
      );
    },
  );

  contract('a host with hundreds of ports', async ({ openOvs, hostOf, credential, setBridges }) => {
    await setBridges([
      { name: 'br-int', ports: Array.from({ length: 250 }, (_, index) => `tap${index}`) },
      { name: 'br-ex' },
    ]);
    const client = await openOvs(remoteOf(hostOf('node-1').ssl), { credential }, never);
    const view = await client.view(never);
    client.close();
    const bridge = view.bridges.find(({ name }) => name === 'br-int');
    expect(bridge?.ports).toHaveLength(251);
    expect(bridge?.ports.map(({ name }) => name)).toContain('tap249');
    expect(bridge?.ports.every(({ interfaces }) => interfaces.length === 1)).toBe(true);
  });

  contract('the server is down, and up again with its bridges; the other hosts’ are not concerned', async (ovs) => {
    await ovs.kill();
    try {
      const { tcp, ssl } = ovs.hostOf('node-1');
      for (const remote of [tcp, ssl])
        expect(await check({ remote })).toMatchObject([
          {
            name: 'OvsReachable',
            code: 'OvsUnavailable',
            observed: expect.stringContaining(`${remote}: the connection was refused`),
          },
          ...unseen,
        ]);
      expect(codes(await checkOvs(ovs, 'node-2', settings({ remote: ovs.hostOf('node-2').ssl }), never))).toEqual(
        asExpected,
      );
    } finally {
      await ovs.restart();
    }
    expect(codes(await check())).toEqual(asExpected);
  });

  contract(
    'the server hangs: what is asked fails at the time-out, and its connection with it',
    async ({ openOvs, hostOf, freeze, thaw }) => {
      const client = await openOvs(remoteOf(hostOf('node-1').tcp), { credential: null, timeouts: impatient }, never);
      freeze();
      try {
        const first = await client.databases(never).catch((error: unknown) => error);
        expect(first).toMatchObject({
          type: 'OvsUnavailable',
          message: expect.stringMatching(/no answer to list_dbs within 0\.5 s/u),
        });
        await expect(client.databases(never)).rejects.toBe(first);
        // The kernel takes connections; TLS needs the server.
        expect(await check({ timeouts: impatient })).toMatchObject([
          { code: 'OvsUnavailable', observed: expect.stringMatching(/no connection within 0\.5 s/u) },
          ...unseen,
        ]);
        expect(await check({ timeouts: impatient, remote: hostOf('node-1').tcp })).toMatchObject([
          { code: 'OvsUnavailable', observed: expect.stringMatching(/no answer to list_dbs within 0\.5 s/u) },
          ...unseen,
        ]);
      } finally {
        thaw();
      }
      expect(codes(await check())).toEqual(asExpected);
    },
  );

  contract('the server dies while it is asked', async ({ openOvs, hostOf, freeze, kill, restart }) => {
    const client = await openOvs(remoteOf(hostOf('node-1').tcp), { credential: null }, never);
    freeze();
    const asked = client.databases(never).catch((error: unknown) => error);
    await kill();
    await restart();
    expect(await asked).toMatchObject({
      type: 'OvsUnavailable',
      message: expect.stringMatching(/the connection was cut/u),
    });
    await expect(client.databases(never)).rejects.toMatchObject({ type: 'OvsUnavailable' });
  });

  contract(
    'ends with the signal’s reason: before, while connecting and while waiting',
    async ({ openOvs, hostOf, freeze, thaw }) => {
      const reason = new Error('cancelled');
      await expect(check({}, AbortSignal.abort(reason))).rejects.toBe(reason);
      freeze();
      try {
        const early = new AbortController();
        const connecting = check({}, early.signal).catch((error: unknown) => error);
        early.abort(reason);
        expect(await connecting).toBe(reason);
        const late = new AbortController();
        const client = await openOvs(remoteOf(hostOf('node-1').tcp), { credential: null }, never);
        const waiting = client.view(late.signal).catch((error: unknown) => error);
        late.abort(reason);
        expect(await waiting).toBe(reason);
      } finally {
        thaw();
      }
    },
  );

  contract(
    'TLS: an authority that is not trusted, a client that the server does not trust',
    async ({ credential, strangers }) => {
      expect(await check({ credential: { ...credential, ca: strangers.ca } })).toMatchObject([
        {
          name: 'OvsReachable',
          code: 'CertificateNotTrusted',
          observed: expect.stringMatching(/its certificate is not trusted/u),
        },
        ...unseen,
      ]);
      expect(await check({ credential: { ...strangers, ca: credential.ca } })).toMatchObject([
        { code: 'CertificateNotTrusted', observed: expect.stringMatching(/it refuses our certificate/u) },
        ...unseen,
      ]);
      expect(await check({ credential: null })).toMatchObject([
        { code: 'InvalidConfiguration', observed: expect.stringMatching(/needs a CA/u) },
        ...unseen,
      ]);
      expect(codes(await check())).toEqual(asExpected);
    },
  );

  contract('a host of no such name', async ({ hostOf }) => {
    const remote = hostOf('node-1').tcp.replace(/:[^:]+:/u, ':nowhere.invalid:');
    expect(await check({ remote })).toMatchObject([
      { code: 'OvsUnavailable', observed: expect.stringMatching(/its name does not resolve/u) },
      ...unseen,
    ]);
  });
}
