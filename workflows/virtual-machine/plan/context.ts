import type { Plan, Step } from '../../lib/plan.ts';
import type { Lifecycle, Situation } from '../../lib/lifecycle.ts';
import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import type { ObservedObjects, VcenterObservation } from '../../../contracts/virtual-machine/activities.ts';
import type { FileOperation, FilePlace } from '../../../contracts/virtual-machine/cached-files.ts';
import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import type {
  DesiredVirtualMachine,
  VirtualMachineInput,
  VirtualMachineSettings,
} from '../../../contracts/virtual-machine/lifecycle.ts';
import type {
  CreateSpec,
  PowerOperation,
  PublishedVirtualMachine,
  VirtualMachinePatch,
  WantedImageCache,
} from '../../../contracts/virtual-machine/mutations.ts';
import type {
  Stage,
  StageFailure,
  VirtualMachineMemory,
  VirtualMachineObservation,
  ObservedVm,
} from '../../../contracts/virtual-machine/observation.ts';
import { type EvaluationChange, refusedPolicies } from '../../../contracts/virtual-machine/policies.ts';
import type { VolumeChange } from '../../../contracts/virtual-machine/volumes.ts';
import { composeObservation } from '../observation.ts';
import type { SlotClaim } from '../../limits/slots.ts';

/** What the run of a virtual machine is made of, and what every decision about one is made on. */

/** What a run may do with a VM: each is safe to repeat, and to execute twice at once. */
export type VirtualMachineAction =
  /** Kubernetes. In that order; the spec only while it is of the generation that was read. */
  | { kind: 'patchVirtualMachine'; patches: VirtualMachinePatch[] }
  /** Asks for volumes to be attached and detached: the vSphere CSI driver does it. */
  | { kind: 'changeVolumes'; changes: VolumeChange[] }
  /** Asks the controller of policies which of them apply. */
  | ({ kind: 'evaluatePolicies' } & EvaluationChange)
  /** Puts the location into the VirtualMachineImageCache of the image, which is made if there is none. */
  | ({ kind: 'ensureImageCache' } & WantedImageCache)
  /**
   * vCenter. Writes its notes into the object first, and finds the VM by its owner before it submits; `blocking`: waits
   * to the end.
   */
  | { kind: 'createVirtualMachine'; create: CreateSpec; blocking: boolean; notes: VirtualMachinePatch[] }
  /** With the files of a VM that is being made from cached ones. */
  | { kind: 'file'; place: FilePlace; operation: FileOperation }
  /** A task that is under way, to its end; failure of the task is a failure of the stage. */
  | { kind: 'awaitTask'; task: string; deadlineMs: number }
  /**
   * Of a create that is not wanted any more: cancels, waits for the end, then finds the VM by its owner. `awaited`: where
   * its task is not known, those that may be it; left out: all that are under way.
   */
  | { kind: 'cancelCreate'; task: string | null; awaited?: readonly string[] }
  /**
   * Writes the owner into a VM without one, or with the one that the replaced operator wrote. Before that no other
   * mutation is made.
   */
  | { kind: 'adopt'; moId: string; changeVersion: string }
  | { kind: 'reconfigure'; moId: string; changeVersion: string; spec: ReconfigSpec }
  | { kind: 'upgradeHardware'; moId: string; version: number }
  /**
   * The activity reads the Secrets; only the hash is known here. `cards`: device keys of those that the spec's
   * interfaces are, in its order. `noted`: what the object notes of it afterwards.
   */
  | {
      kind: 'bootstrap';
      moId: string;
      part: 'config' | 'custom';
      hash: string;
      cards: (number | null)[];
      noted: string;
    }
  | { kind: 'attachClusterModule'; moId: string; module: string }
  /** Writes its notes into the object first. `restartForMs`: of a restart, the nextRestartTime that it is for. */
  | { kind: 'power'; moId: string; operation: PowerOperation; restartForMs?: number; notes?: VirtualMachinePatch[] }
  /** Beside everything else. `task`: one that is under way and is only awaited; null: there is none. */
  | { kind: 'promoteDisks'; moId: string; keys: number[]; task: string | null }
  | { kind: 'writeBackup'; moId: string; version: string }
  | { kind: 'detachDisks'; moId: string; keys: number[] }
  | { kind: 'destroy'; moId: string }
  /** Removes drover's metadata from a VM that stays. */
  | { kind: 'releaseVm'; moId: string }
  | { kind: 'cancelTask'; task: string };

/** An action as a planner says it: `stage` is the part of the lifecycle whose failures it counts among. */
export type StagedAction = VirtualMachineAction & { summary: string; stage: Stage };

export type VirtualMachineStep = StagedAction & Step;

/** What is known of a VirtualMachine and its VM. */
export interface ObservedVirtualMachine {
  recorded: VirtualMachineStatus;
  objects: ObservedObjects;
  /** Null: it was not observed, as there is no such object, its owner has paused it, or there is a problem. */
  vcenter: VcenterObservation | null;
  /** Why vCenter could not be observed. */
  problem: Pick<StageFailure, 'reason' | 'message' | 'requeue'> | null;
  /** A step of this run returned it, and no observation: a change since the status was written is the run's own. */
  isAfterStep: boolean;
}

