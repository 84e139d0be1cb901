import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { messages } from '../../contracts/messages.ts';
import { digestMemo, type RunProgress, type RunResult } from '../../contracts/runs.ts';
import { explain } from './failures.ts';
import type { Inbox } from './inbox.ts';
import { readCarried, readInput } from './input.ts';
import type { Carried, DrivenKind, Lifecycle, Observation, Reconciler, RunHandle } from './lifecycle.ts';
import { describeIntent, done, wait, type Done, type Execute, type Plan, type SlotRequest, type Wait } from './plan.ts';
import type { Publisher } from './publisher.ts';
import { countRepetition, repeatAtMs } from './retry.ts';
import { RunState } from './run-state.ts';
import { SlotHolder } from './slot.ts';
import { Steps } from './steps.ts';

/** A run this old continues as new, so that none is older than the release before last. */
const oldMs = 24 * 60 * 60_000;
/**
 * So long an observation holds while a run waits for a slot and no message comes. What is not watched may have changed
 * by then without one: a Secret that a guest is made with, the room in a vCenter, the Pods that use a volume.
 */
const reliedOnMs = 60_000;
/**
 * So many observations in a row may be overtaken by messages before a run acts on the next one all the same: where
 * messages come faster than the systems answer, nothing would ever be done. A written spec is always observed first.
 */
const mostOvertaken = 3;
/** Before the first observation there are no settings. */
const unknownRecheckMs = 10 * 60_000;

/**
 * Makes the workflow of a kind: observe → plan → execute → publish, until nothing is left to do. The input names the
 * object; the second argument is what an earlier run of the chain carried over. A cancel lets the step under way finish
 * and leads to the kind's own end.
 */
export function defineReconciler<L extends Lifecycle>(kind: DrivenKind, spec: Reconciler<L>) {
  return async (input: L['input'], carried?: Carried<L>): Promise<RunResult> => {
    const driver = new Driver<L>(spec, new RunState(kind, spec, readInput(kind, input), readCarried(carried)));
    return await CancellationScope.nonCancellable(() => driver.drive());
  };
}

class Driver<L extends Lifecycle> {
  private readonly state: RunState<L>;
  private readonly spec: Reconciler<L>;
  private readonly inbox: Inbox;
  private readonly publisher: Publisher<L>;
  private readonly carried: Carried<L>;
  private readonly slot: SlotHolder<L>;
  private readonly steps: Steps<L>;
  private readonly startedMs = Date.now();
  private waiting: RunProgress['waiting'] = null;
  /** Observations in a row that a message made old before anything was done by them. */
  private overtaken = 0;

  /** All handlers are set before the first await, so that nothing that came with the start is missed. */
  constructor(spec: Reconciler<L>, state: RunState<L>) {
    const { inbox, publisher, carried, title, situationOrNull } = state;
    this.state = state;
    this.spec = spec;
    this.inbox = inbox;
    this.publisher = publisher;
    this.carried = carried;
    const run: RunHandle<L> = {
      wake: () => void (inbox.pending = true),
      memory: () => carried.memory,
      update: (change) => void (carried.memory = change(carried.memory)),
      situation: situationOrNull,
    };
    this.slot = new SlotHolder(spec, run);
    this.steps = new Steps(state, this.slot);
    inbox.listen(title);
    setHandler(messages.progress, () => this.progress());
    spec.listen?.(run);
  }

