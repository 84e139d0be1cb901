import type { VirtualMachineStatus } from './crds/virtual-machine.ts';
import type { ReconfigSpec } from './virtual-machine-config.ts';
import type { BootstrapKind, DesiredVirtualMachine, VirtualMachineInput, VirtualMachineSettings } from './virtual-machine-lifecycle.ts';
import type { BootstrapFacts, Candidate, ClassFacts, Fetched, GroupFacts, ImageCacheFacts, ImageFacts, NetworkFacts, PlacedAt, Placement, PolicyFacts, SnapshotFacts, StorageFacts, VmFacts } from './virtual-machine-observation.ts';
import type { CreateSpec, ObjectName, PowerOperation, VirtualMachinePatch, VirtualMachinePlan, WantedImageCache } from './virtual-machine-plan.ts';

/**
 * What the run of a virtual machine may ask for, by task queue. An activity's name is a wire name. All are safe to repeat and to run twice
 * at once; what each may fail with is in contracts/errors.ts. Nothing that they give back holds a secret.
 */

/** Queue `kubernetes`. Where what the decision was made on is no more, nothing is written, and the next look sees why. */
export interface VirtualMachineObjectActivities {
  /** Validates input given by hand, and reads the object with all that it names. */
  readVirtualMachine(input: VirtualMachineInput): Promise<VirtualMachineRead>;
  /** In their order. The spec is written only while it is the one of that generation: nobody's change is overwritten. */
  patchVirtualMachine(request: ObjectName & { generation: number; patches: VirtualMachinePatch[] }): Promise<void>;
  /** Puts the location into the VirtualMachineImageCache, which is made if there is none. @throws ImageCacheNotInstalled */
  ensureImageCache(request: WantedImageCache): Promise<void>;
  /** Writes the status where it differs, and the Event. */
  publishVirtualMachine(report: ObjectName & Pick<VirtualMachinePlan, 'status' | 'event'>): Promise<void>;
}

export type VirtualMachineRead =
  /** The kind is switched off. */
  | { next: 'nothing'; message: string }
  /** This run has another id than the VM's: the right one was signalled with start. */
  | { next: 'handedOver'; workflowId: string }
  | { next: 'run'; settings: VirtualMachineSettings; desired: DesiredVirtualMachine | null; recorded: VirtualMachineStatus; objects: ObjectFacts };

/** What Kubernetes tells of what a VirtualMachine names. Null: it names none. */
export interface ObjectFacts {
  /** CPU is in thousandths of a core until it is known where the VM goes: `readClass` with 1,000 MHz. */
  class: Fetched<ClassFacts> | null;
  image: Fetched<ImageFacts> | null;
  resourcePolicy: Fetched<PolicyFacts> | null;
  /** The profile (`storagePolicyID`) of the StorageClass. */
  storageClass: Fetched<{ profileId: string }> | null;
  bootstrap: Fetched<BootstrapFacts> | null;
  /** The image's item or path by the CD-ROM's name; null: the image is not ready. */
  isos: Record<string, string | null>;
  /** Network by the interface's name, in the order of the spec. */
  networks: { name: string; network: string | null }[];
  imageCache: Fetched<ImageCacheFacts> | null;
  group: GroupObjectFacts | null;
  snapshots: SnapshotFacts;
}

/** A group knows where it has placed a VM, but for what only vCenter tells. */
export interface GroupObjectFacts extends Omit<GroupFacts, 'placement'> {
  placement: Pick<PlacedAt, 'zone' | 'resourcePool' | 'datastore' | 'host'> | null;
}

/** Queue `vsphere:<vcenter>`. Everything but reads is asked of the stop gate first, and stands in the audit log. */
export interface VirtualMachineVsphereActivities {
  /** Everything that decisions need of vCenter. A part that cannot be told is told as such; only what concerns all of it fails. */
  lookAtVirtualMachine(request: VirtualMachineLook): Promise<VsphereFacts>;

