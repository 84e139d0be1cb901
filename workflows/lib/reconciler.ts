import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  setHandler,
  TemporalFailure,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { messages } from '../../contracts/messages.ts';
import { digestMemo, type RunProgress, type RunResult } from '../../contracts/runs.ts';
import { explain, invalidInput } from './failures.ts';
import { Inbox } from './inbox.ts';
import { readCarried, readInput } from './input.ts';
import type {
  Amend,
  Carried,
  DrivenKind,
  Executed,
  Executor,
  Lifecycle,
  Observation,
  Reconciler,
  RunHandle,
  Situation,
  StepContext,
} from './lifecycle.ts';
import { describeIntent, done, wait, type Done, type Execute, type Plan, type SlotRequest, type Wait } from './plan.ts';
import { Publisher } from './publisher.ts';
import { countRepetition, repeatAtMs, type Repetition, retryAfterMs } from './retry.ts';
import { SlotHolder } from './slot.ts';

/** A run this old continues as new, so that none is older than the release before last. */
const oldMs = 24 * 60 * 60_000;
/** So long an observation holds while a run waits for a slot and no message comes. */
const reliedOnMs = 60_000;
/** Before the first observation there are no settings. */
const unknownRecheckMs = 10 * 60_000;

/**
 * Makes the workflow of a kind: observe → plan → execute → publish, until nothing is left to do. The input names the object; the second
 * argument is what an earlier run of the chain carried over. A cancel lets the step under way finish and leads to the kind's own end.
 */
export function defineReconciler<L extends Lifecycle>(kind: DrivenKind, spec: Reconciler<L>) {
  return async (input: L['input'], carried?: Carried<L>): Promise<RunResult> => {
    const driver = new Driver<L>(kind, spec, readInput(kind, input), readCarried(carried));
    return await CancellationScope.nonCancellable(() => driver.drive());
  };
}

class Driver<L extends Lifecycle> {
  private readonly spec: Reconciler<L>;
  private readonly input: L['input'];
  /** Kind and name of the object. */
  private readonly title: string;
  private readonly startedMs = Date.now();
  private readonly carried: Carried<L>;
  private readonly inbox = new Inbox();
  private readonly publisher: Publisher<L>;
  private readonly slot: SlotHolder<L>;
  /** Locks of the steps in the background. */
  private readonly inFlight = new Set<string>();
  private observation: Observation<L> | null = null;
  private askedMs = 0;
  /** Nothing was executed or waited for since the observation that makes it old. */
  private fresh = false;
  private failure: { reason: string; message: string; retryAtMs: number } | null = null;
  private repetition: Repetition | null = null;
  private waiting: RunProgress['waiting'] = null;
  /** Of the code of a step in the background. */
  private mistake: unknown = null;

  /** All handlers are set before the first await, so that nothing that came with the start is missed. */
  constructor(kind: DrivenKind, spec: Reconciler<L>, input: L['input'], carried: Carried<L> | null) {
    this.spec = spec;
    this.input = input;
    this.title = `${kind.kind} ${kind.input.map((field) => String(Object(input)[field])).join('/')}`;
    this.carried = { memory: spec.memory, failures: 0, changed: false, retryHandled: null, ...carried };
    const situation = (): Situation<L> | null => this.situationOrNull();
    this.publisher = new Publisher(kind.kind, spec, situation, (change) => this.amend(change));
    const run: RunHandle<L> = {
      wake: () => void (this.inbox.pending = true),
      memory: () => this.carried.memory,
      update: (change) => void (this.carried.memory = change(this.carried.memory)),
      situation,
      grantSlot: (limit) => this.slot.grant(limit),
    };
    this.slot = new SlotHolder(spec, run);
    this.inbox.listen(this.title);
    setHandler(messages.progress, () => this.progress());
    spec.listen?.(run);
  }

  async drive(): Promise<RunResult> {
    for (;;) {
      if (this.mistake !== null) throw this.mistake;
      if (this.failure === null && !this.isCurrent()) {
        const nothing = await this.observe();
        if (nothing !== null && !this.inbox.cancelled) {
          const ended = await this.end(nothing);
          if (ended !== null) return ended;
          continue;
        }
      }
      if (this.inbox.cancelled) return await this.endAsCancelled();
      const plan = this.decide();
      this.publisher.show(plan, this.carried.changed);
      this.slot.releaseUnless(plan.kind === 'done' ? undefined : plan.slot?.limit, this.situationOrNull());
      if (plan.kind === 'execute') await this.execute(plan);
      else if (plan.kind === 'wait') await this.wait(plan);
      else {
        const ended = await this.finish(plan);
        if (ended !== null) return ended;
      }
      if (this.isOld() && !this.inbox.cancelled) await this.continueAsNewWhereQuiet();
    }
  }

