import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  DrainGuard,
  HypervisorCheck,
  HypervisorInput,
  HypervisorObservation,
  HypervisorPatch,
  HypervisorSettings,
  HypervisorStatusPatch,
  NewEviction,
  NewHypervisor,
  TestRecord,
} from '../../contracts/hypervisor/hypervisor.ts';
import type { AggregateChange } from '../../contracts/hypervisor/activities.ts';
import type { Situation } from '../lib/lifecycle.ts';
import type { Done, Reason, Step, Wait } from '../lib/plan.ts';

/** The types of the lifecycle, and the words that its planners are written in. */

export interface HypervisorLifecycle {
  input: HypervisorInput;
  desired: DesiredHypervisor;
  observed: HypervisorObservation;
  settings: HypervisorSettings;
  memory: HypervisorMemory;
  step: HypervisorStep;
  status: HypervisorStatusPatch;
}

/** What a run knows that it could not read again. */
export interface HypervisorMemory {
  tests: TestRecord[];
  /** What a step of the onboarding failed with that trying again does not mend; null: nothing. */
  refusal: string | null;
  /**
   * Since when it has been waiting for the registration, and for nothing else, Unix ms; null: it has not. Not since
   * when the onboarding has been under way: that goes on through tests, outages and maintenance.
   */
  registeringSinceMs: number | null;
  /** Observations in a row in which OpenStack did not answer, for the back-off. */
  failures: number;
  /** What the run of the host's failure was last sent, and when; null: nothing. */
  signalled: { cause: string; atMs: number } | null;
  /** The deadline of which it was counted that half of the time is over, Unix ms; null: none. */
  halfOverAtMs: number | null;
}

export type HypervisorSituation = Pick<
  Situation<HypervisorLifecycle>,
  'desired' | 'observed' | 'settings' | 'memory' | 'askedMs' | 'nowMs'
>;

/** What every decision about an existing Hypervisor is made of. */
export interface Context extends Omit<HypervisorSituation, 'askedMs'> {
  desired: DesiredHypervisor;
}

/** What is done, by one activity, an *ensure* verb. */
type Action =
  /** Kubernetes */
  | { kind: 'createHypervisor'; hypervisor: NewHypervisor }
  /** In that order, one after the other. */
  | { kind: 'patchHypervisor'; patches: HypervisorPatch[] }
  | { kind: 'createEviction'; eviction: NewEviction }
  | { kind: 'setEvictionDeadline'; name: string; uid: string; deadline: string }
  | { kind: 'deleteEviction'; name: string; uid: string }
  | { kind: 'taintNode'; node: string }
  | { kind: 'untaintNode'; node: string }
  | { kind: 'ensureCertificate'; node: string }
  | { kind: 'ensureDrainGuard'; node: string; guard: DrainGuard }
  /** Nova */
  | { kind: 'disableService'; host: string; reason: string }
  /** Only while it is disabled with exactly that reason. */
  | { kind: 'enableService'; host: string; carrying: string | null }
  /**
   * By consent of a user: another party has forced it down. Nova refuses while guests that were evacuated
   * are still there.
   */
  | { kind: 'liftForcedDown'; host: string; consentBy: string }
  | { kind: 'changeAggregates'; host: string; changes: AggregateChange[] }
  | { kind: 'deleteTestServers'; ids: string[] }
  | { kind: 'deleteService'; serviceId: string; host: string }
  /** Placement */
  | { kind: 'updateTraits'; providerId: string; add: string[]; remove: string[] }
  | { kind: 'releaseAllocations'; providerId: string; consentBy: string }
  /** `consentBy` null: only where nothing is allocated. */
  | { kind: 'deleteProvider'; providerId: string; consentBy: string | null }
  /** libvirt, Open vSwitch, Ceph, Nova. `sinceMs`: of the onboarding that they are made for. */
  | { kind: 'runChecks'; checks: { check: HypervisorCheck; attempt: number }[]; sinceMs: number }
  /** The run that judges whether the host has failed. */
  | { kind: 'signalNodeFailure'; cause: string };

/** A step without its phase, which is the state of the lifecycle. */
export type Draft = Action & Pick<Step, 'summary' | 'publish'>;

export type HypervisorStep = Draft & {
  phase: string;
  /** Of an onboarding, which ends with a failure that trying again does not mend. */
  onboards?: true;
};

/** A plan without its phase. The reason of an end is the state, too. */
export type Decision =
  | { kind: 'execute'; steps: readonly Draft[] }
  | Omit<Wait, 'phase' | 'slot'>
  | Omit<Done, 'reason'>;

/** How far it has come changes; then it is decided again. Costs no call. */
export interface Transition {
  kind: 'become';
  conditions: ConditionUpdate[];
  /** Types of conditions that hold no longer. */
  removed?: string[];
  ids?: { hypervisorId: string | null; serviceId: string | null };
  /** The retry that a user asks for is taken up. */
  takesUpRetry?: true;
}

export const execute = (...steps: Draft[]): Decision => ({ kind: 'execute', steps });

/** @param message goes on from `Waiting for`. Where a time alone ends it, the time */
export const wait = (reason: Reason, message: string, untilMs: number | null = null): Decision => ({
  kind: 'wait',
  reason,
  message,
  untilMs,
});

export const reconciled = (message: string): Decision => ({ kind: 'done', outcome: 'reconciled', message });

/** It is not where it should be, and a user has to do something about it. */
export const blocked = (message: string): Decision => ({ kind: 'done', outcome: 'blocked', message });
