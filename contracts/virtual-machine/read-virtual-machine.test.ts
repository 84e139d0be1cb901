import type { VirtualMachine } from '../crds/virtual-machine.ts';
import { sampleVirtualMachine } from '../../test/fixtures/activities/virtual-machine.ts';
import { volume } from '../../test/fixtures/workflows/virtual-machine.ts';
import { readVirtualMachine } from './read-virtual-machine.ts';

const vm = (spec: object, more: Partial<VirtualMachine['metadata']> = {}): VirtualMachine =>
  sampleVirtualMachine({ spec, metadata: { uid: 'u', generation: 4, ...more } });
const annotated = (annotations: Record<string, string>): VirtualMachine => vm({}, { annotations });
const group = 'vmoperator.vmware.com';

test('a VirtualMachine that says nothing runs, without a class, a network or an image', () => {
  expect(readVirtualMachine(vm({}))).toMatchObject({
    namespace: 'team',
    name: 'web',
    uid: 'u',
    generation: 4,
    deleting: false,
    finalizers: [],
    mode: 'act',
    retry: null,
    paused: false,
    skipDelete: false,
    powerOnChecks: [],
    deleteChecks: [],
    powerState: 'PoweredOn',
    powerOffMode: 'TrySoft',
    className: null,
    image: null,
    networkCards: [],
    cdroms: [],
    volumes: [],
    sharedControllers: [],
    bootstrap: { kind: null, disabled: false, atNextPowerOn: null, instanceId: null },
    probe: null,
    zone: null,
    lastResizedClass: null,
  });
});

