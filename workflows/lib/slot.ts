import { explain } from './failures.ts';
import type { Lifecycle, Reconciler, Situation } from './lifecycle.ts';

/** The slot that a run holds, or is queued for. It is the run's own: released before the run ends or continues as new. */
export class SlotHolder<L extends Lifecycle> {
  private readonly slots: Reconciler<L>['slots'];
  private slot: { limit: string; isGranted: boolean; askAtMs: number } | null = null;

  constructor({ slots }: Reconciler<L>) {
    this.slots = slots;
  }

  get isGranted(): boolean {
    return this.slot?.isGranted === true;
  }

  /** When it is to be asked for again, in case the limit has forgotten it; null: there is none. */
  get askAtMs(): number | null {
    return this.slot?.askAtMs ?? null;
  }

  /** The limit says that the run may begin. One that the run does not wait for any more is the kind's to release. */
  grant(limit: string): boolean {
    if (this.slot?.limit !== limit) return false;
    this.slot.isGranted = true;
    return true;
  }

  /** @throws what asking fails with */
  async acquire(situation: Situation<L>, limit: string): Promise<boolean> {
    if (this.slots === undefined) throw new TypeError(`the plan asks for a slot of ${limit}, and the kind has none`);
    if (this.slot !== null && this.slot.limit === limit && this.isGranted) return true;
    const slot = { limit, isGranted: false, askAtMs: Date.now() + this.slots.renewMs };
    this.slot = slot;
    if (await this.slots.acquire(situation, limit)) slot.isGranted = true;
    return slot.isGranted;
  }

  /** A failure of it is no problem of this run: the limit notices a closed holder by itself. */
  async releaseUnless(limit: string | undefined, situation: Situation<L> | null): Promise<void> {
    const { slot } = this;
    if (slot === null || situation === null || slot.limit === limit) return;
    this.slot = null;
    await this.slots?.release(situation, slot.limit).catch(explain);
  }
}
