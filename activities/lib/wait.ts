import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

import { pollFailureLimitMs, waitingFailure } from '../../contracts/policies.ts';
import { type Clock, repeat } from '../../runtime/clock.ts';
import { isNonRetryable } from '../../runtime/failure.ts';
import type { Execution } from './context.ts';

/** One observation: the wait is over, or when to observe again. */
export type Poll<Result> =
  | { done: Result }
  /** `changed` may say earlier that there is something to observe; where it fails, the time counts. */
  | { againMs: number; changed?: (signal: AbortSignal) => Promise<void> };

export interface Wait<Result> extends Execution {
  observe: () => Promise<Poll<Result>>;
  /** What the next attempt needs if this worker dies. */
  details?: () => unknown;
}

/** Cancellation reaches an activity with its heartbeats, however seldom it observes. */
const heartbeatEveryMs = 1_000;

/** Between observations that fail. */
const failureDelayMs = 1_000;

/**
 * Observes until the wait is over, and heartbeats meanwhile. An observation that fails is repeated for a minute: then
 * the wait fails for good, so that its run can say so. What can never succeed fails at once.
 */
export function waitFor<Result>({ scope, clock, observe, details = () => undefined }: Wait<Result>): Promise<Result> {
  return whileBeating({ scope, clock }, details, async () => {
    let failingSinceMs: number | null = null;
    for (;;) {
      scope.signal.throwIfAborted();
      try {
        const found = await observe();
        if ('done' in found) return found.done;
        failingSinceMs = null;
        await pause(clock, found, scope.signal);
      } catch (error) {
        if (scope.signal.aborted || isNonRetryable(error)) throw error;
        failingSinceMs ??= clock.now();
        if (clock.now() - failingSinceMs >= pollFailureLimitMs) throw finalFailure(error);
        await clock.sleep(failureDelayMs, scope.signal);
      }
    }
  });
}

/** One look of a patient wait: it is over, or when to look again, and what for. */
export type Look<Result> = { done: Result } | { againMs: number; waitingFor: string };

/**
 * One attempt of a wait whose policy is `patientWait`. Looks that fail are repeated as {@link waitFor} does, in the same
 * attempt: of a system that is away nothing else can be had meanwhile.
 */
export async function lookOnce<Result>({
  look,
  ...execution
}: Execution & { look: () => Promise<Look<Result>> }): Promise<Result> {
  const seen = await waitFor({ ...execution, observe: async () => ({ done: await look() }) });
  if ('done' in seen) return seen.done;
  throw notYet(seen);
}

/** Ends an attempt of a patient wait that is not over. */
export const notYet = ({ waitingFor, againMs }: { waitingFor: string; againMs: number }): ApplicationFailure =>
  ApplicationFailure.create({
    type: waitingFailure,
    message: `Waiting for ${waitingFor}`,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: againMs,
  });

async function pause(
  clock: Clock,
  { againMs, changed }: Extract<Poll<unknown>, { againMs: number }>,
  signal: AbortSignal,
): Promise<void> {
  if (changed === undefined) return await clock.sleep(againMs, signal);
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const slept = clock.sleep(againMs, either);
  try {
    await Promise.race([slept, changed(either).catch(() => slept)]);
  } finally {
    over.abort();
  }
}

/** Heartbeats at once and then every second until the work is done. */
export async function whileBeating<Result>(
  { scope, clock }: Execution,
  details: () => unknown,
  work: () => Promise<Result>,
): Promise<Result> {
  const beat = (): void => scope.heartbeat(details());
  beat();
  const stop = repeat(clock, beat, heartbeatEveryMs);
  try {
    return await work();
  } finally {
    stop();
  }
}

/** The same failure, which Temporal does not try again: a wait has unlimited attempts. */
export function finalFailure(error: unknown): ApplicationFailure {
  const { message, type, details } = ApplicationFailure.fromError(error);
  return ApplicationFailure.create({
    message,
    nonRetryable: true,
    details: details ?? [],
    ...(typeof type === 'string' ? { type } : {}),
  });
}

/** How long to wait between observations of something short: the delay grows, as it seldom takes long. */
export const growingDelayMs = (waitedMs: number): number => Math.min(Math.max(100, waitedMs / 10), 2_000);
