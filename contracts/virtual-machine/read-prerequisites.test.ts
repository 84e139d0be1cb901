import { virtualMachineClassSchema } from '../crds/virtual-machine-class.ts';
import { virtualMachineImageSchema } from '../crds/virtual-machine-image.ts';
import { virtualMachineSetResourcePolicySchema } from '../crds/virtual-machine-set-resource-policy.ts';
import { readClass, readImage, readPolicy } from './read-prerequisites.ts';

const apiVersion = 'vmoperator.vmware.com/v1alpha6';
const metadata = {
  name: 'a',
  namespace: 'team',
  uid: 'u',
  resourceVersion: '1',
  generation: 3,
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const vmClass = (spec: object) =>
  virtualMachineClassSchema.parse({ apiVersion, kind: 'VirtualMachineClass', metadata, spec });
const hardware = { cpus: 2, memory: '4Gi' };

const compute: [why: string, spec: object, wanted: object][] = [
  [
    'without shares',
    { hardware },
    {
      numCPUs: 2,
      memoryMB: 4_096,
      cpuAllocation: { reservation: 0, limit: -1 },
      memoryAllocation: { reservation: 0, limit: -1 },
    },
  ],
  [
    'with shares: cores become MHz, memory MiB',
    {
      hardware,
      policies: { resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: 2, memory: '4Gi' } } },
    },
    { cpuAllocation: { reservation: 1_250, limit: 5_000 }, memoryAllocation: { reservation: 1_024, limit: 4_096 } },
  ],
  [
    'fractions of a MHz are rounded up',
    { hardware, policies: { resources: { requests: { cpu: '1u' } } } },
    { cpuAllocation: { reservation: 1, limit: -1 } },
  ],
];

test.each(compute)('the size of a class %s', (_why, spec, wanted) => {
  expect(readClass(vmClass(spec), 2_500)).toMatchObject({
    kind: 'found',
    value: { name: 'a', uid: 'u', generation: 3, compute: wanted },
  });
});

test.each([
  ['nothing', {}],
  ['no memory', { hardware: { cpus: 2 } }],
  ['no CPUs', { hardware: { memory: '1Gi' } }],
  ['none of either', { hardware: { cpus: 0, memory: 0 } }],
])('a class that says %s is invalid', (_why, spec) => {
  expect(readClass(vmClass(spec), 1)).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('VirtualMachineClass a') as string,
  });
});

test('what its configuration says goes along, and its keys are read in both of their forms', () => {
  const configSpec = {
    _typeName: 'VirtualMachineConfigSpec',
    extraConfig: [
      { _typeName: 'OptionValue', key: 'a', value: { _typeName: 'string', _value: '1' } },
      { key: 'b', value: 2 },
      { key: 'c', value: {} },
      { value: 'd' },
      null,
    ],
  };
  expect(readClass(vmClass({ hardware, configSpec }), 1)).toMatchObject({
    value: { extraConfig: { a: '1', b: '2' }, configSpec, passthrough: false, instanceStorage: null },
  });
});

test('devices that are passed through and storage of the host are told', () => {
  const special = {
    hardware: {
      ...hardware,
      devices: { dynamicDirectPathIODevices: [{ vendorID: 1, deviceID: 2 }] },
      instanceStorage: { storageClass: 'local', volumes: [{ size: '1Gi' }, { size: '2Gi' }] },
    },
  };
  expect(readClass(vmClass(special), 1)).toMatchObject({
    value: {
      passthrough: true,
      instanceStorage: { storageClass: 'local', sizes: ['1Gi', '2Gi'] },
      refused: [],
    },
  });
  const nowhere = { ...hardware, instanceStorage: { volumes: [{ size: '1Gi' }] } };
  expect(readClass(vmClass({ hardware: nowhere }), 1)).toMatchObject({
    value: {
      instanceStorage: null,
      refused: ['spec.hardware.instanceStorage.storageClass is not set, and its volumes are made by it'],
    },
  });
  expect(
    readClass(vmClass({ hardware: { ...hardware, devices: { vgpuDevices: [{ profileName: 'p' }] } } }), 1),
  ).toMatchObject({ value: { passthrough: false, hasPciDevices: true, devices: [{ kind: 'vgpu', profile: 'p' }] } });
});

