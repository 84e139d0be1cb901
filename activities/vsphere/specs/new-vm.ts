import type { MutationRequest, OwnerReference } from '../../../contracts/virtual-machine/activities.ts';
import { agentVmKeys } from '../../../contracts/agent-pool/metadata.ts';
import type { DeviceChange } from '../../../contracts/virtual-machine/config.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import { type CreateSpec, type NewDisk, scsiControllers } from '../../../contracts/virtual-machine/mutations.ts';
import type { Devices } from '../observation/read-vm.ts';
import { datastoreRef, hostRef, poolRef } from '../wire/values.ts';
import { isA } from '../wire/kinds.ts';
import type { VirtualDeviceConfigSpec, VirtualMachineCloneSpec, VirtualMachineConfigSpec } from '../wire/vim/types.ts';
import { classConfigSpec } from './class-config.ts';
import { configSpec } from './config-spec.ts';

/** A VM that is to be made, and whose. */
export type NewVm = MutationRequest & { create: CreateSpec };

/** What vCenter is asked for to make a VM. Identity and owner are in that very call, so that no crash leaves a VM without an owner. Pure. */

/** @param template devices of the template */
export function cloneSpec(create: CreateSpec, owner: OwnerReference, template: Devices): VirtualMachineCloneSpec {
  const { resourcePool, datastore, host } = create.at;
  return {
    location: {
      datastore: datastoreRef(datastore),
      pool: poolRef(resourcePool),
      ...(host !== null && { host: hostRef(host) }),
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
    deviceChange: [
      ...(config.deviceChange ?? []),
      ...(create.bootDiskBytes === null
        ? []
        : newDisk(create.bootDiskBytes, create.source.kind === 'nothing' ? create.source.disk : undefined)),
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
    deviceChange: [...(own.deviceChange ?? []), ...(ofClass.deviceChange ?? [])],
    instanceUuid,
    uuid,
  };
}

/** Where the owner is written, by its kind. */
const ownerKeys = {
  VirtualMachine: { namespacedName: extraConfigKeys.namespacedName, uid: extraConfigKeys.objectUid },
  VsphereAgent: { namespacedName: agentVmKeys.agent, uid: agentVmKeys.agentUid },
} as const;

const scsiKey = -1;

function newDisk(
  capacityBytes: number,
  { controller, eagerlyScrub }: NewDisk = { controller: 'pvscsi', eagerlyScrub: false },
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
      device: {
        $type: 'VirtualDisk',
        key: scsiKey - 1,
        controllerKey: scsiKey,
        unitNumber: 0,
        backing: {
          $type: 'VirtualDiskFlatVer2BackingInfo',
          fileName: '',
          diskMode: 'persistent',
          thinProvisioned: !eagerlyScrub,
          ...(eagerlyScrub && { eagerlyScrub }),
        },
        capacityInKB,
        capacityInBytes: capacityInKB * 1024,
      },
    },
  ];
}
