import { quantityOf } from '../quantity.ts';
import { propertyKeys } from './card-properties.ts';
import type { SlotMessage } from '../allowance.ts';
import type { ObservationOf, Unobserved } from '../runs.ts';
import type { FileOperation, FilePlace } from './cached-files.ts';
import type { VirtualMachineStatus } from '../crds/virtual-machine.ts';
import type { ReconfigSpec } from './config.ts';
import type { BootstrapKind, DesiredVirtualMachine, VirtualMachineInput, VirtualMachineSettings } from './lifecycle.ts';
import type {
  ObservedBootstrap,
  Candidate,
  ObservedClass,
  Fetched,
  ObservedGroup,
  ObservedImageCache,
  ObservedImage,
  Lacking,
  ObservedNetwork,
  PlacedAt,
  Placement,
  ObservedPolicy,
  ObservedSnapshots,
  ObservedStorage,
  ObservedVm,
} from './observation.ts';
import type {
  CreateSpec,
  ObjectName,
  PowerOperation,
  VirtualMachinePatch,
  PublishedVirtualMachine,
  WantedImageCache,
} from './mutations.ts';
import type { EvaluationChange, ObservedPolicies } from './policies.ts';
import { claimWithoutPlace, type ObservedVolumes, type VolumeChange } from './volumes.ts';

/**
 * What the run of a virtual machine may ask for, by task queue. An activity's name is a wire name. All are safe to
 * repeat and to run twice at once; what each may fail with is in contracts/errors.ts. Nothing that they give back holds
 * a secret.
 */

/** Queue `virtual-machines`: what asks Kubernetes and vCenter. */
export interface VirtualMachineObserverActivities {
  /** Everything that decisions are made on, in one call. @throws where either of the two does not answer */
  observeVirtualMachine(input: VirtualMachineInput): Promise<ObservedVirtualMachine>;
}

/**
 * Queue `kubernetes`. Where what the decision was made on is no more, nothing is written, and the next observation
 * shows why.
 */
export interface VirtualMachineObjectActivities {
  /** Validates input given by hand, and reads the object with all that it names. */
  readVirtualMachine(input: VirtualMachineInput): Promise<VirtualMachineRead>;
  /**
   * In their order. The spec is written only while it is the one of that generation: no other user's change is
   * overwritten. Null: there is no such object any more.
   */
  patchVirtualMachine(
    request: ObjectName & { generation: number; patches: VirtualMachinePatch[] },
  ): Promise<PatchedVirtualMachine | null>;
  /**
   * Puts the location into the VirtualMachineImageCache, which is made if there is none. @throws ImageCacheNotInstalled
   */
  ensureImageCache(request: WantedImageCache): Promise<void>;
  /**
   * In their order. Attachments are made with the VirtualMachine as their owner. False: something is another by now,
   * and what comes after it was not done.
   */
  changeVolumes(request: ObjectName & { changes: VolumeChange[] }): Promise<{ isCurrent: boolean }>;
  /**
   * Has its policies evaluated: a PolicyEvaluation is made with the VirtualMachine as its owner, or asks for what the
   * VirtualMachine says now. False: it is another by now, and nothing was written.
   */
  ensurePolicyEvaluation(request: ObjectName & EvaluationChange): Promise<{ isCurrent: boolean }>;
  /** Writes the status where it differs, the Event, and then the notes. Null: there is no such object any more. */
  publishVirtualMachine(
    report: ObjectName & { generation: number } & PublishedVirtualMachine,
  ): Promise<WrittenVirtualMachine | null>;
}

/** The object after it was written. */
export interface WrittenVirtualMachine {
  desired: DesiredVirtualMachine;
  recorded: VirtualMachineStatus;
}

export interface PatchedVirtualMachine extends WrittenVirtualMachine {
  /**
   * All of it is written, and no other user has changed the spec or begun to delete it: what was decided still holds.
   */
  isCurrent: boolean;
}

type ObservedBy<Observed> = ObservationOf<DesiredVirtualMachine, Observed, VirtualMachineSettings>;

export type VirtualMachineRead = Unobserved | ObservedBy<{ recorded: VirtualMachineStatus; objects: ObservedObjects }>;

