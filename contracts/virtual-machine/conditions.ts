import type { ConditionUpdate } from '../conditions.ts';

/**
 * Condition types of a VirtualMachine: upstream's, and `SpecSupported`, `Lifecycle` and `Observed`, which
 * are drover's own.
 */
export const virtualMachineConditions = {
  classReady: 'VirtualMachineClassReady',
  imageReady: 'VirtualMachineImageReady',
  resourcePolicyReady: 'VirtualMachineConditionVMSetResourcePolicyReady',
  storageReady: 'VirtualMachineStorageReady',
  bootstrapReady: 'VirtualMachineBootstrapReady',
  networkReady: 'VirtualMachineNetworkReady',
  imageCacheReady: 'VirtualMachineConditionImageCacheReady',
  placementReady: 'VirtualMachineConditionPlacementReady',
  created: 'VirtualMachineCreated',
  powerStateSynced: 'VirtualMachinePowerStateSynced',
  locationValid: 'VirtualMachineLocationValid',
  reconcileReady: 'VirtualMachineReconcileReady',
  tools: 'VirtualMachineTools',
  guestCustomization: 'GuestCustomization',
  guestIdReconfigured: 'GuestIDReconfigured',
  ready: 'Ready',
  classSynced: 'VirtualMachineClassConfigurationSynced',
  groupLinked: 'GroupLinked',
  backupUpToDate: 'VirtualMachineBackupUpToDate',
  extraConfigSynced: 'VirtualMachineExtraConfigSynced',
  networkConfigSynced: 'VirtualMachineNetworkConfigSynced',
  computeConfigSynced: 'VirtualMachineComputeConfigSynced',
  controllersVerified: 'VirtualMachineHardwareControllersVerified',
  cdromVerified: 'VirtualMachineHardwareCDROMVerified',
  volumesVerified: 'VirtualMachineHardwareVolumesVerified',
  devicesVerified: 'VirtualMachineHardwareDeviceConfigVerified',
  guestNetworkSynced: 'VirtualMachineGuestNetworkConfigSynced',
  guestBootstrap: 'GuestBootstrap',
  diskPromotionSynced: 'VirtualMachineDiskPromotionSynced',
  snapshotRevertSucceeded: 'VirtualMachineSnapshotRevertSucceeded',
  /** Whether the tags of its policies are attached. Drover's own; only where it names policies, or did. */
  policiesSynced: 'VirtualMachinePoliciesSynced',
  /** False: there are copies of its VM, which are left alone. */
  unique: 'VirtualMachineUnique',
  /** False, `NotSupported`: the spec asks for what drover does not do. Only where it does. */
  specSupported: 'SpecSupported',
  /** True: reconciled. False: blocked, the user has to act. Unknown: progressing. Its reason is the state. */
  lifecycle: 'Lifecycle',
  /** What drover would do, where it only observes; then it is the only one written. */
  observed: 'Observed',
} as const;

/** The reason of a condition that is True, unless it has a word of its own. */
export const trueReason = 'True';

export const yes = (type: string, reason: string = trueReason, message = ''): ConditionUpdate => ({
  type,
  status: 'True',
  reason,
  message,
});
export const no = (type: string, reason: string, message: string): ConditionUpdate => ({
  type,
  status: 'False',
  reason,
  message,
});
export const unknown = (type: string, reason: string, message: string): ConditionUpdate => ({
  type,
  status: 'Unknown',
  reason,
  message,
});

/** Reasons of prerequisites: what kube-apiserver said. */
export const objectReasons = {
  notFound: 'NotFound',
  forbidden: 'Forbidden',
  invalid: 'Invalid',
  internalError: 'InternalError',
  getError: 'GetError',
} as const;

/** Reason of the bootstrap: a Secret of it has not all keys that are named. */
export const requiredKeyNotFound = 'RequiredKeyNotFound';

/** The states of a VirtualMachine, reasons of `Lifecycle`. */
export const virtualMachineStates = [
  'Reconciled',
  'Paused',
  'PowerOffRequired',
  'BootstrapNotReady',
  'WaitingForPrerequisites',
  'WaitingForImageCache',
  'WaitingForGroup',
  'WaitingForPolicies',
  'WaitingForInstanceStorage',
  'WaitingForVolumes',
  'TooManyCreates',
  'Creating',
  'Updating',
  'PoweringOn',
  'PoweringOff',
  'Suspending',
  'Restarting',
  'GuestRefused',
  'WaitingForTools',
  'WaitingForAddress',
  'WaitingForProbe',
  'Deleting',
  'DeletionBlocked',
  'NotOwned',
  'Ambiguous',
  'VcenterChanged',
  'NotConnected',
  'DisksInSnapshots',
  'NotSupported',
  'Stopped',
  'Failed',
  'Cancelled',
  'Observed',
] as const;
export type VirtualMachineState = (typeof virtualMachineStates)[number];
