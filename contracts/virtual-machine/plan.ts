import type { SlotKind } from '../allowance.ts';
import type { FileDeed, FilePlace, ImageHardware } from './cached-files.ts';
import type { ConditionUpdate } from '../conditions.ts';
import type { VirtualMachineStatus } from '../crds/virtual-machine.ts';
import type { DesiredVirtualMachine } from './lifecycle.ts';
import type { ReconfigSpec } from './config.ts';
import type { Phase, PlacedAt, VirtualMachineMemory } from './observation.ts';

/** What a run may be told to do with a VM: one call each, an *ensure* verb, with the words that a person reads beside it. */
export type VirtualMachineStep = VirtualMachineDeed & { words: string; phase: Phase };

export type VirtualMachineDeed =
  /** Kubernetes. In that order; the spec only while it is of the generation that was read. */
  | { do: 'patchVirtualMachine'; patches: VirtualMachinePatch[] }
  /** Puts the location into the VirtualMachineImageCache of the image, which is made if there is none. */
  | ({ do: 'ensureImageCache' } & WantedImageCache)
  /** vCenter. Finds by mark before it submits; `blocking`: waits to the end. */
  | { do: 'createVirtualMachine'; create: CreateSpec; blocking: boolean }
  /** With the files of a VM that is being made from cached ones. */
  | ({ do: 'file'; place: FilePlace } & FileDeed)
  /** A task that somebody began, to its end; failure of the task is a failure of the phase. */
  | { do: 'awaitTask'; task: string; deadlineMs: number }
  /** Of a create that nobody wants any more: cancels, waits for the end, then finds by mark. */
  | { do: 'cancelCreate'; task: string | null }
  /** Writes the ownership mark into a VM without one, or with that of the operator before. Only then anything else is done to it. */
  | { do: 'adopt'; moId: string; changeVersion: string }
  | { do: 'reconfigure'; moId: string; changeVersion: string; spec: ReconfigSpec }
  | { do: 'upgradeHardware'; moId: string; version: number }
  /** The activity reads the Secrets; only the hash is told. */
  | { do: 'bootstrap'; moId: string; part: 'config' | 'custom'; hash: string }
  | { do: 'attachClusterModule'; moId: string; module: string }
  | { do: 'power'; moId: string; operation: PowerOperation }
  | { do: 'writeBackup'; moId: string; version: string }
  | { do: 'detachDisks'; moId: string; keys: number[] }
  | { do: 'destroy'; moId: string }
  /** Takes drover's marks off a VM that stays. */
  | { do: 'releaseMarks'; moId: string }
  | { do: 'cancelTask'; task: string };

/** Whose files shall be cached, and where. */
export interface WantedImageCache {
  name: string;
  /** `spec.providerID` and `spec.providerVersion`: which item of the content library, or which template. */
  providerId: string;
  providerVersion: string | null;
  location: { datacenterId: string; datastoreId: string; profileId: string };
}

/** vim25's names. `InvalidPowerState` of what it is already in is success. */
export type PowerOperation =
  | 'powerOn'
  | 'powerOff'
  | 'suspend'
  | 'reset'
  | 'shutdownGuest'
  | 'standbyGuest'
  | 'rebootGuest';

/** A change of the object, as a merge patch says it: null takes away. */
export interface VirtualMachinePatch {
  labels?: Record<string, string | null>;
  annotations?: Record<string, string | null>;
  spec?: Record<string, unknown>;
  addFinalizers?: string[];
  removeFinalizers?: string[];
}

/** Where the disks of a new VM come from. */
export type CreateSource =
  /** OVF or OVA of a content library. */
  | { from: 'contentLibraryItem'; itemId: string }
  /** An empty VM with an ISO in its drive. */
  | { from: 'nothing' }
  /** A clone of a template. */
  | { from: 'template'; moId: string }
  /** Fast deploy: copies of, or disks linked to, cached files. */
  | {
      from: 'cachedDisks';
      itemId: string;
      how: 'direct' | 'linked';
      /** Paths of the cached disks, in their order. */ disks: string[];
      /** Path of its cached NVRAM. */ nvram: string | null;
      hardware: ImageHardware;
    };

/** All that a create call says. Instance UUID and ownership mark are in it: there is no VM without them. */
export interface CreateSpec {
  name: string;
  instanceUuid: string;
  /** BIOS UUID. */
  uuid: string;
  source: CreateSource;
  at: PlacedAt;
  /** Of the disk that is made where nothing is copied; null: none is made. */
  bootDiskBytes: number | null;
  config: ReconfigSpec;
  /** Of the class: what drover does not model. */
  classConfigSpec: Record<string, unknown>;
}

/** What a step of an update, or a whole lifecycle, comes to. */
export type Outcome =
  | { kind: 'success' }
  /** The steps in their order; then look again. */
  | { kind: 'act'; steps: VirtualMachineStep[] }
  /** The sentence goes on from "Waiting for". Null: it is told; `untilMs`: look again then. `turn`: all that is missing is its turn among these. */
  | { kind: 'wait'; state: string; for: string; untilMs: number | null; turn?: SlotKind }
  /** requeue: tried again at that time; if not, something has to change first. */
  | { kind: 'failed'; requeue: boolean; reason: string; message: string; retryAtMs: number | null };

/** What a run does now. */
export type VirtualMachineDecision =
  | { next: 'act'; steps: VirtualMachineStep[]; state: string }
  | { next: 'wait'; for: string; untilMs: number | null; state: string; turn?: SlotKind }
  /** `gone`: the object is released. `rests`: somebody has to do something. */
  | { next: 'done'; message: string; state: string; end: 'settled' | 'rests' | 'gone' };

/** What is written into the status: fields as a merge patch says them (null takes away), conditions by type. */
export interface VirtualMachineStatusPatch {
  fields: { [Field in keyof VirtualMachineStatus]?: VirtualMachineStatus[Field] | null };
  conditions: ConditionUpdate[];
  /** Types of conditions to take away. */
  removed: string[];
}

export interface VirtualMachinePlan {
  /** What the run remembers from now on. */
  memory: VirtualMachineMemory;
  decision: VirtualMachineDecision;
  /** Null: nothing is to be said that is not said. */
  status: VirtualMachineStatusPatch | null;
  /** What went well or wrong, for an Event; null: nothing worth one. */
  event: { type: 'Normal' | 'Warning'; reason: string; message: string } | null;
  /** What drover writes down in the object for itself, along with the status. Lost, it is written again. */
  notes: VirtualMachinePatch[];
}

export type ObjectName = Pick<DesiredVirtualMachine, 'namespace' | 'name' | 'uid'>;
