import type { SlotAnswer, SlotMessage } from '../allowance.ts';
import type { ObservationOf, RunSettings, Unobserved } from '../runs.ts';
import type { Along, WrittenAlong } from '../virtual-machine/activities.ts';
import type { Outcome, Strategy, VolumePhase } from './metadata.ts';

/** What the run of a DataVolume is asked, what it asks, and what it decides on. Sizes are bytes, times are Unix ms. */

/** The plain JSON that starts the run by hand, and that the bridge starts it with. */
export interface DataVolumeInput {
  namespace: string;
  name: string;
}

/** The section `dataVolumes` of drover's settings, as a run has it (docs/data-volumes.md#settings). */
export interface VolumeRules {
  /** Clones of one source that were asked for before a snapshot is cut share it. */
  shareSnapshots: boolean;
  /**
   * So long after a snapshot of a source was cut no other is begun: clones that are asked for meanwhile share
   * the next one.
   */
  sourceIntervalMs: number;
  /** Snapshots of drover's that a source may have at once. */
  snapshotsPerSource: number;
  /** So long a source may be in use, a snapshot may not be ready, and a volume may not be bound or expanded. */
  deadlineMs: number;
  onDeadline: Outcome;
  /** A source that is in use is cloned as it is. */
  crashConsistent: boolean;
  /** Of the Job that copies; null: nothing is copied. */
  copyImage: string | null;
  /** Null: as the StorageProfile says. */
  strategyOverride: Strategy | null;
  adoptClaims: boolean;
}

export interface VolumeSettings extends RunSettings {
  cluster: string;
  slotRenewMs: number;
  rules: VolumeRules;
}

export type VolumeSource =
  | { kind: 'pvc' | 'snapshot'; namespace: string; name: string }
  | { kind: 'dataSource'; namespace: string; name: string }
  | { kind: 'blank' };

export interface DesiredVolume {
  uid: string;
  generation: number;
  createdMs: number;
  deleting: boolean;
  /** It has drover's finalizer. */
  isHeld: boolean;
  /** Null: another source, which CDI imports or uploads. */
  source: VolumeSource | null;
  /** Its name in the spec: `http`, `upload`, `none`. Empty: it is one of drover's. */
  foreignSource: string;
  /** It says that it is left to CDI. */
  isLeft: boolean;
  contentType: string;
  /** `spec.storage`, whose gaps a StorageProfile fills, or `spec.pvc`. */
  api: 'storage' | 'pvc';
  /** The PVC that holds its data already; null: none. */
  prePopulatedBy: string | null;
  isPermissive: boolean;
  /** It asks to be bound before it is used: read, and not heeded. */
  bindsImmediately: boolean;
  crashConsistent: boolean;
  /** Null: as in the settings. */
  onDeadline: Outcome | null;
  /** Null: as in the settings. */
  adopts: boolean | null;
}

export interface ClaimFacts {
  namespace: string;
  name: string;
  uid: string;
  deleting: boolean;
  phase: 'Pending' | 'Bound' | 'Lost';
  /** The PersistentVolume; null: none yet. */
  volume: string | null;
  storageClass: string | null;
  requestBytes: number;
  /** Null: it is not bound. */
  capacityBytes: number | null;
  volumeMode: 'Filesystem' | 'Block';
  accessModes: readonly string[];
  /** `kubevirt` where it does not say. */
  contentType: string;
  /** Who controls it: the DataVolume of the run, one of its name that is gone, another object, or none. */
  owner: 'volume' | 'predecessor' | 'other' | 'none';
  /** The annotation of that name. */
  populatedFor: string | null;
  allowsAdoption: boolean | null;
  /** The clone is complete. */
  isCloned: boolean;
  /** Its consumer is placed. */
  hasNode: boolean;
  /** All but the file system is expanded: the kubelet does the rest when it is mounted. */
  waitsForFileSystem: boolean;
  /** Why the provisioner or the resizer could not, in its last Event, while that is so; null: it has not said so. */
  problem: string | null;
  cloneDepth: number;
}