const rows: [why: string, object: VirtualMachine, desired: object][] = [
  [
    'a deletion',
    vm({}, { deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: ['a/b'] }),
    { deleting: true, finalizers: ['a/b'] },
  ],
  ['a pause, whatever its value', annotated({ [`${group}/paused`]: '' }), { paused: true }],
  [
    'what is noted of the disks that it was made with',
    annotated({ 'drover.dev/disks': 'disk-1,disk-2' }),
    { madeDisks: ['disk-1', 'disk-2'] },
  ],
  [
    'where what was copied for it is, and of which files',
    annotated({ 'drover.dev/copies': 'datacenter-1,datastore-1,9:ab' }),
    { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1', sources: '9:ab' } },
  ],
  [
    'as an earlier release has noted it',
    annotated({ 'drover.dev/copies': 'datacenter-1,datastore-1' }),
    { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } },
  ],
  [
    'what its guest was asked',
    annotated({ 'drover.dev/guest-asked': '2026-11-26T08:00:00.000Z shutdownGuest boot 1' }),
    { guestAsked: { operation: 'shutdownGuest', askedMs: Date.UTC(2026, 10, 26, 8), bootId: 'boot 1' } },
  ],
  [
    'or nonsense of it',
    annotated({ 'drover.dev/guest-asked': 'yesterday shutdownGuest boot-1' }),
    { guestAsked: null },
  ],
  ['that there were none', annotated({ 'drover.dev/disks': '' }), { madeDisks: [] }],
  ['or nothing', annotated({}), { madeDisks: null, formerInstanceId: null, managerId: null }],
  ['an instance id of before', annotated({ [`${group}/cloud-init-instance-id`]: 'i' }), { formerInstanceId: 'i' }],
  [
    'gates',
    annotated({ [`poweron.check.${group}/b`]: 'x', [`poweron.check.${group}/a`]: '', [`delete.check.${group}/c`]: '' }),
    { powerOnChecks: ['a', 'b'], deleteChecks: ['c'] },
  ],
  [
    'that the VM is to stay',
    annotated({ [`${group}.protected/skip-delete-platform-resource`]: '' }),
    { skipDelete: true },
  ],
  [
    'the time of its group',
    annotated({ [`${group}.protected/apply-power-state-time`]: 't' }),
    { applyPowerStateAt: 't' },
  ],
  [
    'conditions that others give it',
    annotated({
      [`condition.${group}.protected/x`]: 'A;False;B;c;d',
      [`condition.${group}.protected/y`]: 'A;Maybe;B;c',
      [`condition.${group}.protected/z`]: 'A;True;not a reason!;c',
    }),
    { givenConditions: [{ type: 'A', status: 'False', reason: 'B', message: 'c;d' }] },
  ],
  [
    'the class that was applied',
    annotated({ [`${group}/last-resized-vm-class`]: '{"Name":"small","UID":"c","Generation":2}' }),
    { lastResizedClass: { name: 'small', uid: 'c', generation: 2 } },
  ],
  ['nonsense in its place', annotated({ [`${group}/last-resized-vm-class`]: 'small' }), { lastResizedClass: null }],
  ['a retry', annotated({ 'drover.dev/retry': 'b', 'drover.dev/retry-handled': 'a' }), { retry: 'b' }],
  ['a misspelt mode', annotated({ 'drover.dev/mode': 'atc' }), { mode: 'observe' }],
  [
    'a node of a Kubernetes cluster',
    vm({}, { labels: { 'capv.vmware.com/cluster.role': 'worker' } }),
    { clusterNode: true },
  ],
  [
    'zone and cached image',
    vm({}, { labels: { 'topology.kubernetes.io/zone': 'z', [`vmicache.${group}/name`]: 'c' } }),
    { zone: 'z', imageCache: { name: 'c', location: null } },
  ],
  [
    'sizes in cores and MiB, rounded up',
    vm({ resources: { size: { cpu: 4, memory: '1G' }, requests: { memory: '512Mi' } } }),
    {
      size: {
        cpus: 4,
        memoryMiB: 954,
        cpuRequestCores: null,
        cpuLimitCores: null,
        memoryRequestMiB: 512,
        memoryLimitMiB: null,
      },
    },
  ],
  [
    'cards',
    vm({ network: { interfaces: [{ name: 'eth0' }, { name: 'eth1', type: 'E1000', macAddr: '00:50:56:AA:BB:CC' }] } }),
    {
      networkCards: [
        { name: 'eth0', type: 'VMXNet3', macAddress: null },
        { name: 'eth1', type: 'E1000', macAddress: '00:50:56:aa:bb:cc' },
      ],
    },
  ],
  [
    'drives',
    vm({
      hardware: { cdrom: [{ name: 'cdrom1', image: { kind: 'VirtualMachineImage', name: 'i' }, connected: false }] },
    }),
    { cdroms: [{ name: 'cdrom1', connected: false, allowGuestControl: true, slot: null }], controllers: [] },
  ],
  [
    'a drive with a place, and the controller that it needs',
    vm({
      hardware: {
        cdrom: [
          {
            name: 'cdrom1',
            image: { kind: 'VirtualMachineImage', name: 'i' },
            controllerType: 'SATA',
            controllerBusNumber: 1,
            unitNumber: 3,
          },
          { name: 'cdrom2', image: { kind: 'VirtualMachineImage', name: 'i' }, unitNumber: 1 },
        ],
        sataControllers: [{ busNumber: 0 }],
      },
    }),
    {
      cdroms: [
        { name: 'cdrom1', slot: { bus: 'SATA', busNumber: 1, unitNumber: 3 } },
        { name: 'cdrom2', slot: { bus: 'IDE', busNumber: 0, unitNumber: 1 } },
      ],
      controllers: [
        { bus: 'SATA', busNumber: 0, type: null, sharing: 'None' },
        { bus: 'SATA', busNumber: 1, type: null, sharing: null },
        { bus: 'IDE', busNumber: 0, type: null, sharing: null },
      ],
    },
  ],
  [
    'volumes that are claimed',
    vm({ volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'c' } }, { name: 'b' }] }),
    { volumes: [volume('a', { claim: 'c' })] },
  ],
  [
    'volumes in their place',
    vm({
      volumes: [
        {
          name: 'a',
          persistentVolumeClaim: { claimName: 'c', readOnly: true },
          controllerType: 'SCSI',
          controllerBusNumber: 1,
          unitNumber: 2,
          diskMode: 'IndependentPersistent',
          sharingMode: 'MultiWriter',
          applicationType: 'OracleRAC',
        },
      ],
    }),
    {
      volumes: [
        {
          name: 'a',
          claim: 'c',
          controllerType: 'SCSI',
          controllerBusNumber: 1,
          unitNumber: 2,
          diskMode: 'IndependentPersistent',
          sharingMode: 'MultiWriter',
          applicationType: 'OracleRAC',
          readOnly: true,
        },
      ],
    },
  ],
  [
    'controllers that are shared',
    vm({ hardware: { scsiControllers: [{ busNumber: 0 }, { busNumber: 1, sharingMode: 'Physical' }] } }),
    { sharedControllers: ['SCSI:1'] },
  ],
  [
    'CloudInit',
    vm({ bootstrap: { cloudInit: { instanceID: 'i' } } }),
    { bootstrap: { kind: 'CloudInit', disabled: false, atNextPowerOn: null, instanceId: 'i' } },
  ],
  [
    'LinuxPrep at the next power-on',
    vm({ bootstrap: { linuxPrep: { customizeAtNextPowerOn: true } } }),
    { bootstrap: { kind: 'LinuxPrep', disabled: false, atNextPowerOn: true, instanceId: null } },
  ],
  ['an image by its name alone', vm({ imageName: 'vmi-1' }), { image: { kind: 'VirtualMachineImage', name: 'vmi-1' } }],
  [
    'a probe',
    vm({ readinessProbe: { guestHeartbeat: { thresholdStatus: 'yellow' } } }),
    { probe: 'heartbeat', probeThreshold: 'yellow' },
  ],
  [
    'a probe of what the guest sets',
    vm({ readinessProbe: { guestInfo: [{ key: 'state', value: '^ready' }, { key: 'any' }], periodSeconds: 30 } }),
    {
      probe: 'guestInfo',
      probePeriodMs: 30_000,
      probeGuestInfo: [
        { key: 'state', pattern: '^ready' },
        { key: 'any', pattern: '' },
      ],
    },
  ],
  [
    'a port',
    vm({ readinessProbe: { tcpSocket: { port: 22 } } }),
    { probe: 'tcp', probePort: { host: null, port: 22, timeoutMs: 10_000 } },
  ],
  [
    'a port of a host',
    vm({ readinessProbe: { tcpSocket: { port: '443', host: 'web.example.com' }, timeoutSeconds: 2 } }),
    { probePort: { host: 'web.example.com', port: 443, timeoutMs: 2_000 } },
  ],
  [
    'a port by its name',
    vm({ readinessProbe: { tcpSocket: { port: 'ssh' } } }),
    { probePort: { host: null, port: null, timeoutMs: 10_000 } },
  ],
];

