import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import { vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import { isCustomizationPending, toConfig, visibleExtraConfig } from './config.ts';

test('what vCenter leaves out is what it is by default', () => {
  expect(toConfig(vmOf(), [])).toEqual({
    changeVersion: 'c1',
    hardwareVersion: 21,
    guestId: '',
    firmware: '',
    numCPUs: 2,
    numCoresPerSocket: 1,
    coresPerNumaNode: 0,
    memoryMB: 512,
    cpuAllocation: { reservation: 0, limit: -1 },
    memoryAllocation: { reservation: 0, limit: -1 },
    cpuHotAddEnabled: false,
    memoryHotAddEnabled: false,
    nestedHVEnabled: false,
    vPMCEnabled: false,
    vvtdEnabled: false,
    memoryReservationLockedToMax: false,
    latencySensitivity: 'normal',
    simultaneousThreads: 1,
    changeTrackingEnabled: false,
    bootOrder: [],
    annotation: '',
    managedBy: null,
    extraConfig: {},
    networkCards: [expect.objectContaining({ key: 4000 })],
    cdroms: [expect.objectContaining({ key: 3000 })],
    disks: [expect.objectContaining({ key: 2000, boot: true })],
    pciDevices: [],
    controllers: expect.any(Array),
  });
});

test('by vim25’s names', () => {
  const vm = vmOf();
  const properties = {
    ...vm.properties,
    'config.guestId': 'otherGuest64',
    'config.firmware': 'efi',
    'config.vPMCEnabled': true,
    'config.flags': { $type: 'VirtualMachineFlagInfo', vvtdEnabled: true },
    'config.latencySensitivity': { $type: 'LatencySensitivity', level: 'high' },
    'config.managedBy': { $type: 'ManagedByInfo', extensionKey: 'e', type: 't' },
    'config.memoryAllocation': { $type: 'ResourceAllocationInfo', reservation: 64, limit: 512 },
    'config.bootOptions': {
      $type: 'VirtualMachineBootOptions',
      bootDelay: 10,
      efiSecureBootEnabled: true,
      networkBootProtocol: 'ipv6',
      bootOrder: [
        { $type: 'VirtualMachineBootOptionsBootableDiskDevice', deviceKey: 2000 },
        { $type: 'VirtualMachineBootOptionsBootableEthernetDevice', deviceKey: 4000 },
        { $type: 'VirtualMachineBootOptionsBootableCdromDevice' },
        { $type: 'VirtualMachineBootOptionsBootableFloppyDevice' },
      ],
    },
    'config.numaInfo': { $type: 'VirtualMachineVirtualNumaInfo', coresPerNumaNode: 4, autoCoresPerNumaNode: false },
    'config.tools.pendingCustomization': 'package',
  };
  expect(toConfig({ ...vm, properties }, [])).toMatchObject({
    guestId: 'otherGuest64',
    firmware: 'efi',
    vPMCEnabled: true,
    vvtdEnabled: true,
    latencySensitivity: 'high',
    managedBy: { extensionKey: 'e', type: 't' },
    memoryAllocation: { reservation: 64, limit: 512 },
    bootDelay: 10,
    efiSecureBootEnabled: true,
    networkBootProtocol: 'ipv6',
    bootOrder: [{ type: 'disk', key: 2000 }, { type: 'network', key: 4000 }, { type: 'cdrom' }, { type: 'other' }],
    coresPerNumaNode: 4,
    extraConfig: { [extraConfigKeys.deployPackage]: 'package' },
  });
});

test('of one whose files cannot be reached, or of another shape, nothing is returned', () => {
  expect(toConfig(vmOf({ config: null }), [])).toBeNull();
  expect(toConfig(vmOf({ properties: { 'config.hardware': { $type: 'Surprise' } } }), [])).toBeNull();
});

test.each([
  ['none', {}, {}, false],
  ['Tools’ setting', { 'config.tools.pendingCustomization': 'package' }, {}, true],
  ['the key that stands for it', {}, { 'tools.deployPkg.fileName': 'imcf-1' }, true],
  ['both are empty', { 'config.tools.pendingCustomization': '' }, { 'tools.deployPkg.fileName': '' }, false],
])('a customization waits for the next start: %s', (_, properties, extraConfig, isPending) => {
  const { config } = vmOf();
  expect(isCustomizationPending(vmOf({ properties, config: { ...config!, extraConfig } }))).toBe(isPending);
});

test('drover’s keys, those that are asked for, and those that were asked for once; never what a guest is given', () => {
  const all = {
    'vmservice.namespacedName': 'team/web',
    'drover.uid': 'u',
    'vmservice.extraconfig.managedKeys': 'once,',
    once: '1',
    asked: '2',
    other: '3',
    'guestinfo.asked': '4',
    'guestinfo.userdata': 'secret',
    'guestinfo.userdata.encoding': 'base64',
    'guestinfo.metadata': 'secret',
    'guestinfo.vendordata': 'secret',
    'vmservice.virtualmachine.resource.yaml': 'secret',
    'vmservice.virtualmachine.additional.resources.yaml': 'secret',
    'vmservice.virtualmachine.pvc.disk.data': 'secret',
    'vmservice.virtualmachine.classicDiskData': 'secret',
  };
  expect(
    visibleExtraConfig(all, ['asked', 'guestinfo.asked', 'guestinfo.userdata', 'guestinfo.metadata', 'missing']),
  ).toEqual({
    'vmservice.namespacedName': 'team/web',
    'drover.uid': 'u',
    'vmservice.extraconfig.managedKeys': 'once,',
    once: '1',
    asked: '2',
    'guestinfo.asked': '4',
  });
});

test('of the settings of cards, those that were applied once are shown, by drover or the operator before', () => {
  const lists = {
    'drover.networkProperties': 'ethernet0.ctxPerDev',
    'vmservice.nic.ethernet1.managedKeys': 'innerRSS',
  };
  const applied = { 'ethernet0.ctxPerDev': '3', 'ethernet1.innerRSS': 'TRUE' };
  expect(visibleExtraConfig({ ...lists, ...applied, 'ethernet0.pciSlotNumber': '32' }, [])).toEqual({
    ...lists,
    ...applied,
  });
});
