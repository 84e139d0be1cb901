import { z } from 'zod';

import { ownershipKeys } from '../../contracts/ids.ts';
import { vmPowerStates, type Allocation, type OwnershipMark } from '../../contracts/virtual-machine.ts';
import type { Vim } from './client.ts';
import { checked, type ReadObject } from './properties.ts';
import type { AttachedDisk, ListedVm, VirtualMachine } from './types.ts';

/** All that drover wants to know of a VM, in one call. */
export const vmPaths = [
  'name', 'parent', 'resourcePool', 'runtime.host', 'runtime.connectionState', 'runtime.powerState', 'guest.toolsRunningStatus', 'guest.ipAddress',
  'config.instanceUuid', 'config.uuid', 'config.changeVersion', 'config.template', 'config.guestId', 'config.annotation', 'config.files.vmPathName',
  'config.hardware', 'config.cpuAllocation', 'config.memoryAllocation', 'config.managedBy', 'config.extraConfig',
] as const;

/** Of each VM of a list. */
export const listPaths = ['name', 'runtime.powerState', 'config.instanceUuid', 'config.extraConfig'] as const;

const reference = z.object({ type: z.string(), value: z.string() });
const powerState = z.enum(vmPowerStates);
/** Values are text nearly always; keys of vCenter itself may hold others. */
const extraConfig = z.array(z.looseObject({ key: z.string(), value: z.union([z.string(), z.number(), z.boolean()]).catch('') }));
const allocation = z.looseObject({ reservation: z.number().default(0), limit: z.number().default(-1) });
const device = z.looseObject({
  $type: z.string(),
  key: z.number(),
  deviceInfo: z.looseObject({ label: z.string() }).optional(),
  backing: z.looseObject({ fileName: z.string().optional() }).optional(),
  capacityInKB: z.number().optional(),
  vDiskId: z.looseObject({ id: z.string() }).optional(),
});

const vmProperties = z.object({
  name: z.string(),
  parent: reference.optional(),
  resourcePool: reference.optional(),
  'runtime.host': reference.optional(),
  'runtime.connectionState': z.string(),
  'runtime.powerState': powerState,
  'guest.toolsRunningStatus': z.string().optional(),
  'guest.ipAddress': z.string().optional(),
  'config.instanceUuid': z.string().optional(),
  'config.uuid': z.string().default(''),
  'config.changeVersion': z.string().default(''),
  'config.template': z.boolean().default(false),
  'config.guestId': z.string().default(''),
  'config.annotation': z.string().default(''),
  'config.files.vmPathName': z.string().default(''),
  'config.hardware': z.looseObject({ numCPU: z.number(), numCoresPerSocket: z.number().optional(), memoryMB: z.number(), device: z.array(device).default([]) }).optional(),
  'config.cpuAllocation': allocation.optional(),
  'config.memoryAllocation': allocation.optional(),
  'config.managedBy': z.looseObject({ extensionKey: z.string(), type: z.string() }).optional(),
  'config.extraConfig': extraConfig.default([]),
});

/** @throws AnswerMalformed */
export function toVm(vim: Pick<Vim, 'name'>, object: ReadObject): VirtualMachine {
  const seen = checked(vim, vmProperties, object);
  const { 'config.hardware': hardware, 'config.instanceUuid': instanceUuid, 'config.managedBy': managedBy } = seen;
  const settings = textsOf(seen['config.extraConfig']);
  return {
    id: object.ref.value,
    name: seen.name,
    folderId: seen.parent?.value ?? null,
    resourcePoolId: seen.resourcePool?.value ?? null,
    hostId: seen['runtime.host']?.value ?? null,
    connectionState: seen['runtime.connectionState'],
    powerState: seen['runtime.powerState'],
    isToolsRunning: seen['guest.toolsRunningStatus'] === 'guestToolsRunning',
    ipAddress: seen['guest.ipAddress'] || null,
    mark: markOf(settings),
    config:
      hardware === undefined || instanceUuid === undefined
        ? null
        : {
            instanceUuid,
            biosUuid: seen['config.uuid'],
            changeVersion: seen['config.changeVersion'],
            isTemplate: seen['config.template'],
            guestId: seen['config.guestId'],
            annotation: seen['config.annotation'],
            vmxPath: seen['config.files.vmPathName'],
            cpus: hardware.numCPU,
            coresPerSocket: hardware.numCoresPerSocket ?? null,
            memoryMiB: hardware.memoryMB,
            cpuAllocation: toAllocation(seen['config.cpuAllocation']),
            memoryAllocation: toAllocation(seen['config.memoryAllocation']),
            managedBy: managedBy === undefined ? null : { extensionKey: managedBy.extensionKey, type: managedBy.type },
            extraConfig: settings,
            disks: hardware.device.filter(({ $type }) => $type === 'VirtualDisk').map(toDisk),
          },
  };
}

const listProperties = vmProperties.pick({ name: true, 'runtime.powerState': true, 'config.instanceUuid': true, 'config.extraConfig': true });

/** @throws AnswerMalformed */
export function toListedVm(vim: Pick<Vim, 'name'>, object: ReadObject): ListedVm {
  const seen = checked(vim, listProperties, object);
  return { id: object.ref.value, name: seen.name, instanceUuid: seen['config.instanceUuid'] ?? null, powerState: seen['runtime.powerState'], mark: markOf(textsOf(seen['config.extraConfig'])) };
}

const textsOf = (options: z.output<typeof extraConfig>): Record<string, string> => Object.fromEntries(options.map(({ key, value }) => [key, String(value)]));

function markOf(settings: Readonly<Record<string, string>>): OwnershipMark | null {
  const namespacedName = settings[ownershipKeys.namespacedName];
  const uid = settings[ownershipKeys.uid];
  return namespacedName === undefined || namespacedName === '' || uid === undefined || uid === '' ? null : { namespacedName, uid };
}

const toAllocation = (seen: z.output<typeof allocation> | undefined): Allocation | null => (seen === undefined ? null : { reservation: seen.reservation, limit: seen.limit < 0 ? null : seen.limit });

const toDisk = ({ key, deviceInfo, backing, capacityInKB = 0, vDiskId }: z.output<typeof device>): AttachedDisk => ({
  key,
  label: deviceInfo?.label ?? '',
  capacityKiB: capacityInKB,
  fileName: backing?.fileName || null,
  firstClassDiskId: vDiskId?.id ?? null,
});
