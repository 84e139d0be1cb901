import type { Step } from './plan.ts';
import { planEviction } from './plan.ts';
import type { EvictionState } from './state.ts';
import { inState } from './state.ts';

/** What a run knows of itself, besides the eviction. */
export interface RunFacts {
  /** When the Eviction, which has changed, is to be read again, in milliseconds since the epoch; null: it has not changed. */
  readAtMs: number | null;
  /** Its last report to the region failed. */
  unheard: boolean;
  /** It should continue as new. */
  old: boolean;
  /** Moves whose children have not ended. */
  inFlight: number;
}

export type RunStep =
  | Step
  /** Read the Eviction again. */
  | { do: 'refresh' }
  /** Tell nobody any more of a problem that may long be over. */
  | { do: 'forget' }
  | { do: 'continueAsNew' };

/**
 * Decides what a run does next: what the eviction's plan says, unless the run itself has to be seen to. A change is read before all else,
 * also while a problem is waited out: it may be the deletion. Pure.
 */
export function planRun(state: EvictionState, facts: RunFacts, nowMs: number): RunStep {
  const { readAtMs, old, inFlight } = facts;
  if (old && inFlight === 0) return { do: 'continueAsNew' };
  if (readAtMs !== null && nowMs >= readAtMs) return { do: 'refresh' };
  const planned = planEviction(state, nowMs);
  // Nothing new once the run is to continue as new: it must be quiet for that.
  const step: Step =
    old && planned.do === 'move'
      ? { do: 'wait', for: 'what is in flight, to continue as a new run', untilMs: null }
      : planned;
  if (isOver(state, facts, step, nowMs)) return { do: 'forget' };
  if (step.do !== 'wait' || readAtMs === null) return step;
  return { ...step, untilMs: Math.min(step.untilMs ?? Infinity, readAtMs) };
}

/**
 * What is tried beside the steps says itself when it works again. A step is over when the plan does not take it again at its time, because
 * the run is paused or waits for something else; unless a move has begun since, whose end will tell.
 */
function isOver(state: EvictionState, { readAtMs, unheard }: RunFacts, step: Step, nowMs: number): boolean {
  const { problem } = state;
  if (problem === null) return false;
  if (problem.of === 'read') return readAtMs === null;
  if (problem.of === 'report') return !unheard;
  return (
    step.do === 'wait' &&
    nowMs >= problem.retryAtMs &&
    inState(state, 'moving').every(({ sinceMs }) => sinceMs < problem.retryAtMs)
  );
}
