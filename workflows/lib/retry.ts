import { errors } from '../../contracts/errors.ts';
import type { Plan, Reason, Step } from './plan.ts';

const firstRetryMs = 10_000;
const longestRetryMs = 10 * 60_000;
/** Nothing is signalled when `drover stop` is lifted. */
const longestStoppedMs = 60_000;
/** So often in a row the same steps are executed without a pause. */
const mostTimes = 3;

/**
 * Doubles from 10 s to 10 min with each failure in a row; to 1 min while drover is stopped.
 *
 * @param reason of the last failure
 */
export const retryAfterMs = (failures: number, reason: Reason | null = null): number =>
  Math.min(reason === errors.Stopped.reason ? longestStoppedMs : longestRetryMs, firstRetryMs * 2 ** (failures - 1));

/** Steps that are planned again and again. */
export interface Repetition {
  /** As JSON. */
  readonly steps: string;
  /** Executed so often in a row. */
  readonly times: number;
  /** Of the last time, when it began. Unix ms. */
  readonly atMs: number;
}

/** Counts on from `before` where the plan is the same. Null: there is nothing to execute. Pure. */
export function countRepetition(before: Repetition | null, plan: Plan<Step>): Repetition | null {
  if (plan.kind !== 'execute') return null;
  const steps = JSON.stringify(plan.steps);
  return before?.steps === steps ? before : { steps, times: 0, atMs: 0 };
}

/**
 * When the steps may be executed again: they have not failed, and what they were to change has not changed.
 * Pure. Unix ms.
 */
export const repeatAtMs = ({ times, atMs }: Repetition): number =>
  times < mostTimes ? atMs : atMs + retryAfterMs(times - mostTimes + 1);
