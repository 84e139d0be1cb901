import { type ErrorCode, errors } from '../../contracts/errors.ts';
import { hypervisorConfig, hypervisorSettings } from '../../runtime/config/hypervisor-config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { never, openVirtual } from '../../test/contracts/hosts/subject.ts';
import { stoppedClock } from '../../test/fixtures/stopped-clock.ts';
import { createFakeHosts } from '../../test/fakes/hosts/hosts.ts';
import { type LibvirtReply, type ReceivedCall, startScriptedLibvirtd } from '../../test/scripted-libvirtd.ts';
import { connectLibvirt } from '../libvirt/client.ts';
import type { LibvirtConnection } from '../libvirt/types.ts';
import { ownUuid } from '../libvirt/xml.ts';
import { reachRbdPools, observeRbdPool } from './reach-rbd-pools.ts';

const key = Buffer.alloc(28, 7).toString('base64');
const pools = ['vms', 'volumes'];
const ownSecret = '11111111-2222-4333-8444-555555555555';
const endpoint = { transport: 'tcp', host: 'node-1', port: 16_509, uri: 'qemu:///system' } as const;

/** A host, and a cluster that lets `libvirt` in with {@link key}. */
function open() {
  const virtual = openVirtual();
  const hosts = createFakeHosts({
    ...virtual,
    ceph: { pools: pools.map((name) => ({ name, applications: ['rbd'] })) },
  });
  hosts.ceph.clients.set('libvirt', key);
  const host = hosts.add({ name: 'node-1' });
  /** What the pools look like from the host. */
  const reach = (rbd: object, ports: Partial<typeof hosts.ports> = {}) =>
    virtual.run(() => {
      const { libvirt, ceph } = hypervisorConfig.parse({
        libvirt: { connectUri: 'qemu+tcp://{host}/system' },
        ceph: {
          dashboards: ['http://127.0.0.1'],
          user: 'u',
          passwordFile: 'f',
          pools,
          rbd: { monitors: [hosts.ceph.monitor.host], user: 'libvirt', ...rbd },
        },
      });
      const rbdSettings = ceph?.rbd ?? null;
      if (libvirt === null || ceph === null || rbdSettings === null)
        throw new Error('the settings lack what was given');
      return reachRbdPools(
        { ...hosts.ports, ...ports, clock: virtual.clock },
        { hypervisor: 'node-1', address: 'node-1', libvirt, rbd: rbdSettings, pools: ceph.pools },
        never,
      );
    });
  return { ...virtual, hosts, host, reach };
}

const outcomes = (found: readonly { name: string; outcome: string; code: string | null }[]): object =>
  Object.fromEntries(found.map(({ name, outcome, code }) => [name, code ?? outcome]));
const nothing = { pools: [], secrets: [] };

test('every pool is listed, with the key in libvirt only meanwhile', async () => {
  const { hosts, host, reach, network } = open();
  hosts.files.set('key', `${key}\n`);
  expect(outcomes(await reach({ keyFile: 'key' }))).toEqual({
    'CephPoolReached.vms': 'passed',
    'CephPoolReached.volumes': 'passed',
  });
  expect(network.calls.filter(({ verb }) => verb === 'secretSetValue')).toHaveLength(1);
  expect(host.libvirt.storage.state()).toEqual(nothing);
});

test('the secret that the hosts have is left alone', async () => {
  const { hosts, host, reach, run, network } = open();
  await run(async () => {
    const libvirt = await hosts.connectLibvirt(endpoint, { certificate: null, credential: null }, {}, never);
    await libvirt.ensureCephSecret({ uuid: ownSecret, user: 'libvirt', key: Buffer.from(key, 'base64') }, never);
    await libvirt.close();
  });
  const before = network.calls.length;
  expect(outcomes(await reach({ secretUuid: ownSecret }))).toEqual({
    'CephPoolReached.vms': 'passed',
    'CephPoolReached.volumes': 'passed',
  });
  expect(network.calls.slice(before).filter(({ verb }) => verb.startsWith('secret'))).toEqual([]);
  expect(host.libvirt.storage.state()).toEqual({ pools: [], secrets: [ownSecret] });
});

