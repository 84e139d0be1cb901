import { systemClock } from '../../runtime/clock.ts';
import { startScriptedLibvirtd, type LibvirtReply, type ReceivedCall } from '../../test/scripted-libvirtd.ts';
import { connectLibvirt } from './client.ts';
import { seeRbdPool } from './see-rbd-pool.ts';
import { ownUuid } from './xml.ts';

const never = new AbortController().signal;
const pool = { name: 'drover-check-vms', uuid: ownUuid('drover-check-vms') };
const wanted = { cephPool: 'vms', monitors: [{ host: '127.0.0.1', port: 6_789 }], auth: null };
const info = (state: number) => ({ state, capacity: 0n, allocation: 0n, available: 0n });

/** What is seen of a pool, and the calls that it took; libvirt keeps the pool's state as it does. */
async function see(script: (call: ReceivedCall) => LibvirtReply | undefined = () => undefined) {
  let state = 0;
  const libvirtd = await startScriptedLibvirtd((call) => {
    const scripted = script(call);
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
    { clock: systemClock, timeouts: { storageMs: 500 } },
    never,
  );
  try {
    const seen = await seeRbdPool(libvirt, wanted, systemClock, never);
    return { seen, calls: libvirtd.received.map(({ name }) => name).filter((name) => name.startsWith('storagePool')) };
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
  ['libvirt hangs with it', ({ name }) => (name === 'storagePoolRefresh' ? 'silent' : undefined), 'LibvirtUnavailable'],
])('%s: that is what is seen, and nothing is left', async (_, script, code) => {
  const { seen, calls } = await see(script);
  expect(seen).toMatchObject({ pool: 'vms', outcome: 'failed', code });
  expect(calls.at(-1)).toBe('storagePoolUndefine');
});

test('libvirt without the driver for it', async () => {
  const { seen, calls } = await see(({ name }) =>
    name === 'storagePoolDefineXml' ? { error: 27, message: "XML error: unknown storage pool type 'rbd'" } : undefined,
  );
  expect(seen).toMatchObject({ outcome: 'failed', code: 'LibvirtRefused', message: expect.stringContaining("'rbd'") });
  expect(calls).toEqual(['storagePoolDefineXml']);
});