  async drive(): Promise<RunResult> {
    for (;;) {
      this.steps.throwMistake();
      if (this.state.failure === null && !this.state.isCurrent()) {
        const nothing = await this.observe();
        if (nothing !== null && !this.inbox.cancelled) {
          const ended = await this.end(() => nothing);
          if (ended !== null) return ended;
          continue;
        }
      }
      if (this.inbox.cancelled) return await this.endAsCancelled();
      const plan = this.decide();
      this.publisher.show(plan, this.carried.changed);
      this.slot.releaseUnless(plan.kind === 'done' ? undefined : plan.slot?.limit, this.state.situationOrNull());
      if (this.slot.takeOvertaken()) this.publisher.isOvertaken = true;
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
    const { waiting, carried, publisher, state } = this;
    return {
      object: state.title,
      ...publisher.shown,
      waiting,
      failures: carried.failures,
      inFlight: [...state.inFlight],
      ...this.spec.progress?.(state.situationOrNull()),
    };
  }

  /** @returns how the run ends where there is nothing to reconcile */
  private async observe(): Promise<RunResult | null> {
    const { inbox, spec, state, carried } = this;
    if (inbox.retryNow) {
      state.resetFailures('retry');
      // The limit may have forgotten it.
      this.slot.stopAsking();
    }
    const repeats = state.repeats && !state.isPending() && !inbox.retryNow;
    state.repeats = false;
    if (state.isPending()) state.repetition = null;
    inbox.empty();
    state.fresh = true;
    const askedMs = Date.now();
    const observed = await spec
      .observe(state.input, carried.memory, repeats)
      .catch((error: unknown) => state.fail(error, null));
    if (observed === null) return null;
    state.askedMs = askedMs;
    if (observed.kind !== 'observed') {
      state.fresh = false;
      const reason = observed.kind === 'nothing' ? 'SwitchedOff' : 'HandedOver';
      return { object: state.title, outcome: observed.kind, reason, message: observed.message };
    }
    // A changed spec may have put right what failed, and so may a user who asks for a retry in the object. What a step
    // has written has not.
    const before = state.observation;
    const isChanged = before !== null && before.desired?.generation !== observed.desired?.generation;
    const isRetry = observed.retry !== null && observed.retry !== carried.retryHandled;
    if (isChanged || isRetry) state.resetFailures(isRetry ? 'retry' : 'spec');
    if (isRetry) carried.retryHandled = observed.retry;
    state.publisher.isOvertaken = false;
    state.take(observed);
    return null;
  }

  private decide(): Plan<L['step']> {
    const { state, publisher, spec, carried } = this;
    if (state.failure !== null) {
      const { reason, message, retryAtMs } = state.failure;
      return wait(publisher.shown.phase, reason, message, retryAtMs, this.keptSlot());
    }
    const situation = state.situation();
    const plan = spec.plan(situation);
    carried.memory = spec.planned?.(situation, plan) ?? carried.memory;
    state.repetition = countRepetition(state.repetition, plan);
    if (plan.kind === 'done') return plan;
    if (situation.settings.mode === 'observe')
      return done('blocked', 'ObserveOnly', `drover only observes. It would: ${describeIntent(plan)}`);
    const paused = this.pause(plan);
    if (paused !== null) return paused;
    const begins = plan.kind === 'execute' && plan.steps.some(({ background }) => background !== undefined);
    if (!begins || !this.isOld() || state.inFlight.size === 0) return plan;
    return wait(publisher.shown.phase, 'ContinuesAsNew', 'what is in flight to end, to continue as a new run');
  }

  /** Steps that change nothing would be executed without end. Null: there is nothing to pause for. */
  private pause(plan: Plan<L['step']>): Wait | null {
    const { repetition } = this.state;
    const untilMs = repetition === null ? 0 : repeatAtMs(repetition);
    if (repetition === null || Date.now() >= untilMs) return null;
    const message = `another attempt: "${describeIntent(plan)}" was executed ${repetition.times} times and changed nothing`;
    return wait(this.publisher.shown.phase, 'NoProgress', message, untilMs, this.keptSlot());
  }

  /** A slot is released for a back-off, but not in the middle of what needs it. */
  private keptSlot(): SlotRequest | undefined {
    const held = this.spec.isQuiescent?.(this.carried.memory) === false ? this.slot.limit : null;
    return held === null ? undefined : { limit: held };
  }

  private async execute({ steps, slot }: Execute<L['step']>): Promise<void> {
    const { state } = this;
    const isAhead = slot?.ahead === true;
    if (slot !== undefined && slot.onlyKept !== true && !isAhead) {
      if (!(await this.acquire(slot.limit))) return;
      if (Date.now() - state.askedMs > reliedOnMs) state.fresh = false;
    }
    // Acquiring takes time: what came meanwhile is observed first.
    if (this.inbox.cancelled) return;
    if (!state.isCurrent()) {
      const mayAct = state.fresh && !state.isNewer() && !this.inbox.retryNow;
      if (mayAct) this.overtaken += 1;
      if (!mayAct || this.overtaken <= mostOvertaken) return;
    }
    this.overtaken = 0;
    const { repetition } = state;
    if (repetition !== null) state.repetition = { ...repetition, times: repetition.times + 1, atMs: Date.now() };
    await this.steps.execute(steps, isAhead ? slot.limit : null);
  }

  /** Until it is granted, or a message comes: then the run stays in the queue. Whether it is held. */
  private async acquire(limit: string): Promise<boolean> {
    const { state, slot, publisher } = this;
    if (slot.isHeld(limit)) return true;
    const queued = slot.queued(state.situation(), limit);
    slot.ask(state.situation(), limit, publisher.queued(queued));
    publisher.describe(queued);
    this.waiting = { reason: queued.reason, message: queued.message, untilMs: null };
    await condition(() => slot.isAnswered || state.isWoken());
    this.waiting = null;
    this.inbox.stepEnded = false;
    if (slot.takeOvertaken()) publisher.isOvertaken = true;
    const failure = slot.takeFailure();
    if (failure !== null) state.fail(failure.error, null);
    return slot.isHeld(limit);
  }

  /** Until its time has come or a message has. It is published, but not before the last status is 2 s old. */
  private async wait(plan: Wait): Promise<void> {
    this.overtaken = 0;
    const recheckAtMs = Date.now() + (this.state.observation?.settings.recheckMs ?? unknownRecheckMs);
    const untilMs = Math.min(plan.untilMs ?? Infinity, recheckAtMs);
    const { failure } = this.state;
    const wasGranted = this.slot.isGranted;
    // A slot may be granted that was asked for before.
    const isOver = (): boolean => this.state.isWoken() || (!wasGranted && this.slot.isGranted);
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
    if (this.state.failure === failure) this.state.failure = null;
    this.inbox.stepEnded = false;
    if (Date.now() < untilMs) return;
    this.state.fresh = false;
    // What was waited for by name is observed as it is.
    this.state.repeats = untilMs === recheckAtMs && failure === null;
  }

  /** Null: there is more to do. */
  private async finish(plan: Done): Promise<RunResult | null> {
    const { isWoken, title: object } = this.state;
    try {
      // Whatever it comes to, the object must say so: else the run is not done.
      await this.publisher.publish(plan);
    } catch (error) {
      return this.state.fail(error, null);
    }
    this.carried.failures = 0;
    const lingers = this.carried.changed && plan.outcome !== 'gone' && this.state.inFlight.size === 0 && !isWoken();
    const lingerMs = this.state.observation?.settings.lingerMs ?? 0;
    if (lingers && lingerMs > 0) await condition(isWoken, lingerMs);
    const { reason, message } = plan;
    const outcome = reason === 'ObserveOnly' ? 'observed' : plan.outcome;
    const ended = await this.end(() => ({
      object,
      outcome,
      reason,
      message,
      ...this.spec.result?.(this.state.situation()),
    }));
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
  private async end(resultOf: () => RunResult): Promise<RunResult | null> {
    const { state } = this;
    await this.slot.releaseAll(state.situationOrNull());
    const isQuiet = (): boolean => allHandlersFinished() && state.inFlight.size === 0;
    // What has just been asked is answered by an observation.
    if (!isQuiet() && !state.isWoken()) {
      this.dismiss(resultOf().message);
      await condition(() => isQuiet() || state.isWoken());
    }
    if (state.isWoken()) {
      this.inbox.stepEnded = false;
      return null;
    }
    const result = resultOf();
    if (result.outcome !== 'gone') this.leaveDigest(result.outcome === 'nothing' ? null : state.observation);
    return result;
  }

  /** An event, so only where the memo of the start says something else. */
  private leaveDigest(observation: Observation<L> | null): void {
    const digest = observation?.digest ?? null;
    if (digest !== (workflowInfo().memo?.[digestMemo] ?? null)) upsertMemo({ [digestMemo]: digest });
  }

  /** What is under way ends, the kind's own end is executed, and the object says that no run drives it. */
  private async endAsCancelled(): Promise<never> {
    const { state } = this;
    if (state.inFlight.size > 0) {
      const pending = 'what is in flight to end: the run was cancelled, and nothing more is begun';
      this.publisher.show(wait(this.publisher.shown.phase, 'Cancelled', pending), true);
      await condition(() => state.inFlight.size === 0);
    }
    this.slot.stopAsking();
    // What it still says would stand in the place of the end.
    await this.slot.untilAsked();
    if (this.slot.takeOvertaken()) this.publisher.isOvertaken = true;
    if (!state.isCurrent()) await this.observe();
    let isDone = false;
    let message =
      'The run was cancelled. To go on, change the spec, or set the annotation drover.dev/retry to a new value';
    if (state.observation !== null && state.observation.desired !== null) {
      state.failure = null;
      let plan = this.decide();
      const end = plan.kind === 'done' ? undefined : this.spec.cancel?.(state.situation());
      for (const step of end?.steps ?? []) if ((await this.steps.executeStep(step)) === null) break;
      // Steps of the end may have done what was left to do.
      if (end !== undefined && end.steps.length > 0) plan = this.decide();
      isDone = plan.kind === 'done';
      const last = plan.kind === 'done' ? plan : done('blocked', 'Cancelled', end?.message ?? message);
      message = last.message;
      this.publisher.show(last, true);
      await this.publisher.publish(last).catch(explain);
    }
    await this.slot.releaseAll(state.situationOrNull());
    this.dismiss(message);
    await condition(allHandlersFinished);
    if (isDone) this.reopen();
    // A user who has changed it meanwhile, or wants it tried again, has signalled no run but this one.
    if (this.inbox.resume || state.isNewer()) return await this.continueAsNew();
    // The user's end is final, also for a bridge that starts.
    this.leaveDigest(state.observation);
    throw new CancelledFailure(message);
  }

  private isOld(): boolean {
    return workflowInfo().continueAsNewSuggested || Date.now() - this.startedMs > oldMs;
  }

  private async continueAsNewWhereQuiet(): Promise<void> {
    const { spec, carried, inbox, state } = this;
    if (state.inFlight.size > 0 || this.slot.isGranted || spec.isQuiescent?.(carried.memory) === false) return;
    await this.slot.releaseAll(state.situationOrNull());
    if (!allHandlersFinished()) await condition(() => allHandlersFinished() || state.isWoken());
    // A cancel is not carried over, nor is an update that waits for the next pass.
    if (!inbox.cancelled && allHandlersFinished()) await this.continueAsNew();
  }

  /** What a signal reported is in the world, and the new run observes it; what a user asked for is carried. */
  private continueAsNew(): Promise<never> {
    if (this.inbox.retryNow) this.state.resetFailures('retry');
    return continueAsNew(this.state.input, this.carried);
  }
}
