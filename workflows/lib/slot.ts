import { explain } from './failures.ts';
import type { Lifecycle, Reconciler, RunHandle, Situation } from './lifecycle.ts';
import type { Wait } from './plan.ts';

/** The slot that a run holds, or is queued for. It is the run's own: released before the run ends or continues as new. */
export class SlotHolder<L extends Lifecycle> {
  private readonly slots: Reconciler<L>['slots'];
  private readonly run: RunHandle<L>;
  /** `queued`: what the run waits for, and until when, while the slot is not granted. */
  private slot: { limit: string; isGranted: boolean; queued: Wait | null } | null = null;
  private releasing: Promise<unknown> = Promise.resolve();

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

  /** The limit says that the run may begin. One that the run does not wait for any more is the kind's to release. */
  grant(limit: string): boolean {
    if (this.slot?.limit !== limit) return false;
    this.slot.isGranted = true;
    return true;
  }

  /** The limit may have forgotten it. */
  askAgain(): void {
    if (this.slot !== null) this.slot.queued = null;
  }

  /** Null: it is held. While it is queued it is asked again at its time only. @throws what asking fails with */
  async acquire(situation: Situation<L>, limit: string): Promise<Wait | null> {
    if (this.slots === undefined) throw new TypeError(`the plan asks for a slot of ${limit}, and the kind has none`);
    const slot = this.slot?.limit === limit ? this.slot : { limit, isGranted: false, queued: null };
    this.slot = slot;
    if (slot.isGranted) return null;
    if (slot.queued !== null && Date.now() < (slot.queued.untilMs ?? Infinity)) return slot.queued;
    await this.releasing;
    slot.queued = await this.slots.acquire(situation, limit, this.run);
    // A grant may have come while it was asked.
    slot.isGranted ||= slot.queued === null;
    return slot.isGranted ? null : slot.queued;
  }

  /** It was released elsewhere. */
  discard(): void {
    this.slot = null;
  }

  /** It arrives beside what comes next. A failure of it is no problem of this run: the limit notices a closed holder by itself. */
  releaseUnless(limit: string | undefined, situation: Situation<L> | null): void {
    const { slot, slots, run } = this;
    if (slot === null || situation === null || slot.limit === limit) return;
    this.slot = null;
    this.releasing = Promise.all([this.releasing, slots?.release(situation, slot.limit, run).catch(explain)]);
  }

  /** Before the run ends: what a closed run has sent is not delivered. */
  async releaseAll(situation: Situation<L> | null): Promise<void> {
    this.releaseUnless(undefined, situation);
    await this.releasing;
  }
}