/** `vcenter`: null where it was not asked, as there is no such object, or its owner has paused it. */
export type ObservedVirtualMachine =
  | Unobserved
  | ObservedBy<{ recorded: VirtualMachineStatus; objects: ObservedObjects; vcenter: VcenterObservation | null }>;

/** The objects in Kubernetes that a VirtualMachine names, as observed. Null: it names none. */
export interface ObservedObjects {
  /** CPU is in thousandths of a core until it is known where the VM goes: `readClass` with 1,000 MHz. */
  class: Fetched<ObservedClass> | null;
  image: Fetched<ObservedImage> | null;
  resourcePolicy: Fetched<ObservedPolicyObject> | null;
  /** The profile (`storagePolicyID`) of the StorageClass. */
  storageClass: Fetched<{ profileId: string }> | null;
  /** The same of its instance storage. Left out: its spec has none. */
  instanceStorageClass?: Fetched<{ profileId: string }>;
  bootstrap: Fetched<ObservedBootstrap> | null;
  /** The image's item or path by the CD-ROM's name; null: the image is not ready. */
  isos: Record<string, string | null>;
  /** Why it is not, by the CD-ROM's name. Left out: all are. */
  lackingIsos?: Record<string, Lacking>;
  /**
   * Network by the interface's name, in the order of the spec; null: it names none, and gets the one that the settings
   * have for such.
   */
  networks: { name: string; network: string | null }[];
  imageCache: Fetched<ObservedImageCache> | null;
  group: ObservedGroupObject | null;
  snapshots: ObservedSnapshots;
  /** Null: it has no volumes of claims, and had none. */
  volumes: ObservedVolumes | null;
  /** Left out: none are evaluated. */
  policies?: ObservedPolicies;
}

/** Cluster modules by the group's name and the MoID of their cluster, as far as they are made. */
export interface ObservedPolicyObject extends Omit<ObservedPolicy, 'modules'> {
  modules: Record<string, Record<string, string>>;
}

/** A group knows where it has placed a VM, but for what only vCenter knows. */
export interface ObservedGroupObject extends Omit<ObservedGroup, 'placement'> {
  placement: Pick<PlacedAt, 'zone' | 'resourcePool' | 'datastore' | 'host'> | null;
}

/** Queue `vsphere:<vcenter>`. Everything but reads is asked of the stop gate first, and stands in the audit log. */
export interface VirtualMachineVsphereActivities {
  /**
   * Everything that decisions need of vCenter. A part that cannot be observed is returned as such; the call fails only
   * where nothing can be observed.
   */
  observeVirtualMachineInVcenter(request: ObservationRequest): Promise<VcenterObservation>;