export interface ClassFacts {
  name: string;
  provisioner: string;
  expands: boolean;
  waitsForConsumer: boolean;
  /** There is a CSIDriver of the provisioner. */
  isCsi: boolean;
  /** As its StorageProfile says. */
  cloneStrategy: Strategy;
  /** The VolumeSnapshotClass that snapshots of its volumes are made with; null: none is of its driver. */
  snapshotClass: string | null;
}

export interface SnapshotFacts {
  namespace: string;
  name: string;
  uid: string;
  deleting: boolean;
  isReady: boolean;
  /** Of the driver; null: none. */
  error: string | null;
  /** When it was cut; null: not yet. */
  cutMs: number | null;
  restoreSizeBytes: number | null;
  /** Of its content; null: not known yet. */
  driver: string | null;
  sourceVolumeMode: 'Filesystem' | 'Block' | null;
}

/** How far a PV has come on its way from the temporary claim to the target. */
export interface TransferFacts {
  /** Of the ObjectTransfer. */
  phase: '' | 'Pending' | 'Running' | 'Complete' | 'Error';
  message: string;
}

export interface JobFacts {
  state: 'active' | 'complete' | 'failed';
  /** The PVC that it copies into: another one of that name is empty. Left out: it does not say. */
  claimUid?: string;
  /** A Pod of it copies, or did. Left out: as far as is known. */
  hasBegun?: boolean;
  /** Why it failed, or why no Pod of it copies yet; empty: nothing says. */
  message: string;
}

/** The claim that the target is to be. */
export interface ClaimSpec {
  storageClass: string;
  accessModes: readonly string[];
  volumeMode: 'Filesystem' | 'Block';
  /** Null: as large as its source. */
  requestBytes: number | null;
  /** Share that a file system takes besides what is asked for: 0 of a `spec.pvc`, and of a block volume. */
  overhead: number;
  /** Least size that the class can make. */
  minimumBytes: number;
}

/**
 * Something that keeps the volume from being made, with what to do. The reason is that of an Event and of a condition.
 */
export interface VolumeProblem {
  reason: string;
  message: string;
}

export interface ObservedVolume {
  /** The source, through its DataSource, or as it was when the clone began. Null: `problem` says why. */
  source:
    | {
        kind: 'pvc';
        namespace: string;
        name: string;
        claim: ClaimFacts | null;
        class: ClassFacts | null;
        /** Pods, in its namespace. */
        usedBy: readonly string[];
        /** False: the DataVolume that it belongs to is not complete. */
        isPopulated: boolean;
      }
    | {
        kind: 'snapshot';
        namespace: string;
        name: string;
        snapshot: SnapshotFacts | null;
        /** A StorageClass of its driver, by which it is restored where it has to be copied; null: there is none. */
        restoresBy: Pick<ClassFacts, 'name' | 'waitsForConsumer'> | null;
      }
    | { kind: 'blank' }
    | null;
  /** Whether its creator may clone from the namespace of the source. */
  permission: 'notNeeded' | 'granted' | 'unknown';
  /** What the target is to be; null: `problem` says why. */
  claimSpec: ClaimSpec | null;
  class: ClassFacts | null;
  /** Of the spec, the DataSource, a class that is missing, or claim properties that no profile knows. */
  problem: VolumeProblem | null;
  /** The PVC of the DataVolume's name. */
  target: ClaimFacts | null;
  /** What is there for this clone alone, or is shared with others. */
  temporary: {
    snapshot: SnapshotFacts | null;
    claim: ClaimFacts | null;
    /** What a Job copies of a snapshot: the snapshot, restored by its own driver. */
    restored: ClaimFacts | null;
    transfer: TransferFacts | null;
    job: JobFacts | null;
  };
  /** Chosen when the clone began. */
  chosen: { strategy: Strategy; fallbackReason: string | null } | null;
  /** By the spec of the CDI object; null: as in the settings. */
  strategyOverride: Strategy | null;
  /** What the object says. */
  recorded: VolumeStatus & { sinceMs: number | null };
}

