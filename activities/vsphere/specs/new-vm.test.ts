import { encodeRequest } from '../wire/encode.ts';
import { deployBody } from '../rest/deploy.ts';
import { createOf, devices, owner, uid } from '../../../test/fixtures/activities/vsphere.ts';
import type { VirtualMachineConfigSpec } from '../wire/vim/types.ts';
import { cloneSpec, emptyVmSpec } from './new-vm.ts';

const optionsOf = ({ extraConfig = [] }: VirtualMachineConfigSpec) =>
  Object.fromEntries(extraConfig.map(({ key, value }) => [key, value]));
const deviceTypes = ({ deviceChange = [] }: VirtualMachineConfigSpec) =>
  deviceChange.map(({ operation, device }) => `${operation} ${device.$type}`);
const wanted = createOf({
  config: {
    numCPUs: 2,
    extraConfig: [
      { key: 'a', value: '1' },
      { key: 'drover.uid', value: 'another object' },
    ],
    deviceChange: [
      {
        operation: 'add',
        device: 'networkCard',
        card: { key: null, type: 'E1000e', backing: 'standard:x', macAddress: null },
      },
      {
        operation: 'add',
        device: 'cdrom',
        cdrom: { key: null, iso: '[ds] b.iso', connected: true, allowGuestControl: true },
      },
    ],
  },
});

test('identity and owner are in the call itself, whatever the configuration says', () => {
  const { config = {}, location, powerOn, template } = cloneSpec(wanted, owner, devices);
  expect(config).toMatchObject({ instanceUuid: uid, uuid: uid, numCPUs: 2 });
  expect(optionsOf(config)).toEqual({ a: '1', 'vmservice.namespacedName': 'team/web', 'drover.uid': uid });
  expect(location).toEqual({
    datastore: { type: 'Datastore', value: 'datastore-1' },
    pool: { type: 'ResourcePool', value: 'resgroup-1' },
  });
  expect([powerOn, template]).toEqual([false, false]);
});

test('cards and drives of the template go, in the place of which come those that are wanted', () => {
  const { config = {} } = cloneSpec(wanted, owner, devices);
  expect(deviceTypes(config)).toEqual([
    'remove VirtualCdrom',
    'remove VirtualVmxnet3',
    'add VirtualE1000e',
    'add VirtualCdrom',
  ]);
  expect(config.deviceChange?.at(-1)?.device).toMatchObject({ controllerKey: 200, unitNumber: 0 });
});

test('one of nothing has its file’s place, and a disk where one is wanted', () => {
  expect(emptyVmSpec(createOf(), owner, 'fast')).toMatchObject({
    name: 'web',
    files: { vmPathName: '[fast]' },
    deviceChange: [],
  });
  const spec = emptyVmSpec({ ...wanted, bootDiskBytes: 1024 ** 3 }, owner, 'fast');
  expect(deviceTypes(spec)).toEqual([
    'add VirtualE1000e',
    'add VirtualCdrom',
    'add ParaVirtualSCSIController',
    'add VirtualDisk',
  ]);
  const [controller, disk] = spec.deviceChange?.slice(-2) ?? [];
  expect(disk).toMatchObject({
    fileOperation: 'create',
    device: { controllerKey: controller?.device.key, unitNumber: 0, capacityInBytes: 1024 ** 3 },
  });
});

test('a VM of a VsphereAgent has that owner and no other, and the disk that is asked for', () => {
  const spec = emptyVmSpec(
    {
      ...wanted,
      bootDiskBytes: 1024 ** 3,
      source: { kind: 'nothing', disk: { controller: 'lsilogic-sas', eagerlyScrub: true } },
    },
    { ...owner, kind: 'VsphereAgent' },
    'fast',
  );
  expect(optionsOf(spec)).toEqual({ a: '1', 'drover.vsphereAgent': 'team/web', 'drover.vsphereAgentUid': uid });
  expect(spec.deviceChange?.slice(-2).map(({ device }) => device)).toMatchObject([
    { $type: 'VirtualLsiLogicSASController' },
    { backing: { thinProvisioned: false, eagerlyScrub: true } },
  ]);
});