  private progress(): RunProgress {
    const { waiting, inFlight, carried, publisher } = this;
    return {
      object: this.title,
      ...publisher.shown,
      waiting,
      failures: carried.failures,
      inFlight: [...inFlight],
      ...this.spec.progress?.(this.situationOrNull()),
    };
  }

  /** What makes the observation old. */
  private isPending(): boolean {
    const { observation, inbox, spec } = this;
    const isEcho = (stateDigest: string): boolean =>
      observation !== null && spec.isEcho !== undefined && spec.isEcho(observation.observed, stateDigest);
    return inbox.isPending(observation?.desired ?? null, isEcho);
  }

  /** What ends a wait. */
  private readonly isWoken = (): boolean => this.isPending() || this.inbox.stepEnded || this.inbox.cancelled;

  private isNewer(): boolean {
    return this.inbox.isNewer(this.observation?.desired ?? null);
  }

  private isCurrent(): boolean {
    return this.fresh && !this.isPending();
  }

  /** @returns how the run ends where there is nothing to reconcile */
  private async observe(): Promise<RunResult | null> {
    const { inbox, spec, title: object } = this;
    if (inbox.retryNow) {
      this.resetFailures();
      this.slot.askAgain();
    }
    if (this.isPending()) this.repetition = null;
    inbox.empty();
    this.fresh = true;
    const askedMs = Date.now();
    const observed = await spec
      .observe(this.input, this.carried.memory)
      .catch((error: unknown) => this.fail(error, null));
    if (observed === null) return null;
    this.askedMs = askedMs;
    if (observed.kind !== 'observed') {
      this.fresh = false;
      const reason = observed.kind === 'nothing' ? 'SwitchedOff' : 'HandedOver';
      return { object, outcome: observed.kind, reason, message: observed.message };
    }
    // A changed spec may have put right what failed, and so may a user who asks for a retry in the object. What a step has written has not.
    const { observation: before, carried } = this;
    const isChanged = before !== null && before.desired?.generation !== observed.desired?.generation;
    const isRetry = observed.retry !== null && observed.retry !== carried.retryHandled;
    if (isChanged || isRetry) this.resetFailures();
    if (isRetry) carried.retryHandled = observed.retry;
    this.take(observed);
    return null;
  }

  private take(observation: Observation<L>): void {
    const { carried, spec } = this;
    this.observation = observation;
    this.publisher.observed(observation.retry);
    carried.memory = spec.prune?.(carried.memory, this.situation()) ?? carried.memory;
  }

  /** What was published is known. */
  private amend(change: Amend<L>): void {
    if (this.observation !== null) this.observation = change(this.observation);
  }

  private situation(): Situation<L> {
    if (this.observation === null) throw new Error('planned before the first observation');
    const { desired, observed, settings } = this.observation;
    const { carried, inFlight, input, askedMs } = this;
    return { input, desired, observed, settings, memory: carried.memory, inFlight, askedMs, nowMs: Date.now() };
  }

  private situationOrNull(): Situation<L> | null {
    return this.observation === null ? null : this.situation();
  }

  private decide(): Plan<L['step']> {
    const { failure, publisher, spec, carried } = this;
    if (failure !== null) {
      const { reason, message, retryAtMs } = failure;
      return wait(publisher.shown.phase, reason, message, retryAtMs, this.keptSlot());
    }
    const situation = this.situation();
    const plan = spec.plan(situation);
    carried.memory = spec.planned?.(situation, plan) ?? carried.memory;
    this.repetition = countRepetition(this.repetition, plan);
    if (plan.kind === 'done') return plan;
    if (situation.settings.mode === 'observe')
      return done('blocked', 'ObserveOnly', `drover only observes. It would: ${describeIntent(plan)}`);
    const paused = this.pause(plan);
    if (paused !== null) return paused;
    const begins = plan.kind === 'execute' && plan.steps.some(({ background }) => background !== undefined);
    if (!begins || !this.isOld() || this.inFlight.size === 0) return plan;
    return wait(publisher.shown.phase, 'ContinuesAsNew', 'what is in flight to end, to continue as a new run');
  }

