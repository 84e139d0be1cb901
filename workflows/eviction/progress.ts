import type { EvictionProgress, InstanceProgress, InstanceState } from '../../contracts/eviction/eviction.ts';
import { parallelismOf } from './plan.ts';
import type { EvictionState, TrackedInstance } from './state.ts';
import { acceptedObstacles, inState, outstandingRamMiB, tracked } from './state.ts';

/** Rows that need a person first, then those in motion, then the rest: the Web UI's frame is low. */
const rowOrder: InstanceState[] = ['blocked', 'moving', 'busy', 'pending', 'skipped', 'moved', 'gone'];

const iso = (ms: number): string => new Date(ms).toISOString();

/** The answer of the query `progress`. Pure. */
export function describeProgress(
  state: EvictionState,
  waiting: { for: string; untilMs: number | null } | null,
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
    waitingFor: waiting?.for ?? null,
    nextWakeUp: waiting?.untilMs === null || waiting === null ? null : iso(waiting.untilMs),
    deadline: desired.deadline,
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
    instances: rows(state).map(describeInstance),
  };
}

export const countStates = (state: EvictionState): EvictionProgress['counts'] => ({
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

/**
 * Time until the last server has moved: the moves that are left, at the pace per GiB of those that are done, in as many lanes as the
 * window has. Null before the first has moved.
 */
export function estimateMs(state: EvictionState, nowMs: number): number | null {
  const done = tracked(state).filter((one) => one.tookMs !== null);
  const left = inState(state, 'pending', 'moving', 'busy');
  if (left.length === 0 || state.end !== null) return state.end === null && tracked(state).length > 0 ? 0 : null;
  if (done.length === 0) return null;
  const sum = (of: readonly TrackedInstance[], measure: (one: TrackedInstance) => number): number =>
    of.reduce((total, one) => total + measure(one), 0);
  const msPerMiB =
    sum(done, ({ tookMs }) => tookMs ?? 0) /
    Math.max(
      1,
      sum(done, ({ instance }) => instance.memoryMiB),
    );
  const lanes = Math.max(1, Math.min(parallelismOf(state), state.allowance?.allowance ?? 1));
  const elapsed = sum(inState(state, 'moving'), ({ sinceMs, instance }) =>
    Math.min(nowMs - sinceMs, instance.memoryMiB * msPerMiB),
  );
  return Math.max(0, Math.round((sum(left, ({ instance }) => instance.memoryMiB * msPerMiB) - elapsed) / lanes));
}

/** The Markdown that the Web UI shows: the sentence that matters, then the table. */
export function describeDetails(progress: EvictionProgress, endMessage: string | null): string {
  const { counts, phase, waitingFor, window } = progress;
  const headline = endMessage ?? `${phase}: ${counts.done} of ${counts.total} servers have left ${progress.hypervisor}`;
  const facts = [
    waitingFor === null || endMessage !== null ? null : `Waiting for ${waitingFor}`,
    progress.deadline === null ? null : `Deadline ${progress.deadline}`,
    progress.paused === null ? null : `Paused ${progress.paused}`,
    `${window.using} of ${Math.min(window.parallelism, window.allowance)} slots in use`,
  ].filter((fact) => fact !== null);
  const open = progress.obstacles.filter(({ accepted }) => !accepted);
  const obstacles =
    open.length === 0 ? [] : ['', ...open.slice(0, 20).map(({ id, message }) => `- \`${id}\`: ${cell(message)}`)];
  const table = progress.instances.map(
    ({ name, state, attempt, target, percent, message }) =>
      `| ${cell(name)} | ${state} | ${attempt === 0 ? '' : attempt} | ${percent === null ? '' : `${percent} %`} | ${cell(target ?? '')} | ${cell(message ?? '')} |`,
  );
  const header =
    table.length === 0
      ? []
      : ['', '| instance | state | attempt | progress | target | remark |', '|---|---|---|---|---|---|'];
  return [`**${headline}**`, '', facts.join(' · '), ...obstacles, ...header, ...table].join('\n');
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
  instances: [],
});
