import type { DiskProvisioning } from './cached-files.ts';
import type { BootOptions, Controller, Slot } from './config.ts';
import type { GuestAsked } from './metadata.ts';
import type { WantedPolicies } from './policies.ts';
import type { WantedVolume } from './volumes.ts';

/** `spec.powerState`, and the state that is shown. */
export const virtualMachinePowerStates = ['PoweredOff', 'PoweredOn', 'Suspended'] as const;
export type VirtualMachinePowerState = (typeof virtualMachinePowerStates)[number];

/** How hard a power operation is: `Soft` asks the guest, `TrySoft` asks and then forces. */
export const powerModes = ['Hard', 'Soft', 'TrySoft'] as const;
export type PowerMode = (typeof powerModes)[number];

/** The plain JSON that starts the run by hand, and that the bridge starts it with. */
export interface VirtualMachineInput {
  namespace: string;
  name: string;
  startedBy?: string;
  mode?: 'observe' | 'act';
}

/** Every interval, limit and switch of the lifecycle. Set in drover's configuration, fixed in the run when it opens. */
export interface VirtualMachineSettings {
  /** Selects the task queue. */
  vcenter: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  mode: 'observe' | 'act';
  /**
   * Make disks from cached files instead of deploying the item anew. `auto`: copies, where something caches images in
   * time; null: switched off.
   */
  fastDeploy: 'auto' | 'direct' | 'linked' | null;
  /** With `auto`: how long nothing may come of the files that were asked for before a VM is made without them. */
  imageCacheMs: number;
  /** Whether a create is waited for beside everything else, or before anything else. */
  asyncCreate: boolean;
  /** Whether a watch reports changes in vCenter (`watchVcenter`); if not, it is observed at intervals. */
  asyncSignal: boolean;
  /** Whether a class that has changed is applied: not at all, its size, or all that it says. */
  resize: 'off' | 'size' | 'all';
  groups: boolean;
  /** Whether the object is stored with its VM. */
  backup: boolean;
  /** Marks of the schema upgrade. */
  buildVersion: string;
  /** How long a guest may take to shut down or stand by. */
  softPowerMs: number;
  /** How long deletion waits for the guest, whatever powerOffMode says; then the VM is powered off. */
  deletePowerOffMs: number;
  /** How long VMware Tools may take to come up before they are called missing. */
  toolsMs: number;
  /** How long an address is waited for, where no event reports it. */
  addressMs: number;
  /** How long until something that no event reports is observed again. */
  pollMs: number;
  /** The longest wait: whatever is missed is noticed after that. */
  recheckMs: number;
  /** Between two statuses, other than the last one. */
  publishMinMs: number;
  /** After how long a run that waits for a slot asks again, so that an allocator which was lost is made anew. */
  slotRenewMs: number;
  /** How long one task of vCenter may take. */
  taskMs: number;
  lingerMs: number;
}

export interface WantedNetworkCard {
  name: string;
  type: string;
  /** Lower case; null: any. */
  macAddress: string | null;
  /** Left out: no. */
  uptv2Enabled?: boolean;
  /** Left out: any. */
  vnumaNode?: number;
  /** Settings in ExtraConfig, by their names without the card's number. Left out: none. */
  properties?: Record<string, string>;
}

export interface WantedCdrom {
  name: string;
  connected: boolean;
  allowGuestControl: boolean;
  /** Left out, and null: where there is room. */
  slot?: Slot | null;
}

export type WantedController = Omit<Controller, 'key' | 'isInUse' | 'sharing'> & {
  /** Null: any, as only a drive asks for it. */
  sharing: Controller['sharing'] | null;
};

export interface WantedBootDevice {
  type: 'Disk' | 'Network' | 'CDRom';
  /** Of the volume as the status names it, or of the interface; null: the first. */
  name: string | null;
}

/** Size that the spec asks for itself; null: the class decides. */
export interface WantedSize {
  cpus: number | null;
  memoryMiB: number | null;
  cpuRequestCores: number | null;
  cpuLimitCores: number | null;
  memoryRequestMiB: number | null;
  memoryLimitMiB: number | null;
}

/** The rest of the configuration that the spec asks for. Null: it says nothing, and what is there stays. */
export interface WantedSettings {
  guestId: string | null;
  firmware: string | null;
  coresPerSocket: number | null;
  /** 0: vSphere decides. */
  vnumaNodeCount: number | null;
  cpuHotAddEnabled: boolean | null;
  memoryHotAddEnabled: boolean | null;
  nestedHVEnabled: boolean | null;
  vPMCEnabled: boolean | null;
  vvtdEnabled: boolean | null;
  memoryReservationLockedToMax: boolean | null;
  latencySensitivity: string | null;
  /** How many of them share a core: 2 with hyperthreading. */
  simultaneousThreads: number | null;
  changeTrackingEnabled: boolean | null;
  minHardwareVersion: number | null;
  bootOptions: Partial<BootOptions>;
  /** Empty: it says nothing. */
  bootOrder: WantedBootDevice[];
  bootDiskBytes: number | null;
  /** Of the disks that the VM is made with. */
  provisioning: DiskProvisioning | null;
  extraConfig: Record<string, string>;
}