  /** Steps that change nothing would be executed without end. Null: there is nothing to pause for. */
  private pause(plan: Plan<L['step']>): Wait | null {
    const { repetition, publisher } = this;
    const untilMs = repetition === null ? 0 : repeatAtMs(repetition);
    if (repetition === null || Date.now() >= untilMs) return null;
    const message = `another attempt: "${describeIntent(plan)}" was executed ${repetition.times} times and changed nothing`;
    return wait(publisher.shown.phase, 'NoProgress', message, untilMs, this.keptSlot());
  }

  /** A slot is released for a back-off, but not in the middle of what needs it. */
  private keptSlot(): SlotRequest | undefined {
    const held = this.spec.isQuiescent?.(this.carried.memory) === false ? this.slot.limit : null;
    return held === null ? undefined : { limit: held };
  }

  private async execute({ steps, slot }: Execute<L['step']>): Promise<void> {
    if (slot !== undefined && slot.onlyKept !== true) {
      const queued = await this.slot.acquire(this.situation(), slot.limit).catch((error: unknown) => {
        this.fail(error, null);
        return 'failed' as const;
      });
      if (queued === 'failed') return;
      if (queued !== null) return await this.wait({ ...queued, slot });
      if (Date.now() - this.askedMs > reliedOnMs) this.fresh = false;
    }
    // Acquiring takes time: what came meanwhile is observed first.
    if (!this.isCurrent() || this.inbox.cancelled) return;
    const { repetition } = this;
    if (repetition !== null) this.repetition = { ...repetition, times: repetition.times + 1, atMs: Date.now() };
    let isKnown = true;
    for (const step of steps) {
      if (step.background !== undefined) {
        this.startInBackground(step, step.background);
        continue;
      }
      this.fresh = false;
      const executed = await this.executeStep(step);
      if (executed === null) return;
      isKnown &&= executed.observation !== undefined;
      // The other steps were decided on what does not hold any more.
      if (executed.isOutdated === true || this.inbox.cancelled || this.isNewer()) return;
    }
    this.carried.failures = 0;
    // What ended in the background meanwhile may have changed what is known.
    this.fresh = isKnown && !this.inbox.stepEnded;
  }

  /** Null: it failed, and what is to be done about that is planned. */
  private async executeStep(step: L['step']): Promise<Executed<L> | null> {
    const publishing = step.publish === 'beside' ? this.publishBeside(step) : null;
    try {
      if (step.publish === 'before') await this.publisher.publish({ kind: 'execute', steps: [step] });
      return this.applyResult(await this.call(step));
    } catch (error) {
      return this.fail(error, step);
    } finally {
      await publishing;
    }
  }

  /** One that fails is not the object's problem: the next one says the same. */
  private async publishBeside(step: L['step']): Promise<void> {
    const plan: Execute<L['step']> = { kind: 'execute', steps: [step] };
    const dueMs = this.publisher.dueMs(plan);
    if (dueMs !== null && Date.now() >= dueMs) await this.publisher.publish(plan).catch(explain);
  }

  private async call(step: L['step']): Promise<Executed<L> | void> {
    const executor = this.spec.execute[step.kind as L['step']['kind']] as Executor<L, L['step']>;
    const context: StepContext<L> = {
      ...this.situation(),
      whileWanted: (work, isUnwanted) => this.whileWanted(work, isUnwanted),
      unsaid: () => this.publisher.take({ kind: 'execute', steps: [step] }),
    };
    return await executor(context, step);
  }

  private applyResult(executed: Executed<L> | void): Executed<L> {
    const { applyResult, observation } = executed ?? {};
    // What changes nothing of what is observed has no echoes to stay for.
    if (observation !== 'unchanged') this.carried.changed = true;
    if (applyResult !== undefined) this.carried.memory = applyResult(this.carried.memory);
    if (executed?.isSlotReleased === true) this.slot.discard();
    if (executed?.isSaid === true) this.publisher.said();
    if (observation === undefined || observation === 'unchanged') return executed ?? {};
    if (typeof observation !== 'function') this.take(observation);
    else if (this.observation !== null) this.take(observation(this.observation));
    return executed ?? {};
  }