  /**
   * Writes the notes into the object, and finds the VM by its owner before it submits.
   *
   * @throws VirtualMachineNotOwned, VirtualMachineNameTaken, VirtualMachineAmbiguous
   */
  submitNewVm(request: MutationRequest & { create: CreateSpec } & Along): Promise<SubmittedNewVm & WrittenAlong>;
  /** Checks whether it is done before it submits; null: it is. */
  submitFileOperation(
    request: MutationRequest & { place: FilePlace; operation: FileOperation },
  ): Promise<SubmittedTask | null>;
  /**
   * Cancels a create that is not wanted any more, and waits for its end. What it has made all the same, the next
   * observation finds. Where its task is not known, it waits a few seconds for all that are under way, or for those of
   * them that an earlier call has `awaited`.
   *
   * @throws VsphereTaskOverdue; where its task is not known, its details are those that are still under way
   */
  stopCreate(
    request: MutationRequest & {
      task: string | null;
      awaited?: readonly string[];
      folder: string | null;
      name: string;
    },
  ): Promise<void>;
  /**
   * Writes the owner into a VM that has none, or the one that the replaced operator wrote. @throws
   * VirtualMachineNotOwned, VirtualMachineConflict
   */
  submitAdoption(request: VmSubject & { changeVersion: string }): Promise<Submission>;
  /** One ReconfigVM_Task, on the version that was read. @throws VirtualMachineConflict */
  submitReconfigure(request: VmSubject & { changeVersion: string; spec: ReconfigSpec }): Promise<Submission>;
  submitHardwareUpgrade(request: VmSubject & { version: number }): Promise<Submission>;
  /**
   * Reads the Secrets itself: they are in no history. A customization that waits for the next start is not replaced.
   *
   * @param request `cards`: device keys of those that the interfaces of the spec are, in its order; null: an interface
   *   has none yet
   * @throws ObjectConflict, and nothing is written, where they do not come to that hash any more, or a card is gone;
   *   InvalidObject for what the VM, a customization or this vCenter does not have
   */
  submitBootstrap(
    request: VmSubject & {
      object: ObjectName;
      kind: BootstrapKind | null;
      part: 'config' | 'custom';
      hash: string;
      cards: readonly (number | null)[];
    },
  ): Promise<Submission>;
  attachClusterModule(request: VmSubject & { module: string }): Promise<void>;
  /**
   * Writes the notes into the object before. An operation of the guest's resolves when it was asked.
   *
   * @throws GuestToolsNotRunning; GuestAnswerLost where an attempt before may have asked it
   */
  submitPower(request: VmSubject & { operation: PowerOperation } & Pick<Along, 'notes'>): Promise<SubmittedPower>;
  /**
   * One PromoteDisks_Task for those of the disks that are linked still; null: none is.
   * @throws VirtualMachineStateRefused
   */
  submitPromotion(request: VmSubject & { keys: readonly number[] }): Promise<Submission>;
  /** Stores the object as it is in Kubernetes; nothing where it is not of that generation any more. */
  submitBackup(request: VmSubject & { object: ObjectName; version: string }): Promise<Submission>;
  /** Takes disks off and keeps their files. */
  submitDetachDisks(request: VmSubject & { keys: readonly number[] }): Promise<Submission>;
  /** Well where it is gone. @throws ForeignDisksAttached while disks are attached that would be lost with it */
  submitDestroy(request: VmSubject): Promise<Submission>;
  /** Removes drover's metadata from a VM that stays. */
  submitRelease(request: VmSubject): Promise<Submission>;
  /** Well where it has ended. */
  cancelVsphereTask(request: VmSubject & { task: string }): Promise<void>;
  /**
   * Waits for a task until the activity's time is over; a cancel is passed on to the task, which may end well all the
   * same.
   *
   * @throws what the task failed with, unless its purpose is reached; VsphereTaskOverdue
   */
  awaitTask(
    task: SubmittedTask & ObserveAfter & Along,
  ): Promise<{ vmId: string | null } & Partial<ObservedAfter> & WrittenAlong>;
}

/** The object whose VM is observed, and what else is to be observed. */
export interface ObservationRequest {
  object: ObjectName;
  vmName: string;
  /** `status.uniqueID`. */
  uniqueId: string | null;
  /** `status.instanceUUID`. */
  recordedUuid: string | null;
  /** A create has begun, and has not been seen to end: what the status names is of before. */
  isBeingMade: boolean;
  /** It has a VM, or a create has begun: before that no VM can have it as owner. */
  mayBeMade: boolean;
  /** `spec.instanceUUID`. */
  instanceUuid: string | null;
  /** Names of the disks that were made with it. */
  madeDisks: string[];
  /** MoID of the datastore that was chosen for it, where files are or will be; null: none was. */
  chosenDatastore: string | null;
  /** MoIDs of those on which the files of its image are cached. */
  cachedOn: string[];
  /** Label; null: any zone. */
  zone: string | null;
  /** Child folder and pool that the policy names. */
  folder: string | null;
  resourcePool: string | null;
  /** The cluster module that it shall be in, by the MoID of its cluster. */
  modules: Record<string, string>;
  profileId: string | null;
  /** It needs a host, with that much room on a datastore of this policy. Left out: DRS chooses one. */
  instanceStorage?: {
    profileId: string;
    bytes: number;
    /** MoID of the one that was chosen before: it stays, while it can. */
    host: string | null;
    /** MoID of one that has no place for its volumes: any other one comes first. */
    avoid: string | null;
    /** Its volumes are on that host already. */
    isBound: boolean;
  };
  networks: ObservedObjects['networks'];
  isos: ObservedObjects['isos'];
  /** What a readiness probe wants the guest to have set, by its key without `guestinfo.`, and a pattern. */
  guestInfo: { key: string; pattern: string }[];
  /** Of ExtraConfig, beside drover's own: only these keys are returned. */
  extraConfigKeys: string[];
}

