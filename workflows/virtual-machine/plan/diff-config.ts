import type { WantedSettings, WantedCdrom } from '../../../contracts/virtual-machine/lifecycle.ts';
import type {
  ComputeConfig,
  DeviceChange,
  ReconfigSpec,
  ResourceAllocation,
  VmConfig,
  Cdrom,
  Disk,
  Slot,
} from '../../../contracts/virtual-machine/config.ts';

/**
 * What one part of a configuration differs in: what can be changed now, and what only while the VM is off,
 * for the message.
 */
export interface Difference {
  spec: ReconfigSpec;
  whenOff: string[];
}

/** Size changes only while the VM is off; shares of it can change at any time. */
export function diffCompute(wanted: Partial<ComputeConfig>, config: ComputeConfig, isOff: boolean): Difference {
  const fixed = (['numCPUs', 'memoryMB'] as const).filter(
    (key) => wanted[key] !== undefined && wanted[key] !== config[key],
  );
  const changedAllocations = (['cpuAllocation', 'memoryAllocation'] as const).filter(
    (key) => wanted[key] !== undefined && !isSameAllocation(wanted[key], config[key]),
  );
  const now = [...(isOff ? fixed : []), ...changedAllocations];
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
  'simultaneousThreads',
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
  const requested: Partial<Record<string, unknown>> = {
    ...pick(wanted, settingsOff),
    ...wanted.bootOptions,
    // Only a number takes back what was asked for once.
    ...(wanted.latencySensitivity !== null &&
      wanted.simultaneousThreads === null &&
      config.simultaneousThreads > 1 && { simultaneousThreads: 1 }),
    ...(wanted.coresPerSocket === null ? {} : { numCoresPerSocket: wanted.coresPerSocket }),
  };
  const current = config as unknown as Record<string, unknown>;
  const differing = Object.keys(requested).filter((key) => requested[key] !== null && requested[key] !== current[key]);
  const hot = new Set<string>(['changeTrackingEnabled', ...bootKeys.filter((key) => key !== 'efiSecureBootEnabled')]);
  const now = differing.filter((key) => isOff || hot.has(key));
  return {
    spec: Object.fromEntries(now.map((key) => [key, requested[key]])) as ReconfigSpec,
    whenOff: differing
      .filter((key) => !now.includes(key))
      .map((key) => `${key} ${String(current[key])} → ${String(requested[key])}`),
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

export interface DeviceDifference {
  changes: DeviceChange[];
  whenOff: string[];
}

/**
 * Drives are added and removed while the VM is off; whether one is connected can change at any time. Of a
 * drive whose ISO is not known nothing is changed: `planConfig` says so.
 */
export function diffCdroms(
  wanted: readonly WantedCdrom[],
  isos: Readonly<Record<string, string | null>>,
  current: readonly Cdrom[],
  isOff: boolean,
): DeviceDifference {
  const changes: DeviceChange[] = [];
  const whenOff: string[] = [];
  const later = (what: string, ...needed: DeviceChange[]): void =>
    void (isOff ? changes.push(...needed) : whenOff.push(what));
  const kept = new Set<Cdrom>();
  for (const { name, connected, allowGuestControl, slot = null } of wanted) {
    const iso = isos[name] ?? null;
    if (iso === null) continue;
    // Two drives may have the same ISO.
    const same = current.filter((cdrom) => cdrom.iso === iso && !kept.has(cdrom));
    const there = same.find((cdrom) => slot !== null && isAt(cdrom.slot ?? null, slot)) ?? same[0];
    const added: DeviceChange = {
      operation: 'add',
      device: 'cdrom',
      cdrom: { key: null, iso, connected, allowGuestControl, slot },
    };
    if (there === undefined) later(`add ${name}`, added);
    else {
      kept.add(there);
      if (slot !== null && !isAt(there.slot ?? null, slot)) {
        later(`move ${name}`, removal('cdrom', there.key), added);
        continue;
      }
      if (there.connected !== connected || there.allowGuestControl !== allowGuestControl)
        changes.push({ operation: 'edit', device: 'cdrom', cdrom: { ...there, connected, allowGuestControl } });
    }
  }
  // What is not ready may be the one that is there.
  if (wanted.every(({ name }) => (isos[name] ?? null) !== null)) {
    for (const extra of current.filter((cdrom) => !kept.has(cdrom)))
      later(`remove drive ${String(extra.key)}`, removal('cdrom', extra.key));
  }
  return { changes, whenOff };
}

const isAt = (there: Slot | null, wanted: Slot): boolean =>
  there !== null &&
  there.bus === wanted.bus &&
  there.busNumber === wanted.busNumber &&
  (wanted.unitNumber === null || there.unitNumber === wanted.unitNumber);

/** A disk grows, and never shrinks. One that has a parent cannot: vSphere refuses the whole change with it. */
export function diffBootDisk(
  wantedBytes: number | null,
  disks: readonly Disk[],
  hasSnapshots: boolean,
): { changes: DeviceChange[]; unmet: string[] } {
  const boot = disks.find((disk) => disk.boot);
  if (wantedBytes === null || boot === undefined || wantedBytes <= boot.capacityBytes)
    return { changes: [], unmet: [] };
  const until = hasSnapshots ? 'the VM has no snapshots' : boot.linked === true ? 'it is promoted' : null;
  if (until !== null)
    return { changes: [], unmet: [`bootDiskCapacity waits until ${until}: vSphere extends no disk that has a parent`] };
  return { changes: [{ operation: 'edit', device: 'disk', key: boot.key, capacityBytes: wantedBytes }], unmet: [] };
}

export const removal = (device: 'networkCard' | 'cdrom', key: number | null): DeviceChange => ({
  operation: 'remove',
  device,
  key: key ?? 0,
});
