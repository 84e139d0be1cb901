import { evictingReasons } from '../../contracts/eviction/conditions.ts';
import type { DesiredEviction, EvictionCause, EvictionPhase } from '../../contracts/eviction/eviction.ts';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import { done, execute, wait, type Done, type Execute, type Step, type Wait } from '../lib/plan.ts';
import { describeWindow } from '../limits/host-window.ts';
import type { Need } from '../limits/membership.ts';
import type { EvictionState, TrackedInstance } from './state.ts';
import { deadlineMsOf, inState, isFatal, isHostDown, remains, tracked, unacceptedObstacles, unended } from './state.ts';

/** What an eviction does next. Pure functions of its state and the time, and each rule is a row of the table tests. */

interface EvictionStepBase extends Step {
  readonly phase: EvictionPhase;
}

export type EvictionStep = EvictionStepBase &
  (
    | { readonly kind: 'preflight' | 'disableService' | 'observeHost' | 'enableService' }
    | { readonly kind: 'moveInstance'; readonly instance: TrackedInstance }
    /** Cancel what is in flight: its grace period is over, or the user asked for it. */
    | { readonly kind: 'abortMoves' }
    | { readonly kind: 'readEviction' }
    /** Report a problem no longer that may be over long since. */
    | { readonly kind: 'clearProblem' }
    | { readonly kind: 'continueAsNew' }
  );

/** `done`: the reason `Stopped` or `Observed` is an outcome of its own, see {@link endPhaseOf}. */
type EvictionPlan = Execute<EvictionStep> | Wait | Done;

export const endPhaseOf = ({ outcome, reason }: Done): 'Succeeded' | 'Failed' | 'Stopped' | 'Observed' =>
  outcome === 'reconciled' ? 'Succeeded' : reason === 'Stopped' || reason === 'Observed' ? reason : 'Failed';

/** What a run knows of itself, besides the eviction. */
export interface RunSituation {
  /** When the Eviction, which has changed, is to be read again, in Unix ms; null: it has not changed. */
  readDueMs: number | null;
  /** When what is said of its deadline changes by time alone, in Unix ms; null: it does not. */
  marginDueMs: number | null;
  /** Its last report to the region's allowance failed. */
  isReportFailing: boolean;
  /** It is to continue as new. */
  isOld: boolean;
  /** Moves whose children have not ended. */
  inFlight: number;
}

/**
 * What a run does next: what the eviction's plan says, unless the run itself needs something. A change is read before
 * all else, also while a problem is waited out: it may be the deletion.
 */
export function planRun(state: EvictionState, situation: RunSituation, nowMs: number): EvictionPlan {
  const { readDueMs, isOld, inFlight } = situation;
  if (isOld && inFlight === 0) return one(state, { kind: 'continueAsNew', summary: 'Continue as new' });
  if (readDueMs !== null && nowMs >= readDueMs)
    return one(state, { kind: 'readEviction', summary: 'Read the Eviction again' });
  const planned = planEviction(state, nowMs);
  // Nothing more is begun once the run is to continue as new: it must be quiet for that.
  const begins = planned.kind === 'execute' && planned.steps.some(({ kind }) => kind === 'moveInstance');
  const plan =
    isOld && begins
      ? wait(state.phase, 'ContinuesAsNew', 'what is in flight to end, to continue as a new run')
      : planned;
  if (isProblemOver(state, situation, plan, nowMs))
    return one(state, { kind: 'clearProblem', summary: 'Report the problem no longer' });
  const dueMs = Math.min(readDueMs ?? Infinity, situation.marginDueMs ?? Infinity);
  if (plan.kind !== 'wait' || dueMs === Infinity) return plan;
  return { ...plan, untilMs: Math.min(plan.untilMs ?? Infinity, dueMs) };
}

/**
 * What is tried beside the steps says itself when it works again. The problem of a step is over when the plan does not
 * take the step again at its time, because the run is paused or waits for something else; unless a move has begun
 * since, whose end will show it.
 */
function isProblemOver(
  state: EvictionState,
  { readDueMs, isReportFailing }: RunSituation,
  plan: EvictionPlan,
  nowMs: number,
): boolean {
  const { problem } = state;
  if (problem === null) return false;
  if (problem.kind === 'read') return readDueMs === null;
  if (problem.kind === 'report') return !isReportFailing;
  return (
    plan.kind === 'wait' &&
    nowMs >= problem.retryAtMs &&
    inState(state, 'moving').every(({ sinceMs }) => sinceMs < problem.retryAtMs)
  );
}