test.each(rows)('%s', (_why, object, desired) => {
  expect(readVirtualMachine(object)).toMatchObject(desired);
});

test('the configuration is told by vim25’s names, and what is not asked for is null', () => {
  const { config } = readVirtualMachine(
    vm({
      guestID: 'ubuntu64Guest',
      minHardwareVersion: 21,
      cpuAdvanced: { topology: { coresPerSocket: 2 }, latencySensitivity: 'High', iommuEnabled: true },
      memoryAdvanced: { hotAddEnabled: false },
      advanced: {
        changeBlockTracking: true,
        bootDiskCapacity: '20Gi',
        extraConfig: [{ key: 'a.b', value: '1' }, { key: 'c' }],
      },
      bootOptions: { firmware: 'efi', bootDelay: '1m0.5s', efiSecureBoot: 'Enabled' },
    }),
  );
  expect(config).toEqual({
    guestId: 'ubuntu64Guest',
    firmware: 'efi',
    coresPerSocket: 2,
    vnumaNodeCount: null,
    cpuHotAddEnabled: null,
    memoryHotAddEnabled: false,
    nestedHVEnabled: null,
    vPMCEnabled: null,
    vvtdEnabled: true,
    memoryReservationLockedToMax: null,
    latencySensitivity: 'high',
    simultaneousThreads: null,
    changeTrackingEnabled: true,
    minHardwareVersion: 21,
    bootDiskBytes: 20 * 1024 ** 3,
    provisioning: null,
    bootOrder: [],
    extraConfig: { 'a.b': '1', c: '' },
    bootOptions: {
      bootDelay: 60_500,
      bootRetryEnabled: false,
      efiSecureBootEnabled: true,
      networkBootProtocol: 'ipv4',
    },
  });
});

test('what an interface asks of its card', () => {
  const interfaces = [
    { name: 'eth0' },
    { name: 'eth1', type: 'E1000', macAddr: '00:50:56:AA:BB:CC', advancedProperties: [{ key: 'a', value: '1' }] },
    { name: 'eth2', vnumaNodeID: 0, vmxnet3: { uptv2Enabled: true, ctxPerDev: 'PerVM' } },
    { name: 'eth3', vmxnet3: { uptv2Enabled: false } },
  ];
  expect(readVirtualMachine(vm({ network: { interfaces } })).networkCards).toEqual([
    { name: 'eth0', type: 'VMXNet3', macAddress: null },
    { name: 'eth1', type: 'E1000', macAddress: '00:50:56:aa:bb:cc', properties: { a: '1' } },
    {
      name: 'eth2',
      type: 'VMXNet3',
      macAddress: null,
      uptv2Enabled: true,
      vnumaNode: 0,
      properties: { ctxPerDev: '2' },
    },
    { name: 'eth3', type: 'VMXNet3', macAddress: null },
  ]);
});
