import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { errors } from '../../contracts/errors.ts';
import { evictingReasons, evictionConditions, onTimeReasons } from '../../contracts/eviction/conditions.ts';
import type {
  EvictionProgress,
  EvictionResult,
  InstanceProgress,
  InstanceState,
  Obstacle,
} from '../../contracts/eviction/eviction.ts';
import { describeRemaining, isRefusedByObstacles, parallelismOf } from './plan.ts';
import {
  acceptedObstacles,
  type End,
  type EvictionState,
  inState,
  outstandingRamMiB,
  tracked,
  type TrackedInstance,
  unacceptedObstacles,
  unended,
} from './state.ts';
import { describeMargin, estimateMs } from './deadline.ts';

/**
 * The worst are named, the rest counted: a condition is for users. Every instance is in its Migration and in
 * `drover describe`.
 */
const namedAtMost = 3;

/** Of those that did not move, in the result of the run. */
const listedAtMost = 20;

/**
 * The Eviction's conditions, with the types and reasons of the operator that drover replaces as it has them. Pure.
 *
 * @param waitingFor what the run waits for, as a sentence; null while it acts
 */
export function describeConditions(state: EvictionState, waitingFor: string | null, nowMs: number): ConditionUpdate[] {
  const { generation } = state.desired;
  const updates = [
    evicting(state, waitingFor),
    preflight(state),
    hypervisorDisabled(state),
    migratingInstance(state),
    onTime(state, nowMs),
    hypervisorReEnabled(state, waitingFor),
  ];
  return updates.filter((update) => update !== null).map((update) => ({ ...update, observedGeneration: generation }));
}

function evicting(state: EvictionState, waitingFor: string | null): ConditionUpdate {
  const type = evictionConditions.evicting;
  if (state.end !== null) {
    const { reason, message } = state.end;
    // What refused the eviction is named by the preflight's own condition.
    const named =
      reason === evictingReasons.preflightFailed ? [] : [...inState(state, 'blocked'), ...leftInFlight(state)];
    const rest = named.length === 0 ? '' : `. ${nameSome(named, describeBlocked, state)}`;
    return { type, status: 'False', reason, message: `${message}${rest}` };
  }
  const figures = state.host === null ? `${state.phase} ${state.desired.hypervisor}` : describeRemaining(state);
  // A problem is shown at once, not only when the run has come to wait for its end.
  const problem = state.stop === null ? state.problem : null;
  const how =
    state.stop !== null
      ? `. Stopping, after ${state.stop.by}`
      : state.paused !== null
        ? `. Paused by ${state.paused.by}`
        : '';
  const waits =
    problem !== null
      ? `. ${problem.reason}: ${problem.message}`
      : waitingFor === null
        ? ''
        : `. Waiting for ${waitingFor}`;
  return { type, status: 'True', reason: evictingReasons.running, message: `${figures}${how}${waits}` };
}

/** Of a stopped eviction: servers that count as not moved, with a migration that does not end. */
const leftInFlight = (state: EvictionState): TrackedInstance[] =>
  unended(state).filter(({ state: its }) => its !== 'blocked');

function preflight(state: EvictionState): ConditionUpdate | null {
  const type = evictionConditions.preflight;
  if (state.host === null) return null;
  const open = unacceptedObstacles(state);
  const accepted = acceptedObstacles(state);
  const acceptedHere = state.obstacles.filter(({ id }) => accepted.has(id));
  const notes = state.notes.map((note) => ` ${note}.`).join('');
  const suffix = `${acceptedHere.length === 0 ? '' : ` Accepted: ${acceptedHere.map(({ id }) => id).join(', ')}.`}${notes}`;
  if (open.length === 0)
    return { type, status: 'True', reason: 'Succeeded', message: `Preflight checks passed.${suffix}` };
  const carried =
    isRefusedByObstacles[state.desired.cause] || state.end?.reason === evictingReasons.preflightFailed
      ? ''
      : ` Carried along because the cause is ${state.desired.cause}.`;
  return {
    type,
    status: 'False',
    reason: 'Failed',
    message: `${open.length} obstacle${open.length === 1 ? '' : 's'}: ${nameSome(open, describeObstacle, state)}.${carried}${suffix}`,
  };
}

const describeObstacle = ({ id, message }: Obstacle): string => `${message} [${id}]`;

