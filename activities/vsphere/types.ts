import type { ObservedVm } from '../../contracts/virtual-machine/observation.ts';
import type { CallOptions } from './client.ts';
import type { Returned } from './wire/decode.ts';
import type { ReadObject } from './properties.ts';
import type { ManagedObjectReference } from './wire/values.ts';
import type { AnyVirtualDevice, PropertyFilterSpec, VimTypes } from './wire/vim/types.ts';

/** The owner, as it is written in the VM. The one that the replaced operator wrote has no uid. */
export interface ObservedOwner {
  namespacedName: string;
  uid: string | null;
  /** Left out: a VirtualMachine. */
  kind?: 'VsphereAgent';
}

/** What the VM is made of; missing while vCenter cannot reach its files. */
export interface ObservedConfig {
  /** Changes with each change; sent with a change, vCenter refuses the change where another was faster. */
  changeVersion: string;
  /** `vmx-21`. */
  version: string;
  isTemplate: boolean;
  /** `[datastore] folder/name.vmx`. */
  vmxPath: string;
  devices: readonly AnyVirtualDevice[];
  /** May hold secrets, such as a guest's user data: it stays within the adapter. */
  extraConfig: Readonly<Record<string, string>>;
}

/** A VM, as far as mutations need it. */
export interface VirtualMachine {
  /** `vm-61`. */
  id: string;
  name: string;
  folderId: string | null;
  resourcePoolId: string | null;
  hostId: string | null;
  /** Only a `connected` one can be driven. */
  connectionState: string;
  powerState: ObservedVm['powerState'];
  /** RFC 3339; null while it is off. */
  bootTime: string | null;
  instanceUuid: string;
  biosUuid: string;
  owner: ObservedOwner | null;
  config: ObservedConfig | null;
  /** All that was read, by path, for what only the observation shows. */
  properties: Readonly<Record<string, unknown>>;
}

/** A disk of a VM, as it is attached. */
export interface AttachedDisk {
  /** Of the device; unique in the VM. */
  key: number;
  label: string;
  capacityBytes: number;
  /** `[datastore] folder/name.vmdk`; null where the backing is no file. */
  fileName: string | null;
  /** Of the first-class disk that it is; null: a disk of this VM. */
  firstClassDiskId: string | null;
}

/** What has become of a task. */
export type TaskState =
  | {
      state: 'queued' | 'running';
      progressPercent: number | null;
      isCancelable: boolean;
      entity: ManagedObjectReference | null;
    }
  /** `vmId`: of the VM that it made, where it made one. */
  | { state: 'success'; vmId: string | null; entity: ManagedObjectReference | null }
  /** A failure of the error table. */
  | { state: 'error'; failure: Error; entity: ManagedObjectReference | null };

/** What stands under a name in a folder. */
export type NameInFolder = { kind: 'vm'; vm: VirtualMachine } | { kind: 'other'; type: string } | { kind: 'nothing' };

/** Objects that a vCenter has once. */
export type ManagerName =
  | 'searchIndex'
  | 'eventManager'
  | 'taskManager'
  | 'fileManager'
  | 'virtualDiskManager'
  | 'customFieldsManager'
  | 'storageResourceManager';

/** Methods that begin a task. */
/** What of a request not every vCenter knows. */
export interface NeededApi {
  /** Of the API: `9.1.0.0`. */
  version: string;
  /** The vCenter that came with it: `9.1`. */
  vcenter: string;
  /** For the sentence `vCenter … does not know …`. */
  what: string;
}

export type TaskMethod = keyof VimTypes & `${string}_Task`;

/**
 * One vCenter. Reads are one call each, mutations are submitted and not waited for: `readTask` gives their state.
 *
 * Every method ends when its signal is aborted, and fails as `Vim` does (client.ts).
 */
export interface VcenterGateway {
  readonly vcenter: string;
  /** @throws AnswerMalformed where it has none */
  manager(name: ManagerName, signal: AbortSignal): Promise<ManagedObjectReference>;
  /** `about.instanceUuid`. */
  managerId(signal: AbortSignal): Promise<string>;
  /** `about.apiVersion`: `8.0.3.0`. */
  apiVersion(signal: AbortSignal): Promise<string>;
  /**
   * Ids of the storage profiles that it has; null: it is not known, as it serves no SPBM, or drover's user may not ask.
   */
  storageProfiles(signal: AbortSignal): Promise<readonly string[] | null>;
  /** An object by its path, such as `/DC0/vm/team-a`; null where there is none. */
  findByPath(path: string, signal: AbortSignal): Promise<ManagedObjectReference | null>;
  /** Ids of all that have it: it may have been copied. */
  findByInstanceUuid(instanceUuid: string, signal: AbortSignal): Promise<string[]>;
  findInFolder(folderId: string, name: string, signal: AbortSignal): Promise<NameInFolder>;
  /** null where it is gone. */
  read(vmId: string, signal: AbortSignal): Promise<VirtualMachine | null>;
  /** Objects by explicit paths, in one call and one more for each further page. What is gone is left out. */
  retrieve(spec: PropertyFilterSpec, signal: AbortSignal): Promise<ReadObject[]>;
  /** The key of the latest event that shows a start of the VM; null: there is none. */
  lastStart(vmId: string, signal: AbortSignal): Promise<string | null>;
  /** Tasks that make VMs and have not ended, also those of other users. */
  runningCreates(signal: AbortSignal): Promise<string[]>;
  /** Tasks that destroy VMs and have not ended, also those of other users. */
  runningDestroys(signal: AbortSignal): Promise<string[]>;
  /** The task, running or queued, that was begun with this activation id; null: there is none, or it has ended. */
  findActivated(activationId: string, signal: AbortSignal): Promise<string | null>;

  /**
   * Begins a task, when this worker has room for one more, and gives its id.
   *
   * @throws also `VsphereBusy`; `PromotionsFull` for a promotion
   */
  submit<Method extends TaskMethod>(
    method: Method,
    self: ManagedObjectReference,
    args: VimTypes[Method],
    signal: AbortSignal,
    options?: Pick<CallOptions, 'isSecret' | 'apiVersion' | 'confirm'>,
  ): Promise<string>;
  /** A method without a task. */
  call<Method extends keyof VimTypes>(
    method: Method,
    self: ManagedObjectReference,
    args: VimTypes[Method],
    signal: AbortSignal,
  ): Promise<Returned<Method>>;

  /** @param isSecret its failure states the kind only. @throws also `VsphereTaskNotFound` */
  readTask(taskId: string, signal: AbortSignal, isSecret?: boolean): Promise<TaskState>;
  /** Asks: the task may end well all the same. Well where it has ended. */
  cancelTask(taskId: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
