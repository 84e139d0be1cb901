/**
 * Names of CDI, which stay as they are, and drover's own (docs/data-volumes.md#names). Two of them are misspelled on
 * the wire.
 */

const cdi = 'cdi.kubevirt.io';

/** On a DataVolume while drover works for it, so that nothing temporary outlives it. */
export const dataVolumeFinalizer = `${cdi}/dataVolumeFinalizer`;

export const volumeAnnotations = {
  /** On a DataVolume: the PVC that holds its data already. */
  prePopulated: `${cdi}/storage.prePopulated`,
  /** On a PVC: the DataVolume that it is populated for. */
  populatedFor: `${cdi}/storage.populatedFor`,
  /** On a DataVolume or a PVC: `true` or `false`, before the setting. */
  allowClaimAdoption: `${cdi}/allowClaimAdoption`,
  /**
   * On a DataVolume, its presence: CDI binds a volume of a class that waits for a consumer at once, by a Pod that uses
   * it. drover runs no such Pod, and the volume waits for its consumer (docs/adr/0020-how-a-volume-is-cloned.md).
   */
  bindImmediately: `${cdi}/storage.bind.immediate.requested`,
  /** On a DataVolume, its presence: sizes are not compared. */
  permissiveClone: `${cdi}/permissiveClone`,
  /** The same, as CDI 1.55 spelled it. */
  permissiveCloneBefore: 'cdi.Kubevirt.io/permissiveClone',
  /** On a PVC: what is in it; left out: kubevirt. */
  contentType: `${cdi}/storage.contentType`,
  /** On a DataVolume and its PVC: a {@link strategies | strategy}. It is chosen once. */
  cloneType: `${cdi}/cloneType`,
  /** On a PVC: `Succeeded`, when it is a clone. */
  clonePhase: `${cdi}/clonePhase`,
  cloneFallbackReason: `${cdi}/cloneFallbackReason`,
  /** On a PVC in another namespace than its DataVolume: `<namespace>/<name>` of that. */
  ownedByDataVolume: `${cdi}/ownedByDataVolume`,
  /** On a PVC: uid of the DataVolume that it was made for. */
  createdForDataVolume: `${cdi}/createdForDataVolume`,
  /** On a PVC, `true`: the clone is complete. */
  cloneOf: 'k8s.io/CloneOf',
  /** On a PVC: how far CDI has filled it. */
  podPhase: `${cdi}/storage.pod.phase`,
  /** On a PVC: `<namespace>/<name>` of the source. */
  cloneRequest: 'k8s.io/CloneRequest',
  runningCondition: `${cdi}/storage.condition.running`,
  runningConditionReason: `${cdi}/storage.condition.running.reason`,
  runningConditionMessage: `${cdi}/storage.condition.running.message`,
  /** On a PVC: where its consumer is; by the scheduler. */
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** On a PVC: Kubernetes has bound it, to a volume that it chose. */
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  /** On a PVC: whom Kubernetes has asked to make a volume for it. */
  storageProvisioner: 'volume.kubernetes.io/storage-provisioner',
  /** On a StorageClass: a {@link strategies | strategy}. */
  classCloneStrategy: `${cdi}/clone-strategy`,
  /** On a StorageProfile: a quantity. */
  minimumSupportedPvcSize: `${cdi}/minimumSupportedPvcSize`,
  isDefaultClass: 'storageclass.kubernetes.io/is-default-class',
  isDefaultVirtClass: 'storageclass.kubevirt.io/is-default-virt-class',
  isDefaultSnapshotClass: 'snapshot.storage.kubernetes.io/is-default-class',

  /**
   * On a DataVolume, `true`: a source that is in use is cloned as it is after a loss of power. On a snapshot of drover's,
   * `true`: it was cut for one that allows that, and others do not share it.
   */
  crashConsistent: 'drover.dev/crash-consistent',
  /** On a DataVolume: an {@link outcomes | outcome}, before the setting. */
  onDeadline: 'drover.dev/on-deadline',
  /**
   * On a DataVolume: JSON of the source that was found when the clone began ({@link VolumeSource} with its uid).
   * Another DataSource changes it no more.
   */
  cloneSource: 'drover.dev/clone-source',
  /** On a DataVolume whose source is none of drover's: `cdi`. */
  leftTo: 'drover.dev/left-to',
  /**
   * On a snapshot of drover's, followed by the uid of a DataVolume: `<namespace>/<name>` of one that needs it. It goes
   * with the last of them.
   */
  snapshotUser: 'clone.drover.dev/',
  /** On a PVC whose volume comes from another namespace: the PV, which names it by then. */
  volumeArrived: 'drover.dev/volume-arrived',
  /** On a Job that copies: uid of the PVC that it copies into. */
  copiesInto: 'drover.dev/copies-into-uid',
  /**
   * On a snapshot of drover's: uids of the DataVolumes that were there before it was asked for. Times in Kubernetes are
   * whole seconds, and prove less.
   */
  askedBefore: 'drover.dev/asked-before',
  /** On a PVC that was cloned: how many clones lie between it and a volume that is none. */
  cloneDepth: 'drover.dev/clone-depth',
} as const;