export interface VcenterObservation {
  managerId: string;
  /** MoID of the one that the VM is in, or goes to. */
  cluster: string | null;
  placement: Placement;
  candidates: Candidate[];
  /** Of the only candidate that could be the object's; null: none, or several. */
  vm: ObservedVm | null;
  /** Digest of the VM's state, as the watch of the vCenter computes it; opaque. */
  stateDigest: string | null;
  storage: Omit<ObservedStorage, 'profileId'> | null;
  network: ObservedNetwork | null;
  /**
   * Of what the guest has set, or of its port; null: nothing was asked for, there is no VM, or, of a port, only a step
   * was observed.
   */
  probe: { passed: boolean; message: string } | null;
  /** Path of the ISO by the CD-ROM's name. */
  isos: Record<string, string | null>;
  /** Why one that was asked for has none, by the CD-ROM's name. Left out: all have. */
  lackingIsos?: Record<string, Lacking>;
}

/** The object that owns a VM: written into the VM by the very call that makes it, and compared before each mutation. */
export interface OwnerReference {
  /** `namespace/name` of the object. */
  namespacedName: string;
  /** Of the object. */
  uid: string;
  /** Left out: a VirtualMachine. */
  kind?: 'VsphereAgent';
}

/** With a request, the activity awaits a short task, and returns what it observes afterwards. */
export interface ObserveAfter {
  observeAfter?: ObservationRequest;
}

/** It is done, and this was observed afterwards. */
export interface ObservedAfter {
  observation: VcenterObservation;
}

export interface MutationRequest extends ObserveAfter {
  owner: OwnerReference;
  /** What caused it, for the audit log. */
  cause: string;
}

/** What always goes before, beside or after a call, in the same activity. */
export interface Along {
  /**
   * Before: written into the object, as patchVirtualMachine does. Where they do not hold then, nothing else is done.
   */
  notes?: ObjectName & { generation: number; patches: VirtualMachinePatch[] };
  /** Beside: said in the object, as publishVirtualMachine does. */
  report?: ObjectName & { generation: number } & PublishedVirtualMachine;
  /** After a create has ended: released at the run that allocates the slots. */
  slot?: SlotMessage;
}

/** What came of that. */
export interface WrittenAlong {
  /** The object after its notes were written. Left out: there are none, or they do not hold. */
  written?: WrittenVirtualMachine;
  /** The object after the report was written; null: there is no such object any more. Left out: it was not said. */
  said?: WrittenVirtualMachine | null;
  isSlotReleased?: true;
}

/** One VM, and the proof that it is meant. */
export interface VmSubject extends MutationRequest {
  /** As vCenter names it: `vm-61`. */
  vmId: string;
}

/** What a task is for. Where a task has failed, its purpose may be reached all the same, by another one. */
export type TaskPurpose =
  | {
      kind: 'create';
      owner: OwnerReference;
      /** Null: not known any more. */ folder: string | null;
      name: string;
      instanceUuid: string;
    }
  | { kind: 'power'; vmId: string; powerState: ObservedVm['powerState'] }
  | { kind: 'destroy'; vmId: string }
  | { kind: 'files'; place: FilePlace; operation: FileOperation }
  /**
   * isSecret: vCenter may repeat a secret that it was given, so a failure states its kind only. isPromotion: of disks,
   * which may take an hour.
   */
  | { kind: 'change'; vmId: string; isSecret?: true; isPromotion?: true }
  /** A customization that waits for the next start. Always secret. */
  | { kind: 'customize'; vmId: string };

/** A task at the vCenter that is to be waited for; any worker can. */
export interface SubmittedTask {
  /** `task-1042`. */
  taskId: string;
  purpose: TaskPurpose;
}

