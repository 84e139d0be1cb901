import type {
  DesiredVirtualMachine,
  WantedSize,
  AppliedClass,
  VirtualMachineSettings,
} from '../../../contracts/virtual-machine/lifecycle.ts';
import type { ComputeConfig, ResourceAllocation } from '../../../contracts/virtual-machine/config.ts';
import { defaultMmioSizeGB } from '../../../contracts/virtual-machine/class-devices.ts';
import { isGuestSetupKey, isReservedKey } from '../../../contracts/virtual-machine/extra-config-keys.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { ObservedClass, Fetched } from '../../../contracts/virtual-machine/observation.ts';
import { fullName } from './context.ts';
import { diffExtraConfig } from './diff-config.ts';
import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import { trueReason, virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';

/**
 * The size a VM shall have: that of its class where it is applied, and on top what the spec itself asks for. What
 * neither says is left out.
 *
 * @param cpuMHz of the slowest host, for reservations and limits that are given in cores
 * @param current of the VM: where no class is applied, a reservation stays beside a limit that the spec asks for, and a
 *   limit beside a reservation; null: there is no VM yet
 */
export function wantCompute(
  size: WantedSize,
  applied: ObservedClass | null,
  { cpuMHz, current }: { cpuMHz: number; current: ComputeConfig | null },
): Partial<ComputeConfig> {
  const of = applied?.compute;
  const { cpuAllocation, memoryAllocation } = of ?? current ?? {};
  return {
    ...given('numCPUs', size.cpus ?? of?.numCPUs),
    ...given('memoryMB', size.memoryMiB ?? of?.memoryMB),
    ...given(
      'cpuAllocation',
      allocation(mhz(size.cpuRequestCores, cpuMHz), mhz(size.cpuLimitCores, cpuMHz), cpuAllocation),
    ),
    ...given('memoryAllocation', allocation(size.memoryRequestMiB, size.memoryLimitMiB, memoryAllocation)),
  };
}

const given = <Key extends keyof ComputeConfig>(
  key: Key,
  value: ComputeConfig[Key] | undefined,
): Partial<ComputeConfig> => (value === undefined ? {} : { [key]: value });

const mhz = (cores: number | null, cpuMHz: number): number | null =>
  cores === null ? null : Math.ceil(cores * cpuMHz);

function allocation(
  reservation: number | null,
  limit: number | null,
  of: ResourceAllocation | undefined,
): ResourceAllocation | undefined {
  if (reservation === null && limit === null) return of;
  return { reservation: reservation ?? of?.reservation ?? 0, limit: limit ?? of?.limit ?? -1 };
}

/** Proves the owner of the VM, and maps it to its object. */
export const ownershipMetadata = (
  desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>,
): Record<string, string> => ({
  [extraConfigKeys.namespacedName]: fullName(desired),
  [extraConfigKeys.objectUid]: desired.uid,
});

/**
 * The ExtraConfig a VM shall have, as far as it is drover's to say: the owner, that of the class where it is applied,
 * and that of the spec. An empty value removes a key that was requested once, or that must never be there.
 */
export function wantExtraConfig(
  desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid' | 'config' | 'mmioSizeGB'>,
  applied: ObservedClass | null,
  current: Readonly<Record<string, string>>,
): Record<string, string> {
  const requested = Object.fromEntries(
    Object.entries(desired.config.extraConfig).filter(([key]) => !isReservedKey(key)),
  );
  const dropped = managedKeysIn(current).filter((key) => !(key in requested));
  const keys = Object.keys(requested).toSorted().join(',');
  return {
    ...Object.fromEntries([extraConfigKeys.evacuationPowerOff, ...dropped].map((key) => [key, ''])),
    ...(applied?.hasPciDevices === true && wantMmio(desired.mmioSizeGB ?? defaultMmioSizeGB)),
    ...applied?.extraConfig,
    ...requested,
    [extraConfigKeys.managedKeys]: keys,
    ...ownershipMetadata(desired),
  };
}

const managedKeysIn = (current: Readonly<Record<string, string>>): string[] =>
  (current[extraConfigKeys.managedKeys] ?? '').split(',').filter((key) => key !== '');

/**
 * The keys to be written, with the value that each shall have; '' removes one. Keys that no observation shows are not
 * compared, or they would be written without end. Of these only vendor data that the spec asked for once are removed,
 * by the note of them: user data and metadata are drover's own, of the bootstrap.
 */
export function diffWantedKeys(
  wanted: Readonly<Record<string, string>>,
  current: Readonly<Record<string, string>>,
): { key: string; value: string }[] {
  const shown = Object.fromEntries(Object.entries(wanted).filter(([key]) => !isGuestSetupKey(key)));
  const hidden = managedKeysIn(current).filter((key) => isGuestSetupKey(key) && isVendorData(key));
  return [...diffExtraConfig(shown, current), ...hidden.map((key) => ({ key, value: '' }))];
}

const isVendorData = (key: string): boolean => key.toLowerCase().startsWith('guestinfo.vendordata');

/** Without it a guest may find no room for the memory of its PCI devices. */
const wantMmio = (sizeGB: string): Record<string, string> =>
  sizeGB === '0' ? {} : { [extraConfigKeys.use64BitMmio]: 'TRUE', [extraConfigKeys.mmioSizeGB]: sizeGB };

export interface Resize {
  /** What is to be applied; null: nothing. */
  apply: ObservedClass | null;
  /** Null: nothing is known of it. */
  condition: ConditionUpdate | null;
}

type Wanted = Pick<DesiredVirtualMachine, 'className' | 'lastResizedClass' | 'sameClassResize'>;

/**
 * Whether the VM takes another size from its class: the class is another one, or has changed and the object opts in. A
 * class that is missing holds nothing up: the VM keeps its size.
 */
export function judgeResize(
  desired: Wanted,
  fetched: Fetched<ObservedClass> | null,
  { resize }: Pick<VirtualMachineSettings, 'resize'>,
): Resize {
  const { className, lastResizedClass: last, sameClassResize } = desired;
  if (className === null) return { apply: null, condition: null };
  if (fetched?.kind !== 'found')
    return {
      apply: null,
      condition: said('Unknown', 'ClassNotFound', `Class ${className} could not be read: the VM keeps its size`),
    };
  const found = fetched.value;
  const isOn = resize !== 'off';
  if (last === null)
    return {
      apply: isOn && sameClassResize ? found : null,
      condition:
        isOn && sameClassResize ? said('False', 'SameClassResize', `Class ${className} is to be applied`) : null,
    };
  if (last.name !== className)
    return {
      apply: isOn ? found : null,
      condition: said(
        'False',
        'ClassNameChanged',
        `The VM has the size of ${last.name}, and shall have that of ${className}`,
      ),
    };
  if (isSame(last, found)) return { apply: null, condition: said('True', trueReason, '') };
  if (!sameClassResize)
    return {
      apply: null,
      condition: said(
        'False',
        'ClassUpdated',
        `Class ${className} has changed since it was applied, and the VM does not follow it`,
      ),
    };
  return {
    apply: isOn ? found : null,
    condition: said('False', 'SameClassResize', `Class ${className} has changed since it was applied`),
  };
}

const isSame = (last: AppliedClass, found: AppliedClass): boolean =>
  last.uid === found.uid && last.generation === found.generation;

const said = (status: ConditionUpdate['status'], reason: string, message: string): ConditionUpdate => ({
  type: virtualMachineConditions.classSynced,
  status,
  reason,
  message,
});

/** The annotation that records what was applied, as upstream writes it. */
export const describeApplied = ({ name, uid, generation }: AppliedClass): string =>
  JSON.stringify({ Name: name, UID: uid, Generation: generation });