function hypervisorDisabled({ host, end }: EvictionState): ConditionUpdate | null {
  const type = evictionConditions.disabled;
  if (host === null) return null;
  const { status, disabledReason } = host.service;
  if (status === 'disabled')
    return {
      type,
      status: 'True',
      reason: 'Succeeded',
      message: `Disabled in Nova: ${disabledReason ?? 'no reason given'}`,
    };
  return { type, status: 'False', reason: end === null ? 'Enabled' : 'Succeeded', message: 'Enabled in Nova' };
}

/** Always False, as the replaced operator writes it; a failure stays until nothing is left that failed. */
function migratingInstance(state: EvictionState): ConditionUpdate | null {
  const type = evictionConditions.migrating;
  const blocked = inState(state, 'blocked');
  if (blocked.length > 0)
    return {
      type,
      status: 'False',
      reason: 'Failed',
      message: `${blocked.length} server${blocked.length === 1 ? '' : 's'} not migratable: ${nameSome(blocked, nameOf, state)}`,
    };
  const [last] = inState(state, 'moved', 'gone').toSorted((a, b) => b.sinceMs - a.sinceMs);
  if (last === undefined) return null;
  const how =
    last.state === 'moved' ? `finished: it is on ${last.target ?? 'another host'}` : (last.message ?? 'is gone');
  return {
    type,
    status: 'False',
    reason: 'Succeeded',
    message: `Migration of instance ${last.instance.id} (${last.instance.name}) ${how}`,
  };
}

const nameOf = ({ instance }: TrackedInstance): string => `${instance.name} (${instance.id})`;

const describeBlocked = (one: TrackedInstance): string => `${nameOf(one)}: ${one.message ?? 'did not move'}`;

function hypervisorReEnabled(
  { end, phase, desired, reEnabled, problem }: EvictionState,
  waitingFor: string | null,
): ConditionUpdate | null {
  const type = evictionConditions.reEnabled;
  if (end !== null && reEnabled === null && waitingFor !== null && problem?.reason === errors.Stopped.reason)
    return { type, status: 'Unknown', reason: problem.reason, message: `Waiting for ${waitingFor}` };
  if (phase === 'ReEnabling' && reEnabled === null) {
    return {
      type,
      status: 'Unknown',
      reason: 'WaitingForNode',
      message: `Waiting for Node ${desired.hypervisor} to come back with a new boot id and Ready`,
    };
  }
  if (end === null || reEnabled === null) return null;
  if (reEnabled) return { type, status: 'True', reason: 'Succeeded', message: 'Enabled in Nova again' };
  return { type, status: 'False', reason: 'LeftDisabled', message: `Left disabled in Nova (cause ${desired.cause})` };
}

function nameSome<One>(all: readonly One[], describe: (one: One) => string, { desired }: EvictionState): string {
  const named = all.slice(0, namedAtMost).map(describe).join('; ');
  const more = all.length - namedAtMost;
  return more > 0 ? `${named}; and ${more} more: \`drover describe ${desired.hypervisor}\`` : named;
}

function onTime(state: EvictionState, nowMs: number): ConditionUpdate | null {
  const margin = describeMargin(state, nowMs);
  if (margin === null) return null;
  const { verdict, message } = margin;
  return { type: evictionConditions.onTime, status: onTimeReasons[verdict], reason: verdict, message };
}

/** Rows that need a user first, then those in motion, then the rest: the Web UI's frame is low. */
const rowOrder: InstanceState[] = ['blocked', 'moving', 'busy', 'pending', 'skipped', 'moved', 'gone'];

const iso = (ms: number): string => new Date(ms).toISOString();

/** The answer of the query `progress`. Pure. */
export function describeProgress(
  state: EvictionState,
  waiting: { message: string; untilMs: number | null } | null,
  nowMs: number,
): EvictionProgress {
  const { desired } = state;
  const accepted = acceptedObstacles(state);
  return {
    eviction: desired.name,
    hypervisor: desired.hypervisor,
    reason: desired.reason,
    cause: desired.cause,
    startedBy: desired.startedBy,
    mode: desired.mode,
    phase: state.phase,
    since: iso(state.phaseSinceMs),
    waitingFor: waiting?.message ?? null,
    nextWakeUp: waiting?.untilMs === null || waiting === null ? null : iso(waiting.untilMs),
    deadline: desired.deadline,
    onTime: describeMargin(state, nowMs),
    etaMs: estimateMs(state, nowMs),
    paused:
      state.paused === null
        ? null
        : `by ${state.paused.by}${state.paused.reason === null ? '' : `: ${state.paused.reason}`}`,
    window: {
      parallelism: parallelismOf(state),
      allowance: state.allowance?.allowance ?? 0,
      using: inState(state, 'moving').length,
    },
    counts: countStates(state),
    outstandingRamMb: outstandingRamMiB(state),
    obstacles: state.obstacles.map((obstacle) => ({ ...obstacle, accepted: accepted.has(obstacle.id) })),
    notes: state.notes,
    instances: rows(state).map(describeInstance),
  };
}