test('one pool that is not reached does not matter for the other, and the key goes all the same', async () => {
  const { hosts, host, reach } = open();
  hosts.files.set('key', key);
  hosts.ceph.pools.delete('vms');
  expect(outcomes(await reach({ keyFile: 'key' }))).toEqual({
    'CephPoolReached.vms': 'HypervisorFailed',
    'CephPoolReached.volumes': 'passed',
  });
  expect(host.libvirt.storage.state()).toEqual(nothing);
});

describe('another check of the host ends meanwhile', () => {
  const ownKey = ownUuid('drover-check-ceph');

  /** The connection with something else done before, or instead of, one of its verbs. */
  async function reachWith(change: (connection: LibvirtConnection) => Partial<LibvirtConnection>) {
    const { hosts, host, reach } = open();
    hosts.files.set('key', key);
    const connectLibvirt: typeof hosts.connectLibvirt = async (...given) => {
      const connection = await hosts.connectLibvirt(...given);
      return { ...connection, ...change(connection) };
    };
    const found = await reach({ keyFile: 'key' }, { connectLibvirt });
    expect(host.libvirt.storage.state()).toEqual(nothing);
    return found;
  }

  test.each<[what: string, code: ErrorCode, change: (connection: LibvirtConnection) => Partial<LibvirtConnection>]>([
    [
      'it takes the key with it',
      'HypervisorFailed',
      (connection) => ({
        async startPool(pool, signal) {
          await connection.removeSecret(ownKey, signal);
          await connection.startPool(pool, signal);
        },
      }),
    ],
    [
      'it takes the key with it before its value is set',
      'HypervisorFailed',
      () => ({
        ensureCephSecret: () =>
          Promise.reject(droverFailure('LibvirtRefused', 'Secret not found', { details: { libvirtCode: 66 } })),
      }),
    ],
    [
      'it takes the pool with it',
      'StoragePoolNotFound',
      (connection) => ({
        async refreshPool(pool, signal) {
          await connection.removePool(pool, signal);
          await connection.refreshPool(pool, signal);
        },
      }),
    ],
  ])('%s: the next attempt may pass', async (_what, code, change) => {
    expect(outcomes(await reachWith(change))).toEqual({
      'CephPoolReached.vms': code,
      'CephPoolReached.volumes': code,
    });
    expect(errors[code].retryable).toBe(true);
  });
});

test('a host that does not reach Ceph: each pool says so', async () => {
  const { hosts, host, reach } = open();
  hosts.files.set('key', key);
  host.reachesCeph = false;
  expect(outcomes(await reach({ keyFile: 'key' }))).toEqual({
    'CephPoolReached.vms': 'HypervisorFailed',
    'CephPoolReached.volumes': 'HypervisorFailed',
  });
  expect(host.libvirt.storage.state()).toEqual(nothing);
});

test('however many pools a host does not reach, an attempt has the time to say so of each', async () => {
  const { hosts, host, clock, run } = open();
  host.reachesCeph = false;
  const many = Array.from({ length: 8 }, (_, index) => `pool-${index}`);
  const config = hypervisorConfig.parse({
    libvirt: { connectUri: 'qemu+tcp://{host}/system' },
    ceph: {
      dashboards: ['http://127.0.0.1'],
      user: 'u',
      passwordFile: 'f',
      pools: many,
      rbd: { monitors: [hosts.ceph.monitor.host] },
    },
  });
  const { libvirt, ceph } = config;
  if (libvirt === null || ceph === null || ceph.rbd === null) throw new Error('the settings lack what was given');
  const request = { hypervisor: 'node-1', address: 'node-1', libvirt, rbd: ceph.rbd, pools: ceph.pools };
  const sinceMs = clock.now();
  const found = await run(() => reachRbdPools({ ...hosts.ports, clock }, request, never));
  expect(found.map(({ code }) => code)).toEqual(many.map(() => 'HypervisorFailed'));
  const { checkMs } = hypervisorSettings(config, { region: 'RegionOne', cluster: '', mode: 'act' });
  expect(clock.now() - sinceMs).toBeLessThan(checkMs ?? 0);
});

