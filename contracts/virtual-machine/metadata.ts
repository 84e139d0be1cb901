/** Metadata of a VirtualMachine and of its VM in vSphere. Names are upstream's but for `drover.…`. */

export const virtualMachineFinalizers = {
  current: 'vmoperator.vmware.com/virtualmachine',
  /** Older releases wrote it: removed when observed, honoured on deletion. */
  deprecated: 'virtualmachine.vmoperator.vmware.com',
} as const;

const group = 'vmoperator.vmware.com';

/** On a VirtualMachineSetResourcePolicy, while what it names may be there. */
export const resourcePolicyFinalizer = `${group}/virtualmachinesetresourcepolicy`;

/** Only privileged users may write what begins with it. */
const guarded = `${group}.protected`;

export const virtualMachineAnnotations = {
  paused: `${group}/paused`,
  /** Begins a gate; its end names who holds it. */
  powerOnCheckPrefix: `poweron.check.${group}/`,
  deleteCheckPrefix: `delete.check.${group}/`,
  /** Begins a condition that others have written for it: `Type;Status;Reason;Message`. */
  conditionPrefix: `condition.${guarded}/`,
  skipDelete: `${guarded}/skip-delete-platform-resource`,
  /** RFC 3339: the power state is not changed before it. */
  applyPowerStateTime: `${guarded}/apply-power-state-time`,
  firstBootDone: `virtualmachine.${group}/first-boot-done`,
  /** `about.instanceUuid` of the vCenter that it is in. */
  managerId: `${group}/manager-id`,
  /** `direct`, `linked`; anything else switches fast deploy off for it. */
  fastDeploy: `${group}/fast-deploy`,
  /** `datacenterMoID,datastoreMoID,storageProfileID` of the cached files that it waits for. */
  imageCacheLocation: `vmicache.${group}/location`,
  /** JSON `{Name, UID, Generation}` of the class that was applied last. */
  lastResizedClass: `${group}/last-resized-vm-class`,
  sameClassResize: `${group}/same-vm-class-resize`,
  cloudInitInstanceId: `${group}/cloud-init-instance-id`,
  bootstrapConfigHash: `${group}/bootstrap-hash-configspec`,
  bootstrapCustomHash: `${group}/bootstrap-hash-customspec`,
  snapshotRevertInProgress: `${group}/snapshot-revert-in-progress`,
  upgradedToBuildVersion: `${group}/upgraded-to-build-version`,
  upgradedToSchemaVersion: `${group}/upgraded-to-schema-version`,
  upgradedToFeatureVersion: `${group}/upgraded-to-feature-version`,
  clusterModuleGroup: 'vsphere-cluster-module-group',
  clusterModuleUuid: 'vsphere-cluster-module-group-uuid',
  forceBackup: `${group}/force-enable-backup`,
  /** The host that its instance storage is on: MoID, and DNS name. */
  instanceStorageHost: `${group}/instance-storage-selected-node-moid`,
  instanceStorageNode: `${group}/instance-storage-selected-node`,
  /** All claims of its instance storage are bound. */
  instanceStorageBound: `${group}/instance-storage-pvcs-bound`,
  /** GiB of address space for PCI devices; `0`: it is left to vSphere. */
  mmioSize: `${group}/pci-passthru-64bit-mmio-size`,
  /**
   * RFC 3339: since when its VM is being created. The deletion searches for a create in flight, even if the
   * memory is lost.
   */
  creating: 'drover.dev/creating',
  /**
   * `datacenterMoID,datastoreMoID,sources`: where files were copied for a VM that is being made, in a folder of the
   * object's uid, and a digest of those that they are copies of. The deletion removes them if there is no VM yet.
   */
  copies: 'drover.dev/copies',
  /**
   * Comma list of the disks that were made with its VM, by their names in the status: they are its own wherever vCenter
   * moves them.
   */
  disks: 'drover.dev/disks',
  /** RFC 3339: when cached files were asked for, of a VM that is made without them after a while. */
  imageCacheAsked: 'drover.dev/image-cache-asked',
  /**
   * `RFC 3339 operation boot id`: what its guest was asked last. A run that has lost its memory does not force a guest
   * that is doing it.
   */
  guestAsked: 'drover.dev/guest-asked',
  /** Makes drover show, after power-on, whether VMware Tools come up. */
  waitForTools: 'drover.dev/wait-for-tools',
} as const;

export const virtualMachineLabels = {
  /** The VirtualMachineImageCache that it waits for. */
  imageCache: `vmicache.${group}/name`,
  /** `devops`, `admin` or `both`. */
  paused: `${group}/paused`,
  zone: 'topology.kubernetes.io/zone',
  /** Either marks a node of a Kubernetes cluster: no snapshots, no backup unless forced. */
  clusterRoles: ['capw.vmware.com/cluster.role', 'capv.vmware.com/cluster.role'],
} as const;

/**
 * Stands for the hash of what a guest was set up with before its VM was taken over: others make other hashes. The first
 * one that drover can make takes its place, and nothing is applied.
 */
export const takenOverHash = 'taken-over';

/** Names in the annotation {@link virtualMachineAnnotations.disks}. */
export const readMadeDisks = (noted: string): string[] => noted.split(',').filter((name) => name !== '');

