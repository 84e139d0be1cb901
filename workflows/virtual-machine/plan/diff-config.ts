import type { WantedSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import type {
  ComputeConfig,
  DeviceChange,
  ReconfigSpec,
  ResourceAllocation,
  VmConfig,
} from '../../../contracts/virtual-machine/config.ts';

/** What one part of a configuration differs in: what can be changed now, and what only while the VM is off, in words. */
export interface Difference {
  spec: ReconfigSpec;
  whenOff: string[];
}

/** Size changes only while the VM is off; shares of it can change at any time. Source: vm-and-machine.md A.7. */
export function diffCompute(wanted: Partial<ComputeConfig>, config: ComputeConfig, isOff: boolean): Difference {
  const fixed = (['numCPUs', 'memoryMB'] as const).filter(
    (key) => wanted[key] !== undefined && wanted[key] !== config[key],
  );
  const shares = (['cpuAllocation', 'memoryAllocation'] as const).filter(
    (key) => wanted[key] !== undefined && !isSameAllocation(wanted[key], config[key]),
  );
  const now = [...(isOff ? fixed : []), ...shares];
  return {
    spec: pick(wanted, now),
    whenOff: isOff ? [] : fixed.map((key) => `${key} ${String(config[key])} → ${String(wanted[key])}`),
  };
}

const isSameAllocation = (one: ResourceAllocation, other: ResourceAllocation): boolean =>
  one.reservation === other.reservation && one.limit === other.limit;

const settingsOff = [
  'guestId',
  'firmware',
  'cpuHotAddEnabled',
  'memoryHotAddEnabled',
  'nestedHVEnabled',
  'vPMCEnabled',
  'vvtdEnabled',
  'memoryReservationLockedToMax',
  'latencySensitivity',
  'changeTrackingEnabled',
] as const;
const bootKeys = [
  'bootDelay',
  'bootRetryEnabled',
  'bootRetryDelay',
  'efiSecureBootEnabled',
  'networkBootProtocol',
] as const;

/** Change tracking and boot options can change while the VM runs; everything else of the settings cannot. */
export function diffSettings(wanted: WantedSettings, config: VmConfig, isOff: boolean): Difference {
  const asked: Partial<Record<string, unknown>> = {
    ...pick(wanted, settingsOff),
    ...wanted.bootOptions,
    ...(wanted.coresPerSocket === null ? {} : { numCoresPerSocket: wanted.coresPerSocket }),
  };
  const current = config as unknown as Record<string, unknown>;
  const differing = Object.keys(asked).filter((key) => asked[key] !== null && asked[key] !== current[key]);
  const hot = new Set<string>(['changeTrackingEnabled', ...bootKeys.filter((key) => key !== 'efiSecureBootEnabled')]);
  const now = differing.filter((key) => isOff || hot.has(key));
  return {
    spec: Object.fromEntries(now.map((key) => [key, asked[key]])) as ReconfigSpec,
    whenOff: differing
      .filter((key) => !now.includes(key))
      .map((key) => `${key} ${String(current[key])} → ${String(asked[key])}`),
  };
}

/** An empty value is a key that is not there. */
export function diffExtraConfig(
  wanted: Readonly<Record<string, string>>,
  current: Readonly<Record<string, string>>,
): { key: string; value: string }[] {
  return Object.entries(wanted)
    .filter(([key, value]) => (current[key] ?? '') !== value)
    .map(([key, value]) => ({ key, value }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** One spec of all parts; null: nothing differs. */
export function joinSpecs(parts: readonly ReconfigSpec[]): ReconfigSpec | null {
  const deviceChange: DeviceChange[] = parts.flatMap((part) => part.deviceChange ?? []);
  const extraConfig = parts.flatMap((part) => part.extraConfig ?? []);
  const joined: ReconfigSpec = Object.assign({}, ...parts);
  delete joined.deviceChange;
  delete joined.extraConfig;
  if (deviceChange.length > 0) joined.deviceChange = deviceChange;
  if (extraConfig.length > 0) joined.extraConfig = extraConfig;
  return Object.keys(joined).length === 0 ? null : joined;
}

const pick = <Source extends object, Key extends keyof Source>(
  source: Source,
  keys: readonly Key[],
): Pick<Source, Key> => Object.fromEntries(keys.map((key) => [key, source[key]])) as Pick<Source, Key>;
