import type { ApiCall } from '../../lab/openstack/journal.ts';
import { mean } from '../statistics.ts';
import type { HistoryEvent } from './run-history.ts';
import { carries, timeOf, timesOfActivity } from './run-history.ts';
import type { Succession } from './timeline.ts';

/**
 * Where the time goes between the end of one migration and the request for the next. Milliseconds; together they are
 * the gap.
 */
export interface GapParts {
  /** Until a poll of the record has shown the end: the poll's delay, and the request. */
  pollMs: number;
  /** Until the waiting activity is done: it reads the server and writes the Migration. */
  concludeMs: number;
  /** Until the child run is closed: a workflow task. */
  childEndMs: number;
  /** Until the parent has asked for the next child: its workflow task. */
  parentMs: number;
  /** Until the next child has scheduled its first activity: start and workflow task. */
  childStartMs: number;
  /** Until a worker has taken it up. */
  dispatchMs: number;
  /** Until the request to Nova: reads of the server, its migrations, the region and the stop. */
  readsMs: number;
}

export const gapPartNames = [
  'pollMs',
  'concludeMs',
  'childEndMs',
  'parentMs',
  'childStartMs',
  'dispatchMs',
  'readsMs',
] as const satisfies readonly (keyof GapParts)[];

/**
 * One gap, from Nova's journal and the histories of the parent and both children; all on one clock. Null where a part
 * is not to be found, as after a second attempt.
 *
 * @param children by server id
 */
export function explainGap(
  { left, next }: Succession,
  calls: readonly ApiCall[],
  parent: readonly HistoryEvent[],
  children: ReadonlyMap<string, readonly HistoryEvent[]>,
): GapParts | null {
  const leaving = children.get(left.instance) ?? [];
  const coming = children.get(next.instance) ?? [];
  const waited = timesOfActivity(leaving, 'awaitMigration');
  // However the end was observed, the server is read next.
  const reads =
    waited === null
      ? []
      : calls.filter(
          ({ method, path, timeMs }) =>
            method === 'GET' &&
            path.endsWith(`/servers/${left.instance}`) &&
            timeMs >= waited.startedMs &&
            timeMs <= waited.doneMs,
        );
  const closed = leaving.findLast((event) => carries(event, 'workflowExecutionCompletedEventAttributes'));
  const nextChild = parent.find(
    (event) => event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId?.endsWith(next.instance) === true,
  );
  const began = timesOfActivity(coming, 'startLiveMigration');
  if (reads.length === 0 || waited === null || closed === undefined || nextChild === undefined || began === null)
    return null;
  const observedMs = Math.min(...reads.map(({ timeMs }) => timeMs));
  return {
    pollMs: observedMs - left.endMs,
    concludeMs: waited.doneMs - observedMs,
    childEndMs: timeOf(closed) - waited.doneMs,
    parentMs: timeOf(nextChild) - timeOf(closed),
    childStartMs: began.scheduledMs - timeOf(nextChild),
    dispatchMs: began.startedMs - began.scheduledMs,
    readsMs: next.postMs - began.startedMs,
  };
}

/** The mean of each part. Null for none. */
export function meanGap(gaps: readonly GapParts[]): GapParts | null {
  if (gaps.length === 0) return null;
  return Object.fromEntries(
    gapPartNames.map((name) => [name, Math.round(mean(gaps.map((gap) => gap[name])))]),
  ) as unknown as GapParts;
}
