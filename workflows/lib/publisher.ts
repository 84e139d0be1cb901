import { setCurrentDetails } from '@temporalio/workflow';
import { queuePlaceholder } from '../../contracts/allowance.ts';
import { showAttributes } from './attributes.ts';
import type { Amend, Lifecycle, QueuedStatus, Reconciler, Situation } from './lifecycle.ts';
import { describePlan, type Plan, type Wait } from './plan.ts';

/** Says where a run is: in the object, by an activity; in the Web UI and in `progress`, by itself. */
export class Publisher<L extends Lifecycle> {
  shown = { phase: 'Starting', reason: '', message: 'Starting', sinceMs: Date.now() };
  private readonly spec: Reconciler<L>;
  private readonly kind: string;
  private readonly situation: () => Situation<L> | null;
  private readonly amend: (change: Amend<L>) => void;
  private attributes = '';
  /** The status that was published since the last observation. */
  private published: string | null = null;
  private publishedMs = 0;
  /** Whether an activity of the queue may have written the status since it was observed, or published. */
  isOvertaken = false;
  /** Value of `drover.dev/retry` that the object does not show as handled. */
  private unansweredRetry: string | null = null;

  constructor(
    kind: string,
    spec: Reconciler<L>,
    situation: () => Situation<L> | null,
    amend: (change: Amend<L>) => void,
  ) {
    this.kind = kind;
    this.spec = spec;
    this.situation = situation;
    this.amend = amend;
  }

  /** What the object says now was just read. */
  observed(retry: string | null): void {
    this.published = null;
    this.unansweredRetry = retry;
  }

  /** What `progress` and the current details say. It costs no event. */
  describe(plan: Plan<L['step']>): void {
    const { shown, spec } = this;
    const situation = this.situation();
    const now = describePlan(plan);
    if (now.phase !== shown.phase || now.message !== shown.message) this.shown = { ...now, sinceMs: Date.now() };
    setCurrentDetails(situation === null ? now.message : (spec.details?.(situation, plan) ?? now.message));
  }

  /** Beside that, attributes, which are an event: only where the run waits or has changed something. */
  show(plan: Plan<L['step']>, changed: boolean): void {
    this.describe(plan);
    const { spec, kind } = this;
    const situation = this.situation();
    const now = describePlan(plan);
    const { phase = now.phase, ...others } = (situation === null ? null : spec.attributes?.(situation)) ?? {};
    const attributes = `${phase} ${now.reason}`;
    const isQuiet = plan.kind === 'execute' || (plan.kind === 'done' && !changed);
    if (isQuiet || attributes === this.attributes) return;
    this.attributes = attributes;
    showAttributes({ kind, ...others, phase, reason: now.reason });
  }

  /**
   * When the next status may be published at the earliest, unless it is the last one; null: there is
   * nothing to publish.
   */
  dueMs(plan: Plan<L['step']>): number | null {
    const situation = this.situation();
    if (situation === null || this.statusOf(situation, plan) === null) return null;
    return this.publishedMs + situation.settings.publishMinMs;
  }

  /**
   * What is due to be said of a plan, to one who says it; null: nothing.
   *
   * @param isUrgent it is due, however short a time ago something was said
   */
  take(plan: Plan<L['step']>, isUrgent: boolean): L['status'] | null {
    const situation = this.situation();
    const dueMs = this.dueMs(plan);
    if (situation === null || dueMs === null || (!isUrgent && Date.now() < dueMs)) return null;
    return this.statusOf(situation, plan);
  }

  /** What is to be said of a run in the queue, by the activity that asks; null: nothing. */
  queued(plan: Wait): QueuedStatus<L> | null {
    const situation = this.situation();
    const status = situation === null ? null : this.statusOf(situation, { ...plan, message: queuePlaceholder });
    return status && { status, retryHandled: this.unansweredRetry };
  }

  /** It was said now, elsewhere. */
  said(): void {
    this.publishedMs = Date.now();
    this.isOvertaken = false;
  }

  /** At once, where there is something to publish. @throws what the activity fails with */
  async publish(plan: Plan<L['step']>): Promise<void> {
    const situation = this.situation();
    const status = situation === null ? null : this.statusOf(situation, plan);
    if (situation === null || status === null) return;
    const retry = this.unansweredRetry;
    this.publishedMs = Date.now();
    const change = await this.spec.publish(situation, status, retry);
    this.isOvertaken = false;
    if (change !== undefined) this.amend(change);
    this.published = change === undefined ? JSON.stringify(status) : null;
    if (this.unansweredRetry === retry) this.unansweredRetry = null;
  }

  /** Null: there is nothing to say, or the object says so. */
  private statusOf(situation: Situation<L>, plan: Plan<L['step']>): L['status'] | null {
    const status = situation.desired === null ? null : this.spec.status(situation, plan);
    if (status === null || this.unansweredRetry !== null) return status;
    if (this.isOvertaken) return status;
    const isSaid =
      this.published === null
        ? this.spec.isSaid(situation.observed, status)
        : JSON.stringify(status) === this.published;
    return isSaid ? null : status;
  }
}
