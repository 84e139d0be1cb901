import type { DesiredVirtualMachine, WantedSize } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { ComputeConfig, ResourceAllocation } from '../../../contracts/virtual-machine/config.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/marks.ts';
import type { ClassFacts } from '../../../contracts/virtual-machine/observation.ts';
import { fullName } from '../step.ts';

/**
 * The size a VM shall have: that of its class where it is applied, and on top what the spec itself asks for. What neither says is left out.
 *
 * @param cpuMHz of the slowest host, for reservations and limits that are told in cores
 */
export function wantCompute(size: WantedSize, applied: ClassFacts | null, cpuMHz: number): Partial<ComputeConfig> {
  const of = applied?.compute;
  return {
    ...given('numCPUs', size.cpus ?? of?.numCPUs),
    ...given('memoryMB', size.memoryMiB ?? of?.memoryMB),
    ...given(
      'cpuAllocation',
      allocation(mhz(size.cpuRequestCores, cpuMHz), mhz(size.cpuLimitCores, cpuMHz), of?.cpuAllocation),
    ),
    ...given('memoryAllocation', allocation(size.memoryRequestMiB, size.memoryLimitMiB, of?.memoryAllocation)),
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

/** What proves whose the VM is, and maps it back to its object. */
export const ownershipMark = (
  desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>,
): Record<string, string> => ({
  [extraConfigKeys.namespacedName]: fullName(desired),
  [extraConfigKeys.objectUid]: desired.uid,
});

/** Keys that nobody may set through the spec: they are drover's, upstream's or the platform's. */
export const isReservedKey = (key: string): boolean =>
  /^(vmservice\.|vmprov\.|drover\.|guestinfo\.(metadata|userdata)($|\.))/u.test(key);

/**
 * The ExtraConfig a VM shall have, as far as it is drover's to say: the mark, that of the class where it is applied, and that of the spec.
 * An empty value takes a key away that was asked for once, or that must never be there.
 */
export function wantExtraConfig(
  desired: Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid' | 'config'>,
  applied: ClassFacts | null,
  current: Readonly<Record<string, string>>,
): Record<string, string> {
  const asked = Object.fromEntries(Object.entries(desired.config.extraConfig).filter(([key]) => !isReservedKey(key)));
  const before = (current[extraConfigKeys.managedKeys] ?? '').split(',').filter((key) => key !== '');
  const dropped = before.filter((key) => !(key in asked));
  const keys = Object.keys(asked).toSorted().join(',');
  return {
    ...Object.fromEntries([extraConfigKeys.evacuationPowerOff, ...dropped].map((key) => [key, ''])),
    ...applied?.extraConfig,
    ...asked,
    [extraConfigKeys.managedKeys]: keys,
    ...ownershipMark(desired),
  };
}
