import type { Confirmation } from '../../contracts/fencing.ts';
import type { HandlingSettings, NodeFailureLook } from '../../contracts/node-failure-activities.ts';
import type { FencingState } from './fencing-state.ts';

/** What a run remembers from one look to the next, and across continue-as-new. Plain data. */
export interface FailureState {
  /** Null before the first look that could be made. */
  fencing: FencingState | null;
  /** drover has written `drover.dev/hold` for this incident. */
  held: boolean;
  /** Failures in a row, for the back-off. */
  failures: number;
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

/** A confirmation that is to be judged after the next look. */
export interface AskedConfirmation {
  confirmation: Confirmation;
  answer: { taken: boolean; message: string } | null;
}

export const beginFailureState = (): FailureState => ({ fencing: null, held: false, failures: 0, refusal: null, said: null, phase: null });

export const inFlight = ({ fencing }: FailureState): number => fencing?.servers?.filter(({ state }) => state === 'evacuating').length ?? 0;