export type BootstrapKind = 'CloudInit' | 'LinuxPrep' | 'Sysprep';

export interface WantedBootstrap {
  /** Null: none is named. */
  kind: BootstrapKind | null;
  disabled: boolean;
  /** LinuxPrep and Sysprep: once more at the next power-on. Null: only when it has changed. */
  atNextPowerOn: boolean | null;
  /** CloudInit's instance id; null: not given out yet. */
  instanceId: string | null;
}

/** A class as it was applied: its name, uid and generation. */
export interface AppliedClass {
  name: string;
  uid: string;
  generation: number;
}

/** The host that was chosen for the instance storage of a VM; null: none yet. */
export interface InstanceStorageNotes {
  host: { id: string; node: string } | null;
  /** All its claims were bound, and its VM may be made there. */
  isBound: boolean;
}

/** What a VirtualMachine asks for: its spec, its metadata, with the defaults filled in. */
export interface DesiredVirtualMachine {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  deleting: boolean;
  finalizers: readonly string[];
  mode: 'observe' | 'act';
  /** Value of `drover.dev/retry` that no run has taken up. */
  retry: string | null;

  paused: boolean;
  skipDelete: boolean;
  /** Who holds these gates. */
  powerOnChecks: string[];
  deleteChecks: string[];
  /** Conditions that privileged annotations set. */
  givenConditions: { type: string; status: 'True' | 'False' | 'Unknown'; reason: string; message: string }[];

  powerState: VirtualMachinePowerState;
  powerOffMode: PowerMode;
  suspendMode: PowerMode;
  restartMode: PowerMode;
  /** RFC 3339 or `now`. */
  nextRestartTime: string | null;
  /** RFC 3339. */
  applyPowerStateAt: string | null;
  firstBootDone: boolean;
  waitForTools: boolean;

  /** Null: classless. */
  className: string | null;
  lastResizedClass: AppliedClass | null;
  sameClassResize: boolean;
  image: { kind: string; name: string } | null;
  storageClass: string | null;
  resourcePolicy: string | null;
  clusterModule: string | null;
  group: string | null;
  /** Label. */
  zone: string | null;
  /** Annotation: its VM is, or was, being made. */
  creatingSince: string | null;
  /**
   * Annotation: where files were copied for a VM that is being made, by MoIDs, and of which. `sources` left out: an
   * earlier release did not note it.
   */
  copiesAt: { datacenter: string; datastore: string; sources?: string } | null;
  /** Annotation: names of the disks that were made with its VM; null: not noted yet. */
  madeDisks: string[] | null;
  /** Annotation: `about.instanceUuid` of the vCenter that its VM is in. */
  managerId: string | null;
  /** Annotation: CloudInit's instance id, as older releases of the replaced operator gave it. */
  formerInstanceId: string | null;
  instanceUuid: string | null;
  biosUuid: string | null;

  size: WantedSize;
  config: WantedSettings;
  networkDisabled: boolean;
  networkCards: WantedNetworkCard[];
  cdroms: WantedCdrom[];
  controllers: WantedController[];
  /** Those with a PersistentVolumeClaim. */
  volumes: WantedVolume[];
  /** Annotations: where its instance storage is. Left out: its spec has none. */
  instanceStorage?: InstanceStorageNotes;
  /** Left out: none are evaluated. */
  policies?: WantedPolicies;
  /** Controllers that other VMs’ disks may be shared at (`SCSI:1`): `sharingMode` Physical or Virtual. */
  sharedControllers: string[];
  /** Annotation: address space for PCI devices; null: the default. */
  mmioSizeGB: string | null;
  bootstrap: WantedBootstrap;
  bootstrapHashes: { config: string | null; custom: string | null };

  fastDeploy: string | null;
  imageCache: { name: string | null; location: string | null };
  /** Annotation, RFC 3339: when cached files were asked for. */
  imageCacheAskedAt: string | null;
  /** Annotation: what its guest was asked last. */
  guestAsked: GuestAsked | null;
  upgradedTo: { build: string | null; schema: string | null; feature: string | null };
  currentSnapshot: string | null;
  /** Whether linked disks are to become whole ones, and in which power state. */
  promoteDisks: 'Online' | 'Offline' | 'Disabled';
  revertInProgress: boolean;
  /** A node of a Kubernetes cluster. */
  clusterNode: boolean;
  forceBackup: boolean;
  probe: 'tcp' | 'heartbeat' | 'guestInfo' | null;
  probeThreshold: 'yellow' | 'green';
  /** Keys without `guestinfo.`, and patterns. */
  probeGuestInfo: { key: string; pattern: string }[];
  probePeriodMs: number;
  /**
   * Host null: the guest's own address. Port null: it has a name, which no guest's is known by. Null: no
   * port is probed.
   */
  probePort: { host: string | null; port: number | null; timeoutMs: number } | null;
  /** What the spec asks for and drover does not do, as sentences. */
  refused: string[];
}
