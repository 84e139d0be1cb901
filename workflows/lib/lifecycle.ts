import type { SlotAnswer, SlotMessage } from '../../contracts/allowance.ts';
import type { ObservationOf, RunSettings, Unobserved } from '../../contracts/runs.ts';
import type { Problem } from './failures.ts';
import type { Plan, Step, Wait } from './plan.ts';

/** What a kind gives to the driver, and what it is given. Types only. */

/** The part of a kind's row that its run needs. */
export interface DrivenKind {
  readonly kind: string;
  /** The fields of the run's input that name the object: plain JSON that people type. */
  readonly input: readonly string[];
}

/** The types of a kind, in one parameter. */
export interface Lifecycle {
  /** The input of its run, which names the object. */
  input: object;
  desired: { uid: string; generation: number };
  observed: unknown;
  settings: RunSettings;
  memory: object;
  step: Step;
  status: object;
}

export type Observation<L extends Lifecycle> = ObservationOf<L['desired'], L['observed'], L['settings']>;

export interface Situation<L extends Lifecycle> {
  input: L['input'];
  desired: L['desired'] | null;
  observed: L['observed'];
  settings: L['settings'];
  memory: L['memory'];
  /** Locks of the steps that run in the background. */
  inFlight: ReadonlySet<string>;
  /** When the observation was asked for: what has happened later may not be in it. Unix ms, as nowMs. */
  askedMs: number;
  /**
   * An activity may have written the status since: that the run was queued. What differs from the observed one is not
   * all that differs.
   */
  isOvertaken?: true;
  nowMs: number;
}

export interface StepContext<L extends Lifecycle> extends Situation<L> {
  /**
   * For long waits: given up where the run is cancelled, or where `isUnwanted` says so of a spec that
   * was written meanwhile.
   *
   * @param untilWoken given up for whatever comes that is to be observed, a user's retry too
   * @throws a cancellation then
   */
  whileWanted<Result>(
    work: () => Promise<Result>,
    isUnwanted?: () => Promise<boolean>,
    untilWoken?: boolean,
  ): Promise<Result>;
  /**
   * What the object is to say of this step, where that is due: for an executor whose activity says it. Null: nothing.
   *
   * @param isUrgent it is due, however short a time ago something was said
   */
  unsaid(isUrgent?: boolean): L['status'] | null;
  /**
   * For an activity that acquires the slot of what comes next, when it has done its own work. Null: none is needed, or
   * it is held.
   */
  slotAhead(): SlotMessage | null;
}

/** Changes what is known as it is then: a status may have been published beside the step. */
export type Amend<L extends Lifecycle> = (latest: Observation<L>) => Observation<L>;

/** What came of a step. */
export interface Executed<L extends Lifecycle> {
  applyResult?: (memory: L['memory']) => L['memory'];
  /** What is known now, so that it need not be observed. Left out: the next pass begins with an observation. */
  observation?: Observation<L> | 'unchanged' | Amend<L>;
  /** The other steps of the plan do not hold any more. */
  isOutdated?: boolean;
  /** It waited for others, and did nothing itself: that it changed nothing is no reason to pause. */
  hasWaited?: boolean;
  /** An activity of the step has said what `unsaid` gave. */
  isSaid?: boolean;
  /** An activity of the step has released the slot that the run held. */
  isSlotReleased?: boolean;
  /** What it was answered by `slotAhead`; `unknown`: no answer came. Left out: it has not asked. */
  slot?: SlotAnswer | 'unknown';
}

/** Executes a step by activities, or children. @throws what Temporal's retries did not mend */
export type Executor<L extends Lifecycle, S extends Step> = (
  context: StepContext<L>,
  step: S,
) => Promise<Executed<L> | void>;

/** What a kind's own messages may do with the run. */
export interface RunHandle<L extends Lifecycle> {
  /** Observe as soon as possible. */
  wake(): void;
  memory(): L['memory'];
  update(change: (memory: L['memory']) => L['memory']): void;
  /** Null before the first observation. */
  situation(): Situation<L> | null;
}

