import type { Need } from '../limits/membership.ts';
import { parallelismOf } from './plan.ts';
import type { EvictionState } from './state.ts';
import { inState } from './state.ts';

/** How many migrations the eviction could use now, and how many it uses. Pure. */
export function needOf(state: EvictionState): Need {
  const using = inState(state, 'moving').length;
  // What is in flight runs to its end; nothing more is wanted than that.
  if (state.paused !== null || state.stop !== null || state.end !== null || state.host === null)
    return { want: using, using };
  return { want: Math.min(parallelismOf(state), using + inState(state, 'pending').length), using };
}