export type VolumeObservation = ObservationOf<DesiredVolume, ObservedVolume, VolumeSettings>;

/** What the object is to say. Its conditions are those of CDI: what is waited for, and why, is in Running and Ready. */
export interface VolumeStatus {
  phase: VolumePhase;
  /** `N/A`, `100.0%`. */
  progress: string;
  claimName: string | null;
  conditions: readonly VolumeCondition[];
  /** An Event that belongs to the phase; null: none. */
  event: { type: 'Normal' | 'Warning'; reason: string; message: string } | null;
}

/** As CDI writes it: with the time of its last change of any kind, and without a generation. */
export interface VolumeCondition {
  type: 'Bound' | 'Running' | 'Ready';
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

type OfVolume = DataVolumeInput & { uid: string };

/**
 * What is said before the work begins, and what is released when it is done: each would be an activity of
 * its own otherwise.
 */
export interface VolumeWork extends OfVolume {
  /** Written first: the finalizer and the annotations of {@link ClaimedVolume}, and the status. Null: as it is. */
  begin: { claimed: ClaimedVolume | null; status: VolumeStatus | null } | null;
  slot?: Along['slot'];
}

/** What is fixed when a clone begins. */
export interface ClaimedVolume {
  strategy: Strategy;
  fallbackReason: string | null;
  source: { kind: 'pvc' | 'snapshot'; namespace: string; name: string; uid: string };
}

/** How long an activity waits. */
export interface Patience {
  patienceMs: number;
  /** A problem that is known already: the wait ends where another one, or none, is seen. */
  known: string | null;
  /** Its policy is `patientWait`: it may take hours, and holds no place between its looks. */
  isPatient?: boolean;
}

/** What a claim is filled from, in its namespace. A snapshot of drover's has its source's uid in its name. */
export type CloneOf = { kind: 'pvc'; name: string; uid: string } | { kind: 'snapshot'; name: string };

/** A claim that is to be filled. */
export interface NewClaim {
  /** Null: the target. */
  temporaryIn: string | null;
  spec: Pick<ClaimSpec, 'storageClass' | 'accessModes' | 'volumeMode'>;
  cloneDepth: number;
}

/**
 * Queue `volumes`. All are safe to repeat, and to run twice at once: what they make has a name by uid, and carries that
 * uid. They heartbeat. A wait in one of them ends with what it awaits, with a problem that is not known yet, or when it
 * was patient for `patienceMs`; what is observed then is returned.
 */
export interface DataVolumeActivities {
  observeDataVolume(input: DataVolumeInput): Promise<VolumeObservation | Unobserved>;
  /** Says that it is left to CDI, which imports or uploads. */
  leaveDataVolume(request: OfVolume & { source: string }): Promise<void>;
  patchDataVolumeFinalizer(request: OfVolume & { present: boolean }): Promise<boolean>;
  /** Waits until no Pod uses it. @returns those that do */
  awaitFreeSource(
    request: VolumeWork & { source: { namespace: string; name: string } } & Patience,
  ): Promise<{ usedBy: readonly string[] }>;
  /**
   * Takes part in a snapshot of the source that is not cut yet, or was cut after the DataVolume was created; else makes
   * one, where the interval and the budget of the source allow it, which are waited for too, and no Pod has come to use
   * it meanwhile. Waits until it is ready.
   */
  ensureSourceSnapshot(
    request: VolumeWork & {
      source: { namespace: string; name: string; uid: string };
      snapshotClass: string;
      createdMs: number;
      /** It may be cut while Pods use the source. */
      allowsUse: boolean;
      /** Acquired when the snapshot is ready, for what comes next. Left out: none, or it is held. */
      acquire?: SlotMessage;
      /** Made from the snapshot as soon as that slot is granted; ensureClaim follows, and makes it where it is not. */
      restore?: NewClaim & { wantedBytes: number };
    } & Patience,
  ): Promise<{
    snapshot: SnapshotFacts | null;
    /** Pods that use the source, where that matters: it is not cut then. Left out: there is a snapshot. */
    usedBy?: readonly string[];
    /** Why none is cut yet: its source has as many as it may have. Left out: that is not what it waits for. */
    waitsFor?: string;
    /** `unknown`: no answer came. Left out: it was not asked for. */
    slot?: SlotAnswer | 'unknown';
  }>;
  /**
   * The target, or in the namespace of a source elsewhere the temporary claim, from a snapshot, from a volume, or
   * empty. Waits until it is bound, or is known to wait for a consumer. `claim` null: none is made, as Pods use the
   * volume that it is to be made from. @throws QuotaExceeded
   */
  ensureClaim(
    request: VolumeWork &
      NewClaim & {
        /** The temporary claim is what a Job is to copy, and does not become the target. */
        isCopied?: boolean;
        from: CloneOf | null;
        /** It may be made from a volume that Pods use. Left out: no. */
        allowsUse?: boolean;
        /** As large as what it is made from: it is expanded afterwards. */
        spec: { requestBytes: number };
      } & Patience,
  ): Promise<{ claim: ClaimFacts | null; usedBy?: readonly string[] } & WrittenAlong>;
  /** Waits until its capacity is as large, or only its file system is not. */
  expandClaim(
    request: VolumeWork & { claim: { namespace: string; name: string }; requestBytes: number } & Patience,
  ): Promise<{ claim: ClaimFacts }>;
  /**
   * A Job that copies one PVC into the other in the namespace of the source. `job` null: none is made, as Pods use the
   * source.
   */
  ensureCopyJob(
    request: VolumeWork & {
      inNamespace: string;
      from: string;
      to: { name: string; uid: string };
      volumeMode: 'Filesystem' | 'Block';
      image: string;
    },
  ): Promise<{ job: JobFacts | null; usedBy?: readonly string[] }>;
  /** Adopts a claim that is there already: it becomes the DataVolume's. */
  adoptClaim(request: VolumeWork): Promise<{ claim: ClaimFacts }>;
  /** Deletes the claim of a DataVolume of this name that is gone. `claim` null: there is none any more. */
  removePredecessor(request: VolumeWork): Promise<{ claim: ClaimFacts | null }>;
  /**
   * Moves the PV of the temporary claim to the target. Each step is recorded in the ObjectTransfer before it is taken:
   * the reclaim policy is Retain first and as it was last, and the PV is bound to no other claim. `transfer` null: the
   * PV is gone with the target that it had come to, and so is the record.
   */
  transferClaim(
    request: VolumeWork & { from: { namespace: string; name: string } } & Patience,
  ): Promise<{ claim: ClaimFacts | null; transfer: TransferFacts | null }>;
  /**
   * Says that the volume is complete, takes everything temporary away and waits until it is gone, with the
   * VolumeSnapshotContent; then the finalizer. A shared snapshot goes with the last that needs it.
   */
  completeDataVolume(
    request: VolumeWork & { status: VolumeStatus },
  ): Promise<{ left: readonly string[] } & WrittenAlong>;
  /**
   * The same without a volume: of one that is deleted, or that is begun anew. `withTarget`: the PVC goes too, where it
   * is the DataVolume's. The finalizer goes where the DataVolume is deleted and nothing is left.
   */
  removeTemporary(request: VolumeWork & { withTarget: boolean }): Promise<{ left: readonly string[] } & WrittenAlong>;
  publishDataVolume(request: OfVolume & { status: VolumeStatus; retryHandled: string | null }): Promise<void>;
}