export const volumeLabels = {
  app: 'app',
  /** Value of {@link app}: as CDI has it. */
  appName: 'containerized-data-importer',
  /** On a snapshot of drover's: uid of the PVC that it is of. */
  snapshotOf: 'drover.dev/clone-source-uid',
  /** On a temporary PVC, snapshot or Job, and in a cluster's name where there is one: uid of the DataVolume. */
  temporaryFor: 'drover.dev/data-volume-uid',
  /** As CDI has it: alerts about full volumes mean nothing for the disk of a VM. */
  fillingUp: 'alerts.k8s.io/KubePersistentVolumeFillingUp',
} as const;

/** How a volume is cloned. */
export const strategies = ['snapshot', 'csi-clone', 'copy'] as const;
export type Strategy = (typeof strategies)[number];

/** What is done when a wait has passed its deadline: go on waiting, copy the data by a Job, or give the clone up. */
export const outcomes = ['wait', 'copy', 'fail'] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * The ValidatingAdmissionPolicy, and its binding, by which a DataVolume exists only where its creator may clone from
 * the namespace of its source.
 */
export const clonePolicyName = 'drover-data-volume-source';

/** Names by uid: no user's object has such a name. */
export const temporaryNames = {
  /** Of a source that is shared: the number rises. */
  sharedSnapshot: (sourceUid: string, number: number): string => `tmp-snapshot-${sourceUid}-${number}`,
  snapshot: (volumeUid: string): string => `tmp-snapshot-${volumeUid}`,
  claim: (volumeUid: string): string => `cdi-tmp-${volumeUid}`,
  /** A snapshot that is restored to be copied. */
  restored: (volumeUid: string): string => `tmp-source-pvc-${volumeUid}`,
  transfer: (volumeUid: string): string => `cdi-tmp-${volumeUid}`,
  job: (volumeUid: string): string => `cdi-copy-${volumeUid}`,
} as const;

export const phases = [
  'Pending',
  'PVCBound',
  'ImportScheduled',
  'ImportInProgress',
  'CloneScheduled',
  'CloneInProgress',
  'SnapshotForSmartCloneInProgress',
  'CloneFromSnapshotSourceInProgress',
  'SmartClonePVCInProgress',
  'CSICloneInProgress',
  'ExpansionInProgress',
  'NamespaceTransferInProgress',
  'UploadScheduled',
  'UploadReady',
  'WaitForFirstConsumer',
  'PendingPopulation',
  'Succeeded',
  'Failed',
  'Unknown',
  'Paused',
  'PrepClaimInProgress',
  'RebindInProgress',
] as const;
/** Of a DataVolume; empty: none yet. */
export type VolumePhase = '' | (typeof phases)[number];
