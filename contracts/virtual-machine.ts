/** What a VM on vSphere is to drover. Everything is plain data, and what drover gives back holds no secrets. */

export const vmPowerStates = ['poweredOn', 'poweredOff', 'suspended'] as const;
export type VmPowerState = (typeof vmPowerStates)[number];

/** Whose VM it is: written into the VM by the very call that makes it, and compared before anything is done to it. */
export interface OwnershipMark {
  /** `namespace/name` of the object. */
  namespacedName: string;
  /** Of the object. */
  uid: string;
}

/** Where a VM is to be, by vCenter's own ids: `group-v3`, `resgroup-8`. */
export interface VmPlacement {
  folderId: string;
  resourcePoolId: string;
  datastoreId: string | null;
  hostId: string | null;
}

/** Null: no limit. In the unit of what it is of. */
export interface Allocation {
  reservation: number;
  limit: number | null;
}

/** What is to be true of a VM; what is left out is left as it is. */
export interface WantedConfig {
  cpus?: number;
  coresPerSocket?: number;
  memoryMiB?: number;
  guestId?: string;
  annotation?: string;
  /** MHz. */
  cpuAllocation?: Allocation;
  /** MiB. */
  memoryAllocation?: Allocation;
  managedBy?: { extensionKey: string; type: string };
  /** An empty value takes a key away. Secrets do not belong here: it goes through histories. */
  extraConfig?: Readonly<Record<string, string>>;
}

/** How the VM of an object is found, whatever has become of the call that made it. */
export interface VmIdentity {
  /** Unique in the vCenter, unless somebody copied it. */
  instanceUuid: string;
  /** The name in its folder is the lock: vCenter makes no second one. */
  folderId: string;
  name: string;
  mark: OwnershipMark;
}

/** A new VM. */
export interface NewVm extends VmIdentity {
  biosUuid: string | null;
  placement: Omit<VmPlacement, 'folderId'>;
  config: WantedConfig;
}

/** What a new VM is made from. */
export interface CloneSource {
  vmId: string;
  /** A snapshot of the source: disks become children of its disks, and are not copied. Null: whole copies. */
  linkedToSnapshotId: string | null;
}

/** One VM, and the proof that it is meant. */
export interface VmSubject {
  /** As vCenter names it: `vm-61`. */
  vmId: string;
  mark: OwnershipMark;
  /** On whose word, for the audit log. */
  cause: string;
}

/** What a task is for. A task that failed is looked behind: another one may have done the same. */
export type TaskPurpose = ({ kind: 'create' } & VmIdentity) | { kind: 'power'; vmId: string; powerState: VmPowerState } | { kind: 'destroy'; vmId: string } | { kind: 'change'; vmId: string };

/** A task at the vCenter that is to be waited for; any worker can. */
export interface SubmittedTask {
  /** `task-1042`. */
  taskId: string;
  purpose: TaskPurpose;
}

/** What a mutation came to: null: all is as it should be already. */
export type Submission = SubmittedTask | null;

/** Activities on the VMs of one vCenter, queue `vsphere:<vcenter>`. Each looks for its own earlier effect first, and may run twice at once. */
export interface VsphereVmActivities {
  /** The VM of an object, by its instance UUID or by its name. @throws VirtualMachineAmbiguous, VirtualMachineNotOwned, VirtualMachineNameTaken */
  findVm(identity: VmIdentity): Promise<{ vmId: string } | null>;
  /** @throws as findVm */
  submitClone(request: { source: CloneSource; vm: NewVm; cause: string }): Promise<{ vmId: string } | SubmittedTask>;
  /** One without disks and networks. @throws as findVm */
  submitCreate(request: { datastoreName: string; vm: NewVm; cause: string }): Promise<{ vmId: string } | SubmittedTask>;
  /** Changes only what differs. */
  submitReconfigure(request: VmSubject & { wanted: WantedConfig }): Promise<Submission>;
  submitPower(request: VmSubject & { powerState: VmPowerState }): Promise<Submission>;
  /** Asks the guest; it may do it, late or never. Well where the VM does not run. @throws GuestToolsNotRunning */
  askGuest(request: VmSubject & { request: 'shutDown' | 'reboot' | 'standBy' }): Promise<void>;
  /** Takes disks off and keeps their files. */
  submitDetachDisks(request: VmSubject & { keys: readonly number[] }): Promise<Submission>;
  /** Well where it is gone. @throws ForeignDisksAttached while disks are attached that would be lost with it */
  submitDestroy(request: VmSubject): Promise<Submission>;
  /**
   * Waits for a task until the activity's time is over; a cancel is passed on to the task, which may end well all the same.
   *
   * @throws what the task failed with, unless its purpose is reached; VsphereTaskOverdue
   */
  awaitTask(task: SubmittedTask): Promise<{ vmId: string | null }>;
}