/** Keys of the VM's ExtraConfig. */
export const extraConfigKeys = {
  /** `namespace/name`: half of the owner, and how a VM is mapped back to its object. */
  namespacedName: 'vmservice.namespacedName',
  /** The object's uid: the other half. An object of the same name that was made later is another one. */
  objectUid: 'drover.uid',
  /** `true`: an administrator has paused it. */
  paused: 'vmservice.virtualmachine.pause',
  /** The nextRestartTime that was done last, in nanoseconds since the epoch. */
  lastRestartTime: 'vmservice.lastRestartTime',
  /** `<nextRestartTime in milliseconds> <the VM's boot id before>`: a restart is being made. */
  restartIntent: 'drover.restartIntent',
  /** Generation of the object that was backed up last. */
  backupVersion: 'drover.backupVersion',
  /**
   * Comma list of the keys of `spec.advanced.extraConfig` that were applied: one that is no longer asked for
   * is taken away.
   */
  managedKeys: 'vmservice.extraconfig.managedKeys',
  /** Always taken away. */
  evacuationPowerOff: 'maintenance.vm.evacuation.poweroff',
  /** Set by the guest's customization until it has run. */
  deployPackage: 'tools.deployPkg.fileName',
  keepDisks: 'vmprov.keepDisks',
  /** The reservation of the namespace's pool that a VM of a class counts against (`reservedProfileID`). */
  reservedProfileId: 'resourcepool.vmResourceProfileId',
  /** Room for the memory of PCI devices above 4 GiB. */
  use64BitMmio: 'pciPassthru.use64bitMMIO',
  mmioSizeGB: 'pciPassthru.64bitMMIOSizeGB',
  /** `TRUE`: the guest's next restart is a power cycle, so that what was changed counts. */
  rebootPowerCycle: 'vmx.reboot.powerCycle',
  /** `eth0=4000,eth1=4001`: device keys of the network cards by the interfaces of the spec that they are. */
  networkCards: 'drover.networkCards',
  /** Comma list of the keys of cards that were applied, such as `ethernet0.ctxPerDev`. */
  networkProperties: 'drover.networkProperties',
  /** Comma list of the tags that were attached for policies, by their ids: only these are detached again. */
  policyTags: 'vmservice.policy.tags',
  /** Written by the guest: how its set-up went. */
  bootstrapCondition: 'guestinfo.vmservice.bootstrap.condition',
} as const;

/**
 * Keys of ExtraConfig that hold what is stored with a VM, by upstream's names: gzip in base64. Upstream's
 * `…additional.resources.yaml` holds Secrets: it is neither written nor read.
 */
export const backupKeys = {
  /** The VirtualMachine in YAML. */
  object: 'vmservice.virtualmachine.resource.yaml',
  additional: 'vmservice.virtualmachine.additional.resources.yaml',
  /** JSON: `FileName`, `PVCName`, `AccessModes` of each disk of a PersistentVolumeClaim. */
  claims: 'vmservice.virtualmachine.pvc.disk.data',
  classicDisks: 'vmservice.virtualmachine.classicDiskData',
} as const;

/** Tags in the key {@link extraConfigKeys.policyTags}. */
export const readPolicyTags = (extraConfig: Readonly<Record<string, string>>): string[] =>
  (extraConfig[extraConfigKeys.policyTags] ?? '').split(',').filter((tag) => tag !== '');

/** Keys of cards that were applied once: by drover, and by the operator before, which wrote a list for each card. */
export function appliedCardKeys(extraConfig: Readonly<Record<string, string>>): string[] {
  const list = (text: string | undefined): string[] => (text ?? '').split(',').filter((key) => key !== '');
  const former = Object.entries(extraConfig).flatMap(([key, text]) => {
    const card = formerCardList.exec(key)?.[1];
    return card === undefined ? [] : list(text).map((name) => `${card}.${name}`);
  });
  return [...new Set([...list(extraConfig[extraConfigKeys.networkProperties]), ...former])];
}

export const isFormerCardList = (key: string): boolean => formerCardList.test(key);
const formerCardList = /^vmservice\.nic\.(ethernet\d+)\.managedKeys$/u;

/** A restart that is being made; null: none, or nonsense. */
export function readRestartIntent(
  extraConfig: Readonly<Record<string, string>>,
): { forMs: number; bootId: string } | null {
  const match = /^(\d+) (.*)$/u.exec(extraConfig[extraConfigKeys.restartIntent] ?? '');
  return match === null ? null : { forMs: Number(match[1]), bootId: match[2] ?? '' };
}

/** What a guest was asked, and in which of its starts. */
export interface GuestAsked {
  operation: 'shutdownGuest' | 'standbyGuest' | 'rebootGuest';
  askedMs: number;
  bootId: string;
}

export const guestAskedText = ({ operation, askedMs, bootId }: GuestAsked): string =>
  `${new Date(askedMs).toISOString()} ${operation} ${bootId}`;

/** Null: nothing, or nonsense. */
export function readGuestAsked(noted: string): GuestAsked | null {
  const [, at = '', operation, bootId = ''] =
    /^(\S+) (shutdownGuest|standbyGuest|rebootGuest) (.*)$/u.exec(noted) ?? [];
  const askedMs = Date.parse(at);
  return operation === undefined || Number.isNaN(askedMs)
    ? null
    : { operation: operation as GuestAsked['operation'], askedMs, bootId };
}

export const managedBy = { extensionKey: 'com.vmware.vcenter.wcp', type: 'VirtualMachine' } as const;

export const defaultVmAnnotation = 'Virtual Machine managed by the vSphere Virtual Machine service';
