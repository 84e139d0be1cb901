import { CancellationScope } from '@temporalio/workflow';
import type { SlotAnswer, SlotMessage } from '../../contracts/allowance.ts';
import { explain, isOutOfTime } from './failures.ts';
import type { Lifecycle, QueuedStatus, Reconciler, RunHandle, Situation } from './lifecycle.ts';
import type { Wait } from './plan.ts';

interface Slot {
  limit: string;
  isGranted: boolean;
  /** An activity has it to ask with, and has not said what came of it. */
  isAhead?: boolean;
  /** What asks for it, and what the object is to say meanwhile, as text; null: nothing asks. */
  asking: { said: string; scope: CancellationScope } | null;
}

/**
 * The slot that a run holds, or is queued for. It is the run's own: released before the run ends or continues as new.
 */
export class SlotHolder<L extends Lifecycle> {
  private readonly slots: Reconciler<L>['slots'];
  private readonly run: RunHandle<L>;
  private slot: Slot | null = null;
  private failure: { error: unknown } | null = null;
  private isOvertaken = false;
  private releasing: Promise<unknown> = Promise.resolve();
  private ending: Promise<unknown> = Promise.resolve();
  /** Those of asking that have not ended. */
  private readonly underWay = new Set<Promise<unknown>>();

  constructor({ slots }: Reconciler<L>, run: RunHandle<L>) {
    this.slots = slots;
    this.run = run;
  }

  get isGranted(): boolean {
    return this.slot?.isGranted === true;
  }

  /** Null: none. */
  get limit(): string | null {
    return this.slot?.limit ?? null;
  }

  /** Whether what was asked last has an answer, or failed. */
  get isAnswered(): boolean {
    return this.slot?.asking === null || this.slot === null;
  }

  isHeld(limit: string): boolean {
    return this.slot?.limit === limit && this.slot.isGranted;
  }

  /** What a run in the queue waits for. */
  queued(situation: Situation<L>, limit: string): Wait {
    if (this.slots === undefined) throw new TypeError(`the plan asks for a slot of ${limit}, and the kind has none`);
    return this.slots.queued(situation, limit);
  }

  /**
   * Asks for it, and waits in its queue, beside whatever the run does. Where that is under way it is asked anew only if
   * the object is to say something else.
   */
  ask(situation: Situation<L>, limit: string, queued: QueuedStatus<L> | null): void {
    const { slots, run } = this;
    const said = JSON.stringify(queued);
    const slot = this.slot?.limit === limit ? this.slot : { limit, isGranted: false, asking: null };
    if (slot.isGranted || slot.asking?.said === said) return;
    this.stopAsking();
    this.slot = slot;
    const asking = { said, scope: new CancellationScope() };
    slot.asking = asking;
    const answered = (answer: Partial<Slot>, wasQueued: boolean): void => {
      if (slot.asking !== asking) return;
      Object.assign(slot, { asking: null, ...answer });
      this.isOvertaken ||= wasQueued;
    };
    const acquire = async (): Promise<boolean> => (await slots?.acquire(situation, limit, run, queued)) === true;
    const ending = this.releasing
      // It may not be wanted any more, and noting it would overwrite what is.
      .then(() => slot.asking === asking && asking.scope.run(acquire))
      .then(
        (wasQueued) => {
          this.underWay.delete(ending);
          answered({ isGranted: true }, wasQueued);
        },
        (error: unknown) => {
          this.underWay.delete(ending);
          // After hours in the queue: it is asked for anew.
          if (slot.asking === asking && !isOutOfTime(error)) this.failure = { error };
          answered({}, true);
        },
      );
    this.ending = ending;
    this.underWay.add(ending);
  }

  /** For an activity of a step, which asks along with its work. Null: it is held, or asked for. */
  request(situation: Situation<L>, limit: string): SlotMessage | null {
    const ahead = this.slots?.ahead;
    if (ahead === undefined || this.slot !== null) return null;
    this.slot = { limit, isGranted: false, isAhead: true, asking: null };
    return ahead.request(situation, limit, this.run);
  }

  /** What that activity was answered; null: it has not asked. Without an answer it may be queued, and is asked for anew. */
  answer(answer: SlotAnswer | 'unknown' | null): void {
    const { slot } = this;
    if (slot?.isAhead !== true) return;
    slot.isAhead = false;
    if (answer === 'unknown') return;
    slot.isGranted = this.slots?.ahead?.answered(slot.limit, answer, this.run) === true;
    if (answer === null) this.slot = null;
  }

  /** What asking failed with, once. */
  takeFailure(): { error: unknown } | null {
    const { failure } = this;
    this.failure = null;
    return failure;
  }

  /** Whether an activity of the queue may have written the object's status, once. */
  takeOvertaken(): boolean {
    const { isOvertaken } = this;
    this.isOvertaken = false;
    return isOvertaken;
  }

  /** Until what was asked last writes nothing into the object any more. */
  async untilAsked(): Promise<void> {
    await this.ending;
  }

  /** It was released elsewhere. */
  discard(): void {
    this.slot = null;
  }

  /**
   * It arrives beside what comes next, and not before a request that is on its way: the limit would take that for a new
   * one, and keep the slot for it. A failure of it is no problem of this run: the limit notices a closed holder by
   * itself.
   */
  releaseUnless(limit: string | undefined, situation: Situation<L> | null): void {
    const { slot, slots, run } = this;
    if (slot === null || situation === null || slot.limit === limit) return;
    this.stopAsking();
    this.slot = null;
    const tell = slots?.release(situation, slot.limit, run);
    const before = [...this.underWay];
    const told = before.length === 0 ? tell?.() : Promise.all(before).then(tell);
    this.releasing = Promise.all([this.releasing, told?.catch(explain)]);
  }

  /** Before the run ends: what a closed run has sent is not delivered. */
  async releaseAll(situation: Situation<L> | null): Promise<void> {
    this.releaseUnless(undefined, situation);
    await this.releasing;
  }

  /** It is asked for anew when it is wanted the next time. Its place in the queue is kept until it is released. */
  stopAsking(): void {
    const asking = this.slot?.asking ?? null;
    if (this.slot === null || asking === null) return;
    this.slot.asking = null;
    this.isOvertaken = true;
    asking.scope.cancel();
  }
}
