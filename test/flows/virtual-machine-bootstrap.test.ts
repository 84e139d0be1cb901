import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import { findCondition } from '../../contracts/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import type { RecordedRequest } from '../../lab/vsphere/control.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * A guest is set up, by each kind of bootstrap, from a Secret, which is then in its VM, and in no output; and its
 * network cards stay what they are.
 */

let world: VmWorld;

beforeAll(async () => {
  // No guest of the lab has Tools, which LinuxPrep and Sysprep wait for.
  world = await openVmWorld({ settings: { virtualMachine: { toolsMs: 300 } } });
  for (const text of [first, second, third])
    world.observed.planted.push({ name: 'the user data', value: text.split('\n')[1] ?? '' });
  world.observed.planted.push({ name: 'the administrator’s password', value: password });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const secret = 'user-data';
const first = `#cloud-config\n# canary-${randomUUID()}`;
const second = `#cloud-config\n# canary-${randomUUID()}`;
const third = `#cloud-config\n# canary-${randomUUID()}`;
const password = `canary-${randomUUID()}`;
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

const network = (...interfaces: object[]): object => ({ network: { interfaces } });
const card = (name: string, more: object = {}): object => ({ name, network: { name: vmFixture.network }, ...more });
const mac = '00:50:56:3f:00:0a';

test(
  'a card that is replaced: what cloud-init is given has its address',
  async () => {
    await world.create('recarded', { ...cloudInit('later'), ...network(card('eth0')) });
    await world.untilReported('recarded', reconciled);
    await world.change('recarded', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('recarded', reconciled);
    await world.change('recarded', { spec: { powerState: 'PoweredOn', ...network(card('eth0', { macAddr: mac })) } });
    await world.untilReported('recarded', reconciled);
    const { metadata, macAddresses, userData } = await guestOf('recarded');
    expect(macAddresses.map((one) => one.toLowerCase())).toEqual([mac]);
    expect(JSON.parse(metadata)).toMatchObject({
      network: { ethernets: { eth0: { match: { macaddress: mac }, 'set-name': 'eth0' } } },
    });
    expect(userData).toBe(first);
  },
  limitMs,
);

test(
  'a VM that another user has destroyed is made anew, and set up anew',
  async () => {
    await world.create('remade', { ...cloudInit('later'), ...network(card('eth0')) });
    await world.untilReported('remade', reconciled);
    const before = (await world.read('remade'))?.status?.uniqueID;
    const path = `${inventory.vmFolder}/${namespace}/remade`;
    await world.vcenter.setPower(path, 'off');
    await world.vcenter.destroyVm(path);
    await retry('remade');
    await until('another VM', 40_000, async () => {
      const after = (await world.read('remade'))?.status?.uniqueID;
      return (after !== undefined && after !== before) || `${after}`;
    });
    await world.untilReported('remade', reconciled);
    await untilGiven('remade', first);
  },
  2 * limitMs,
);

const customizationsOf = async (name: string): Promise<string[]> => {
  const id = await world.vcenter.idOf(`${inventory.vmFolder}/${namespace}/${name}`);
  return (await world.control.requests()).flatMap(({ method, body }) =>
    method === 'CustomizeVM_Task' && body.includes(`>${id}</_this>`) ? [body] : [],
  );
};

test(
  'LinuxPrep: customized at the first start, each interface on its card, and once',
  async () => {
    await world.create('prepped', {
      bootstrap: { linuxPrep: { timeZone: 'Europe/Berlin' } },
      network: {
        hostName: 'prepped-1',
        domainName: 'example.org',
        nameservers: ['192.0.2.53'],
        interfaces: [card('eth0', { addresses: ['192.0.2.20/24'], gateway4: '192.0.2.1' }), card('eth1')],
      },
    });
    await world.untilReported('prepped', reconciled);
    const [body = '', ...others] = await customizationsOf('prepped');
    expect(others).toEqual([]);
    expect(body).toMatch(/<hostName [^>]*><name>prepped-1<\/name><\/hostName><domain>example\.org<\/domain>/u);
    expect(body).toContain('<timeZone>Europe/Berlin</timeZone>');
    expect(body).toContain('<dnsServerList>192.0.2.53</dnsServerList>');
    expect(
      body
        .split('<nicSettingMap>')
        .slice(1)
        .map((text) => /<ipAddress>[^<]*/u.exec(text)?.[0]),
    ).toEqual(['<ipAddress>192.0.2.20', undefined]);
    const vm = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/prepped`);
    expect(vm?.guest).toMatchObject({ hostName: 'prepped-1' });
    expect(vm?.config.extraConfig.find(({ key }) => key === 'drover.networkCards')?.value).toMatch(
      /^eth0=\d+,eth1=\d+$/u,
    );

    for (const powerState of ['PoweredOff', 'PoweredOn']) {
      await world.change('prepped', { spec: { powerState } });
      await world.untilReported('prepped', reconciled);
    }
    expect(await customizationsOf('prepped')).toHaveLength(1);
  },
  limitMs,
);

test(
  'Sysprep: once, and once more where the spec asks for it; its password is nowhere else',
  async () => {
    await write({ admin: password });
    const sysprep = {
      userData: { fullName: 'Owner', orgName: 'Org' },
      guiUnattended: { autoLogon: true, autoLogonCount: 1, password: { name: secret, key: 'admin' } },
    };
    await world.create('windows', { bootstrap: { sysprep: { sysprep } }, ...network(card('eth0')) });
    await world.untilReported('windows', reconciled);
    expect(await customizationsOf('windows')).toEqual([
      expect.stringContaining(`<password><value>${password}</value><plainText>true</plainText></password>`),
    ]);
    await world.change('windows', {
      spec: { powerState: 'PoweredOff', bootstrap: { sysprep: { customizeAtNextPowerOn: true } } },
    });
    await world.untilReported('windows', reconciled);
    await world.change('windows', { spec: { powerState: 'PoweredOn' } });
    await world.untilReported('windows', reconciled);
    expect(await customizationsOf('windows')).toHaveLength(2);
    expect((await world.read('windows'))?.spec?.bootstrap?.sysprep?.customizeAtNextPowerOn).toBe(false);
    expect((await world.texts()).filter(({ text }) => text.includes(password)).map(({ where }) => where)).toEqual([]);
  },
  2 * limitMs,
);

test(
  'without a bootstrap a Linux gets its name, and another guest is left alone',
  async () => {
    await world.create('plain', { guestID: 'ubuntu64Guest', ...network(card('eth0')) });
    await world.create('other', network(card('eth0')));
    for (const name of ['plain', 'other']) await world.untilReported(name, reconciled);
    expect(await customizationsOf('plain')).toEqual([
      expect.stringMatching(/<name>plain<\/name>.*<hwClockUTC>true<\/hwClockUTC>/su),
    ]);
    expect(await customizationsOf('other')).toEqual([]);
    expect(
      findCondition((await world.read('plain'))?.status?.conditions, virtualMachineConditions.bootstrapReady),
    ).toBeUndefined();
  },
  limitMs,
);

test(
  'without a network it gets a card in that of the settings; switched off, it has none',
  async () => {
    await world.create('unnamed', { network: undefined });
    await world.untilReported('unnamed', reconciled);
    expect((await guestOf('unnamed')).macAddresses).toHaveLength(1);
    await world.change('unnamed', { spec: { network: { disabled: true } } });
    await world.untilReported('unnamed', reconciled);
    const synced = virtualMachineConditions.networkConfigSynced;
    expect(findCondition((await world.read('unnamed'))?.status?.conditions, synced)).toMatchObject({
      status: 'False',
      reason: 'PowerOffRequired',
    });
    expect((await guestOf('unnamed')).macAddresses).toHaveLength(1);
    await world.change('unnamed', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('unnamed', reconciled);
    expect((await guestOf('unnamed')).macAddresses).toEqual([]);
  },
  limitMs,
);

test(
  'the middle one of three cards goes: no other is touched, on or off',
  async () => {
    const three = ['eth0', 'eth1', 'eth2'].map((name) => card(name));
    await world.create('middle', network(...three));
    await world.untilReported('middle', reconciled);
    const macs = (await guestOf('middle')).macAddresses;
    expect(macs).toHaveLength(3);
    const editsOf = async (): Promise<string[]> =>
      (await world.control.requests()).flatMap(({ method, body }) =>
        method === 'ReconfigVM_Task' && body.includes('VirtualVmxnet3') ? [body] : [],
      );
    const before = (await editsOf()).length;
    await world.change('middle', { spec: network(three[0]!, three[2]!) });
    await world.untilReported('middle', reconciled);
    expect(await editsOf()).toHaveLength(before);
    await world.change('middle', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('middle', reconciled);
    expect((await guestOf('middle')).macAddresses).toEqual([macs[0], macs[2]]);
    const [change = '', ...others] = (await editsOf()).slice(before);
    expect(others).toEqual([]);
    expect(change).toContain('<operation>remove</operation>');
    expect(change).not.toMatch(/<operation>(edit|add)<\/operation>/u);
  },
  limitMs,
);

test(
  'settings of a card are those of the spec, and go with it; what only the platform sets is named',
  async () => {
    const vmxnet3 = { ctxPerDev: 'PerQueue', pnicFeatures: ['ReceiveSideScaling'], udpRssEnabled: true };
    const more = [
      { key: 'innerRSS', value: 'TRUE' },
      { key: 'networkName', value: 'another' },
    ];
    await world.create('tuned', {
      powerState: 'PoweredOff',
      ...network(card('eth0', { vmxnet3, advancedProperties: more })),
    });
    await world.untilReported('tuned', reconciled);
    const settingsOf = async (): Promise<Record<string, string>> => {
      const vm = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/tuned`);
      const rows = (vm?.config.extraConfig ?? []).filter(({ key }) => /^ethernet\d+\.(?!pciSlot)/u.test(key));
      return Object.fromEntries(rows.map(({ key, value }) => [key.replace(/^ethernet\d+\./u, ''), value]));
    };
    expect(await settingsOf()).toEqual({ ctxPerDev: '3', pnicFeatures: '4', udpRSS: '1', innerRSS: 'TRUE' });
    const synced = virtualMachineConditions.networkConfigSynced;
    expect(findCondition((await world.read('tuned'))?.status?.conditions, synced)).toMatchObject({
      status: 'False',
      reason: 'PrerequisiteNotMet',
      message: expect.stringContaining('networkName of eth0'),
    });
    await world.change('tuned', { spec: network(card('eth0', { vmxnet3: { ctxPerDev: 'PerVM' } })) });
    await world.untilReported('tuned', reconciled);
    expect(await settingsOf()).toEqual({ ctxPerDev: '2' });
    expect(findCondition((await world.read('tuned'))?.status?.conditions, synced)).toMatchObject({ status: 'True' });
  },
  limitMs,
);
