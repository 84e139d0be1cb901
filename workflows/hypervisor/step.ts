import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  DrainGuard,
  HypervisorCheck,
  HypervisorObservation,
  HypervisorPatch,
  HypervisorSettings,
  NewEviction,
  NewHypervisor,
} from '../../contracts/hypervisor/hypervisor.ts';

/** What every decision about an existing Hypervisor is made of. */
export interface Context {
  desired: DesiredHypervisor;
  observed: HypervisorObservation;
  settings: HypervisorSettings;
  /** Milliseconds since the epoch. */
  nowMs: number;
}

/** One call of one activity, an *ensure* verb, with the words that a person reads beside it. */
export type Step = Deed & { words: string };

export type Deed =
  /** Kubernetes */
  | { do: 'createHypervisor'; hypervisor: NewHypervisor }
  /** In that order, one after the other. */
  | { do: 'patchHypervisor'; patches: HypervisorPatch[] }
  | { do: 'createEviction'; eviction: NewEviction }
  | { do: 'setEvictionDeadline'; name: string; uid: string; deadline: string }
  | { do: 'deleteEviction'; name: string; uid: string }
  | { do: 'taintNode'; node: string }
  | { do: 'untaintNode'; node: string }
  | { do: 'ensureDrainGuard'; node: string; guard: DrainGuard }
  /** Nova */
  | { do: 'disableService'; host: string; reason: string }
  /** Only while it is disabled with exactly that reason. */
  | { do: 'enableService'; host: string; carrying: string | null }
  | { do: 'addToAggregates'; host: string; aggregates: { id: number; name: string }[] }
  | { do: 'removeFromAggregates'; host: string; aggregates: { id: number; name: string }[] }
  | { do: 'deleteTestServers'; ids: string[] }
  | { do: 'deleteService'; serviceId: string; host: string }
  /** Placement */
  | { do: 'createTraits'; traits: string[] }
  | { do: 'updateTraits'; providerId: string; generation: number; add: string[]; remove: string[] }
  | { do: 'releaseAllocations'; providerId: string; consentBy: string }
  /** `consentBy` null: only where nothing is allocated. */
  | { do: 'deleteProvider'; providerId: string; consentBy: string | null }
  /** libvirt, Open vSwitch, Ceph, Nova */
  | {
      do: 'runCheck';
      check: HypervisorCheck;
      attempt: number;
      /** Of the onboarding that it is made for. */
      sinceMs: number;
    };

/** What a decision comes to. */
export type Decision =
  /** The steps in their order; then look again. */
  | { next: 'act'; steps: Step[] }
  /** The sentence for people goes on from "Waiting for". Where a time alone ends it, the time. */
  | { next: 'wait'; for: string; untilMs: number | null }
  /** Nothing is left to do, as things are. `rests`: it is not where it should be, and somebody has to do something about it. */
  | { next: 'done'; message: string; rests: boolean };

/** How far it has come changes; then it is decided again. Costs no call. */
export interface Become {
  next: 'become';
  conditions: ConditionUpdate[];
  /** Types of conditions that hold no longer. */
  forget?: string[];
  ids?: { hypervisorId: string | null; serviceId: string | null };
}

export type Plan = Decision | Become;

export const act = (...steps: Step[]): Decision => ({ next: 'act', steps });

export const wait = (sentence: string, untilMs: number | null = null): Decision => ({
  next: 'wait',
  for: sentence,
  untilMs,
});

export const done = (message: string): Decision => ({ next: 'done', message, rests: false });

export const rest = (message: string): Decision => ({ next: 'done', message, rests: true });
