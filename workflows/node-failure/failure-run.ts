import type { HandlingSettings, NodeFailureLook } from '../../contracts/node-failure/activities.ts';
import type { FencingState } from './fencing-state.ts';

/** What a run remembers from one look to the next, and across continue-as-new. Plain data. */
export interface FailureState {
  /** Null before the first look that could be made. */
  fencing: FencingState | null;
  /** drover has written `drover.dev/hold` for this incident. */
  held: boolean;
  /** drover has made an Eviction in `observe`, to show what emptying the host would take. */
  advised: boolean;
  /** Failures in a row, for the back-off. */
  failures: number;
  /** The last word of whoever listens to its guests that too many of them fail, and when it came. */
  guests: { message: string; atMs: number } | null;
  /** Why the last confirmation did not count. */
  refusal: string | null;
  /** What was said last in the Hypervisor, and when; so that a clock that goes on is no news. */
  said: { key: string; atMs: number } | null;
  /** Search attribute `DroverPhase`, as last set. */
  phase: string | null;
}

export interface FailureRun {
  name: string;
  state: FailureState;
  /** Of the last look; null before the first. */
  seen: { settings: HandlingSettings; look: NodeFailureLook } | null;
  waiting: { for: string; untilMs: number } | null;
  message: string;
}

export const beginFailureState = (): FailureState => ({
  fencing: null,
  held: false,
  advised: false,
  failures: 0,
  guests: null,
  refusal: null,
  said: null,
  phase: null,
});

export const inFlight = ({ fencing }: FailureState): number =>
  fencing?.servers?.filter(({ state }) => state === 'evacuating').length ?? 0;