/** A plan of one step, in the phase that the eviction is in, unless the step has another. */
const one = (
  state: EvictionState,
  step: Omit<EvictionStepBase, 'phase'> & {
    kind: Exclude<EvictionStep['kind'], 'moveInstance'>;
    phase?: EvictionPhase;
  },
): Execute<EvictionStep> => execute([{ phase: state.phase, ...step }]);

/** Causes for which an obstacle refuses the eviction. For the others a refusal would end in a forced kill. */
export const isRefusedByObstacles: Record<EvictionCause, boolean> = {
  admin: true,
  decommission: true,
  'node-failure': true,
  'rolling-update': false,
  termination: false,
};

export function planEviction(state: EvictionState, nowMs: number): EvictionPlan {
  const { hypervisor } = state.desired;
  if (state.stop !== null) return planStop(state, state.stop, nowMs);
  const pause = waitOut(state, nowMs);
  if (pause !== null) return pause;
  if (state.host === null)
    return one(state, {
      kind: 'preflight',
      summary: `Preflight: find what prevents that ${hypervisor} is emptied`,
      phase: 'Preflight',
    });
  if (state.desired.mode === 'observe') return planObservation(state);
  const refusal = refuse(state);
  if (refusal !== null) return refusal;
  // Also when another client enabled it meanwhile: drift is repaired.
  if (state.host.service.status === 'enabled')
    return one(state, {
      kind: 'disableService',
      summary: `Disable the compute service of ${hypervisor}`,
      phase: 'Disabling',
    });
  return planMoves(state, nowMs);
}

/** A user may ask for it while servers move: then nothing more is begun. */
function planObservation(state: EvictionState): EvictionPlan {
  const moving = inState(state, 'moving').length;
  if (moving > 0) return wait(state.phase, 'InFlight', `${moving} in flight to end, and then only observe`);
  const message = hasChanged(state)
    ? `Observed only, from here on: ${describeRemaining(state)}`
    : describeIntent(state);
  return done('blocked', 'Observed', message);
}

/** A failing system is left alone for a while. */
const waitOut = ({ problem, phase }: EvictionState, nowMs: number): Wait | null =>
  problem !== null && nowMs < problem.retryAtMs
    ? wait(phase, problem.reason, problem.message, problem.retryAtMs)
    : null;

/** A cause that is changed while servers move may be one that is refused: what moves ends, and nothing more begins. */
function refuse(state: EvictionState): Wait | Done | null {
  const open = unacceptedObstacles(state);
  const fatal = lastsUntilDeadline(state) ? [] : open.filter(isFatal);
  const refusing = fatal.length > 0 ? fatal : isRefusedByObstacles[state.desired.cause] && !hasBegun(state) ? open : [];
  const [first] = refusing;
  if (first === undefined) return null;
  const others = refusing.length === 1 ? '' : ` and ${refusing.length - 1} more`;
  const moving = inState(state, 'moving').length;
  if (moving > 0)
    return wait(
      state.phase,
      'InFlight',
      `${moving} in flight to end, and then it is refused: ${first.message}${others}`,
    );
  const change = !hasChanged(state)
    ? 'Nothing was changed.'
    : `${state.desired.hypervisor} ${state.host?.service.status === 'disabled' ? 'is' : 'may be'} left disabled.`;
  return done('blocked', evictingReasons.preflightFailed, `Refused: ${first.message}${others}. ${change}`);
}

/**
 * Whether drover has done anything to the host or its servers, in this run or before it; or may have, where
 * no answer came.
 */
const hasChanged = (state: EvictionState): boolean =>
  hasBegun(state) ||
  (state.phase !== 'Opening' && state.phase !== 'Preflight') ||
  state.host?.service.disabledReason?.startsWith(disabledReasonPrefix) === true;

/** Causes for which the host goes at the deadline whatever is on it: until then nothing is given up. */
const lastsUntilDeadline = (state: EvictionState): boolean =>
  !isRefusedByObstacles[state.desired.cause] && state.startedAtMs < (deadlineMsOf(state) ?? -Infinity);

const mayRetry = (state: EvictionState, nowMs: number): boolean =>
  lastsUntilDeadline(state) && nowMs < (deadlineMsOf(state) ?? -Infinity);

const passDeadline = (state: EvictionState): Done =>
  done(
    'blocked',
    evictingReasons.deadlinePassed,
    `The deadline has passed (${state.desired.deadline}): ${describeRemaining(state)}`,
  );

const firstRetryMs = 30_000;
const longestRetryMs = 5 * 60_000;
/** A last try, while there is time for it. */
const lastRetryMs = 2 * 60_000;

