import type { VirtualMachineClass } from '../crds/virtual-machine-class.ts';

/**
 * A PCI device that a class promises: a vGPU by its profile, or a device of the host that is passed through, by
 * what it is.
 */
export type ClassDevice =
  | { kind: 'vgpu'; profile: string }
  | { kind: 'passthrough'; allowed: { vendorId: number; deviceId: number }[]; customLabel: string | null };

/** What a class says of PCI devices, in either of its two ways. */
export interface ClassDevices {
  /** Those that drover adds, removes and compares. */
  devices: ClassDevice[];
  /** There are some, also where drover only passes them on. */
  hasPciDevices: boolean;
  /** One of them is no vGPU. */
  passthrough: boolean;
  /** `spec.configSpec` without those of `devices`. */
  configSpec: Record<string, unknown>;
}

/**
 * `spec.configSpec` counts where it has such devices, else `spec.hardware.devices`: classes for vSphere have the same
 * devices in both. What is not understood whole stays in the configSpec, and is passed on or refused by its name.
 */
export function readClassDevices({ hardware = {}, configSpec = {} }: Spec): ClassDevices {
  const changes = Array.isArray(configSpec['deviceChange']) ? (configSpec['deviceChange'] as unknown[]) : [];
  const isPci = (change: unknown): boolean => at(at(change, 'device'), '_typeName') === 'VirtualPCIPassthrough';
  const said = changes.flatMap((change) => readChange(change) ?? []);
  const rest = changes.filter((change) => readChange(change) === null);
  const listed = changes.some(isPci)
    ? []
    : [
        ...(hardware.devices?.vgpuDevices ?? []).map(({ profileName }): ClassDevice => ({
          kind: 'vgpu',
          profile: profileName,
        })),
        ...(hardware.devices?.dynamicDirectPathIODevices ?? []).map(
          ({ vendorID, deviceID, customLabel }): ClassDevice => ({
            kind: 'passthrough',
            allowed: [{ vendorId: vendorID, deviceId: deviceID }],
            customLabel: customLabel || null,
          }),
        ),
      ];
  const devices = [...said, ...listed];
  const { deviceChange: _, ...others } = configSpec;
  return {
    devices,
    hasPciDevices: devices.length > 0 || rest.some(isPci),
    passthrough: devices.some(({ kind }) => kind === 'passthrough') || rest.some(isPci),
    configSpec: rest.length === 0 ? others : { ...others, deviceChange: rest },
  };
}

type Spec = NonNullable<VirtualMachineClass['spec']>;

/** Of vim25’s JSON. Null: it is no such device, or there is more to it than drover knows. */
function readChange(change: unknown): ClassDevice | null {
  const device = at(change, 'device');
  const backing = at(device, 'backing');
  const isPlain =
    at(device, '_typeName') === 'VirtualPCIPassthrough' &&
    at(change, 'operation') === 'add' &&
    hasOnly(change, 'operation', 'device') &&
    hasOnly(device, 'key', 'backing');
  if (!isPlain) return null;
  switch (at(backing, '_typeName')) {
    case 'VirtualPCIPassthroughVmiopBackingInfo': {
      const profile = at(backing, 'vgpu');
      return typeof profile === 'string' && profile !== '' && hasOnly(backing, 'vgpu')
        ? { kind: 'vgpu', profile }
        : null;
    }
    case 'VirtualPCIPassthroughDynamicBackingInfo': {
      const label = at(backing, 'customLabel') ?? '';
      const allowed = at(backing, 'allowedDevice');
      const isKnown =
        typeof label === 'string' &&
        Array.isArray(allowed) &&
        allowed.every(isAllowed) &&
        hasOnly(backing, 'deviceName', 'allowedDevice', 'customLabel') &&
        (at(backing, 'deviceName') ?? '') === '';
      return isKnown
        ? {
            kind: 'passthrough',
            allowed: (allowed as Allowed[]).map(({ vendorId, deviceId }) => ({ vendorId, deviceId })),
            customLabel: label || null,
          }
        : null;
    }
    default:
      return null;
  }
}

interface Allowed {
  vendorId: number;
  deviceId: number;
}

const isAllowed = (value: unknown): boolean =>
  typeof at(value, 'vendorId') === 'number' &&
  typeof at(value, 'deviceId') === 'number' &&
  hasOnly(value, 'vendorId', 'deviceId');

const at = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const hasOnly = (value: unknown, ...names: string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(([name, field]) => field === null || name === '_typeName' || names.includes(name));

/** Whether one device will do for the other. */
export function isSameDevice(one: ClassDevice, other: ClassDevice): boolean {
  if (one.kind === 'vgpu') return other.kind === 'vgpu' && one.profile === other.profile;
  return (
    other.kind === 'passthrough' &&
    one.customLabel === other.customLabel &&
    JSON.stringify(one.allowed) === JSON.stringify(other.allowed)
  );
}

/** As a user reads it. */
export const deviceText = (device: ClassDevice): string =>
  device.kind === 'vgpu'
    ? `vGPU ${device.profile}`
    : `PCI device ${device.allowed.map(({ vendorId, deviceId }) => `${vendorId.toString(16)}:${deviceId.toString(16)}`).join(' or ')}${device.customLabel === null ? '' : ` (${device.customLabel})`}`;

/** The first hardware version that has such devices. */
export const pciHardwareVersion = 17;
/** Of the address space for what is passed through, unless the VM says another size; `0`: none. */
export const defaultMmioSizeGB = '512';
