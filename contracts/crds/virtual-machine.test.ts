import type { ResourceDefinition } from './definition.ts';
import { toCustomResourceDefinition } from './custom-resource-definition.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { definitions } from './definitions.ts';
import { virtualMachineSchema } from './virtual-machine.ts';

const definitionOf = (kind: string) => definitions.find((definition) => definition.kind === kind)!;
const part = (definition: ResourceDefinition, name: 'spec' | 'status'): StructuralSchema =>
  toCustomResourceDefinition(definition).spec.versions[0]?.schema.openAPIV3Schema.properties?.[name] ?? {};
const fieldsOf = (definition: ResourceDefinition, name: 'spec' | 'status'): string =>
  Object.keys(part(definition, name).properties ?? {}).join(' ');

// Clients read and write these by name (docs/compatibility.md#virtualmachine-object): a field more is harmless, one
// less breaks them.
const fields: [kind: string, definition: ResourceDefinition, spec: string, status: string][] = [
  [
    'VirtualMachine',
    definitionOf('VirtualMachine'),
    'advanced affinity biosUUID bootOptions bootstrap cdrom class className cpuAdvanced crypto currentSnapshotName groupName guestID hardware image imageName instanceUUID memoryAdvanced minHardwareVersion network nextRestartTime policies powerOffMode powerState promoteDisksMode readinessProbe reserved resources restartMode storageClass suspendMode volumeAttributesClassName volumes',
    'biosUUID changeBlockTracking class conditions crypto currentSnapshot extraConfig guest hardware hardwareVersion instanceUUID lastRestartTime network nodeName policies powerState provider rootSnapshots storage uniqueID volumes zone',
  ],
  [
    'VirtualMachineClass',
    definitionOf('VirtualMachineClass'),
    'configSpec controllerName description hardware policies reservedProfileID reservedSlots',
    '',
  ],
  [
    'VirtualMachineImage',
    definitionOf('VirtualMachineImage'),
    'providerRef',
    'capabilities conditions disks firmware hardwareVersion name osInfo ovfProperties productInfo providerContentVersion providerItemID type vmwareSystemProperties',
  ],
  [
    'VirtualMachineSetResourcePolicy',
    definitionOf('VirtualMachineSetResourcePolicy'),
    'clusterModuleGroups folder resourcePool',
    'clustermodules resourcePools',
  ],
];

test.each(fields)('%s has every field of upstream', (kind, definition, spec, status) => {
  expect([kind, fieldsOf(definition, 'spec'), fieldsOf(definition, 'status')]).toEqual([definition.kind, spec, status]);
  expect(part(definition, 'spec').required).toBeUndefined();
});

test('a ClusterVirtualMachineImage is a VirtualMachineImage of the whole cluster', () => {
  expect(definitionOf('ClusterVirtualMachineImage').namespaced).toBe(false);
  expect(part(definitionOf('ClusterVirtualMachineImage'), 'status')).toEqual(
    part(definitionOf('VirtualMachineImage'), 'status'),
  );
});

test('the configuration of a class is kept as it is', () => {
  expect(part(definitionOf('VirtualMachineClass'), 'spec').properties?.['configSpec']).toMatchObject({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  });
});

const parse = (spec: object) =>
  virtualMachineSchema.safeParse({
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind: 'VirtualMachine',
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  });

test('defaults are those of upstream', () => {
  expect(parse({}).data?.spec).toEqual({
    powerOffMode: 'TrySoft',
    suspendMode: 'TrySoft',
    restartMode: 'TrySoft',
    promoteDisksMode: 'Online',
  });
});

const key = { name: 's', key: 'k' };
const refused: [spec: object, words: string][] = [
  [{ bootstrap: { cloudInit: {}, linuxPrep: {} } }, 'cloudInit, linuxPrep and sysprep exclude each other'],
  [{ bootstrap: { cloudInit: {}, vAppConfig: {} } }, 'vAppConfig goes beside linuxPrep or sysprep'],
  [
    { bootstrap: { cloudInit: { cloudConfig: {}, rawCloudConfig: key } } },
    'cloudConfig and rawCloudConfig exclude each other',
  ],
  [{ bootstrap: { sysprep: {} } }, 'exactly one of sysprep and rawSysprep'],
  [
    { bootstrap: { vAppConfig: { properties: [], rawProperties: 's' } } },
    'properties and rawProperties exclude each other',
  ],
  [{ bootstrap: { linuxPrep: { scriptText: { value: 'v', from: key } } } }, 'from and value exclude each other'],
  [{ readinessProbe: {} }, 'exactly one of tcpSocket, guestHeartbeat and guestInfo'],
  [
    { readinessProbe: { tcpSocket: { port: 1 }, guestInfo: [] } },
    'exactly one of tcpSocket, guestHeartbeat and guestInfo',
  ],
  [{ bootOptions: { efiSecureBoot: 'Enabled', firmware: 'bios' } }, 'efiSecureBoot needs firmware efi'],
  [{ bootOptions: { bootRetryDelay: '10s' } }, 'bootRetryDelay needs bootRetry Enabled'],
  [{ cpuAdvanced: { topology: { vnumaNodeCount: 2 } } }, 'vnumaNodeCount needs coresPerSocket'],
  [{ network: { interfaces: [{ name: 'eth0', type: 'E1000', vmxnet3: {} }] } }, 'vmxnet3 needs type VMXNet3'],
  [{ network: { interfaces: [{ name: 'ETH0' }] } }, 'Invalid string'],
  [{ resources: { size: { cpu: '500m' } } }, 'Invalid'],
  [{ powerState: 'Off' }, 'Invalid option'],
];

test.each(refused)('%j is refused without kube-apiserver too', (spec, words) => {
  expect(
    parse(spec)
      .error?.issues.map(({ message }) => message)
      .join(),
  ).toContain(words);
});