  /** Finds by mark before it submits. @throws VirtualMachineNotOwned, VirtualMachineNameTaken, VirtualMachineAmbiguous */
  submitNewVm(request: OwnerOfVm & { create: CreateSpec }): Promise<{ vmId: string } | SubmittedTask>;
  /** Of a create that nobody wants any more: cancels, and waits for its end. What it has made all the same, the next look finds. */
  stopCreate(request: OwnerOfVm & { task: string | null; folder: string | null; name: string }): Promise<void>;
  /** Writes the ownership mark into a VM that has none, or that of the operator before. @throws VirtualMachineNotOwned, VirtualMachineConflict */
  submitAdoption(request: VmSubject & { changeVersion: string }): Promise<Submission>;
  /** One ReconfigVM_Task, on the version that was read. @throws VirtualMachineConflict */
  submitReconfigure(request: VmSubject & { changeVersion: string; spec: ReconfigSpec }): Promise<Submission>;
  submitHardwareUpgrade(request: VmSubject & { version: number }): Promise<Submission>;
  /** Reads the Secrets itself: they are in no history. Nothing is written where what they come to is not that hash any more. */
  submitBootstrap(request: VmSubject & { object: ObjectName; kind: BootstrapKind | null; part: 'config' | 'custom'; hash: string }): Promise<Submission>;
  attachClusterModule(request: VmSubject & { module: string }): Promise<void>;
  /** An operation of the guest's resolves when it was asked. @throws GuestToolsNotRunning */
  submitPower(request: VmSubject & { operation: PowerOperation }): Promise<Submission>;
  /** Stores the object as it is in Kubernetes. */
  submitBackup(request: VmSubject & { object: ObjectName; version: string }): Promise<Submission>;
  /** Takes disks off and keeps their files. */
  submitDetachDisks(request: VmSubject & { keys: readonly number[] }): Promise<Submission>;
  /** Well where it is gone. @throws ForeignDisksAttached while disks are attached that would be lost with it */
  submitDestroy(request: VmSubject): Promise<Submission>;
  /** Takes drover's marks off a VM that stays. */
  submitRelease(request: VmSubject): Promise<Submission>;
  /** Well where it has ended. */
  cancelVsphereTask(request: VmSubject & { task: string }): Promise<void>;
  /**
   * Waits for a task until the activity's time is over; a cancel is passed on to the task, which may end well all the same.
   *
   * @throws what the task failed with, unless its purpose is reached; VsphereTaskOverdue
   */
  awaitTask(task: SubmittedTask): Promise<{ vmId: string | null }>;
}

/** Whose VM is looked for, and what else is asked about. */
export interface VirtualMachineLook {
  object: ObjectName;
  vmName: string;
  /** `status.uniqueID`. */
  uniqueId: string | null;
  /** `spec.instanceUUID`. */
  instanceUuid: string | null;
  /** Label; null: any zone. */
  zone: string | null;
  /** Child folder and pool that the policy names. */
  folder: string | null;
  resourcePool: string | null;
  profileId: string | null;
  networks: ObjectFacts['networks'];
  isos: ObjectFacts['isos'];
  /** Of ExtraConfig, beside drover's own: only these keys are told. */
  extraConfigKeys: string[];
}

export interface VsphereFacts {
  managerId: string;
  placement: Placement;
  candidates: Candidate[];
  /** Of the only candidate that could be the object's; null: none, or several. */
  vm: VmFacts | null;
  storage: Pick<StorageFacts, 'hasDatastore' | 'encrypted'> | null;
  network: NetworkFacts | null;
  /** Path of the ISO by the CD-ROM's name. */
  isos: Record<string, string | null>;
}

/** Whose VM it is: written into the VM by the very call that makes it, and compared before anything is done to it. */
export interface OwnershipMark {
  /** `namespace/name` of the object. */
  namespacedName: string;
  /** Of the object. */
  uid: string;
}

export interface OwnerOfVm {
  mark: OwnershipMark;
  /** On whose word, for the audit log. */
  cause: string;
}

/** One VM, and the proof that it is meant. */
export interface VmSubject extends OwnerOfVm {
  /** As vCenter names it: `vm-61`. */
  vmId: string;
}

/** What a task is for. A task that failed is looked behind: another one may have done the same. */
export type TaskPurpose =
  | { kind: 'create'; mark: OwnershipMark; /** Null: not known any more. */ folder: string | null; name: string; instanceUuid: string }
  | { kind: 'power'; vmId: string; powerState: VmFacts['powerState'] }
  | { kind: 'destroy'; vmId: string }
  | { kind: 'change'; vmId: string };

/** A task at the vCenter that is to be waited for; any worker can. */
export interface SubmittedTask {
  /** `task-1042`. */
  taskId: string;
  purpose: TaskPurpose;
}

/** What a mutation came to: null: all is as it should be already. */
export type Submission = SubmittedTask | null;