test('a host whose libvirt does not answer: each pool says so', async () => {
  const { host, reach } = open();
  host.libvirt.service.kill();
  expect(outcomes(await reach({}))).toEqual({
    'CephPoolReached.vms': 'LibvirtUnavailable',
    'CephPoolReached.volumes': 'LibvirtUnavailable',
  });
});

test.each([
  ['no key', 'is no key', 'key'],
  ['no file', 'cannot be read', 'nowhere'],
])('%s: the settings are wrong, and nothing of the file is shown', async (_, words, keyFile) => {
  const { hosts, reach } = open();
  hosts.files.set('key', '[client.libvirt]\nkey = x');
  const refused = reach({ keyFile });
  await expect(refused).rejects.toMatchObject({
    type: 'InvalidConfiguration',
    message: expect.stringContaining(words),
  });
  await expect(refused).rejects.not.toThrow('client.libvirt');
});

describe('see rbd pool', () => {
  const never = new AbortController().signal;
  const pool = { name: 'drover-check-vms', uuid: ownUuid('drover-check-vms') };
  const wanted = { cephPool: 'vms', monitors: [{ host: '127.0.0.1', port: 6_789 }], auth: null };
  const clock = stoppedClock();
  const storageMs = 500;
  const info = (state: number) => ({ state, capacity: 0n, allocation: 0n, available: 0n });

  /** What is observed of a pool, and the calls that it took; libvirt keeps the pool's state as it does. */
  async function see(script: (call: ReceivedCall) => LibvirtReply | undefined = () => undefined) {
    let state = 0;
    const libvirtd = await startScriptedLibvirtd((call) => {
      const scripted = script(call);
      if (scripted === 'silent') clock.elapse(storageMs);
      if (scripted !== undefined) return scripted;
      if (call.name === 'storagePoolCreate') state = 2;
      if (call.name === 'storagePoolDestroy') state = 0;
      const results: Partial<Record<string, object>> = {
        storagePoolDefineXml: { pool },
        storagePoolGetInfo: info(state),
        storagePoolCreate: {},
        storagePoolRefresh: {},
        storagePoolDestroy: {},
        storagePoolUndefine: {},
        storagePoolListAllVolumes: { volumes: [{ pool: pool.name, name: 'volume-1', key: 'vms/volume-1' }], count: 1 },
      };
      const result = results[call.name];
      return result === undefined ? undefined : { result };
    });
    const libvirt = await connectLibvirt(
      { transport: 'tcp', host: '127.0.0.1', port: libvirtd.port, uri: 'qemu:///system' },
      { certificate: null, credential: null },
      { clock, timeouts: { storageMs } },
      never,
    );
    try {
      const observed = await observeRbdPool(libvirt, wanted, clock, never);
      return {
        observed,
        calls: libvirtd.received.map(({ name }) => name).filter((name) => name.startsWith('storagePool')),
      };
    } finally {
      await libvirt.close();
      await libvirtd.close();
    }
  }

  test.each<[string, (call: ReceivedCall) => LibvirtReply | undefined, string]>([
    [
      'its images cannot be listed',
      ({ name }) => (name === 'storagePoolRefresh' ? { error: 1, message: 'Unable to list RBD images' } : undefined),
      'HypervisorFailed',
    ],
    [
      'libvirt hangs with it',
      ({ name }) => (name === 'storagePoolRefresh' ? 'silent' : undefined),
      'LibvirtUnavailable',
    ],
  ])('%s: that is what is observed, and nothing is left', async (_, script, code) => {
    const { observed, calls } = await see(script);
    expect(observed).toMatchObject({ pool: 'vms', outcome: 'failed', code });
    expect(calls.at(-1)).toBe('storagePoolUndefine');
  });

  test('libvirt without the driver for it', async () => {
    const { observed, calls } = await see(({ name }) =>
      name === 'storagePoolDefineXml'
        ? { error: 27, message: "XML error: unknown storage pool type 'rbd'" }
        : undefined,
    );
    expect(observed).toMatchObject({
      outcome: 'failed',
      code: 'LibvirtRefused',
      message: expect.stringContaining("'rbd'"),
    });
    expect(calls).toEqual(['storagePoolDefineXml']);
  });
});