test('the reservation that a class counts against goes into its VMs', () => {
  expect(readClass(vmClass({ hardware, reservedProfileID: 'profile-7' }), 1)).toMatchObject({
    value: { extraConfig: { 'resourcepool.vmResourceProfileId': 'profile-7' } },
  });
});

const ready = {
  type: 'Ready',
  status: 'False',
  reason: 'NotSynced',
  message: 'm',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const image = (spec: object, status: object) =>
  virtualMachineImageSchema.parse({ apiVersion, kind: 'VirtualMachineImage', metadata, spec, status });

test('an image', () => {
  expect(
    readImage(
      image(
        { providerRef: { apiVersion: 'v', kind: 'ContentLibraryItem', name: 'n' } },
        { conditions: [ready], providerItemID: 'item', providerContentVersion: '7', type: 'OVF' },
      ),
      'vmi-1',
    ),
  ).toEqual({
    kind: 'VirtualMachineImage',
    name: 'a',
    ready: { status: 'False', reason: 'NotSynced', message: 'm' },
    providerKind: 'ContentLibraryItem',
    providerItemId: 'item',
    providerVersion: '7',
    type: 'OVF',
    cacheName: 'vmi-1',
    hardware: { guestId: null, firmware: null, version: null, disks: [] },
  });
  const disks = [
    { name: 'a', limit: '10Gi', controllerType: 'SATA' as const, controllerBusNumber: 1, unitNumber: 3 },
    { name: 'b' },
  ];
  expect(
    readImage(image({}, { firmware: 'efi', hardwareVersion: 21, osInfo: { type: 'ubuntu64Guest' }, disks }), 'vmi-1')
      .hardware,
  ).toEqual({
    guestId: 'ubuntu64Guest',
    firmware: 'efi',
    version: 21,
    disks: [
      { controller: 'SATA', busNumber: 1, unitNumber: 3, capacityBytes: 10 * 1024 ** 3 },
      { controller: 'SCSI', busNumber: 0, unitNumber: null, capacityBytes: null },
    ],
  });
  expect(readImage(image({}, {}), 'vmi-1')).toMatchObject({
    ready: null,
    providerKind: null,
    providerItemId: null,
    providerVersion: null,
    type: null,
  });
});

test('a policy, with the modules of each cluster', () => {
  const policy = virtualMachineSetResourcePolicySchema.parse({
    apiVersion,
    kind: 'VirtualMachineSetResourcePolicy',
    metadata,
    spec: { folder: 'f', resourcePool: { name: 'p' }, clusterModuleGroups: ['web', 'db'] },
    status: {
      clustermodules: [
        { clusterMoID: 'c2', groupName: 'web', moduleUUID: 'm2' },
        { clusterMoID: 'c1', groupName: 'web', moduleUUID: 'm1' },
      ],
    },
  });
  expect(readPolicy(policy)).toEqual({
    name: 'a',
    deleting: false,
    folder: 'f',
    resourcePool: 'p',
    modules: { web: { c1: 'm1', c2: 'm2' }, db: {} },
  });
  expect(
    readPolicy({ ...policy, metadata: { ...policy.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } }),
  ).toMatchObject({ deleting: true });
});

test.each([
  ['nothing is said of it', {}, undefined],
  ['it is made', { 'policy-made': '2' }, undefined],
  ['it waits', { 'policy-made': '1', 'policy-waits-for': 'folder f' }, 'folder f'],
  ['its run was cancelled', { 'policy-made': 'cancelled 2' }, expect.stringContaining('drover.dev/retry')],
  ['its spec has changed since', { 'policy-made': 'cancelled 1' }, undefined],
])('why a policy is not made, where %s', (_why, said, unmade) => {
  const annotations = Object.fromEntries(Object.entries(said).map(([key, value]) => [`drover.dev/${key}`, value]));
  const policy = virtualMachineSetResourcePolicySchema.parse({
    apiVersion,
    kind: 'VirtualMachineSetResourcePolicy',
    metadata: { ...metadata, generation: 2, annotations },
    spec: { folder: 'f' },
  });
  expect(readPolicy(policy).unmade).toEqual(unmade);
});
