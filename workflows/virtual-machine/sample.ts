import type { DesiredVirtualMachine, VirtualMachineSettings } from '../../contracts/virtual-machine-lifecycle.ts';
import type { VmConfig } from '../../contracts/virtual-machine-config.ts';
import {
  defaultVmAnnotation,
  extraConfigKeys,
  managedBy,
  virtualMachineFinalizers,
} from '../../contracts/virtual-machine-marks.ts';
import type { CachedFile, ImageHardware } from '../../contracts/cached-files.ts';
import type {
  Candidate,
  ClassFacts,
  Fetched,
  ImageCacheFacts,
  ImageFacts,
  GuestFacts,
  PhaseFailure,
  PlacedAt,
  Prerequisites,
  VirtualMachineMemory,
  VirtualMachineObservation,
  VmFacts,
} from '../../contracts/virtual-machine-observation.ts';
import type { Outcome, VirtualMachineDeed } from '../../contracts/virtual-machine-plan.ts';
import type { Context, VmContext } from './step.ts';

/** A VM that is as its object wants it, for tests. */

export const beginMs = Date.parse('2026-01-01T00:00:00Z');
export const minute = 60_000;
export const uid = '11111111-1111-4111-8111-111111111111';

export const settings: VirtualMachineSettings = {
  vcenter: 'vc',
  cluster: '',
  mode: 'act',
  fastDeploy: null,
  asyncCreate: true,
  asyncSignal: true,
  resize: 'all',
  groups: true,
  backup: false,
  buildVersion: '1',
  softPowerMs: 5 * minute,
  deletePowerOffMs: 6 * minute,
  toolsMs: 5 * minute,
  addressMs: 5 * minute,
  recheckMs: 10_000,
  turnRenewMs: 300_000,
  taskMs: 60 * minute,
  lingerMs: 2_000,
};

export const desiredOf = (more: Partial<DesiredVirtualMachine> = {}): DesiredVirtualMachine => ({
  namespace: 'team',
  name: 'web',
  uid,
  generation: 1,
  deleting: false,
  finalizers: [virtualMachineFinalizers.current],
  mode: 'act',
  retry: null,
  paused: false,
  skipDelete: false,
  powerOnChecks: [],
  deleteChecks: [],
  givenConditions: [],
  powerState: 'PoweredOn',
  powerOffMode: 'TrySoft',
  suspendMode: 'TrySoft',
  restartMode: 'TrySoft',
  nextRestartTime: null,
  applyPowerStateAt: null,
  firstBootDone: true,
  waitForTools: false,
  className: 'small',
  lastResizedClass: { name: 'small', uid: 'class-1', generation: 1 },
  sameClassResize: false,
  image: { kind: 'VirtualMachineImage', name: 'vmi-1' },
  storageClass: 'fast',
  resourcePolicy: null,
  clusterModule: null,
  group: null,
  zone: 'zone-a',
  creatingSince: null,
  copiesAt: null,
  managerId: 'vc-uuid',
  instanceUuid: uid,
  biosUuid: uid,
  size: {
    cpus: null,
    memoryMiB: null,
    cpuRequestCores: null,
    cpuLimitCores: null,
    memoryRequestMiB: null,
    memoryLimitMiB: null,
  },
  config: {
    guestId: null,
    firmware: null,
    coresPerSocket: null,
    cpuHotAddEnabled: null,
    memoryHotAddEnabled: null,
    nestedHVEnabled: null,
    vPMCEnabled: null,
    vvtdEnabled: null,
    memoryReservationLockedToMax: null,
    latencySensitivity: null,
    changeTrackingEnabled: null,
    minHardwareVersion: null,
    bootOptions: {},
    bootDiskBytes: null,
    extraConfig: {},
  },
  networkDisabled: false,
  networkCards: [{ name: 'eth0', type: 'VMXNet3', macAddress: null }],
  cdroms: [],
  volumes: [],
  bootstrap: { kind: null, disabled: false, atNextPowerOn: null, instanceId: null },
  bootstrapHashes: { config: null, custom: null },
  fastDeploy: null,
  imageCache: { name: null, location: null },
  upgradedTo: { build: '1', schema: 'v1alpha6', feature: '1' },
  currentSnapshot: null,
  revertInProgress: false,
  clusterNode: false,
  forceBackup: false,
  probe: null,
  probeThreshold: 'green',
  ...more,
});

