import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import { findCondition } from '../../contracts/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import type { RecordedRequest } from '../../lab/vsphere/control.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** A guest is set up from a Secret, which is then in its VM, and in no output. */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld();
  for (const text of [first, second, third])
    world.observed.planted.push({ name: 'the user data', value: text.split('\n')[1] ?? '' });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const secret = 'user-data';
const first = `#cloud-config\n# canary-${randomUUID()}`;
const second = `#cloud-config\n# canary-${randomUUID()}`;
const third = `#cloud-config\n# canary-${randomUUID()}`;
const cloudInit = (key: string): object => ({ bootstrap: { cloudInit: { rawCloudConfig: { name: secret, key } } } });
const reconciled = /^True Reconciled/u;

const write = (data: Record<string, string>): Promise<unknown> =>
  world.kubectl('patch', 'secret', secret, '-n', namespace, '--type=merge', '-p', JSON.stringify({ stringData: data }));
let retries = 0;
/** Changes of Secrets are not signalled. */
const retry = (name: string): Promise<unknown> =>
  world.change(name, { metadata: { annotations: { [annotations.retry]: `again-${(retries += 1)}` } } });

const unpack = (value: string): string =>
  value === '' ? '' : gunzipSync(Buffer.from(value, 'base64')).toString('utf8');

/** As another client reads it. */
async function guestOf(
  name: string,
): Promise<{ userData: string; metadata: string; macAddresses: string[]; packed: string }> {
  const vm = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/${name}`);
  const valueOf = (key: string): string => vm?.config.extraConfig.find((option) => option.key === key)?.value ?? '';
  return {
    userData: unpack(valueOf('guestinfo.userdata')),
    metadata: unpack(valueOf('guestinfo.metadata')),
    macAddresses: vm?.config.hardware.device.flatMap(({ macAddress }) => macAddress ?? []) ?? [],
    packed: valueOf('guestinfo.userdata'),
  };
}

const untilGiven = (name: string, userData: string): Promise<unknown> =>
  until(`${name} to have its user data`, 40_000, async () => {
    const guest = await guestOf(name);
    return guest.userData === userData ? guest : `user data of ${guest.userData.length} characters`;
  });

const writesOf = async (): Promise<RecordedRequest[]> =>
  (await world.control.requests()).filter(
    ({ method, body }) => method === 'ReconfigVM_Task' && body.includes('guestinfo.userdata<'),
  );

test(
  'CloudInit: made, powered on and set up; set up again once for a changed Secret; and the Secret is nowhere else',
  async () => {
    await world.make({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: secret },
      stringData: { data: first },
    });
    await world.create('cloudy', cloudInit('data'));
    await world.untilReported('cloudy', reconciled);
    const { metadata, macAddresses, packed } = await guestOf('cloudy');
    await untilGiven('cloudy', first);
    expect(await world.witness('cloudy')).toMatchObject({ powerState: 'poweredOn' });
    expect(macAddresses).toHaveLength(1);
    expect(JSON.parse(metadata)).toMatchObject({
      'local-hostname': 'cloudy',
      network: { ethernets: { eth0: { match: { macaddress: macAddresses[0]?.toLowerCase() } } } },
    });
    expect(await writesOf()).toHaveLength(1);

    await write({ data: second });
    await retry('cloudy');
    await untilGiven('cloudy', second);
    await world.untilReported('cloudy', reconciled);

    // A vCenter that repeats what it was given.
    await world.control.fail({
      method: 'ReconfigVM_Task',
      fault: 'InvalidArgument',
      fields: { invalidProperty: `${third} ${Buffer.from(third).toString('base64')}` },
      inTask: true,
    });
    await write({ data: third });
    await retry('cloudy');
    await world.untilReported('cloudy', /^False Failed: .*ended with InvalidArgument/u);
    await retry('cloudy');
    await untilGiven('cloudy', third);
    await world.untilReported('cloudy', reconciled);
    expect(await writesOf()).toHaveLength(4);
    const { packed: last } = await guestOf('cloudy');

    const texts = await world.texts();
    const [history, audit, log] = [/^the history of/u, /audit/u, /log/u].map(
      (where) => expect.stringMatching(where) as string,
    );
    expect(texts.map(({ where }) => where)).toEqual(expect.arrayContaining([history, audit, log]));
    // These are the keys that contain it.
    expect(texts.filter(({ text }) => text.includes('submitBootstrap')).map(({ where }) => where)).toEqual(
      expect.arrayContaining([history, audit]),
    );
    for (const value of [first, second, third]
      .flatMap((text) => [text.split('\n')[1] ?? '', Buffer.from(text).toString('base64')])
      .concat(packed, last)) {
      expect(texts.filter(({ text }) => text.includes(value)).map(({ where }) => where)).toEqual([]);
    }
  },
  2 * limitMs,
);

test(
  'a key that is missing is named, and the VM is made when it is there',
  async () => {
    await world.create('keyless', cloudInit('later'));
    await world.untilReported('keyless', /WaitingForPrerequisites: .*user-data\/later/u);
    expect(
      findCondition((await world.read('keyless'))?.status?.conditions, virtualMachineConditions.bootstrapReady),
    ).toMatchObject({
      status: 'False',
      reason: 'RequiredKeyNotFound',
      message: expect.stringContaining('user-data/later'),
    });
    expect(await world.witness('keyless')).toBeNull();
    await write({ later: first });
    await world.untilReported('keyless', reconciled);
    await untilGiven('keyless', first);
  },
  limitMs,
);
