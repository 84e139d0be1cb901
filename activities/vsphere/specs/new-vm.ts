import type { MutationRequest, OwnerReference } from '../../../contracts/virtual-machine/activities.ts';
import { agentVmKeys } from '../../../contracts/agent-pool/metadata.ts';
import type { DeviceChange } from '../../../contracts/virtual-machine/config.ts';
import type { DiskProvisioning } from '../../../contracts/virtual-machine/cached-files.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import { type CreateSpec, type NewDisk, scsiControllers } from '../../../contracts/virtual-machine/mutations.ts';
import type { Devices } from '../observation/read-vm.ts';
import { datastoreRef, hostRef, poolRef } from '../wire/values.ts';
import { isA } from '../wire/kinds.ts';
import type {
  VirtualDeviceConfigSpec,
  VirtualMachineCloneSpec,
  VirtualMachineConfigSpec,
  VirtualMachineRelocateSpecDiskLocator,
} from '../wire/vim/types.ts';
import { classConfigSpec } from './class-config.ts';
import { configSpec } from './config-spec.ts';

/** A VM that is to be made, and whose. */
export type NewVm = MutationRequest & { create: CreateSpec };

/**
 * What vCenter is asked for to make a VM. Identity and owner are in that very call, so that no crash leaves a VM
 * without an owner. Pure.
 */

/** @param template devices of the template */
export function cloneSpec(create: CreateSpec, owner: OwnerReference, template: Devices): VirtualMachineCloneSpec {
  const { resourcePool, datastore, host } = create.at;
  return {
    location: {
      datastore: datastoreRef(datastore),
      pool: poolRef(resourcePool),
      ...(host !== null && { host: hostRef(host) }),
      ...(create.storageProfileId !== undefined && { profile: storageProfile(create.storageProfileId) }),
      ...((create.provisioning ?? create.storageProfileId) !== undefined && { disk: disksAs(create, template) }),
    },
    template: false,
    config: newConfig(create, owner, template),
    powerOn: false,
  };
}

/** @param datastoreName of the datastore that it goes to */
export function emptyVmSpec(
  create: CreateSpec,
  owner: OwnerReference,
  datastoreName: string,
): VirtualMachineConfigSpec {
  const config = newConfig(create, owner, []);
  return {
    ...config,
    name: create.name,
    files: { vmPathName: `[${datastoreName}]` },
    ...(create.storageProfileId !== undefined && { vmProfile: storageProfile(create.storageProfileId) }),
    deviceChange: [
      ...(config.deviceChange ?? []),
      ...(create.bootDiskBytes === null
        ? []
        : newDisk(create.bootDiskBytes, create.source.kind === 'nothing' ? create.source.disk : undefined, create)),
    ],
  };
}

/** The cards and drives of a template go: those that are wanted are added. */
export function newConfig(create: CreateSpec, owner: OwnerReference, template: Devices): VirtualMachineConfigSpec {
  const { config, instanceUuid, uuid } = create;
  const gone: DeviceChange[] = template.flatMap((device): DeviceChange[] =>
    isA(device, 'VirtualEthernetCard')
      ? [{ operation: 'remove', device: 'networkCard', key: device.key }]
      : isA(device, 'VirtualCdrom')
        ? [{ operation: 'remove', device: 'cdrom', key: device.key }]
        : [],
  );
  const ownerOptions = [
    { key: ownerKeys[owner.kind ?? 'VirtualMachine'].namespacedName, value: owner.namespacedName },
    { key: ownerKeys[owner.kind ?? 'VirtualMachine'].uid, value: owner.uid },
  ];
  const allOwnerKeys: readonly string[] = Object.values(ownerKeys).flatMap((keys) => Object.values(keys));
  const asked = (config.extraConfig ?? []).filter(({ key }) => !allOwnerKeys.includes(key));
  const ofClass = classConfigSpec(create.classConfigSpec);
  const own = configSpec(
    { ...config, extraConfig: [...asked, ...ownerOptions], deviceChange: [...gone, ...(config.deviceChange ?? [])] },
    { devices: template, bootOptions: ofClass.bootOptions ?? null },
  );
  return {
    ...ofClass,
    ...own,
    ...(create.hardwareVersion !== undefined && { version: `vmx-${create.hardwareVersion}` }),
    deviceChange: [...(own.deviceChange ?? []), ...withOwnKeys(ofClass.deviceChange ?? [])],
    instanceUuid,
    uuid,
  };
}