export const classOf = (more: Partial<ClassFacts> = {}): ClassFacts => ({
  name: 'small',
  uid: 'class-1',
  generation: 1,
  compute: {
    numCPUs: 2,
    memoryMB: 4_096,
    cpuAllocation: { reservation: 0, limit: -1 },
    memoryAllocation: { reservation: 0, limit: -1 },
  },
  extraConfig: {},
  configSpec: {},
  passthrough: false,
  instanceStorage: false,
  ...more,
});

export const hardwareOf = (disks: number, more: Partial<ImageHardware> = {}): ImageHardware => ({
  guestId: null,
  firmware: null,
  version: null,
  disks: Array.from({ length: disks }, () => ({
    controller: 'SCSI' as const,
    busNumber: 0,
    unitNumber: null,
    capacityBytes: 1_024 ** 3,
  })),
  ...more,
});

export const imageOf = (more: Partial<ImageFacts> = {}): ImageFacts => ({
  kind: 'VirtualMachineImage',
  name: 'vmi-1',
  ready: { status: 'True', reason: 'True', message: '' },
  providerKind: 'ContentLibraryItem',
  providerItemId: 'item-1',
  providerVersion: '1',
  type: 'OVF',
  cacheName: 'vmi-cache',
  hardware: hardwareOf(1),
  ...more,
});

/** Of the image's files, as many disks are cached where the VM goes. */
export const cachedOf = ({
  ready = true,
  files = 1,
  more = [],
}: { ready?: boolean | null; files?: number; more?: CachedFile[] } = {}): Extract<
  Fetched<ImageCacheFacts>,
  { is: 'found' }
> => ({
  is: 'found',
  value: {
    hardwareReady: true,
    locations: [
      {
        datacenterId: 'datacenter-1',
        datastoreId: 'datastore-1',
        profileId: 'profile-1',
        ready,
        message: 'm',
        files: [
          ...Array.from({ length: files }, (_, index) => ({
            path: `[fast] cache/disk-${index}.vmdk`,
            kind: 'disk' as const,
          })),
          ...more,
        ],
      },
    ],
  },
});

export const prerequisitesOf = (more: Partial<Prerequisites> = {}): Prerequisites => ({
  class: { is: 'found', value: classOf() },
  image: { is: 'found', value: imageOf() },
  resourcePolicy: null,
  storageClass: { is: 'found', value: { profileId: 'profile-1', hasDatastore: true, encrypted: false } },
  bootstrap: null,
  network: { interfaces: [{ name: 'eth0', backing: 'network-1', message: '' }] },
  isos: {},
  ...more,
});

export const configOf = (more: Partial<VmConfig> = {}): VmConfig => ({
  changeVersion: 'c1',
  hardwareVersion: 21,
  guestId: 'otherGuest64',
  firmware: 'efi',
  numCPUs: 2,
  numCoresPerSocket: 1,
  memoryMB: 4_096,
  cpuAllocation: { reservation: 0, limit: -1 },
  memoryAllocation: { reservation: 0, limit: -1 },
  cpuHotAddEnabled: false,
  memoryHotAddEnabled: false,
  nestedHVEnabled: false,
  vPMCEnabled: false,
  vvtdEnabled: false,
  memoryReservationLockedToMax: false,
  latencySensitivity: 'normal',
  changeTrackingEnabled: false,
  annotation: defaultVmAnnotation,
  managedBy,
  extraConfig: { [extraConfigKeys.namespacedName]: 'team/web', [extraConfigKeys.objectUid]: uid },
  networkCards: [{ key: 4_000, type: 'VMXNet3', backing: 'network-1', macAddress: '00:50:56:00:00:01' }],
  cdroms: [],
  disks: [{ key: 2_000, name: 'disk-0', capacityBytes: 10 * 1024 ** 3, own: true, boot: true }],
  ...more,
});

export const guestOf = (more: Partial<GuestFacts> = {}): GuestFacts => ({
  toolsRunning: true,
  known: true,
  heartbeat: 'green',
  primaryIp4: '192.0.2.10',
  primaryIp6: null,
  hostName: 'web',
  guestId: 'otherGuest64',
  guestFullName: 'Other',
  customization: null,
  customizationMessage: null,
  ...more,
});

