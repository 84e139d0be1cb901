/**
 * What the definitions accept, as upstream's do, and drover does not do. One row for each: who implements a field removes its row here, and
 * says in contracts/crds/fields/ where it is read. Asked for all the same, a new VM is not made, one that is there says so when all else is
 * done (condition `SpecSupported`), and drover's own CustomResourceDefinition refuses it.
 */
export interface RefusedField {
  /** Completes `drover does not …`. */
  not: string;
  /** Values that ask for nothing; where there are none, whatever is set asks for something. */
  harmless: readonly (string | number | boolean)[];
}

export type RefusedFields = Readonly<Record<string, RefusedField>>;

const does = (not: string, ...harmless: RefusedField['harmless']): RefusedField => ({ not, harmless });

const tune = 'set this option of the hypervisor';
const placeDisks = 'choose the controller or the unit of a volume';

/** Below `spec` of a VirtualMachine; `[]` is each item of a list. */
export const refusedFields: RefusedFields = {
  'advanced.cpuAffinityExclusiveNoStatsEnabled': does(tune, false),
  'advanced.defaultVolumeProvisioningMode': does('choose how disks are provisioned: the storage policy does'),
  'advanced.hugePages1GEnabled': does(tune, false),
  'advanced.pnumaNodeAffinity': does(tune),
  'advanced.preferHtEnabled': does(tune, false),
  'advanced.timeTrackerLowLatencyEnabled': does(tune, false),
  'advanced.vmxSwapEnabled': does(tune, true),
  affinity: does('place VMs by affinity: name a cluster module of a VirtualMachineSetResourcePolicy, or a zone'),
  'bootOptions.bootOrder': does('set the order of boot devices'),
  class: does('apply instances of classes: className alone says the size'),
  'cpuAdvanced.topology.vnumaNodeCount': does('set the number of virtual NUMA nodes', 0),
  'crypto.encryptionClassName': does('encrypt VMs'),
  'crypto.vTPMMode': does('clone a vTPM', 'New'),
  currentSnapshotName: does('revert to snapshots'),
  'hardware.cdrom[].controllerBusNumber': does('choose the controller of a CD-ROM'),
  'hardware.cdrom[].controllerType': does('choose the controller of a CD-ROM'),
  'hardware.cdrom[].unitNumber': does('choose the unit of a CD-ROM'),
  'hardware.ideControllers': does('make controllers of its own'),
  'hardware.nvmeControllers': does('make controllers of its own'),
  'hardware.sataControllers': does('make controllers of its own'),
  'hardware.scsiControllers': does('make controllers of its own'),
  'network.interfaces[].advancedProperties': does('set properties of network cards'),
  'network.interfaces[].ipamModes': does('choose how addresses are given out'),
  'network.interfaces[].vmxnet3': does('set properties of network cards'),
  'network.interfaces[].vnumaNodeID': does('bind network cards to virtual NUMA nodes'),
  policies: does('apply policies'),
  promoteDisksMode: does('promote disks while a VM is off', 'Online', 'Disabled'),
  'readinessProbe.guestInfo': does('probe by guestInfo: guestHeartbeat it can'),
  'readinessProbe.tcpSocket': does('probe ports: guestHeartbeat it can'),
  volumeAttributesClassName: does('set attributes of volumes: name the class in the PersistentVolumeClaim'),
  'volumes[].applicationType': does('share volumes'),
  'volumes[].controllerBusNumber': does(placeDisks),
  'volumes[].controllerType': does(placeDisks),
  'volumes[].diskMode': does('set the mode of a volume', 'Persistent'),
  'volumes[].persistentVolumeClaim.instanceVolumeClaim': does('make volumes on the storage of a host'),
  'volumes[].persistentVolumeClaim.readOnly': does('attach volumes that are only read', false),
  'volumes[].removable': does('keep volumes from being removed', true),
  'volumes[].sharingMode': does('share volumes', 'None'),
  'volumes[].unitNumber': does(placeDisks),
};

/** Below `spec` of a VirtualMachineClass. */
export const refusedClassFields: RefusedFields = {
  'hardware.devices.dynamicDirectPathIODevices': does('pass devices of a host through: say them in configSpec'),
  'hardware.devices.vgpuDevices': does('attach virtual GPUs: say them in configSpec'),
  'hardware.instanceStorage.volumes': does('make volumes on the storage of a host'),
  reservedProfileID: does('use reserved slots'),
  reservedSlots: does('use reserved slots', 0),
};

/** What a spec asks for and drover does not do, as sentences; none: nothing. Pure. */
export const refusedIn = (spec: object, fields: RefusedFields = refusedFields): string[] =>
  Object.entries(fields).flatMap(([path, { not, harmless }]) =>
    valuesAt(spec, path.split('.')).some((value) => isAskedFor(value, harmless))
      ? [`spec.${path}: drover does not ${not}`]
      : [],
  );

function valuesAt(value: unknown, [step, ...below]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  const isList = step.endsWith('[]');
  const next = (value as Record<string, unknown>)[isList ? step.slice(0, -2) : step];
  const items: unknown[] = isList ? (Array.isArray(next) ? next : []) : [next];
  return items.flatMap((item) => valuesAt(item, below));
}

function isAskedFor(value: unknown, harmless: RefusedField['harmless']): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object') return Object.values(value).some((one) => isAskedFor(one, []));
  return !(harmless as readonly unknown[]).includes(value);
}