/** Beside the keys of drover's own new devices: a class may give all of its devices the same. */
const firstClassKey = -201;
function withOwnKeys(changes: readonly VirtualDeviceConfigSpec[]): VirtualDeviceConfigSpec[] {
  const controllers = new Map(
    changes.flatMap(({ device }, index) =>
      isA(device, 'VirtualController') ? [[device.key, firstClassKey - index] as const] : [],
    ),
  );
  return changes.map(({ device, ...change }, index) => ({
    ...change,
    device: {
      ...device,
      key: firstClassKey - index,
      ...(device.controllerKey !== undefined && {
        controllerKey: controllers.get(device.controllerKey) ?? device.controllerKey,
      }),
    },
  }));
}

/** Where the owner is written, by its kind. */
const ownerKeys = {
  VirtualMachine: { namespacedName: extraConfigKeys.namespacedName, uid: extraConfigKeys.objectUid },
  VsphereAgent: { namespacedName: agentVmKeys.agent, uid: agentVmKeys.agentUid },
} as const;

/** In the backing of a disk that is made. */
export const allocation = (provisioning: DiskProvisioning): { thinProvisioned: boolean; eagerlyScrub?: true } => ({
  thinProvisioned: provisioning === 'thin',
  ...(provisioning === 'eagerZeroedThick' && { eagerlyScrub: true }),
});

/** The disks of a template, as the clone shall have them. */
const disksAs = (
  { provisioning, storageProfileId, at }: CreateSpec,
  template: Devices,
): VirtualMachineRelocateSpecDiskLocator[] =>
  template
    .filter((device) => isA(device, 'VirtualDisk'))
    .map(({ key }) => ({
      diskId: key,
      datastore: datastoreRef(at.datastore),
      ...(provisioning !== undefined && {
        diskBackingInfo: {
          $type: 'VirtualDiskFlatVer2BackingInfo',
          fileName: '',
          diskMode: 'persistent',
          ...allocation(provisioning),
        },
      }),
      ...(storageProfileId !== undefined && { profile: storageProfile(storageProfileId) }),
    }));

/** What vCenter checks and shows the compliance with; the datastore is chosen before. */
export const storageProfile = (profileId: string) => [{ $type: 'VirtualMachineDefinedProfileSpec', profileId }];

const scsiKey = -1;

function newDisk(
  capacityBytes: number,
  { controller, eagerlyScrub }: NewDisk = { controller: 'pvscsi', eagerlyScrub: false },
  {
    provisioning = eagerlyScrub ? 'eagerZeroedThick' : 'thin',
    storageProfileId,
  }: Pick<CreateSpec, 'provisioning' | 'storageProfileId'>,
): VirtualDeviceConfigSpec[] {
  const capacityInKB = Math.ceil(capacityBytes / 1024);
  return [
    {
      operation: 'add',
      device: { $type: scsiControllers[controller], key: scsiKey, busNumber: 0, sharedBus: 'noSharing' },
    },
    {
      operation: 'add',
      fileOperation: 'create',
      ...(storageProfileId !== undefined && { profile: storageProfile(storageProfileId) }),
      device: {
        $type: 'VirtualDisk',
        key: scsiKey - 1,
        controllerKey: scsiKey,
        unitNumber: 0,
        backing: {
          $type: 'VirtualDiskFlatVer2BackingInfo',
          fileName: '',
          diskMode: 'persistent',
          ...allocation(provisioning),
        },
        capacityInKB,
        capacityInBytes: capacityInKB * 1024,
      },
    },
  ];
}