/** What came of a create: `outdated`: the notes do not hold, and nothing was submitted. */
export type SubmittedNewVm = { vmId: string } | SubmittedTask | ObservedAfter | { isOutdated: true };

/** The same of a change of its power, and of a question to its guest. */
export type SubmittedPower =
  | Submission
  | (Pick<WrittenAlong, 'written'> & Partial<ObservedAfter>)
  | { isOutdated: true };

/** What a mutation came to: null: all is as it should be already. */
export type Submission = SubmittedTask | ObservedAfter | null;

/** What vCenter is asked about the VM of an object. Pure. */
export function observationRequestOf(
  desired: DesiredVirtualMachine,
  recorded: VirtualMachineStatus,
  objects: ObservedObjects,
): ObservationRequest {
  const { namespace, name, uid, instanceUuid, zone, config } = desired;
  const policy = objects.resourcePolicy?.kind === 'found' ? objects.resourcePolicy.value : null;
  const ofClass = objects.class?.kind === 'found' ? objects.class.value.extraConfig : {};
  return {
    object: { namespace, name, uid },
    vmName: name,
    uniqueId: recorded.uniqueID ?? null,
    recordedUuid: recorded.instanceUUID ?? null,
    isBeingMade: desired.creatingSince !== null,
    mayBeMade: recorded.uniqueID !== undefined || desired.creatingSince !== null,
    instanceUuid,
    madeDisks: desired.madeDisks ?? [],
    ...datastoresOf(desired, objects),
    // Where its group was placed counts where the VM itself says nothing.
    zone: zone ?? objects.group?.placement?.zone ?? null,
    folder: policy?.folder ?? null,
    resourcePool: policy?.resourcePool ?? null,
    modules: policy?.modules[desired.clusterModule ?? ''] ?? {},
    profileId: objects.storageClass?.kind === 'found' ? objects.storageClass.value.profileId : null,
    ...instanceStorageOf(desired, objects),
    networks: objects.networks,
    isos: objects.isos,
    guestInfo: desired.probeGuestInfo,
    extraConfigKeys: [
      ...new Set([
        ...Object.keys(ofClass),
        ...Object.keys(config.extraConfig),
        ...propertyKeys(desired.networkCards.flatMap(({ properties = {} }) => Object.keys(properties))),
      ]),
    ].toSorted(),
  };
}

function instanceStorageOf(
  { instanceStorage, volumes }: DesiredVirtualMachine,
  { instanceStorageClass: storageClass, group, volumes: claims }: ObservedObjects,
): Pick<ObservationRequest, 'instanceStorage'> {
  if (instanceStorage === undefined || storageClass?.kind !== 'found') return {};
  const { host, isBound } = instanceStorage;
  const hasFailed =
    !isBound &&
    host !== null &&
    volumes.some(
      ({ claim, instance }) => instance !== undefined && claimWithoutPlace(claims?.claims[claim], host.node) !== null,
    );
  const bytes = volumes.map(({ instance }) => (instance === undefined ? 0 : (quantityOf(instance.size) ?? 0)));
  return {
    instanceStorage: {
      ...storageClass.value,
      bytes: bytes.reduce((sum, one) => sum + one, 0),
      host: hasFailed ? null : (host?.id ?? group?.placement?.host ?? null),
      avoid: hasFailed ? (host?.id ?? null) : null,
      isBound,
    },
  };
}

/**
 * Fast deploy: a place is chosen once, as files are asked for and copied there; before that, one where they are already
 * comes first.
 */
function datastoresOf(
  { copiesAt, imageCache: { location } }: DesiredVirtualMachine,
  { imageCache, storageClass }: ObservedObjects,
): Pick<ObservationRequest, 'chosenDatastore' | 'cachedOn'> {
  if (imageCache === null) return { chosenDatastore: null, cachedOn: [] };
  const profileId = storageClass?.kind === 'found' ? storageClass.value.profileId : null;
  const locations = imageCache.kind === 'found' ? imageCache.value.locations : [];
  return {
    chosenDatastore: copiesAt?.datastore ?? location?.split(',')[1] ?? null,
    cachedOn: locations.flatMap((one) => (one.ready === true && one.profileId === profileId ? [one.datastoreId] : [])),
  };
}
