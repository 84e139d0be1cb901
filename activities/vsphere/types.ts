import type { Allocation, CloneSource, NewVm, OwnershipMark, VmPowerState, WantedConfig } from '../../contracts/virtual-machine.ts';

/** A disk of a VM, as it is attached. */
export interface AttachedDisk {
  /** Of the device; unique in the VM. */
  key: number;
  label: string;
  capacityKiB: number;
  /** `[datastore] folder/name.vmdk`; null where the backing is no file. */
  fileName: string | null;
  /** Of the first-class disk that it is; null: a disk of this VM. */
  firstClassDiskId: string | null;
}

/** What the VM is made of; missing while vCenter cannot reach its files. */
export interface VmConfig {
  instanceUuid: string;
  biosUuid: string;
  /** Changes with each change; given back with one, vCenter refuses it where somebody was faster. */
  changeVersion: string;
  isTemplate: boolean;
  guestId: string;
  annotation: string;
  /** `[datastore] folder/name.vmx`. */
  vmxPath: string;
  cpus: number;
  coresPerSocket: number | null;
  memoryMiB: number;
  /** MHz. */
  cpuAllocation: Allocation | null;
  /** MiB. */
  memoryAllocation: Allocation | null;
  managedBy: { extensionKey: string; type: string } | null;
  /** May hold secrets, such as a guest's user data: it stays within the adapter. */
  extraConfig: Readonly<Record<string, string>>;
  disks: readonly AttachedDisk[];
}

export interface VirtualMachine {
  /** `vm-61`. */
  id: string;
  name: string;
  folderId: string | null;
  resourcePoolId: string | null;
  hostId: string | null;
  /** Only a `connected` one can be driven. */
  connectionState: string;
  powerState: VmPowerState;
  isToolsRunning: boolean;
  ipAddress: string | null;
  mark: OwnershipMark | null;
  config: VmConfig | null;
}

/** A VM in a list. */
export interface ListedVm {
  id: string;
  name: string;
  instanceUuid: string | null;
  powerState: VmPowerState;
  mark: OwnershipMark | null;
}

export type PowerAction = 'on' | 'off' | 'suspend' | 'reset';
export type GuestRequest = 'shutDown' | 'reboot' | 'standBy';

/** What has become of a task. */
export type TaskState =
  | { state: 'queued' | 'running'; progressPercent: number | null; isCancelable: boolean }
  /** `vmId`: of the VM that it made, where it made one. */
  | { state: 'success'; vmId: string | null }
  /** A failure of the error table. */
  | { state: 'error'; failure: Error };

/** What stands under a name in a folder. */
export type NameInFolder = { kind: 'vm'; vm: VirtualMachine } | { kind: 'other'; type: string } | { kind: 'nothing' };

/**
 * VMs of one vCenter. Reads are one call each, mutations are submitted and not waited for: `readTask` tells what becomes of them.
 *
 * Every method ends when its signal is aborted, and fails as `Vim` does (client.ts).
 */
export interface VcenterGateway {
  readonly vcenter: string;
  /** An object by its path, such as `/DC0/vm/team-a`; null where there is none. */
  findByPath(path: string, signal: AbortSignal): Promise<{ type: string; id: string } | null>;
  /** @throws also `VirtualMachineAmbiguous` where several have it */
  findByInstanceUuid(instanceUuid: string, signal: AbortSignal): Promise<VirtualMachine | null>;
  findInFolder(folderId: string, name: string, signal: AbortSignal): Promise<NameInFolder>;
  /** null where it is gone. */
  read(vmId: string, signal: AbortSignal): Promise<VirtualMachine | null>;
  /** All of a folder and of those below it. */
  list(folderId: string, signal: AbortSignal): Promise<ListedVm[]>;

  /** Each resolves to the id of the task. */
  clone(source: CloneSource, vm: NewVm, signal: AbortSignal): Promise<string>;
  /** One without disks and networks: those are added. */
  create(vm: NewVm, datastoreName: string, signal: AbortSignal): Promise<string>;
  /** @param changeVersion of the read that the change was made for: `VirtualMachineConflict` where somebody was faster */
  reconfigure(vmId: string, change: WantedConfig, changeVersion: string, signal: AbortSignal): Promise<string>;
  /** Takes disks off and keeps their files. */
  detachDisks(vmId: string, keys: readonly number[], changeVersion: string, signal: AbortSignal): Promise<string>;
  power(vmId: string, action: PowerAction, signal: AbortSignal): Promise<string>;
  /** With all its files and disks. */
  destroy(vmId: string, signal: AbortSignal): Promise<string>;

  /** Resolves when the guest was asked, not when it has done it. @throws also `GuestToolsNotRunning` */
  askGuest(vmId: string, request: GuestRequest, signal: AbortSignal): Promise<void>;

  /** @throws also `VsphereTaskNotFound` */
  readTask(taskId: string, signal: AbortSignal): Promise<TaskState>;
  /** Asks: the task may end well all the same. Well where it has ended. */
  cancelTask(taskId: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
