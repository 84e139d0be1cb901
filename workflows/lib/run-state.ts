import { TemporalFailure } from '@temporalio/workflow';
import { explain, invalidInput } from './failures.ts';
import { Inbox } from './inbox.ts';
import type { Amend, Carried, DrivenKind, Lifecycle, Observation, Reconciler, Situation } from './lifecycle.ts';
import { Publisher } from './publisher.ts';
import { type Repetition, retryAfterMs } from './retry.ts';

/** What a run knows: what it observed last, whether that still holds, what it carries over, and what it fails with. */
export class RunState<L extends Lifecycle> {
  readonly spec: Reconciler<L>;
  readonly input: L['input'];
  /** Kind and name of the object. */
  readonly title: string;
  readonly carried: Carried<L>;
  readonly inbox = new Inbox();
  readonly publisher: Publisher<L>;
  /** Locks of the steps in the background. */
  readonly inFlight = new Set<string>();
  observation: Observation<L> | null = null;
  askedMs = 0;
  /** Nothing was executed or waited for since the observation that makes it old. */
  fresh = false;
  /** Only time has passed since the last observation: nothing was executed, and no user asks. */
  repeats = false;
  failure: { reason: string; message: string; retryAtMs: number } | null = null;
  repetition: Repetition | null = null;

  constructor(kind: DrivenKind, spec: Reconciler<L>, input: L['input'], carried: Carried<L> | null) {
    this.spec = spec;
    this.input = input;
    this.title = `${kind.kind} ${kind.input.map((field) => String(Object(input)[field])).join('/')}`;
    this.carried = { memory: spec.memory, failures: 0, changed: false, retryHandled: null, ...carried };
    this.publisher = new Publisher(kind.kind, spec, this.situationOrNull, (change) => this.amend(change));
  }

  /** What makes the observation old. */
  isPending(): boolean {
    const { observation, inbox, spec } = this;
    const isEcho = (stateDigest: string): boolean =>
      observation !== null && spec.isEcho !== undefined && spec.isEcho(observation.observed, stateDigest);
    return inbox.isPending(observation?.desired ?? null, isEcho);
  }

  /** What ends a wait. */
  readonly isWoken = (): boolean => this.isPending() || this.inbox.stepEnded || this.inbox.cancelled;

  isNewer(): boolean {
    return this.inbox.isNewer(this.observation?.desired ?? null);
  }

  isCurrent(): boolean {
    return this.fresh && !this.isPending();
  }

  take(observation: Observation<L>): void {
    const { carried, spec } = this;
    this.observation = observation;
    this.publisher.observed(observation.retry);
    carried.memory = spec.prune?.(carried.memory, this.situation()) ?? carried.memory;
  }

  /** What was published is known. */
  private amend(change: Amend<L>): void {
    if (this.observation !== null) this.observation = change(this.observation);
  }

  situation(): Situation<L> {
    if (this.observation === null) throw new Error('planned before the first observation');
    const { desired, observed, settings } = this.observation;
    const { carried, inFlight, input, askedMs } = this;
    const { isOvertaken } = this.publisher;
    return {
      input,
      desired,
      observed,
      settings,
      memory: carried.memory,
      inFlight,
      askedMs,
      ...(isOvertaken && { isOvertaken }),
      nowMs: Date.now(),
    };
  }

  readonly situationOrNull = (): Situation<L> | null => (this.observation === null ? null : this.situation());

  /** @param by what may have put right what failed: a new generation, or a user who asks for another try */
  resetFailures(by: 'spec' | 'retry'): void {
    const { carried, spec } = this;
    this.failure = null;
    this.repetition = null;
    carried.failures = 0;
    carried.memory = spec.resetFailures?.(carried.memory, by) ?? carried.memory;
  }

  /**
   * @throws what no other attempt mends: an input that was typed by hand, and a mistake in workflow code, which fails
   * the run
   */
  fail(error: unknown, step: L['step'] | null): null {
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
      const retryAtMs = nowMs + retryAfterMs(carried.failures, reason);
      this.failure = { reason, message: `another attempt: ${message}`, retryAtMs };
    }
    return null;
  }
}
