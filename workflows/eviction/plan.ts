import { evictingReasons } from '../../contracts/eviction/conditions.ts';
import type { EvictionCause } from '../../contracts/eviction/eviction.ts';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import { pickNext } from './order.ts';
import type { EvictionState, TrackedInstance } from './state.ts';
import { inState, remains, tracked, unacceptedObstacles } from './state.ts';

/** The next thing to do. A wait has a sentence for people and, where time alone ends it, the time. */
export type Step =
  | { do: 'preflight' }
  | { do: 'disable' }
  | { do: 'move'; instances: TrackedInstance[] }
  | { do: 'look'; why: string }
  /** Cancel what is in flight: its grace is over, or the person asked for it. */
  | { do: 'abort' }
  | { do: 'reEnable' }
  | { do: 'wait'; for: string; untilMs: number | null }
  | { do: 'end'; outcome: 'Succeeded' | 'Failed' | 'Stopped' | 'Observed'; reason: string; message: string };

/** Causes for which an obstacle refuses the eviction. For the others a refusal would end in a forced kill (design section 5, step 1). */
const refusedByObstacles: Record<EvictionCause, boolean> = {
  admin: true,
  decommission: true,
  'node-failure': true,
  'rolling-update': false,
  termination: false,
};

/** Obstacles that nobody can accept away: nothing can be moved live from a host whose nova-compute is down. */
const isFatal = (code: string): boolean => code === 'HostDown';

/**
 * Decides what an eviction does next. Pure; each branch is a row of the table test. Sources: seed 001 "Eviction Process"; design section 5
 * "Eviction, the showpiece"; hazards H1 to H11 of the replaced operator.
 */
export function planEviction(state: EvictionState, nowMs: number): Step {
  if (state.stop !== null) return planStop(state, state.stop, nowMs);
  const pause = waitOut(state, nowMs);
  if (pause !== null) return pause;
  if (state.host === null) return { do: 'preflight' };
  if (state.desired.mode === 'observe') return planObservation(state);
  const refusal = refuse(state);
  if (refusal !== null) return refusal;
  // Also when somebody enabled it meanwhile: drift is repaired (H11).
  if (state.host.service.status === 'enabled') return { do: 'disable' };
  return planMoves(state, nowMs);
}

/** Somebody may ask for it in the middle: then nothing more is begun. */
function planObservation(state: EvictionState): Step {
  const moving = inState(state, 'moving').length;
  if (moving > 0) return { do: 'wait', for: `${moving} in flight to end, and then only observe`, untilMs: null };
  const message = hasChanged(state) ? `Observed only, from here on: ${describeRest(state)}` : describePlan(state);
  return { do: 'end', outcome: 'Observed', reason: 'Observed', message };
}

/** A failing system is left alone for a while. */
const waitOut = ({ problem }: EvictionState, nowMs: number): Step | null =>
  problem !== null && nowMs < problem.retryAtMs
    ? { do: 'wait', for: problem.message, untilMs: problem.retryAtMs }
    : null;

function refuse(state: EvictionState): Step | null {
  const open = unacceptedObstacles(state);
  const fatal = open.filter(({ code }) => isFatal(code));
  const refusing = fatal.length > 0 ? fatal : refusedByObstacles[state.desired.cause] && !hasBegun(state) ? open : [];
  const [first] = refusing;
  if (first === undefined) return null;
  const others = refusing.length === 1 ? '' : ` and ${refusing.length - 1} more`;
  const change = !hasChanged(state)
    ? 'Nothing was changed.'
    : `${state.desired.hypervisor} ${state.host?.service.status === 'disabled' ? 'is' : 'may be'} left disabled.`;
  return {
    do: 'end',
    outcome: 'Failed',
    reason: evictingReasons.preflightFailed,
    message: `Refused: ${first.message}${others}. ${change}`,
  };
}

/** Whether drover has done anything to the host or its servers, in this run or before it; or may have, where no answer came. */
const hasChanged = (state: EvictionState): boolean =>
  hasBegun(state) ||
  (state.phase !== 'Opening' && state.phase !== 'Preflight') ||
  state.host?.service.disabledReason?.startsWith(disabledReasonPrefix) === true;

/** Once moves have begun an obstacle concerns its server alone. What the preflight blocked has not begun. */
const hasBegun = (state: EvictionState): boolean =>
  tracked(state).some(({ state: its, attempts }) => attempts > 0 || (its !== 'pending' && its !== 'blocked'));