test('what a class says beside its size is added, and what the object says wins', () => {
  const classConfigSpec = {
    _typeName: 'VirtualMachineConfigSpec',
    numCPUs: 64,
    firmware: 'efi',
    annotation: 'of the class',
    deviceChange: [
      {
        _typeName: 'VirtualDeviceConfigSpec',
        operation: 'add',
        device: {
          _typeName: 'VirtualPCIPassthrough',
          key: -5,
          backing: { _typeName: 'VirtualPCIPassthroughVmiopBackingInfo', vgpu: 'grid' },
        },
      },
    ],
  };
  const { config = {} } = cloneSpec(createOf({ config: { annotation: 'own' }, classConfigSpec }), owner, []);
  expect(config).toMatchObject({ firmware: 'efi', annotation: 'own' });
  expect(config).not.toHaveProperty('numCPUs');
  expect(deviceTypes(config)).toEqual(['add VirtualPCIPassthrough']);
});

test('the devices of a class have keys of their own, and stay on the controllers that come with them', () => {
  const add = (device: object) => ({ _typeName: 'VirtualDeviceConfigSpec', operation: 'add', device });
  const classConfigSpec = {
    deviceChange: [
      add({ _typeName: 'VirtualAHCIController', key: -1, busNumber: 0 }),
      add({ _typeName: 'VirtualCdrom', key: -1, controllerKey: -1, unitNumber: 0 }),
      add({ _typeName: 'VirtualCdrom', key: -1, controllerKey: 201 }),
    ],
  };
  const { deviceChange = [] } = emptyVmSpec(
    { ...createOf({ classConfigSpec }), bootDiskBytes: 1024 ** 3 },
    owner,
    'fast',
  );
  expect(deviceChange.map(({ device: { key, controllerKey } }) => [key, controllerKey])).toEqual([
    [-201, undefined],
    [-202, -201],
    [-203, 201],
    [-1, undefined],
    [-2, -1],
  ]);
});

test.each([
  ['thin', { thinProvisioned: true }],
  ['thick', { thinProvisioned: false }],
  ['eagerZeroedThick', { thinProvisioned: false, eagerlyScrub: true }],
] as const)('disks are allocated as the spec says: %s', (provisioning, backing) => {
  const create = createOf({ provisioning, bootDiskBytes: 1024 ** 3 });
  expect(emptyVmSpec(create, owner, 'fast').deviceChange?.at(-1)?.device.backing).toMatchObject(backing);
  expect(cloneSpec(create, owner, devices).location.disk).toMatchObject([
    { diskId: 2000, datastore: { value: 'datastore-1' }, diskBackingInfo: backing },
  ]);
  expect(deployBody(create, owner)).toMatchObject({ deployment_spec: { storage_provisioning: provisioning } });
});

test('a VM and each of its disks are tagged with the storage profile, whatever they are made from', () => {
  const create = createOf({ storageProfileId: 'p', bootDiskBytes: 1024 ** 3 });
  const profile = [{ $type: 'VirtualMachineDefinedProfileSpec', profileId: 'p' }];
  const empty = emptyVmSpec(create, owner, 'fast');
  expect(empty.vmProfile).toEqual(profile);
  expect(empty.deviceChange?.flatMap((change) => change.profile ?? [])).toEqual(profile);
  expect(cloneSpec(create, owner, devices)).toMatchObject({
    location: { profile, disk: [{ diskId: 2000, profile }] },
  });
  expect(cloneSpec(create, owner, devices).location.disk?.[0]).not.toHaveProperty('diskBackingInfo');
  expect(deployBody(create, owner)).toMatchObject({ deployment_spec: { storage_profile_id: 'p' } });
});

test('a VM can be made with newer hardware than its image has', () => {
  expect(emptyVmSpec(createOf({ hardwareVersion: 17 }), owner, 'fast')).toMatchObject({ version: 'vmx-17' });
});

test('all of it can be written', () => {
  const folder = { type: 'Folder', value: 'group-1' };
  expect(
    encodeRequest(
      'CloneVM_Task',
      { type: 'VirtualMachine', value: 'vm-9' },
      { folder, name: 'web', spec: cloneSpec(wanted, owner, devices) },
      null,
    ),
  ).toContain('<key>drover.uid</key>');
  expect(
    encodeRequest(
      'CreateVM_Task',
      folder,
      {
        config: emptyVmSpec({ ...wanted, bootDiskBytes: 1 }, owner, 'fast'),
        pool: { type: 'ResourcePool', value: 'r' },
      },
      null,
    ),
  ).toContain('<vmPathName>[fast]</vmPathName>');
});
