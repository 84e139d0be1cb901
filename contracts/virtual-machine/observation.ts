import type { RunProgress } from '../runs.ts';
import type { CachedFile, ImageHardware } from './cached-files.ts';
import type { VirtualMachineStatus } from '../crds/virtual-machine.ts';
import type { ClassDevice } from './class-devices.ts';
import type { AppliedClass } from './lifecycle.ts';
import type { ComputeConfig, VmConfig } from './config.ts';
import type { ObservedPolicies } from './policies.ts';
import type { InstanceClaim, ObservedVolumes, VolumeStatus } from './volumes.ts';

/** Everything that decisions about a VM need: small, no inventories, no secrets. */
export interface VirtualMachineObservation {
  /** What the status says already. */
  recorded: VirtualMachineStatus;
  prerequisites: Prerequisites;
  /** That of the image; null: it was not read, as fast deploy is off. */
  imageCache: Fetched<ObservedImageCache> | null;
  group: ObservedGroup | null;
  placement: Placement;
  /** `about.instanceUuid` of the vCenter. */
  managerId: string;
  /** VMs that could be the object's, by any of the ways to find it. */
  candidates: Candidate[];
  /** Properties of the one that is; null: there is none, or it is not clear which. */
  vm: ObservedVm | null;
  snapshots: ObservedSnapshots;
  /** Null: it has no volumes of claims, and had none. */
  volumes: ObservedVolumes | null;
  /** Left out: none are evaluated. */
  policies?: ObservedPolicies;
  /** Of what the guest has set, or of its port; null: not probed. */
  probe: { passed: boolean; message: string } | null;
}

/** What a read of an object came to; `failed` by any other answer. */
export type Fetched<Value> =
  | { kind: 'found'; value: Value }
  | {
      kind: 'notFound' | 'forbidden' | 'invalid' | 'internalError' | 'failed';
      message: string;
      /** The cluster serves no such kind. Left out: it does, or that is not known. */
      unknownKind?: true;
    };

/** Why a part of what a VM needs is not there, or not known. */
export interface Lacking {
  /** A condition reason. */
  reason: string;
  message: string;
  /** No answer has come: it may be there, and is looked for soon. Left out: a user has to put it right. */
  mayPass?: true;
}

/** Null: the spec names none. */
export interface Prerequisites {
  class: Fetched<ObservedClass> | null;
  image: Fetched<ObservedImage> | null;
  resourcePolicy: Fetched<ObservedPolicy> | null;
  storageClass: Fetched<ObservedStorage> | null;
  /** Of its instance storage. Left out: its spec has none. */
  instanceStorageClass?: Fetched<{ profileId: string }>;
  /** Every Secret that the bootstrap names was read; only what it comes to is returned. */
  bootstrap: Fetched<ObservedBootstrap> | null;
  network: ObservedNetwork | null;
  /** Path of the ISO by the CD-ROM's name; null: there is none now. */
  isos: Record<string, string | null>;
  /** Why there is none, by the CD-ROM's name. Left out: there are all. */
  lackingIsos?: Record<string, Lacking>;
}

export interface ObservedClass extends AppliedClass {
  compute: ComputeConfig;
  extraConfig: Record<string, string>;
  /** `spec.configSpec` without what is modelled, for the create call; nothing is decided on it. */
  configSpec: Record<string, unknown>;
  /** PCI devices, of either way to name them. */
  devices: ClassDevice[];
  /** There are some, also where they are only in the configSpec. */
  hasPciDevices: boolean;
  /** Has a device that is passed through, other than a vGPU. */
  passthrough: boolean;
  /** Null: VMs of it have none. */
  instanceStorage: ClassInstanceStorage | null;
  /** What it asks for and drover does not do, as sentences. */
  refused: string[];
}

/** A volume of each size, for each VM. */
export interface ClassInstanceStorage {
  storageClass: string;
  sizes: InstanceClaim['size'][];
}

export interface ObservedImage {
  kind: string;
  name: string;
  /** Of its condition `Ready`; null: it has none. */
  ready: { status: 'True' | 'False' | 'Unknown'; reason: string; message: string } | null;
  providerKind: string | null;
  /** Id of the item in the content library, or MoID (`vm-…`) of the template. */
  providerItemId: string | null;
  /** Of the item's content. */
  providerVersion: string | null;
  /** OVF, ISO, VM. */
  type: string | null;
  /** Name of its VirtualMachineImageCache, there or not. */
  cacheName: string;
  hardware: ImageHardware;
  /** Only where policies are evaluated, which may select VMs by them. */
  labels?: Record<string, string>;
}