export interface VirtualMachineLifecycle extends Lifecycle {
  input: VirtualMachineInput;
  desired: DesiredVirtualMachine;
  observed: ObservedVirtualMachine;
  settings: VirtualMachineSettings;
  memory: VirtualMachineMemory & { slot: SlotClaim | null };
  step: VirtualMachineStep;
  status: PublishedVirtualMachine;
}

export type VirtualMachineSituation = Situation<VirtualMachineLifecycle>;
export type VirtualMachinePlan = Plan<VirtualMachineStep>;

/** What a stage, or a whole lifecycle, comes to. */
export type Outcome =
  | { kind: 'success' }
  /** In their order; then it is planned again. */
  | { kind: 'execute'; steps: StagedAction[] }
  /** `Waiting for ${message}` is a sentence. Null: an event ends it. */
  | { kind: 'wait'; phase: string; message: string; untilMs: number | null }
  /**
   * requeue: tried again at that time; if not, something has to change first. `holdsUp` false: it stops nothing that
   * comes after; left out: one that is not tried again does.
   */
  | { kind: 'failed'; requeue: boolean; reason: string; message: string; retryAtMs: number | null; holdsUp?: false };

export interface Context {
  desired: DesiredVirtualMachine;
  observed: VirtualMachineObservation;
  memory: VirtualMachineMemory;
  settings: VirtualMachineSettings;
  /** This run promotes disks, beside everything else. */
  isPromoting: boolean;
  /** Milliseconds since the epoch. */
  nowMs: number;
}

/** Of a VM that exists. */
export interface VmContext extends Context {
  vm: ObservedVm;
}

export const contextIn = (
  { observed: { recorded, objects, vcenter }, memory, settings, inFlight, nowMs }: VirtualMachineSituation,
  desired: DesiredVirtualMachine,
): Context => ({
  desired: withRefused(desired, refusedPolicies(desired.policies, objects.policies)),
  observed: composeObservation(recorded, objects, vcenter),
  memory,
  settings,
  isPromoting: inFlight.has(promotionLock),
  nowMs,
});

/** What cannot be done in this cluster is refused as what drover never does. */
const withRefused = (desired: DesiredVirtualMachine, more: readonly string[]): DesiredVirtualMachine =>
  more.length === 0 ? desired : { ...desired, refused: [...desired.refused, ...more] };

/** Of the step that promotes disks: it runs in the background. */
export const promotionLock = 'promotion';

export const success: Outcome = { kind: 'success' };

export const execute = (
  stage: Stage,
  ...actions: (readonly [summary: string, action: VirtualMachineAction])[]
): Outcome & { kind: 'execute' } => ({
  kind: 'execute',
  steps: actions.map(([summary, action]) => ({ ...action, summary, stage })),
});

export const patch = (
  stage: Stage,
  summary: string,
  ...patches: VirtualMachinePatch[]
): Outcome & { kind: 'execute' } => execute(stage, [summary, { kind: 'patchVirtualMachine', patches }]);

export const wait = (phase: string, message: string, untilMs: number | null = null): Outcome => ({
  kind: 'wait',
  phase,
  message,
  untilMs,
});

/** Trying again is no use: something has to change first. */
export const stop = (reason: string, message: string): Outcome & { kind: 'failed' } => ({
  kind: 'failed',
  requeue: false,
  reason,
  message,
  retryAtMs: null,
});

/** What it lacks holds up nothing else, and a run is started when it comes. */
export const lack = (reason: string, message: string): Outcome => ({ ...stop(reason, message), holdsUp: false });

/** What it lacks may come by itself, and no event says so. */
export const recheck = (reason: string, message: string, retryAtMs: number): Outcome => ({
  kind: 'failed',
  requeue: true,
  reason,
  message,
  retryAtMs,
});

export const retry = ({ reason, message, retryAtMs, requeue }: StageFailure): Outcome => ({
  kind: 'failed',
  requeue,
  reason,
  message,
  retryAtMs: requeue ? retryAtMs : null,
});

/** What the stage last failed with, while it is not tried again. */
export const failureOf = (
  { memory, nowMs }: Pick<Context, 'memory' | 'nowMs'>,
  stage: Stage,
): StageFailure | undefined =>
  memory.failures.find((failure) => failure.stage === stage && (!failure.requeue || failure.retryAtMs > nowMs));

export const fullName = ({ namespace, name }: Pick<DesiredVirtualMachine, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** What the spec asks for and drover does not do, and what a user does about it. */
export const describeRefused = ({ refused }: Pick<DesiredVirtualMachine, 'refused'>): string =>
  `${refused.join('; ')}. Take ${refused.length === 1 ? 'it' : 'them'} out of the spec, or let VM Operator drive the object`;

/** A create is under way. */
export const isBeingMade = ({ create }: Pick<VirtualMachineMemory, 'create'>): boolean =>
  create !== null && create.task !== null;

/** Whether it releases the object. */
export const releases = (step: VirtualMachineAction): boolean =>
  step.kind === 'patchVirtualMachine' && step.patches.some(({ removeFinalizers = [] }) => removeFinalizers.length > 0);