/**
 * When what does not move is looked at again, and tried; the pauses double, and there is a last try before the
 * deadline. Null: nothing is tried again, or nothing needs to be.
 */
function nextRetryMs(state: EvictionState, nowMs: number): number | null {
  const blocked = inState(state, 'blocked');
  if (!mayRetry(state, nowMs) || (blocked.length === 0 && !isHostDown(state))) return null;
  const triedMs = Math.max(state.preflightAtMs, ...blocked.map(({ sinceMs }) => sinceMs));
  const pauseMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.max(0, state.preflights - 1));
  const lastMs = (deadlineMsOf(state) ?? Infinity) - lastRetryMs;
  return Math.min(triedMs + pauseMs, Math.max(lastMs, triedMs + firstRetryMs));
}

/** What does not move now and is tried again until the deadline, as a sentence; null: there is no such thing. */
export const retriedUntilDeadline = (state: EvictionState, nowMs: number): string | null =>
  nextRetryMs(state, nowMs) === null ? null : whatIsRetried(state);

const whatIsRetried = (state: EvictionState): string =>
  isHostDown(state)
    ? `whether nova-compute on ${state.desired.hypervisor} is up again`
    : 'what holds the rest, to try it again';

/** Once moves have begun an obstacle concerns its server alone. What the preflight blocked has not begun. */
const hasBegun = (state: EvictionState): boolean =>
  tracked(state).some(
    ({ state: its, attempts, begun }) => begun === true || attempts > 0 || (its !== 'pending' && its !== 'blocked'),
  );

function planMoves(state: EvictionState, nowMs: number): EvictionPlan {
  const { phase } = state;
  const moving = inState(state, 'moving');
  const pending = inState(state, 'pending');
  if (state.paused !== null) {
    const since = `paused by ${state.paused.by}`;
    if (moving.length > 0) return wait(phase, 'Paused', `${moving.length} in flight to end; ${since}`);
    return wait(phase, 'Paused', `a user to resume it: ${since}`);
  }
  const retryAtMs = nextRetryMs(state, nowMs);
  if (retryAtMs !== null && (nowMs >= retryAtMs || state.retryAsked))
    return one(state, { kind: 'preflight', summary: `Preflight again: ${whatIsRetried(state)}` });
  const plan = planMovesNow(state, moving, pending, nowMs);
  return plan.kind === 'wait' && retryAtMs !== null
    ? { ...plan, untilMs: Math.min(plan.untilMs ?? Infinity, retryAtMs) }
    : plan;
}

function planMovesNow(
  state: EvictionState,
  moving: readonly TrackedInstance[],
  pending: readonly TrackedInstance[],
  nowMs: number,
): EvictionPlan {
  const { phase, desired } = state;
  // Its servers may have been evacuated meanwhile.
  if (isHostDown(state) && inState(state, 'pending', 'moving', 'busy', 'blocked').length > 0) {
    if (moving.length > 0) return wait(phase, 'InFlight', `${moving.length} in flight to end`);
    if (!mayRetry(state, nowMs)) return passDeadline(state);
    const down = `nova-compute on ${desired.hypervisor} to come up, as nothing can be moved live before, until the deadline (${desired.deadline})`;
    return wait(phase, 'HostDown', down);
  }
  const next = pickNext(pending, moving, freeSlots(state, moving.length), desired.deadline !== null);
  if (next.length > 0)
    return execute(
      next.map((instance) => ({
        kind: 'moveInstance',
        summary: `Move ${instance.instance.name} off ${desired.hypervisor}`,
        phase: 'Moving',
        background: instance.instance.id,
        instance,
      })),
    );
  if (moving.length > 0)
    return wait(
      phase,
      'InFlight',
      `${moving.length} in flight and ${pending.length} pending${describeNarrowing(state)}`,
    );
  if (pending.length > 0) return planWithoutSlots(state, nowMs);
  const busyUntilMs = Math.min(...inState(state, 'busy').map(({ observeAgainAtMs }) => observeAgainAtMs ?? nowMs));
  if (Number.isFinite(busyUntilMs)) {
    if (nowMs >= busyUntilMs)
      return one(state, { kind: 'observeHost', summary: 'Observe whether servers that another run moves have left' });
    return wait(phase, 'MovedElsewhere', 'another run that moves the rest', busyUntilMs);
  }
  return planVerification(state, nowMs);
}

/**
 * How many more may start: the smallest of what this host may have and what the region grants. A migration that does
 * not end holds a slot of the region, and keeps the rest of the host from nothing else.
 */