export interface ObservedPolicy {
  name: string;
  deleting: boolean;
  folder: string | null;
  resourcePool: string | null;
  /** Cluster module by group name; null: not made yet. */
  modules: Record<string, string | null>;
  /** Why not all of it is made, by its own annotations. Left out: it is, or it says nothing, or all that the VM needs is. */
  unmade?: string;
}

export interface ObservedStorage {
  profileId: string;
  /** No datastore has that profile: false. */
  hasDatastore: boolean;
  encrypted: boolean;
  /** vCenter has no such profile. Left out: it has, there is a VM, or it does not say. */
  unknownProfile?: true;
}

export interface ObservedBootstrap {
  /** Keys that are not in their Secrets, as `secret/key`. */
  missingKeys: string[];
  /** Of what goes into the VM's configuration; null: nothing does. */
  configHash: string | null;
  /** Of what goes into a guest customization; null: nothing does. */
  customHash: string | null;
  /** The spec has none: it is what upstream does with a Linux guest then. */
  isDefault: boolean;
}

export interface ObservedNetwork {
  /** In the order of the spec; backing null: it is not ready, and why. */
  interfaces: { name: string; backing: string | null; message: string }[];
}

export interface ObservedImageCache {
  hardwareReady: boolean;
  /** Since when it is there without a word of what fills caches; null: that has said something. */
  silentSinceMs: number | null;
  /** Null: it is not known whether they are. */
  locations: {
    datacenterId: string;
    datastoreId: string;
    profileId: string;
    ready: boolean | null;
    message: string;
    files: CachedFile[];
  }[];
}

export interface ObservedGroup {
  found: boolean;
  /** The group lists the VM. */
  linked: boolean;
  /** The group has placed it; null: not yet. */
  placement: PlacedAt | null;
  /** The cluster serves no such kind, so that nothing places or switches its members. Left out: it does. */
  unknownKind?: true;
}

/** Where a VM goes. MoIDs. */
export interface PlacedAt {
  zone: string;
  datacenter: string;
  folder: string;
  resourcePool: string;
  datastore: string;
  host: string | null;
  /** DNS name of the host, where instance storage needs one. Left out: it is left to DRS. */
  node?: string;
  /** Frequency of the slowest host there, for reservations that are stated in cores. */
  cpuMHz: number;
  /** Its datastore has no folders of files, as vSAN. Left out: it has. */
  noFolders?: true;
}

export type Placement =
  | { kind: 'placed'; at: PlacedAt }
  | { kind: 'notReady' | 'zoneMismatch' | 'error'; message: string };

/**
 * A VM that was found, and by what: `status.uniqueID`, `status.instanceUUID`, `spec.instanceUUID`, the object's uid as
 * instance UUID, its owner, the name in its folder.
 */
export interface Candidate {
  moId: string;
  name: string;
  foundBy: ('uniqueId' | 'recordedUuid' | 'instanceUuid' | 'uid' | 'owner' | 'name')[];
  /** Whether it is the VM that the status names; null: the status names none, or another one is being made. */
  isRecorded: boolean | null;
  /** When vCenter made it; null: it does not know. */
  createdMs: number | null;
  instanceUuid: string;
  /** As written in the VM; null: it has none, or that cannot be read. */
  owner: { namespacedName: string; uid: string | null } | null;
  /** vCenter returns no configuration, as of a VM whose datastore is away: its owner is in there. Left out: it does. */
  unreadable?: true;
  /** It is in the folder of the namespace, or one level below. */
  inFolder: boolean;
}

export interface ObservedVm {
  moId: string;
  name: string;
  instanceUuid: string;
  biosUuid: string;
  connectionState: 'connected' | 'disconnected' | 'inaccessible' | 'invalid' | 'orphaned' | null;
  powerState: 'poweredOn' | 'poweredOff' | 'suspended';
  /** Changes whenever the guest has started anew: the boot time, or the last reset. Opaque. */
  bootId: string;
  /** When the VM was powered on last, as computed by this observation. */
  upSinceMs: number | null;
  /** Null: not all of it could be read. */
  config: VmConfig | null;
  resourcePool: string | null;
  folder: string | null;
  /** Whether pool and folder are those of the namespace, or one level below. */
  location: { resourcePool: boolean; folder: boolean } | null;
  /** Of the pool's cluster. */
  zone: string | null;
  hostName: string | null;
  /** Frequency of the slowest host, for reservations that are stated in cores. */
  cpuMHz: number;
  /** A task that is running on it, also one of another user. */
  task: ObservedTask | null;
  guest: ObservedGuest;
  /** Files of disks that were not made with it and that its snapshots hold: they would be destroyed with it. */
  heldBySnapshots: string[];
  /** Left out: it has none. */
  hasSnapshots?: true;
  /** The one that it shall be in, where it is. */
  clusterModule: string | null;
  /** Why it is not known whether it is in that. Left out: it is known, or none is asked about. */
  unknownModule?: Lacking;
  /** The disks that did not come with it by their UUID (`diskKeyOf`), as the status shows volumes. */
  disksByUuid: Record<string, Partial<VolumeStatus>>;
  /**
   * What the status shows, and what nothing but the place of volumes is decided on: disks,
   * controllers, storage, interfaces.
   */
  shown: Partial<VirtualMachineStatus>;
}

