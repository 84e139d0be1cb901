import { parallelismOf } from './plan.ts';
import {
  deadlineMsOf,
  type EvictionState,
  inState,
  isHostDown,
  type MarginVerdict,
  outstanding,
  tracked,
} from './state.ts';
import type { TrackedInstance } from './state.ts';

/** Whether a host will be empty by its deadline. Pure. */

interface Margin {
  verdict: MarginVerdict;
  /** When it changes by time alone, Unix ms; null: it does not. */
  changesAtMs: number | null;
}

/** An estimate is wrong by as much; with less than that to spare the margin counts as short. */
const spareShare = 1 / 4;

/**
 * By what is left and how fast it went. What cannot be estimated, because nothing has moved yet or something does not
 * move, is short once half of the time is over. Null: there is no deadline.
 */
export function judgeMargin(state: EvictionState, nowMs: number): Margin | null {
  const deadlineMs = deadlineMsOf(state);
  if (deadlineMs === null || state.desired.mode === 'observe') return null;
  const { emptySinceMs, startedAtMs } = state;
  if (emptySinceMs !== null)
    return { verdict: emptySinceMs <= deadlineMs ? 'Enough' : 'DeadlinePassed', changesAtMs: null };
  if (nowMs >= deadlineMs) return { verdict: 'DeadlinePassed', changesAtMs: null };
  if (state.end !== null) return { verdict: 'Ended', changesAtMs: null };
  const until = (ms: number): number => Math.min(deadlineMs, Math.max(ms, nowMs + 1));
  const etaMs = estimateMs(state, nowMs);
  const shortAtMs = etaMs === null ? Infinity : deadlineMs - etaMs * (1 + spareShare);
  const isShort: Margin = { verdict: 'MarginShort', changesAtMs: deadlineMs };
  if (nowMs >= shortAtMs) return isShort;
  const isKnown = etaMs !== null && !isHostDown(state) && inState(state, 'blocked').length === 0;
  if (isKnown) return { verdict: 'Enough', changesAtMs: until(shortAtMs) };
  const halfMs = startedAtMs + (deadlineMs - startedAtMs) / 2;
  return nowMs >= halfMs ? isShort : { verdict: 'NotEstimated', changesAtMs: until(Math.min(halfMs, shortAtMs)) };
}

/** So coarse that a condition does not change with every server. */
const shownToMs = 5 * 60_000;

/** The deadline and what is known of it, as a sentence. Null: there is none. */
export function describeMargin(
  state: EvictionState,
  nowMs: number,
): { verdict: MarginVerdict; message: string } | null {
  const margin = judgeMargin(state, nowMs);
  if (margin === null) return null;
  const { hypervisor, deadline } = state.desired;
  const { verdict } = margin;
  const by = `${hypervisor} is to be empty by ${deadline}`;
  const left = outstanding(state).length;
  const rest = `${left} server${left === 1 ? '' : 's'} left`;
  switch (verdict) {
    case 'Enough':
      return {
        verdict,
        message:
          state.emptySinceMs === null ? `${by}${paceOf(state, nowMs)}` : `${hypervisor} was empty by ${deadline}`,
      };
    case 'Ended':
      return { verdict, message: `${by}; the eviction has ended before, with ${rest}` };
    case 'NotEstimated':
      return { verdict, message: `${by}; how long that takes is not known yet` };
    case 'MarginShort':
      return { verdict, message: `${by}, and that will hardly do: ${rest}${paceOf(state, nowMs)}. ${whatToDo(state)}` };
    case 'DeadlinePassed':
      return {
        verdict,
        message:
          state.emptySinceMs === null
            ? `${hypervisor} was to be empty by ${deadline}: ${rest}`
            : `${hypervisor} was empty only after ${deadline}`,
      };
  }
}

function paceOf(state: EvictionState, nowMs: number): string {
  const etaMs = estimateMs(state, nowMs);
  if (etaMs === null || etaMs === 0) return '';
  return `; at the pace so far the last one leaves at about ${new Date(Math.ceil((nowMs + etaMs) / shownToMs) * shownToMs).toISOString()}`;
}

/** Where servers do not move, what holds them is to be removed; where they move, only more at once helps. */
function whatToDo(state: EvictionState): string {
  const { hypervisor } = state.desired;
  if (isHostDown(state)) return `Start nova-compute on ${hypervisor}`;
  if (inState(state, 'blocked').length > 0) return `\`drover describe ${hypervisor}\` says why servers do not move`;
  return `\`drover parallelism ${hypervisor} N\` moves more at once, where Nova and the network allow it`;
}

/**
 * Time until the last server has moved: the moves that are left, at the pace per GiB of those that are done, as many at
 * once as the window allows. Null before the first has moved.
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
  const parallel = Math.max(1, Math.min(parallelismOf(state), state.allowance?.allowance ?? 1));
  const elapsed = sum(inState(state, 'moving'), ({ sinceMs, instance }) =>
    Math.min(nowMs - sinceMs, instance.memoryMiB * msPerMiB),
  );
  return Math.max(0, Math.round((sum(left, ({ instance }) => instance.memoryMiB * msPerMiB) - elapsed) / parallel));
}
