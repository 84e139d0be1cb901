import { findCondition } from '../conditions.ts';
import type { VirtualMachineClass } from '../crds/virtual-machine-class.ts';
import type { ClusterVirtualMachineImage, VirtualMachineImage } from '../crds/virtual-machine-image.ts';
import type { VirtualMachineSetResourcePolicy } from '../crds/virtual-machine-set-resource-policy.ts';
import { annotations } from '../ids.ts';
import { readRecordedPolicy } from '../resource-policy/read-resource-policy.ts';
import { mebibytesOf, quantityOf } from '../quantity.ts';
import type { ObservedPolicyObject } from './activities.ts';
import { readClassDevices } from './class-devices.ts';
import type { ResourceAllocation } from './config.ts';
import { extraConfigKeys } from './metadata.ts';
import type { ClassInstanceStorage, ObservedClass, Fetched, ObservedImage } from './observation.ts';

/**
 * A class as far as VMs are made and resized by it.
 *
 * @param cpuMHz of the slowest host: a class asks for cores, vCenter reserves MHz
 */
export function readClass({ metadata, spec = {} }: VirtualMachineClass, cpuMHz: number): Fetched<ObservedClass> {
  const { hardware = {}, policies, configSpec = {} } = spec;
  const memoryMB = hardware.memory === undefined ? null : mebibytesOf(hardware.memory);
  if (hardware.cpus === undefined || hardware.cpus < 1 || memoryMB === null || memoryMB < 1) {
    return {
      kind: 'invalid',
      message: `VirtualMachineClass ${metadata.name} does not say how many CPUs and how much memory it has`,
    };
  }
  const { requests = {}, limits = {} } = policies?.resources ?? {};
  return {
    kind: 'found',
    value: {
      name: metadata.name,
      uid: metadata.uid,
      generation: metadata.generation,
      compute: {
        numCPUs: hardware.cpus,
        memoryMB,
        cpuAllocation: allocation(requests.cpu, limits.cpu, (amount) => Math.ceil((quantityOf(amount) ?? 0) * cpuMHz)),
        memoryAllocation: allocation(requests.memory, limits.memory, (amount) => mebibytesOf(amount) ?? 0),
      },
      extraConfig: {
        ...readExtraConfig(configSpec),
        ...(spec.reservedProfileID && { [extraConfigKeys.reservedProfileId]: spec.reservedProfileID }),
      },
      ...readClassDevices(spec),
      instanceStorage: readInstanceStorage(spec),
      refused:
        hasInstanceStorage(spec) && readInstanceStorage(spec) === null
          ? ['spec.hardware.instanceStorage.storageClass is not set, and its volumes are made by it']
          : [],
    },
  };
}

type ClassSpec = NonNullable<VirtualMachineClass['spec']>;

const hasInstanceStorage = ({ hardware = {} }: ClassSpec): boolean =>
  (hardware.instanceStorage?.volumes?.length ?? 0) > 0;

function readInstanceStorage(spec: ClassSpec): ClassInstanceStorage | null {
  const { storageClass = '', volumes = [] } = spec.hardware?.instanceStorage ?? {};
  return !hasInstanceStorage(spec) || storageClass === ''
    ? null
    : { storageClass, sizes: volumes.map(({ size }) => size) };
}

type Amount = string | number;

const allocation = (
  request: Amount | undefined,
  limit: Amount | undefined,
  toUnit: (amount: Amount) => number,
): ResourceAllocation => ({
  reservation: request === undefined ? 0 : toUnit(request),
  limit: limit === undefined ? -1 : toUnit(limit),
});

/** vim25's JSON: `{key, value: {_value}}`, or the value itself. */
function readExtraConfig({ extraConfig }: Record<string, unknown>): Record<string, string> {
  const rows: unknown[] = Array.isArray(extraConfig) ? extraConfig : [];
  return Object.fromEntries(
    rows.flatMap((row) => {
      const { key, value } = Object(row) as { key?: unknown; value?: unknown };
      const plain = typeof value === 'object' && value !== null && '_value' in value ? value._value : value;
      const isScalar = typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean';
      return typeof key === 'string' && isScalar ? [[key, String(plain)]] : [];
    }),
  );
}

/** @param cacheName of its VirtualMachineImageCache: made from a hash, which decisions cannot make */
export function readImage(
  { kind, metadata, spec, status }: VirtualMachineImage | ClusterVirtualMachineImage,
  cacheName: string,
): ObservedImage {
  const ready = findCondition(status?.conditions, 'Ready');
  return {
    kind,
    name: metadata.name,
    ready: ready === undefined ? null : { status: ready.status, reason: ready.reason, message: ready.message },
    providerKind: spec?.providerRef?.kind ?? null,
    providerItemId: status?.providerItemID || null,
    providerVersion: status?.providerContentVersion || null,
    type: status?.type || null,
    cacheName,
    hardware: {
      guestId: status?.osInfo?.type || null,
      firmware: status?.firmware || null,
      version: status?.hardwareVersion ?? null,
      disks: (status?.disks ?? []).map(({ controllerType = 'SCSI', controllerBusNumber = 0, unitNumber, limit }) => ({
        controller: controllerType,
        busNumber: controllerBusNumber,
        unitNumber: unitNumber ?? null,
        capacityBytes: limit === undefined ? null : quantityOf(limit),
      })),
    },
  };
}

export function readPolicy(policy: VirtualMachineSetResourcePolicy): ObservedPolicyObject {
  const { metadata, spec = {}, status } = policy;
  const made = status?.clustermodules ?? [];
  const unmade = whyUnmade(policy);
  return {
    name: metadata.name,
    deleting: metadata.deletionTimestamp !== undefined,
    folder: spec.folder || null,
    resourcePool: spec.resourcePool?.name || null,
    modules: Object.fromEntries(
      (spec.clusterModuleGroups ?? []).map((group) => [
        group,
        Object.fromEntries(
          made
            .filter(({ groupName }) => groupName === group)
            .map(({ clusterMoID, moduleUUID }) => [clusterMoID, moduleUUID]),
        ),
      ]),
    ),
    ...(unmade !== null && { unmade }),
  };
}

function whyUnmade(policy: VirtualMachineSetResourcePolicy): string | null {
  const { made, cancelled, waitsFor } = readRecordedPolicy(policy);
  if (cancelled === policy.metadata.generation)
    return `a user has cancelled its run: give its annotation ${annotations.retry} a new value, or change its spec`;
  return made === policy.metadata.generation ? null : waitsFor;
}
