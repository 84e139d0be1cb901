import type { ClassDevice } from './class-devices.ts';

/**
 * What a VM is made of, by vim25's names (VirtualMachineConfigInfo, VirtualMachineConfigSpec): as it is, and as it
 * shall be changed.
 */

/** MHz for CPU, MiB for memory; limit -1: none. */
export interface ResourceAllocation {
  reservation: number;
  limit: number;
}

/** The part of a VM's size that its class says. */
export interface ComputeConfig {
  numCPUs: number;
  memoryMB: number;
  cpuAllocation: ResourceAllocation;
  memoryAllocation: ResourceAllocation;
}

/** Durations in milliseconds, as vim25 has them. */
export interface BootOptions {
  bootDelay: number;
  bootRetryEnabled: boolean;
  bootRetryDelay: number;
  efiSecureBootEnabled: boolean;
  networkBootProtocol: 'ipv4' | 'ipv6';
}

/** What a VM boots from; `other`: what no spec names. A drive is meant by its kind. */
export type BootDevice = { type: 'disk' | 'network'; key: number } | { type: 'cdrom' | 'other' };

export interface NetworkCard {
  /** Device key; null: it is not there yet. */
  key: number | null;
  /** As the spec names it: VMXNet3, E1000, … */
  type: string;
  /**
   * What it is connected to, as the network's object and, where it has them, switch and port group name it. Opaque;
   * compared only.
   */
  backing: string;
  /** Null: any. Lower case. */
  macAddress: string | null;
  /** Of a VMXNet3; left out: no. */
  uptv2Enabled?: boolean;
  /** The virtual NUMA node that it is near; left out: none. */
  numaNode?: number;
}

/** Where a disk or a drive is attached. */
export interface Slot {
  bus: Controller['bus'];
  busNumber: number;
  /** Null: any. */
  unitNumber: number | null;
}

export interface Cdrom {
  key: number | null;
  /** Path of the ISO, `[datastore] folder/file.iso`. */
  iso: string;
  connected: boolean;
  allowGuestControl: boolean;
  /** Left out, and null: at either IDE controller, or not known. */
  slot?: Slot | null;
}

export interface Disk {
  key: number;
  /** As the status shows it. */
  name: string;
  /** Of its content; left out, and null: vCenter does not say. */
  uuid?: string | null;
  capacityBytes: number;
  /** Made together with the VM. Another one, of a PersistentVolumeClaim for example, must outlive it. */
  own: boolean;
  /** Where it begins to boot. */
  boot: boolean;
  /**
   * Some of its content is in a file outside of its folder, as of cached files. Left out: it is whole,
   * but for snapshots.
   */
  linked?: true;
}

/** What disks and drives are attached to. */
export interface Controller {
  /** Device key; null: it is not there yet. */
  key: number | null;
  bus: 'IDE' | 'NVME' | 'SATA' | 'SCSI';
  busNumber: number;
  /** Null: there is only one, or it is one that no spec names. */
  type: 'ParaVirtual' | 'BusLogic' | 'LsiLogic' | 'LsiLogicSAS' | null;
  /** Whether its disks are shared with VMs of other hosts, of the same host, or not. */
  sharing: 'None' | 'Physical' | 'Virtual';
  /** Something is attached to it. */
  isInUse: boolean;
}

export interface PciDevice {
  key: number;
  /** Null: of a kind that no class names; it stays. */
  device: ClassDevice | null;
}

/** What is known of a VM's configuration. */
export interface VmConfig extends ComputeConfig, Partial<BootOptions> {
  /** Refuses a change that was decided on something older. */
  changeVersion: string;
  /** 21 of `vmx-21`. */
  hardwareVersion: number;
  guestId: string;
  firmware: string;
  numCoresPerSocket: number;
  /** Of the guest; 0: vSphere decides. */
  coresPerNumaNode: number;
  cpuHotAddEnabled: boolean;
  memoryHotAddEnabled: boolean;
  nestedHVEnabled: boolean;
  vPMCEnabled: boolean;
  vvtdEnabled: boolean;
  memoryReservationLockedToMax: boolean;
  /** normal, high, … */
  latencySensitivity: string;
  /** How many threads of the VM share a core; 1: vSphere decides. */
  simultaneousThreads: number;
  changeTrackingEnabled: boolean;
  /** First first; empty: as the firmware does. */
  bootOrder: BootDevice[];
  annotation: string;
  managedBy: { extensionKey: string; type: string } | null;
  /**
   * The keys that are drover's (metadata.ts), that the spec asks for, or that were asked for once.
   * Never bootstrap data.
   */
  extraConfig: Record<string, string>;
  networkCards: NetworkCard[];
  cdroms: Cdrom[];
  disks: Disk[];
  pciDevices: PciDevice[];
  controllers: Controller[];
}

/** One device that is added, changed or removed. */
export type DeviceChange =
  | { operation: 'add'; device: 'networkCard'; card: NetworkCard }
  | { operation: 'edit'; device: 'networkCard'; card: NetworkCard }
  | { operation: 'remove'; device: 'networkCard' | 'cdrom' | 'pciDevice' | 'controller'; key: number }
  | { operation: 'add'; device: 'pciDevice'; pciDevice: ClassDevice }
  | { operation: 'add' | 'edit'; device: 'controller'; controller: Omit<Controller, 'isInUse'> }
  | { operation: 'add' | 'edit'; device: 'cdrom'; cdrom: Cdrom }
  | { operation: 'edit'; device: 'disk'; key: number; capacityBytes: number };

/**
 * A tag of vCenter that is attached to a VM, or detached from it: its id (`urn:vmomi:InventoryServiceTag:…:GLOBAL`).
 */
export interface TagChange {
  operation: 'add' | 'remove';
  tag: string;
}

/**
 * The fields of a VirtualMachineConfigSpec that drover sets, each only where it differs. An empty value takes a key of
 * the ExtraConfig away.
 */
export type ReconfigSpec = Partial<
  Omit<
    VmConfig,
    | 'changeVersion'
    | 'hardwareVersion'
    | 'extraConfig'
    | 'networkCards'
    | 'cdroms'
    | 'disks'
    | 'pciDevices'
    | 'controllers'
    | 'managedBy'
  >
> & {
  managedBy?: { extensionKey: string; type: string };
  extraConfig?: { key: string; value: string }[];
  deviceChange?: DeviceChange[];
  /** Which tags of its own drover has attached is in the ExtraConfig that goes with them. */
  tagSpecs?: TagChange[];
};