function planMoves(state: EvictionState, nowMs: number): Step {
  const moving = inState(state, 'moving');
  const pending = inState(state, 'pending');
  if (state.paused !== null) {
    const since = `paused by ${state.paused.by}`;
    if (moving.length > 0) return { do: 'wait', for: `${moving.length} in flight to end; ${since}`, untilMs: null };
    return { do: 'wait', for: `somebody to resume: ${since}`, untilMs: null };
  }
  const next = pickNext(pending, moving, slots(state, moving.length), state.desired.deadline !== null);
  if (next.length > 0) return { do: 'move', instances: next };
  if (moving.length > 0)
    return { do: 'wait', for: `${moving.length} in flight and ${pending.length} pending`, untilMs: null };
  if (pending.length > 0)
    return { do: 'wait', for: 'its share of the migrations that the region may have at once', untilMs: null };
  const busyUntilMs = Math.min(...inState(state, 'busy').map(({ lookAgainAtMs }) => lookAgainAtMs ?? nowMs));
  if (Number.isFinite(busyUntilMs)) {
    if (nowMs >= busyUntilMs) return { do: 'look', why: 'Look whether servers that another run moves have left' };
    return { do: 'wait', for: 'another run that moves the rest', untilMs: busyUntilMs };
  }
  return planVerification(state, nowMs);
}

/** How many more may start: the smallest of what this host may have and what the region grants. */
export function slots(state: EvictionState, using: number): number {
  return Math.max(0, Math.min(parallelismOf(state), state.allowance?.allowance ?? 0) - using);
}

export const parallelismOf = ({ parallelism, desired, settings }: EvictionState): number =>
  parallelism ?? desired.parallelism ?? settings.perSource;

/** Nothing is left to move: is the host empty? It must be seen so twice, some time apart. */
function planVerification(state: EvictionState, nowMs: number): Step {
  const { host, settings, emptySinceMs, nothingLeftSinceMs, lookedAtMs } = state;
  const lastChangeMs = Math.max(0, ...tracked(state).map(({ sinceMs }) => sinceMs));
  if (host === null || lookedAtMs < lastChangeMs) return { do: 'look', why: 'Look whether the host is empty' };
  const stuck = inState(state, 'blocked', 'skipped');
  if (stuck.length > 0) return { do: 'end', outcome: 'Failed', reason: 'Failed', message: describeRest(state) };
  const lookAgainAtMs = lookedAtMs + settings.emptyRecheckMs;
  const lookOrWait = (what: string): Step =>
    nowMs >= lookAgainAtMs
      ? { do: 'look', why: 'Look again whether the host is empty' }
      : { do: 'wait', for: what, untilMs: lookAgainAtMs };
  if (emptySinceMs === null) {
    const deadlineMs = (nothingLeftSinceMs ?? nowMs) + settings.emptyDeadlineMs;
    if (nowMs >= deadlineMs) {
      return {
        do: 'end',
        outcome: 'Failed',
        reason: 'NotEmpty',
        message: `Every server is dealt with, but the host still has ${remains(host).join(', ')}`,
      };
    }
    return lookOrWait(`what is left on the host: ${remains(host).join(', ')}`);
  }
  if (lookedAtMs - emptySinceMs < settings.emptyRecheckMs) return lookOrWait('the host to be seen empty a second time');
  return { do: 'end', outcome: 'Succeeded', reason: 'Succeeded', message: describeRest(state) };
}

function planStop(state: EvictionState, stop: NonNullable<EvictionState['stop']>, nowMs: number): Step {
  const moving = inState(state, 'moving').length;
  if (moving > 0) {
    if (stop.aborted) return { do: 'wait', for: `${moving} in flight to be aborted`, untilMs: null };
    const abortAtMs = stop.abort ? stop.atMs : stop.atMs + state.settings.cancelGraceMs;
    if (nowMs >= abortAtMs) return { do: 'abort' };
    return { do: 'wait', for: `${moving} in flight to end after the cancel by ${stop.by}`, untilMs: abortAtMs };
  }
  if (stop.reEnable && state.reEnabled === null && state.host?.service.status === 'disabled')
    return waitOut(state, nowMs) ?? { do: 'reEnable' };
  return { do: 'end', outcome: 'Stopped', reason: 'Stopped', message: describeRest(state) };
}

const times = (number: number, word: string): string => `${number} ${word}`;

/** The figures of an eviction in one sentence. */
export function describeRest(state: EvictionState): string {
  const all = tracked(state).length;
  const done = inState(state, 'moved', 'gone').length;
  const parts = [
    times(inState(state, 'blocked').length, 'not migratable'),
    times(inState(state, 'skipped').length, 'skipped'),
    times(inState(state, 'pending', 'moving', 'busy').length, 'not moved'),
  ];
  const rest = parts.filter((part) => !part.startsWith('0 '));
  return `${done} of ${all} servers have left ${state.desired.hypervisor}${rest.length > 0 ? `; ${rest.join(', ')}` : ''}`;
}

function describePlan(state: EvictionState): string {
  const all = tracked(state).length;
  const open = unacceptedObstacles(state).length;
  const obstacles =
    open === 0 ? 'no obstacle stands in the way' : `${open} obstacle${open === 1 ? ' stands' : 's stand'} in the way`;
  return `Observed only: ${state.desired.hypervisor} would be disabled and ${all} server${all === 1 ? '' : 's'} moved, ${parallelismOf(state)} at a time; ${obstacles}`;
}