  private startInBackground(step: L['step'], lock: string): void {
    if (this.inFlight.has(lock)) return;
    this.inFlight.add(lock);
    const ended = (executed: Executed<L> | null): void => {
      this.inFlight.delete(lock);
      this.inbox.stepEnded = true;
      if (executed?.observation === undefined) this.fresh = false;
    };
    this.call(step)
      .then(
        (executed) => ended(this.applyResult(executed)),
        (error: unknown) => ended(this.fail(error, step)),
      )
      .catch((error: unknown) => {
        this.mistake = error;
        ended(null);
      });
  }

  /** Gives up work that may take long where the run is cancelled, or a newer spec does not want it. @throws CancelledFailure then */
  private async whileWanted<Result>(work: () => Promise<Result>, isUnwanted?: () => Promise<boolean>): Promise<Result> {
    const scope = new CancellationScope();
    const { inbox } = this;
    const running = { isOver: false };
    const result = scope.run(work).finally(() => (running.isOver = true));
    const isOver = (): boolean => running.isOver || inbox.cancelled;
    const giveUp = async (): Promise<void> => {
      let asked = '';
      const newer = (): string => inbox.newerSpec(this.observation?.desired ?? null);
      while (!isOver()) {
        await condition(() => isOver() || (isUnwanted !== undefined && newer() !== asked));
        asked = newer();
        // Where it cannot be asked, the work goes on, as it was wanted.
        if (!isOver() && asked !== '' && (await isUnwanted?.().catch(() => false)) === true) break;
      }
      if (!running.isOver) scope.cancel();
    };
    void giveUp();
    return await result;
  }

  /** Until its time has come or a message has. It is published, but not before the last status is 2 s old. */
  private async wait(plan: Wait): Promise<void> {
    const recheckAtMs = Date.now() + (this.observation?.settings.recheckMs ?? unknownRecheckMs);
    const untilMs = Math.min(plan.untilMs ?? Infinity, recheckAtMs);
    const { failure } = this;
    const wasGranted = this.slot.isGranted;
    const isOver = (): boolean => this.isWoken() || (!wasGranted && this.slot.isGranted);
    this.publisher.show(plan, this.carried.changed);
    this.waiting = { reason: plan.reason, message: plan.message, untilMs };
    let publishAtMs = this.publisher.dueMs(plan) ?? Infinity;
    while (!isOver() && Date.now() < untilMs) {
      if (Date.now() < publishAtMs) await condition(isOver, Math.min(untilMs, publishAtMs) - Date.now());
      else {
        publishAtMs = Infinity;
        // One that fails is not the object's problem: the next one says the same.
        await this.publisher.publish(plan).catch(explain);
      }
    }
    this.waiting = null;
    // A step in the background may have failed meanwhile: that is another one.
    if (this.failure === failure) this.failure = null;
    this.inbox.stepEnded = false;
    const isQueued = plan.slot !== undefined && plan.slot.limit === this.slot.limit && !wasGranted;
    // A slot is asked for again by the same observation: how old it may be is judged when it is granted.
    if (Date.now() >= untilMs && !isQueued) this.fresh = false;
  }

  /** Null: there is more to do. */
  private async finish(plan: Done): Promise<RunResult | null> {
    const { isWoken, title: object } = this;
    try {
      // Whatever it comes to, the object must say so: else the run is not done.
      await this.publisher.publish(plan);
    } catch (error) {
      return this.fail(error, null);
    }
    this.carried.failures = 0;
    const lingers = this.carried.changed && plan.outcome !== 'gone' && this.inFlight.size === 0 && !isWoken();
    const lingerMs = this.observation?.settings.lingerMs ?? 0;
    if (lingers && lingerMs > 0) await condition(isWoken, lingerMs);
    const { reason, message } = plan;
    const outcome = reason === 'ObserveOnly' ? 'observed' : plan.outcome;
    const ended = await this.end({ object, outcome, reason, message });
    if (ended === null) this.reopen();
    return ended;
  }

  private reopen(): void {
    this.carried.memory = this.spec.reopen?.(this.carried.memory) ?? this.carried.memory;
  }

  private dismiss(message: string): void {
    this.carried.memory = this.spec.dismiss?.(this.carried.memory, message) ?? this.carried.memory;
  }

  /** Null: something has come. No await between the last read of the inbox and the end. */
  private async end(result: RunResult): Promise<RunResult | null> {
    await this.slot.releaseAll(this.situationOrNull());
    const isQuiet = (): boolean => allHandlersFinished() && this.inFlight.size === 0;
    // What has just been asked is answered by an observation.
    if (!isQuiet() && !this.isWoken()) {
      this.dismiss(result.message);
      await condition(() => isQuiet() || this.isWoken());
    }
    if (this.isWoken()) {
      this.inbox.stepEnded = false;
      return null;
    }
    if (result.outcome !== 'gone') this.leaveDigest(result.outcome === 'nothing' ? null : this.observation);
    return result;
  }

