import type { ManagedObjectReference } from '../../../activities/vsphere/wire/values.ts';
import type {
  AnyVirtualDevice,
  CustomFieldDef,
  CustomFieldStringValue,
  GuestInfoCustomizationInfo,
  GuestNicInfo,
  LatencySensitivity,
  ManagedByInfo,
  OptionValue,
  ResourceAllocationInfo,
  VirtualMachineBootOptions,
  VirtualMachineFlagInfo,
  VirtualMachineSnapshotTree,
  VirtualMachineVirtualNumaInfo,
  VmConfigInfo,
} from '../../../activities/vsphere/wire/vim/types.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { uuidFrom } from '../uuid.ts';
import { notFound } from './fault.ts';

export type Ref = ManagedObjectReference;

/** An object of the inventory. Its state is a tree as vim25 has it: property `runtime.host` is `state.runtime.host`. */
export interface Managed<State extends object = object> {
  readonly ref: Ref;
  readonly state: State;
}

/** Folder, Datacenter, cluster, resource pool, host: what is found by a path. */
export interface EntityState {
  name: string;
  parent: Ref | undefined;
}

export interface FolderState extends EntityState {
  childEntity: Ref[];
}

export interface PoolState extends EntityState {
  owner: Ref;
  resourcePool: Ref[];
  /** VMs in it. */
  readonly vm: Ref[];
  config: { cpuAllocation: ResourceAllocationInfo; memoryAllocation: ResourceAllocationInfo };
}

export type PowerState = 'poweredOn' | 'poweredOff' | 'suspended';

export interface VmState extends EntityState {
  resourcePool: Ref;
  readonly recentTask: Ref[];
  runtime: { powerState: PowerState; connectionState: string; host: Ref; bootTime: string | undefined };
  /** What vCenter repeats there. */
  readonly summary: { runtime: { bootTime: string | undefined }; config: { instanceUuid: string; uuid: string } };
  config: VmConfig;
  guest: VmGuest;
  guestHeartbeatStatus: string;
  snapshot:
    | { $type: 'VirtualMachineSnapshotInfo'; currentSnapshot: Ref; rootSnapshotList: VirtualMachineSnapshotTree[] }
    | undefined;
  rootSnapshot: Ref[];
  /** Undefined: no custom attribute has a value. */
  customValue: (CustomFieldStringValue & { $type: 'CustomFieldStringValue' })[] | undefined;
  readonly layoutEx: { file: object[]; disk: object[] };
}

export interface VmConfig {
  instanceUuid: string;
  uuid: string;
  changeVersion: string;
  createDate: string;
  version: string;
  template: boolean;
  guestId: string;
  firmware: string;
  annotation: string;
  managedBy: ManagedByInfo | undefined;
  files: { vmPathName: string };
  hardware: {
    $type: 'VirtualHardware';
    numCPU: number;
    numCoresPerSocket: number;
    memoryMB: number;
    device: AnyVirtualDevice[];
  };
  extraConfig: (OptionValue & { $type: 'OptionValue' })[];
  cpuAllocation: ResourceAllocationInfo;
  memoryAllocation: ResourceAllocationInfo;
  cpuHotAddEnabled: boolean;
  memoryHotAddEnabled: boolean;
  nestedHVEnabled: boolean;
  vPMCEnabled: boolean;
  flags: VirtualMachineFlagInfo;
  memoryReservationLockedToMax: boolean;
  latencySensitivity: LatencySensitivity;
  changeTrackingEnabled: boolean;
  bootOptions: VirtualMachineBootOptions;
  numaInfo: VirtualMachineVirtualNumaInfo | undefined;
  vAppConfig: VmConfigInfo | undefined;
  tools: { pendingCustomization: string | undefined };
}

export interface VmGuest {
  toolsRunningStatus: string;
  ipAddress: string | undefined;
  hostName: string | undefined;
  guestId: string | undefined;
  guestFullName: string | undefined;
  net: (GuestNicInfo & { $type: 'GuestNicInfo' })[];
  ipStack: object[] | undefined;
  customizationInfo: GuestInfoCustomizationInfo | undefined;
}

