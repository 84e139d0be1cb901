import type { Step } from './plan.ts';
import { planEviction } from './plan.ts';
import type { EvictionState } from './state.ts';

/** What a run knows of itself, besides the eviction. */
export interface RunFacts {
  /** The Eviction has changed and is to be read again. */
  changed: boolean;
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

/** Decides what a run does next: what the eviction's plan says, unless the run itself has to be seen to. Pure. */
export function planRun(state: EvictionState, { changed, old, inFlight }: RunFacts, nowMs: number): RunStep {
  if (old && inFlight === 0) return { do: 'continueAsNew' };
  if (changed && state.problem === null) return { do: 'refresh' };
  const step = planEviction(state, nowMs);
  // Nothing new once the run is to continue as new: it must be quiet for that.
  return old && step.do === 'move' ? { do: 'wait', for: 'what is in flight, to continue as a new run', untilMs: null } : step;
}