  /** An event, so only where the memo of the start says something else. */
  private leaveDigest(observation: Observation<L> | null): void {
    const digest = observation?.digest ?? null;
    if (digest !== (workflowInfo().memo?.[digestMemo] ?? null)) upsertMemo({ [digestMemo]: digest });
  }

  /** What is under way ends, the kind's own end is executed, and the object says that no run drives it. */
  private async endAsCancelled(): Promise<never> {
    if (this.inFlight.size > 0) {
      const pending = 'what is in flight to end: the run was cancelled, and nothing more is begun';
      this.publisher.show(wait(this.publisher.shown.phase, 'Cancelled', pending), true);
      await condition(() => this.inFlight.size === 0);
    }
    if (!this.isCurrent()) await this.observe();
    let isDone = false;
    let message =
      'The run was cancelled. To go on, change the spec, or set the annotation drover.dev/retry to a new value';
    if (this.observation !== null && this.observation.desired !== null) {
      this.failure = null;
      let plan = this.decide();
      const end = plan.kind === 'done' ? undefined : this.spec.cancel?.(this.situation());
      for (const step of end?.steps ?? []) if ((await this.executeStep(step)) === null) break;
      // Steps of the end may have done what was left to do.
      if (end !== undefined && end.steps.length > 0) plan = this.decide();
      isDone = plan.kind === 'done';
      const last = plan.kind === 'done' ? plan : done('blocked', 'Cancelled', end?.message ?? message);
      message = last.message;
      this.publisher.show(last, true);
      await this.publisher.publish(last).catch(explain);
    }
    await this.slot.releaseAll(this.situationOrNull());
    this.dismiss(message);
    await condition(allHandlersFinished);
    if (isDone) this.reopen();
    // A user who has changed it meanwhile, or wants it tried again, has signalled no run but this one.
    if (this.inbox.resume || this.isNewer()) return await this.continueAsNew();
    // The user's end is final, also for a bridge that starts.
    this.leaveDigest(this.observation);
    throw new CancelledFailure(message);
  }

  private isOld(): boolean {
    return workflowInfo().continueAsNewSuggested || Date.now() - this.startedMs > oldMs;
  }

  private async continueAsNewWhereQuiet(): Promise<void> {
    const { spec, carried, inFlight, inbox } = this;
    if (inFlight.size > 0 || this.slot.isGranted || spec.isQuiescent?.(carried.memory) === false) return;
    await this.slot.releaseAll(this.situationOrNull());
    if (!allHandlersFinished()) await condition(() => allHandlersFinished() || this.isWoken());
    // A cancel is not carried over, nor is an update that waits for the next pass.
    if (!inbox.cancelled && allHandlersFinished()) await this.continueAsNew();
  }

  /** What a signal reported is in the world, and the new run observes it; what a user asked for is carried. */
  private continueAsNew(): Promise<never> {
    if (this.inbox.retryNow) this.resetFailures();
    return continueAsNew(this.input, this.carried);
  }

  private resetFailures(): void {
    const { carried, spec } = this;
    this.failure = null;
    this.repetition = null;
    carried.failures = 0;
    carried.memory = spec.resetFailures?.(carried.memory) ?? carried.memory;
  }

  /** @throws what no other attempt mends: an input that was typed by hand, and a mistake in workflow code, which fails the run */
  private fail(error: unknown, step: L['step'] | null): null {
    if (!(error instanceof TemporalFailure)) throw error;
    const problem = explain(error);
    if (problem.code === 'InvalidInput' && step === null) throw invalidInput(problem.message);
    const { carried, spec } = this;
    const nowMs = Date.now();
    this.fresh = false;
    this.repetition = null;
    carried.failures += 1;
    const memory = step === null ? null : (spec.applyFailure?.(carried.memory, step, problem, nowMs) ?? null);
    if (memory !== null) carried.memory = memory;
    else {
      const { reason, message } = problem;
      this.failure = {
        reason,
        message: `another attempt: ${message}`,
        retryAtMs: nowMs + retryAfterMs(carried.failures),
      };
    }
    return null;
  }
}