const countStates = (state: EvictionState): EvictionProgress['counts'] => ({
  total: tracked(state).length,
  done: inState(state, 'moved', 'gone').length,
  moving: inState(state, 'moving').length,
  pending: inState(state, 'pending', 'busy').length,
  blocked: inState(state, 'blocked').length,
  skipped: inState(state, 'skipped').length,
});

const rows = (state: EvictionState): TrackedInstance[] =>
  tracked(state).toSorted(
    (a, b) =>
      rowOrder.indexOf(a.state) - rowOrder.indexOf(b.state) ||
      a.instance.name.localeCompare(b.instance.name, 'en', { numeric: true }),
  );

const describeInstance = (one: TrackedInstance): InstanceProgress => ({
  id: one.instance.id,
  name: one.instance.name,
  state: one.state,
  attempt: one.attempts,
  target: one.target,
  percent: one.percent,
  memoryMiB: one.instance.memoryMiB,
  since: iso(one.sinceMs),
  message: one.message,
});

/** The Markdown that the Web UI shows: the sentence that matters, then the table. */
export function describeDetails(progress: EvictionProgress, endMessage: string | null): string {
  const { counts, phase, waitingFor, window } = progress;
  const headline = endMessage ?? `${phase}: ${counts.done} of ${counts.total} servers have left ${progress.hypervisor}`;
  const properties = [
    waitingFor === null ? null : `Waiting for ${waitingFor}`,
    progress.onTime?.message ?? (progress.deadline === null ? null : `Deadline ${progress.deadline}`),
    progress.paused === null ? null : `Paused ${progress.paused}`,
    `${window.using} of ${Math.min(window.parallelism, window.allowance)} slots in use`,
  ].filter((property) => property !== null);
  const open = progress.obstacles.filter(({ accepted }) => !accepted);
  const remarks = [
    ...open.slice(0, 20).map(({ id, message }) => `- \`${id}\`: ${cell(message)}`),
    ...(endMessage === null ? progress.notes.map((note) => `- ${cell(note)}`) : []),
  ];
  const obstacles = remarks.length === 0 ? [] : ['', ...remarks];
  const table = progress.instances.map(
    ({ name, state, attempt, target, percent, message }) =>
      `| ${cell(name)} | ${state} | ${attempt === 0 ? '' : attempt} | ${percent === null ? '' : `${percent} %`} | ${cell(target ?? '')} | ${cell(message ?? '')} |`,
  );
  const header =
    table.length === 0
      ? []
      : ['', '| instance | state | attempt | progress | target | remark |', '|---|---|---|---|---|---|'];
  return [`**${headline}**`, '', properties.join(' · '), ...obstacles, ...header, ...table].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The answer of the query while the Eviction has not been read yet. */
export const progressBeforeOpening = (hypervisor: string, startedAt: Date): EvictionProgress => ({
  eviction: null,
  hypervisor,
  reason: null,
  cause: null,
  startedBy: null,
  mode: null,
  phase: 'Opening',
  since: startedAt.toISOString(),
  waitingFor: 'kube-apiserver to answer',
  nextWakeUp: null,
  deadline: null,
  etaMs: null,
  paused: null,
  window: { parallelism: 0, allowance: 0, using: 0 },
  counts: { total: 0, done: 0, moving: 0, pending: 0, blocked: 0, skipped: 0 },
  outstandingRamMb: 0,
  obstacles: [],
  notes: [],
  instances: [],
});

/** The result of the run: figures, and the servers that did not move. Pure. */
export function describeResult(state: EvictionState, { phase, reason, message }: End): EvictionResult {
  const { name, hypervisor } = state.desired;
  const notMoved = inState(state, 'blocked', 'skipped', 'busy', 'pending')
    .slice(0, listedAtMost)
    .map(({ instance, state: its, message: why }) => ({
      id: instance.id,
      name: instance.name,
      state: its,
      message: why,
    }));
  return {
    object: `Eviction ${name}`,
    eviction: name,
    hypervisor,
    outcome: phase === 'Succeeded' ? 'reconciled' : phase === 'Observed' ? 'observed' : 'blocked',
    reason,
    message,
    counts: countStates(state),
    notMoved,
    ...(state.reEnabled === null ? {} : { reEnabled: state.reEnabled }),
  };
}
