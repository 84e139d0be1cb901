import type { ErrorCode } from '../../contracts/errors.ts';
import type { Problem } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import type { EvictionRun } from './run.ts';
import { note } from './run.ts';
import type { EvictionState, StandingProblem } from './state.ts';

/** Waiting does not mend these: a person has to change what they asked for. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  'HostNotFound',
  'HostAmbiguous',
  'HostDown',
  'InvalidInput',
  'InvalidObject',
  'ModeOff',
  'CauseNotSupported',
]);

export const isFinal = ({ code }: Problem): boolean => code !== null && finalCodes.has(code);

/** Remembers what keeps the run from going on; it tries again by itself, or at once on `retryNow`. */
export function failed(run: EvictionRun, { reason, message }: Problem, of: StandingProblem['of']): void {
  if (run.state.problem?.reason !== reason) note(run, 'Warning', reason, message);
  remember(run.state, { reason, message }, of, Date.now());
  run.unpublished = true;
}

export function remember(
  state: EvictionState,
  { reason, message }: Pick<Problem, 'reason' | 'message'>,
  of: StandingProblem['of'],
  nowMs: number,
): void {
  const failures = (state.problem?.failures ?? 0) + 1;
  state.problem = { reason, message, failures, retryAtMs: nowMs + retryAfterMs(failures), of };
}