function freeSlots(state: EvictionState, using: number): number {
  return Math.max(0, Math.min(parallelismOf(state), (state.allowance?.allowance ?? 0) - unended(state).length) - using);
}

/** Nothing else tells when Nova ends what holds the slots. */
function planWithoutSlots(state: EvictionState, nowMs: number): EvictionPlan {
  const holding = unended(state);
  if (holding.length === 0)
    return wait(state.phase, 'WaitingForAllowance', 'an allowance of the migrations of the region');
  const observeAtMs =
    Math.max(state.observedAtMs, ...holding.map(({ sinceMs }) => sinceMs)) + state.settings.busyElsewhereMs;
  if (nowMs >= observeAtMs)
    return one(state, { kind: 'observeHost', summary: 'Observe whether Nova has ended what holds the slots' });
  const named = holding.slice(0, 3).map(({ instance, inFlight }) => `migration ${inFlight} of ${instance.name}`);
  const message = `an allowance of the migrations of the region; ${holding.length} that Nova does not end hold theirs (${named.join(', ')})`;
  return wait(state.phase, 'SlotsHeld', message, observeAtMs);
}

/** Nova itself does not run as many at once as the eviction may begin. */
function describeNarrowing(state: EvictionState): string {
  const novaRuns = state.allowance?.novaRuns ?? Infinity;
  if (novaRuns >= parallelismOf(state)) return '';
  return `; ${describeWindow(state.host?.host ?? state.desired.hypervisor, novaRuns)}`;
}

export const parallelismOf = ({ parallelism, desired, settings }: EvictionState): number =>
  parallelism ?? desired.parallelism ?? settings.perSource;

/**
 * Nothing is left to move: is the host empty? Where it was disabled only shortly before, it must be observed so twice,
 * some time apart: servers that the scheduler had sent before still arrive.
 */
function planVerification(state: EvictionState, nowMs: number): EvictionPlan {
  const { host, settings, emptySinceMs, nothingLeftSinceMs, observedAtMs, disabledSinceMs } = state;
  const observe = (summary: string): EvictionPlan => one(state, { kind: 'observeHost', summary, phase: 'Verifying' });
  const lastChangeMs = Math.max(0, ...tracked(state).map(({ sinceMs }) => sinceMs));
  if (host === null || observedAtMs < lastChangeMs) return observe('Observe whether the host is empty');
  const blocked = inState(state, 'blocked').length;
  if (blocked > 0 && mayRetry(state, nowMs)) {
    const again = `${blocked} server${blocked === 1 ? '' : 's'} to be tried again, until the deadline (${state.desired.deadline})`;
    return wait(state.phase, 'TriedAgain', again);
  }
  if (blocked > 0 && lastsUntilDeadline(state)) return passDeadline(state);
  if (inState(state, 'blocked', 'skipped').length > 0) return done('blocked', 'Failed', describeRemaining(state));
  const observeAgainAtMs = observedAtMs + settings.emptyRecheckMs;
  const observeOrWait = (message: string): EvictionPlan =>
    nowMs >= observeAgainAtMs
      ? observe('Observe again whether the host is empty')
      : wait(state.phase, 'NotEmpty', message, observeAgainAtMs);
  if (emptySinceMs === null) {
    const deadlineMs = Math.max(nothingLeftSinceMs ?? nowMs, lastChangeMs) + settings.emptyDeadlineMs;
    const left = remains(host).join(', ');
    // After an outage or a pause the last look may be old, and what it found gone since.
    if (observedAtMs >= deadlineMs)
      return done('blocked', evictingReasons.notEmpty, `Every server is dealt with, but the host still has ${left}`);
    return observeOrWait(`what is left on the host: ${left}`);
  }
  // What was on its way when the host was disabled has arrived since.
  const isLongDisabled = disabledSinceMs !== null && emptySinceMs - disabledSinceMs >= settings.emptyRecheckMs;
  if (!isLongDisabled && observedAtMs - emptySinceMs < settings.emptyRecheckMs)
    return observeOrWait('the host to be observed empty a second time');
  return done('reconciled', 'Succeeded', describeRemaining(state));
}

