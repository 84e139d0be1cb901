import type { MutationRequest, OwnerReference } from '../../../contracts/virtual-machine/activities.ts';
import type { DeviceChange } from '../../../contracts/virtual-machine/config.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { CreateSpec } from '../../../contracts/virtual-machine/mutations.ts';
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
      ...(create.bootDiskBytes === null ? [] : newDisk(create.bootDiskBytes)),
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
  const asked = (config.extraConfig ?? []).filter(
    ({ key }) => key !== extraConfigKeys.namespacedName && key !== extraConfigKeys.objectUid,
  );
  const ownerOptions = [
    { key: extraConfigKeys.namespacedName, value: owner.namespacedName },
    { key: extraConfigKeys.objectUid, value: owner.uid },
  ];
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

const scsiKey = -1;

function newDisk(capacityBytes: number): VirtualDeviceConfigSpec[] {
  const capacityInKB = Math.ceil(capacityBytes / 1024);
  return [
    {
      operation: 'add',
      device: { $type: 'ParaVirtualSCSIController', key: scsiKey, busNumber: 0, sharedBus: 'noSharing' },
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
          thinProvisioned: true,
        },
        capacityInKB,
        capacityInBytes: capacityInKB * 1024,
      },
    },
  ];
}
