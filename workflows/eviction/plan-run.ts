import type { Step } from './plan.ts';
import { planEviction } from './plan.ts';
import type { EvictionState } from './state.ts';

/** What a run knows of itself, besides the eviction. */
export interface RunFacts {
  /** When the Eviction, which has changed, is to be read again, in milliseconds since the epoch; null: it has not changed. */
  readAtMs: number | null;
  /** It should continue as new. */
  old: boolean;
  /** Moves whose children have not ended. */
  inFlight: number;
}

export type RunStep =
  | Step
  /** Read the Eviction again. */
  | { do: 'refresh' }
  | { do: 'continueAsNew' };

/**
 * Decides what a run does next: what the eviction's plan says, unless the run itself has to be seen to. A change is read before all else,
 * also while a problem is waited out: it may be the deletion. Pure.
 */
export function planRun(state: EvictionState, { readAtMs, old, inFlight }: RunFacts, nowMs: number): RunStep {
  if (old && inFlight === 0) return { do: 'continueAsNew' };
  if (readAtMs !== null && nowMs >= readAtMs) return { do: 'refresh' };
  const step = planEviction(state, nowMs);
  // Nothing new once the run is to continue as new: it must be quiet for that.
  if (old && step.do === 'move') return { do: 'wait', for: 'what is in flight, to continue as a new run', untilMs: readAtMs };
  if (step.do !== 'wait' || readAtMs === null) return step;
  return { ...step, untilMs: Math.min(step.untilMs ?? Infinity, readAtMs) };
}
