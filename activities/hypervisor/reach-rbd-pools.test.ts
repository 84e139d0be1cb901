import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hypervisorConfig } from '../../runtime/hypervisor-config.ts';
import { startScriptedLibvirtd, type LibvirtReply, type ReceivedCall } from '../../test/scripted-libvirtd.ts';
import { reachRbdPools } from './reach-rbd-pools.ts';

const never = new AbortController().signal;
const key = Buffer.alloc(28, 7).toString('base64');
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-rbd-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function keyFile(text: string): string {
  const file = join(dir, 'key');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** What two pools look like from a host, and the calls of its libvirt that it took. */
async function reach({ rbd = {}, script = () => undefined, port }: { rbd?: object; script?: (call: ReceivedCall) => LibvirtReply | undefined; port?: number }) {
  let state = 0;
  const libvirtd = await startScriptedLibvirtd((call) => {
    const scripted = script(call);
    if (scripted !== undefined) return scripted;
    if (call.name === 'storagePoolCreate') state = 2;
    if (call.name === 'storagePoolDestroy') state = 0;
    const pool = { name: 'drover-check', uuid: '64726f76-6572-8000-8000-000000000001' };
    const secret = { uuid: pool.uuid, usageType: 2, usageId: 'drover-check' };
    const results: Partial<Record<string, object>> = {
      secretDefineXml: { secret },
      secretLookupByUuid: { secret },
      secretSetValue: {},
      secretUndefine: {},
      storagePoolDefineXml: { pool },
      storagePoolGetInfo: { state, capacity: 0n, allocation: 0n, available: 0n },
      storagePoolCreate: {},
      storagePoolRefresh: {},
      storagePoolDestroy: {},
      storagePoolUndefine: {},
      storagePoolListAllVolumes: { volumes: [], count: 0 },
    };
    const result = results[call.name];
    return result === undefined ? undefined : { result };
  });
  const { libvirt, ceph } = hypervisorConfig.parse({
    libvirt: { connectUri: `qemu+tcp://{host}:${port ?? libvirtd.port}/system` },
    ceph: { dashboards: ['http://127.0.0.1'], user: 'u', passwordFile: 'f', pools: ['vms', 'volumes'], rbd: { monitors: ['192.0.2.1'], ...rbd } },
  });
  const rbdSettings = ceph?.rbd ?? null;
  if (libvirt === null || ceph === null || rbdSettings === null) throw new Error('the settings lack what was given');
  try {
    const found = await reachRbdPools({ hypervisor: 'node-1', address: '127.0.0.1', libvirt, rbd: rbdSettings, pools: ceph.pools }, never);
    return { found, calls: libvirtd.received.map(({ name }) => name).filter((name) => /^(?:secret|storagePoolDefine|storagePoolUndefine)/u.test(name)) };
  } finally {
    await libvirtd.close();
  }
}

const outcomes = (found: readonly { name: string; outcome: string; code: string | null }[]): object => Object.fromEntries(found.map(({ name, outcome, code }) => [name, code ?? outcome]));

test('every pool is listed, with the key in libvirt only meanwhile', async () => {
  const { found, calls } = await reach({ rbd: { keyFile: keyFile(`${key}\n`) } });
  expect(outcomes(found)).toEqual({ 'CephPoolReached.vms': 'passed', 'CephPoolReached.volumes': 'passed' });
  expect(calls).toEqual(['secretDefineXml', 'secretSetValue', 'storagePoolDefineXml', 'storagePoolUndefine', 'storagePoolDefineXml', 'storagePoolUndefine', 'secretLookupByUuid', 'secretUndefine']);
});

test('the secret that the hosts have is left alone', async () => {
  const { found, calls } = await reach({ rbd: { secretUuid: '11111111-2222-4333-8444-555555555555' } });
  expect(outcomes(found)).toEqual({ 'CephPoolReached.vms': 'passed', 'CephPoolReached.volumes': 'passed' });
  expect(calls.filter((name) => name.startsWith('secret'))).toEqual([]);
});

test('one pool that is not reached says nothing of the other, and the key goes all the same', async () => {
  let refreshed = 0;
  const script = ({ name }: ReceivedCall) => (name === 'storagePoolRefresh' && ++refreshed === 1 ? { error: 1, message: 'failed to connect to the RADOS monitor' } : undefined);
  const { found, calls } = await reach({ rbd: { keyFile: keyFile(key) }, script });
  expect(outcomes(found)).toEqual({ 'CephPoolReached.vms': 'HypervisorFailed', 'CephPoolReached.volumes': 'passed' });
  expect(calls.at(-1)).toBe('secretUndefine');
});

test('a host whose libvirt does not answer: each pool says so', async () => {
  const { found } = await reach({ port: 1 });
  expect(outcomes(found)).toEqual({ 'CephPoolReached.vms': 'LibvirtUnavailable', 'CephPoolReached.volumes': 'LibvirtUnavailable' });
});

test.each([
  ['no key', 'is no key', () => keyFile('[client.libvirt]\nkey = x')],
  ['no file', 'cannot be read', () => join(dir, 'nowhere')],
])('%s: the settings are wrong, and nothing of the file is told', async (_, words, file) => {
  const refused = reach({ rbd: { keyFile: file() } });
  await expect(refused).rejects.toMatchObject({ type: 'InvalidConfiguration', message: expect.stringContaining(words) });
  await expect(refused).rejects.not.toThrow('client.libvirt');
});