/** All that a simulated vCenter has. */
export interface Model {
  readonly clock: Clock;
  readonly random: () => number;
  /** `about.instanceUuid`. */
  instanceUuid: string;
  /** By id, in the order in which they were made. */
  readonly objects: ReadonlyMap<string, Managed>;
  /** The custom attributes that there are, of all types of objects. */
  readonly customFields: { readonly field: (CustomFieldDef & { $type: 'CustomFieldDef' })[] };
  add<State extends object>(type: string, prefix: string, state: State): Managed<State>;
  /** One that every vCenter has once, under its own id. */
  addOnce(ref: Ref, state: object): void;
  remove(ref: Ref): void;
  /** @throws ManagedObjectNotFound */
  get<State extends object = object>(ref: Ref): Managed<State>;
  find(ref: Ref): Managed | undefined;
  /** @throws ManagedObjectNotFound */
  vm(ref: Ref): Managed<VmState>;
  vms(): Managed<VmState>[];
  /** Says that something was changed: those that wait for updates read it. */
  changed(): void;
  onChange(listener: () => void): () => void;
  /** A number that no earlier call got. */
  next(): number;
  uuid(): string;
  /** RFC 3339. */
  now(): string;
}

export function createModel({ clock, random }: { clock: Clock; random: () => number }): Model {
  const objects = new Map<string, Managed>();
  const listeners = new Set<() => void>();
  let last = 0;
  const uuid = (): string => uuidFrom(random);
  const next = (): number => (last += 1);
  const find = (ref: Ref): Managed | undefined => {
    const found = objects.get(ref.value);
    return found?.ref.type === ref.type ? found : undefined;
  };
  const get = <State extends object>(ref: Ref): Managed<State> => {
    const found = find(ref);
    if (found === undefined) throw notFound(ref);
    return found as Managed<State>;
  };
  return {
    clock,
    random,
    instanceUuid: uuid(),
    objects,
    customFields: { field: [] },
    add(type, prefix, state) {
      const made = { ref: { type, value: `${prefix}${next()}` }, state };
      objects.set(made.ref.value, made);
      return made;
    },
    addOnce: (ref, state) => void objects.set(ref.value, { ref, state }),
    remove: (ref) => void objects.delete(ref.value),
    get,
    find,
    vm: (ref) => get<VmState>(ref),
    vms: () => [...objects.values()].filter(({ ref }) => ref.type === 'VirtualMachine') as Managed<VmState>[],
    changed: () => listeners.forEach((listener) => listener()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    next,
    uuid,
    now: () => new Date(clock.now()).toISOString(),
  };
}

export const sameRef = (a: Ref, b: Ref): boolean => a.type === b.type && a.value === b.value;

/** What a type of managed object extends. */
const bases: Readonly<Record<string, string>> = {
  ClusterComputeResource: 'ComputeResource',
  DistributedVirtualPortgroup: 'Network',
  OpaqueNetwork: 'Network',
  StoragePod: 'Folder',
  VmwareDistributedVirtualSwitch: 'DistributedVirtualSwitch',
};

export function isOfType(type: string, asked: string): boolean {
  if (asked === 'ManagedEntity') return type !== 'Task';
  for (let at: string | undefined = type; at !== undefined; at = bases[at]) if (at === asked) return true;
  return false;
}

/** The value of a property, `config.extraConfig["drover.uid"]` too; undefined: it is not set. */
export function readPath(state: object, path: string): unknown {
  let value: unknown = state;
  for (const [, name, key] of path.matchAll(/([^.[\]"]+)|\["([^"]*)"\]/gu)) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (name !== undefined) value = (value as Record<string, unknown>)[name];
    else value = (value as { key?: unknown }[]).find((item) => item.key === key);
  }
  return value;
}

/** By id; with the VMs that it is attached to. */
export type Tags = Map<string, { name: string; vms: Set<string> }>;