export interface ObservedTask {
  id: string;
  /** `VirtualMachine.clone`, `Folder.createVm`, `VirtualMachine.promoteDisks`, … */
  descriptionId: string;
  progress: number | null;
}

export interface ObservedGuest {
  toolsRunning: boolean;
  /** No word of Tools at all. */
  known: boolean;
  heartbeat: 'gray' | 'green' | 'red' | 'yellow' | null;
  primaryIp4: string | null;
  primaryIp6: string | null;
  hostName: string | null;
  guestId: string | null;
  guestFullName: string | null;
  /** `TOOLSDEPLOYPKG_…`; null: nothing was customized. */
  customization: string | null;
  customizationMessage: string | null;
}

export interface ObservedSnapshots {
  /** A VirtualMachineSnapshot that is being made by its own run. */
  inProgress: string | null;
  /** What went wrong with one; null: nothing. */
  problem: string | null;
}

/** A create that was submitted and has not been awaited to its end. */
export interface CreateInFlight {
  /** Null: it is not known whether vCenter has taken it. */
  task: string | null;
  sinceMs: number;
  /** Creates of the vCenter, one of which it may be: they had begun when it was to be stopped. */
  awaited?: readonly string[];
}

/**
 * The parts of an update, in the order of docs/charts/virtual-machine.md#update, and those of a whole lifecycle, as
 * failures are counted by them.
 */
export const stages = [
  'schemaUpgrade',
  'status',
  'backup',
  'policies',
  'config',
  'volumes',
  'promotion',
  'power',
  'snapshot',
] as const;
export type Stage = (typeof stages)[number] | 'create' | 'delete' | 'observe';

/** What a stage last failed with, until it is tried again. */
export interface StageFailure {
  stage: Stage;
  /** A condition reason. */
  reason: string;
  message: string;
  /** False: trying again is no use (NoRequeue), something has to change first. */
  requeue: boolean;
  retryAtMs: number;
  /** How often in a row. */
  attempts: number;
}

/** What a guest was asked. */
export interface GuestQuestion {
  /** When; of one that cannot be asked any more, when it may have been asked. */
  sinceMs: number;
  /** It refused. */
  failed: boolean;
  /** No answer has come of it: the guest may be doing what it was asked. */
  unanswered?: true;
}

/**
 * Memory of the run, from one plan to the next. It may be lost: then it is observed again, and no mutation is repeated.
 */
export interface VirtualMachineMemory {
  create: CreateInFlight | null;
  failures: StageFailure[];
  /** What a stage has changed last of the VM's configuration. The same again means that it had no effect. */
  changes: { stage: Stage; change: string; times: number; atMs: number }[];
  soft: (GuestQuestion & { operation: 'shutdown' | 'standby' }) | null;
  /** `forMs`: the nextRestartTime for which a restart was asked; `refusals`: how often in a row. */
  restart: (GuestQuestion & { forMs: number; refusals: number }) | null;
  /** Whether what an earlier run has asked the guest was taken from the object. */
  isRecalled: boolean;
  /** When deletion began to power off. */
  deletingSinceMs: number | null;
  /** The customization that a VM was asked for, until the object has the note of it. Left out: none. */
  customized?: { moId: string; noted: string } | undefined;
}

/** The answer to the query `progress` of a run that drives a virtual machine. */
export interface VirtualMachineProgress extends RunProgress {
  /** `vm-61`; null: there is none, or it is not known. */
  vmId: string | null;
  powerState: string | null;
  host: string | null;
  /** What failed, and when it is tried again: Unix ms, null where something has to change first. */
  failed: (Pick<StageFailure, 'stage' | 'message' | 'attempts'> & { retryAtMs: number | null })[];
}