export interface Reconciler<L extends Lifecycle> {
  /** What a run begins with. Carried over as it continues as new; nothing that could be read again. */
  memory: L['memory'];
  /**
   * By activities.
   *
   * @param repeats only time has passed since the last observation
   * @throws what Temporal's retries did not mend; InvalidInput ends the run
   */
  observe(input: L['input'], memory: L['memory'], repeats: boolean): Promise<Observation<L> | Unobserved>;
  /** Pure. */
  plan(situation: Situation<L>): Plan<L['step']>;
  execute: { [Kind in L['step']['kind']]: Executor<L, Extract<L['step'], { kind: Kind }>> };
  /** Pure. What the object is to say; null: nothing of such a plan. */
  status(situation: Situation<L>, plan: Plan<L['step']>): L['status'] | null;
  /** Pure. Whether the object said so when it was observed; what the run has published since then, the driver knows. */
  isSaid(observed: L['observed'], status: L['status']): boolean;
  /**
   * `retryHandled` is to be said as `drover.dev/retry-handled`; null: there is no retry to answer. What the object says
   * then need not be observed where it is returned.
   */
  publish(situation: Situation<L>, status: L['status'], retryHandled: string | null): Promise<Amend<L> | void>;
  /** Values of the search attributes beside phase and reason, which are the plan's. */
  attributes?(situation: Situation<L>): { object?: string; host?: string; phase?: string };
  /**
   * The planner deals with the failed step, by what it finds in the memory. Null or left out: the driver waits, and
   * tries again.
   */
  applyFailure?(memory: L['memory'], step: L['step'], problem: Problem, nowMs: number): L['memory'] | null;
  /** A new generation, or a user who asks for another try, may have put right what failed. */
  resetFailures?(memory: L['memory'], by: 'spec' | 'retry'): L['memory'];
  /** Drops what the observation has overtaken. */
  prune?(memory: L['memory'], situation: Situation<L>): L['memory'];
  /** Each plan is shown to it once before it is executed: for metrics, and for what the memory keeps of a plan. */
  planned?(situation: Situation<L>, plan: Plan<L['step']>): L['memory'];
  /** How a cancelled run leaves the world. */
  cancel?(situation: Situation<L>): { steps: readonly L['step'][]; message: string };
  /** Markdown, for the Web UI. */
  details?(situation: Situation<L>, plan: Plan<L['step']>): string;
  /** More of what `progress` answers. */
  progress?(situation: Situation<L> | null): object;
  /** More of what a run ends with that has come to its end: what a later run of the same id reads. */
  result?(situation: Situation<L>): object;
  /**
   * Whether the run may continue as new, or release a slot for a failure; slots, steps in flight and handlers
   * are the driver's.
   */
  isQuiescent?(memory: L['memory']): boolean;
  /** Whether this observation already shows the state that the watch of an outside system has reported. */
  isEcho?(observed: L['observed'], stateDigest: string): boolean;
  /** Sets handlers of the kind's own messages. */
  listen?(run: RunHandle<L>): void;
  /** Answers what is still asked of the run as it ends: handlers that wait would keep it open. Pure. */
  dismiss?(memory: L['memory'], message: string): L['memory'];
  /**
   * Something has come after the run said that it is done: drops what is over, so that the next observation begins
   * anew. Pure.
   */
  reopen?(memory: L['memory']): L['memory'];
  slots?: {
    /** What a run in the queue waits for, as far as a run knows. Pure. */
    queued(situation: Situation<L>, limit: string): Wait;
    /**
     * Resolves when the slot is granted, and is cancelled where it is not wanted any more. An activity of it says what
     * `queued` gives in the object, once the run is in the queue; null: there is nothing to say.
     *
     * @returns whether the run was queued
     * @throws what asking fails with
     */
    acquire(
      situation: Situation<L>,
      limit: string,
      run: RunHandle<L>,
      queued: QueuedStatus<L> | null,
    ): Promise<boolean>;
    /**
     * Takes it out of the run's memory at once, as the next one may be noted there.
     *
     * @returns what tells the limit, which the driver calls when no request for the slot is on its way any more
     */
    release(situation: Situation<L>, limit: string, run: RunHandle<L>): () => Promise<void>;
    /** For activities that acquire slots along with their work. Left out: none does. */
    ahead?: {
      /** What such an activity is given. */
      request(situation: Situation<L>, limit: string, run: RunHandle<L>): SlotMessage;
      /**
       * Takes the answer; null: it was not asked for.
       *
       * @returns whether the slot is granted
       */
      answered(limit: string, answer: SlotAnswer | null, run: RunHandle<L>): boolean;
    };
  };
}

/**
 * What an object says while its run is in the queue, with contracts/allowance.ts `queuePlaceholder` where the queue is
 * to be described.
 */
export interface QueuedStatus<L extends Lifecycle> {
  status: L['status'];
  retryHandled: string | null;
}

/** What a run leaves to the one that it continues as. */
export interface Carried<L extends Lifecycle> {
  memory: L['memory'];
  /** In a row, for the back-off. */
  failures: number;
  /** The run has changed something. */
  changed: boolean;
  retryHandled: string | null;
}
