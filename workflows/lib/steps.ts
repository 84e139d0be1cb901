import { CancellationScope, condition } from '@temporalio/workflow';
import { explain } from './failures.ts';
import type { Executed, Executor, Lifecycle, StepContext } from './lifecycle.ts';
import type { Execute } from './plan.ts';
import type { RunState } from './run-state.ts';
import type { SlotHolder } from './slot.ts';

/**
 * Executes the steps of a plan, one after the other or in the background, and takes into the state what came of them.
 */
export class Steps<L extends Lifecycle> {
  private readonly state: RunState<L>;
  private readonly slot: SlotHolder<L>;
  /** Of the code of a step in the background. */
  private mistake: unknown = null;

  constructor(state: RunState<L>, slot: SlotHolder<L>) {
    this.state = state;
    this.slot = slot;
  }

  /** @throws what a step in the background has thrown that is no failure of Temporal's */
  throwMistake(): void {
    if (this.mistake !== null) throw this.mistake;
  }

  /** @param ahead the slot that what comes next needs; null: none */
  async execute(steps: readonly L['step'][], ahead: string | null = null): Promise<void> {
    const { state } = this;
    let isKnown = true;
    for (const step of steps) {
      if (step.background !== undefined) {
        this.startInBackground(step, step.background);
        continue;
      }
      state.fresh = false;
      const executed = await this.executeStep(step, ahead);
      if (executed === null) return;
      isKnown &&= executed.observation !== undefined;
      // The other steps were decided on what does not hold any more.
      if (executed.isOutdated === true || state.inbox.cancelled || state.isNewer()) return;
    }
    state.carried.failures = 0;
    // What ended in the background meanwhile may have changed what is known.
    state.fresh = isKnown && !state.inbox.stepEnded;
  }

  /** Null: it failed, and what is to be done about that is planned. */
  async executeStep(step: L['step'], ahead: string | null = null): Promise<Executed<L> | null> {
    const publishing = step.publish === 'beside' ? this.publishBeside(step) : null;
    try {
      if (step.publish === 'before') await this.state.publisher.publish({ kind: 'execute', steps: [step] });
      const executed = this.applyResult(await this.call(step, ahead));
      if (ahead !== null) this.slot.answer(executed.slot ?? null);
      return executed;
    } catch (error) {
      if (ahead !== null) this.slot.answer('unknown');
      return this.state.fail(error, step);
    } finally {
      await publishing;
    }
  }

  /** One that fails is not the object's problem: the next one says the same. */
  private async publishBeside(step: L['step']): Promise<void> {
    const { publisher } = this.state;
    const plan: Execute<L['step']> = { kind: 'execute', steps: [step] };
    const dueMs = publisher.dueMs(plan);
    if (dueMs !== null && Date.now() >= dueMs) await publisher.publish(plan).catch(explain);
  }

  private async call(step: L['step'], ahead: string | null = null): Promise<Executed<L> | void> {
    const { spec, publisher } = this.state;
    const executor = spec.execute[step.kind as L['step']['kind']] as Executor<L, L['step']>;
    const context: StepContext<L> = {
      ...this.state.situation(),
      whileWanted: (work, isUnwanted, untilWoken) => this.whileWanted(work, isUnwanted, untilWoken),
      unsaid: (isUrgent = false) => publisher.take({ kind: 'execute', steps: [step] }, isUrgent),
      slotAhead: () => (ahead === null ? null : this.slot.request(this.state.situation(), ahead)),
    };
    return await executor(context, step);
  }

  private applyResult(executed: Executed<L> | void): Executed<L> {
    const { state } = this;
    const { applyResult, observation } = executed ?? {};
    // What changes nothing of what is observed has no echoes to stay for.
    if (observation !== 'unchanged') state.carried.changed = true;
    if (applyResult !== undefined) state.carried.memory = applyResult(state.carried.memory);
    if (executed?.hasWaited === true) state.repetition = null;
    if (executed?.isSlotReleased === true) this.slot.discard();
    if (executed?.isSaid === true) state.publisher.said();
    if (observation === undefined || observation === 'unchanged') return executed ?? {};
    if (typeof observation !== 'function') state.take(observation);
    else if (state.observation !== null) state.take(observation(state.observation));
    return executed ?? {};
  }

  private startInBackground(step: L['step'], lock: string): void {
    const { state } = this;
    if (state.inFlight.has(lock)) return;
    state.inFlight.add(lock);
    const ended = (executed: Executed<L> | null): void => {
      state.inFlight.delete(lock);
      state.inbox.stepEnded = true;
      if (executed?.observation === undefined) state.fresh = false;
    };
    this.call(step)
      .then(
        (executed) => ended(this.applyResult(executed)),
        (error: unknown) => ended(state.fail(error, step)),
      )
      .catch((error: unknown) => {
        this.mistake = error;
        ended(null);
      });
  }

  /**
   * Gives up work that may take long where the run is cancelled, or a newer spec does not want it.
   *
   * @param untilWoken whatever comes is observed at once
   * @throws CancelledFailure then
   */
  private async whileWanted<Result>(
    work: () => Promise<Result>,
    isUnwanted?: () => Promise<boolean>,
    untilWoken = false,
  ): Promise<Result> {
    const scope = new CancellationScope();
    const { state } = this;
    const running = { isOver: false };
    const result = scope.run(work).finally(() => (running.isOver = true));
    const isOver = (): boolean => running.isOver || state.inbox.cancelled;
    const giveUp = async (): Promise<void> => {
      let asked = '';
      const newer = (): string => state.inbox.newerSpec(state.observation?.desired ?? null);
      const isWoken = (): boolean => untilWoken && state.isPending();
      while (!isOver() && !isWoken()) {
        await condition(() => isOver() || isWoken() || (isUnwanted !== undefined && newer() !== asked));
        asked = newer();
        // Where it cannot be asked, the work goes on, as it was wanted.
        if (!isOver() && asked !== '' && (await isUnwanted?.().catch(() => false)) === true) break;
      }
      if (!running.isOver) scope.cancel();
    };
    void giveUp();
    return await result;
  }
}