function planStop(state: EvictionState, stop: NonNullable<EvictionState['stop']>, nowMs: number): EvictionPlan {
  const moving = inState(state, 'moving').length;
  if (moving > 0) {
    if (stop.aborted) return wait(state.phase, 'Stopping', `${moving} in flight to be aborted`);
    const abortAtMs = stop.abort ? stop.atMs : stop.atMs + state.settings.cancelGraceMs;
    if (nowMs >= abortAtMs) return one(state, { kind: 'abortMoves', summary: 'Abort what is in flight' });
    return wait(state.phase, 'Stopping', `${moving} in flight to end after the cancel by ${stop.by}`, abortAtMs);
  }
  if (stop.reEnable && state.reEnabled === null && state.host?.service.status === 'disabled')
    return waitOut(state, nowMs) ?? one(state, { kind: 'enableService', summary: enableSummary(state) });
  return done('blocked', 'Stopped', describeRemaining(state));
}

export const enableSummary = ({ desired }: EvictionState): string =>
  `Enable the compute service of ${desired.hypervisor} again`;

/** The figures of an eviction in one sentence. */
export function describeRemaining(state: EvictionState): string {
  const all = tracked(state).length;
  const gone = inState(state, 'moved', 'gone').length;
  const rest = [
    [inState(state, 'blocked').length, 'not migratable'],
    [inState(state, 'skipped').length, 'skipped'],
    [inState(state, 'pending', 'moving', 'busy').length, 'not moved'],
  ].flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`]));
  return `${gone} of ${all} servers have left ${state.desired.hypervisor}${rest.length > 0 ? `; ${rest.join(', ')}` : ''}`;
}

function describeIntent(state: EvictionState): string {
  const all = tracked(state).length;
  const open = unacceptedObstacles(state).length;
  const obstacles =
    open === 0 ? 'no obstacle stands in the way' : `${open} obstacle${open === 1 ? ' stands' : 's stand'} in the way`;
  return `Observed only: ${state.desired.hypervisor} would be disabled and ${all} server${all === 1 ? '' : 's'} moved, ${parallelismOf(state)} at a time; ${obstacles}`;
}

/**
 * Which of the pending servers go next, at most `slots`. With a deadline the largest first, so that the long ones are
 * not left for the end; else the smallest, so that the host gets lighter soonest. Members of one server group move one
 * at a time. Control planes move last, and one at a time: each is away for a moment, and what they control shall not
 * lose two at once.
 */
export function pickNext(
  pending: readonly TrackedInstance[],
  moving: readonly TrackedInstance[],
  slots: number,
  hasDeadline: boolean,
): TrackedInstance[] {
  const largestFirst = hasDeadline ? -1 : 1;
  const sorted = pending.toSorted(
    (a, b) =>
      Number(a.instance.movesLast ?? false) - Number(b.instance.movesLast ?? false) ||
      // One that failed before lets the others pass: nothing blocks the head of the queue.
      a.attempts - b.attempts ||
      largestFirst * (a.instance.memoryMiB - b.instance.memoryMiB) ||
      a.instance.name.localeCompare(b.instance.name, 'en') ||
      a.instance.id.localeCompare(b.instance.id, 'en'),
  );
  const busyGroups = new Set(moving.flatMap(({ instance }) => instance.serverGroups));
  let isLastMoving = moving.some(({ instance }) => instance.movesLast === true);
  const picked: TrackedInstance[] = [];
  for (const candidate of sorted) {
    if (picked.length >= slots) break;
    if (candidate.instance.serverGroups.some((group) => busyGroups.has(group))) continue;
    if (candidate.instance.movesLast === true) {
      if (isLastMoving) continue;
      isLastMoving = true;
    }
    for (const group of candidate.instance.serverGroups) busyGroups.add(group);
    picked.push(candidate);
  }
  return picked;
}

/**
 * Whether the compute service is enabled again once the host is empty: by cause, unless the Eviction says otherwise;
 * text in `spec.reason` selects nothing. `afterReboot`: only when the Node came back with a new boot id and Ready, as
 * after a rolling update.
 */
export function planReEnable({
  cause,
  reEnable,
}: Pick<DesiredEviction, 'cause' | 'reEnable'>): 'leave' | 'now' | 'afterReboot' {
  if (reEnable === false) return 'leave';
  if (cause === 'rolling-update') return 'afterReboot';
  return reEnable === true ? 'now' : 'leave';
}

/** How many migrations the eviction could use now, and how many it uses. */
export function needOf(state: EvictionState): Need {
  const moving = inState(state, 'moving').length;
  const held = unended(state).length;
  const using = moving + held;
  // What is in flight runs to its end; nothing more is wanted than that.
  const begins = state.paused === null && state.stop === null && state.end === null && state.host !== null;
  if (!begins || isHostDown(state)) return { want: using, using };
  const pending = inState(state, 'pending').filter(({ inFlight }) => inFlight === null).length;
  return { want: Math.min(parallelismOf(state), moving + pending) + held, using };
}