export const vmOf = (more: Partial<VmFacts> = {}, config: Partial<VmConfig> | null = {}): VmFacts => ({
  moId: 'vm-1',
  name: 'web',
  instanceUuid: uid,
  biosUuid: uid,
  connectionState: 'connected',
  powerState: 'poweredOn',
  bootMark: 'boot-1',
  upSinceMs: beginMs,
  config: config === null ? null : configOf(config),
  resourcePool: 'resgroup-1',
  folder: 'group-v1',
  location: { resourcePool: true, folder: true },
  zone: 'zone-a',
  hostName: 'esx-1',
  cpuMHz: 2_000,
  task: null,
  guest: guestOf(),
  clusterModule: null,
  shown: {},
  ...more,
});

export const candidateOf = (more: Partial<Candidate> = {}): Candidate => ({
  moId: 'vm-1',
  name: 'web',
  foundBy: ['uniqueId', 'instanceUuid', 'uid', 'mark', 'name'],
  instanceUuid: uid,
  mark: { namespacedName: 'team/web', uid },
  inFolder: true,
  ...more,
});

export const placedAt: PlacedAt = {
  zone: 'zone-a',
  datacenter: 'datacenter-1',
  folder: 'group-v1',
  resourcePool: 'resgroup-1',
  datastore: 'datastore-1',
  host: null,
  cpuMHz: 2_000,
};

export const observedOf = (more: Partial<VirtualMachineObservation> = {}): VirtualMachineObservation => ({
  recorded: {},
  prerequisites: prerequisitesOf(),
  imageCache: null,
  group: null,
  placement: { is: 'placed', at: placedAt },
  managerId: 'vc-uuid',
  candidates: more.vm === null ? [] : [candidateOf()],
  vm: vmOf(),
  turn: { create: true, destroy: true, taken: null },
  snapshots: { inProgress: null, problem: null },
  probe: null,
  ...more,
});

export const memoryOf = (more: Partial<VirtualMachineMemory> = {}): VirtualMachineMemory => ({
  create: null,
  failures: [],
  soft: null,
  restart: null,
  deletingSinceMs: null,
  ...more,
});

export const failureIn = (
  phase: PhaseFailure['phase'],
  requeue = true,
  more: Partial<PhaseFailure> = {},
): PhaseFailure => ({
  phase,
  reason: 'VcenterRefused',
  message: `${phase} failed`,
  requeue,
  retryAtMs: beginMs + 10 * minute,
  attempts: 1,
  ...more,
});

export interface Given {
  desired?: Partial<DesiredVirtualMachine>;
  observed?: Partial<VirtualMachineObservation>;
  /** Null: there is no VM. */
  vm?: Partial<VmFacts> | null;
  config?: Partial<VmConfig> | null;
  prerequisites?: Partial<Prerequisites>;
  memory?: Partial<VirtualMachineMemory>;
  settings?: Partial<VirtualMachineSettings>;
  nowMs?: number;
}

export function contextOf({
  desired,
  observed,
  vm = {},
  config = {},
  prerequisites,
  memory,
  settings: set,
  nowMs = beginMs + 2 * minute,
}: Given = {}): Context {
  return {
    desired: desiredOf(desired),
    observed: observedOf({
      vm: vm === null ? null : vmOf(vm, config),
      prerequisites: prerequisitesOf(prerequisites),
      ...observed,
    }),
    memory: memoryOf(memory),
    settings: { ...settings, ...set },
    nowMs,
  };
}

export function vmContextOf(given: Given = {}): VmContext {
  const context = contextOf(given);
  if (context.observed.vm === null) throw new Error('a VM is needed');
  return { ...context, vm: context.observed.vm };
}

/** What an outcome comes to, in the fewest words: verbs of the steps, or what is waited for, or why not. */
export function inShort(outcome: Outcome): string {
  switch (outcome.is) {
    case 'success':
      return 'success';
    case 'act':
      return outcome.steps.map(shortDeed).join(', ');
    case 'wait':
      return `wait ${outcome.state}`;
    case 'failed':
      return `${outcome.requeue ? 'requeue' : 'stop'} ${outcome.reason}`;
  }
}

const shortDeed = (deed: VirtualMachineDeed): string =>
  deed.do === 'power' ? deed.operation : deed.do === 'file' ? deed.file : deed.do;
