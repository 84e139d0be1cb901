import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { refusedFields } from '../virtual-machine/refused-fields.ts';
import { customResource, int32, intOrString, listMap, reference, uuid, withRules } from './schema.ts';
import { bootstrap } from './virtual-machine-bootstrap.ts';
import {
  advanced,
  bootOptions,
  cdrom,
  cpuAdvanced,
  hardware,
  memoryAdvanced,
  resources,
  volume,
} from './virtual-machine-hardware.ts';
import { keyValue, network } from './virtual-machine-network.ts';
import { virtualMachineStatus } from './virtual-machine-status.ts';
import { olderVersions } from '../virtual-machine/older-versions.ts';

const affinityTerm = z.object({
  labelSelector: z
    .object({
      matchExpressions: z
        .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
        .optional(),
      matchLabels: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  topologyKey: z.string(),
});

const affinityTerms = z.object({
  preferredDuringSchedulingPreferredDuringExecution: z.array(affinityTerm).optional(),
  requiredDuringSchedulingPreferredDuringExecution: z.array(affinityTerm).optional(),
});

const affinity = z.object({
  vmAffinity: affinityTerms.optional(),
  vmAntiAffinity: affinityTerms.optional(),
});

const probeFields = z.object({
  guestHeartbeat: z
    .object({
      thresholdStatus: z.enum(['yellow', 'green']).default('green').optional(),
    })
    .optional(),
  guestInfo: z.array(keyValue).optional(),
  periodSeconds: int32().min(1).optional(),
  tcpSocket: z.object({ host: z.string().optional(), port: intOrString() }).optional(),
  timeoutSeconds: int32().min(1).max(60).optional(),
});

const readinessProbe = withRules(probeFields, {
  cel: '(has(self.tcpSocket) ? 1 : 0) + (has(self.guestHeartbeat) ? 1 : 0) + (has(self.guestInfo) ? 1 : 0) == 1',
  message: 'exactly one of tcpSocket, guestHeartbeat and guestInfo must be set',
  holds: (given) =>
    [given.tcpSocket, given.guestHeartbeat, given.guestInfo].filter((one) => one !== undefined).length === 1,
});

const specFields = z.object({
  advanced: advanced.optional().describe('Settings that few need.'),
  affinity: affinity.optional().describe('What it shall run beside, and what apart from.'),
  biosUUID: uuid().optional().describe('UUID of the BIOS; given out if not set.'),
  bootOptions: bootOptions.optional().describe('How it boots.'),
  bootstrap: bootstrap.optional().describe('How the guest is set up.'),
  cdrom: listMap(['name'], cdrom)
    .optional()
    .describe('What hardware.cdrom was called before v1alpha5; drover reads either.'),
  class: reference().optional().describe('An instance of its class.'),
  className: z.string().optional().describe('Its VirtualMachineClass: size and devices.'),
  cpuAdvanced: cpuAdvanced.optional().describe('Settings of its CPUs.'),
  crypto: z
    .object({
      encryptionClassName: z.string().optional(),
      useDefaultKeyProvider: z.boolean().default(true).optional(),
      vTPMMode: z.enum(['Clone', 'New']).default('New').optional(),
    })
    .optional()
    .describe('How it is encrypted.'),
  currentSnapshotName: z.string().optional().describe('The VirtualMachineSnapshot to revert to.'),
  groupName: z.string().optional().describe('The VirtualMachineGroup that it is in.'),
  guestID: z.string().optional().describe('Operating system, as vSphere names it.'),
  hardware: hardware.optional().describe('CD-ROMs and controllers.'),
  image: z
    .object({ kind: z.string(), name: z.string() })
    .optional()
    .describe('The (Cluster)VirtualMachineImage that it is made from.'),
  imageName: z.string().optional().describe('Name of that image, or what it is called in the content library.'),
  instanceUUID: uuid().optional().describe('UUID of the VM in vCenter; given out if not set.'),
  memoryAdvanced: memoryAdvanced.optional().describe('Settings of its memory.'),
  minHardwareVersion: int32().min(13).optional().describe('Oldest hardware version that will do.'),
  network: network.optional().describe('What it is connected to.'),
  nextRestartTime: z.string().optional().describe('RFC 3339: restart it once at that time; `now` restarts it now.'),
  policies: z.array(reference()).optional().describe('Policies that apply to it.'),
  powerOffMode: z.enum(['Hard', 'Soft', 'TrySoft']).default('TrySoft').optional().describe('How it is powered off.'),
  powerState: z.enum(['PoweredOff', 'PoweredOn', 'Suspended']).optional().describe('Whether it shall run.'),
  promoteDisksMode: z
    .enum(['Online', 'Offline', 'Disabled'])
    .default('Online')
    .optional()
    .describe('When linked disks become whole ones.'),
  readinessProbe: readinessProbe.optional().describe('What makes it ready.'),
  reserved: z.object({ resourcePolicyName: z.string().optional() }).optional().describe('For platforms.'),
  resources: resources.optional().describe('Size and reservations, where they are not those of the class.'),
  restartMode: z.enum(['Hard', 'Soft', 'TrySoft']).default('TrySoft').optional().describe('How it is restarted.'),
  storageClass: z.string().optional().describe('Where its disks are.'),
  suspendMode: z.enum(['Hard', 'Soft', 'TrySoft']).default('TrySoft').optional().describe('How it is suspended.'),
  volumeAttributesClassName: z.string().optional().describe('Attributes of its volumes.'),
  volumes: listMap(['name'], volume).optional().describe('Volumes that are attached.'),
});

/**
 * What stays once it was set. Where each rule of upstream's webhooks lives: docs/adr/0012-rules-without-webhooks.md.
 */
const once = (field: string) => ({
  cel: `!has(oldSelf.${field}) || (has(self.${field}) && self.${field} == oldSelf.${field})`,
  message: `${field} cannot be changed`,
});

/**
 * What only some bootstraps set up in a guest: said to another one, it would come to nothing. Values that have come
 * past kube-apiserver are read all the same, or their objects could not be deleted.
 */
const setUpBy = (bootstraps: readonly string[], fields: readonly string[], given: (field: string) => string) => {
  const isSetUp = bootstraps.map((one) => `has(self.bootstrap.${one})`).join(' || ');
  return {
    cel: `!has(self.network) || (has(self.bootstrap) && (${isSetUp})) || !(${fields.map(given).join(' || ')})`,
    message: `${fields.join(', ')} of the network need the bootstrap ${bootstraps.join(' or ')}`,
  };
};
const ofNetwork = (field: string): string => `(has(self.network.${field}) && size(self.network.${field}) > 0)`;
const ofInterfaces = (field: string): string =>
  `(has(self.network.interfaces) && self.network.interfaces.exists(one, has(one.${field}) && ${
    field === 'mtu' ? `one.${field} != 0` : `size(one.${field}) > 0`
  }))`;
/** An interface that names none of its own gets them, unless that is switched off; then they come to nothing. */
const asDefault = (field: string, flag: string) => ({
  cel: `!has(self.network) || !has(self.network.${field}) || size(self.network.${field}) == 0 || !has(self.bootstrap) || !has(self.bootstrap.cloudInit) || !has(self.bootstrap.cloudInit.${flag}) || self.bootstrap.cloudInit.${flag}`,
  message: `network.${field} come to nothing with cloudInit.${flag} false`,
});

const spec = withRules(
  specFields,
  setUpBy(['cloudInit'], ['guestDeviceName', 'mtu', 'routes', 'searchDomains'], ofInterfaces),
  setUpBy(['cloudInit'], ['vlans'], ofNetwork),
  setUpBy(['cloudInit', 'sysprep'], ['nameservers'], ofInterfaces),
  setUpBy(['cloudInit', 'linuxPrep', 'sysprep'], ['nameservers', 'searchDomains'], ofNetwork),
  asDefault('nameservers', 'useGlobalNameserversAsDefault'),
  asDefault('searchDomains', 'useGlobalSearchDomainsAsDefault'),
  once('image'),
  once('imageName'),
  once('storageClass'),
  once('instanceUUID'),
  once('biosUUID'),
  {
    cel: '!has(oldSelf.reserved) || !has(oldSelf.reserved.resourcePolicyName) || (has(self.reserved) && has(self.reserved.resourcePolicyName) && self.reserved.resourcePolicyName == oldSelf.reserved.resourcePolicyName)',
    message: 'reserved.resourcePolicyName cannot be changed',
  },
  {
    cel: '!has(oldSelf.minHardwareVersion) || (has(self.minHardwareVersion) && self.minHardwareVersion >= oldSelf.minHardwareVersion)',
    message: 'minHardwareVersion cannot be lowered',
  },
  {
    cel: '!has(self.cdrom) || !has(self.hardware) || !has(self.hardware.cdrom)',
    message: 'cdrom is what hardware.cdrom was called before v1alpha5: only one of them may be set',
  },
  {
    cel: "!(has(oldSelf.powerState) && oldSelf.powerState == 'PoweredOff' && has(self.powerState) && self.powerState == 'Suspended')",
    message: 'a VM that is powered off cannot be suspended',
  },
);

export const virtualMachineSchema = customResource('vmoperator.vmware.com/v1alpha6', 'VirtualMachine', {
  spec: spec.optional(),
  status: virtualMachineStatus.optional(),
});

/** A virtual machine on vSphere. See docs/compatibility.md#virtualmachine-object. */
export type VirtualMachine = z.output<typeof virtualMachineSchema>;
export type VirtualMachineSpec = NonNullable<VirtualMachine['spec']>;
export type VirtualMachineStatus = NonNullable<VirtualMachine['status']>;

export const virtualMachineCrd: CrdBody = {
  shortNames: ['vm'],
  olderVersions,
  description: 'A virtual machine on vSphere.',
  schema: virtualMachineSchema,
  refused: refusedFields,
  // vm-operator's, in its order; drover's own follow.
  printColumns: [
    { name: 'Power-State', type: 'string', jsonPath: '.status.powerState' },
    { name: 'Class', type: 'string', jsonPath: '.spec.className', priority: 1 },
    { name: 'Image', type: 'string', jsonPath: '.spec.image.name', priority: 1 },
    { name: 'Primary-IP4', type: 'string', jsonPath: '.status.network.primaryIP4', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'State', type: 'string', jsonPath: '.status.conditions[?(@.type=="Lifecycle")].reason' },
    { name: 'Node', type: 'string', jsonPath: '.status.nodeName', priority: 1 },
  ],
};
