import type { History } from '@temporalio/common/lib/proto-utils.js';
import { digestMemo } from '../../contracts/runs.ts';
import type { OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import type { Budget } from './budgets.ts';

/** What a run has cost. */
export interface Cost {
  events: number;
  activityCalls: number;
  /** It was started without the digest of what it observed, and has written it: an event more. */
  writesDigest?: boolean;
  /** Undefined where it was not counted. */
  calls?: ReadonlyMap<OutsideSystem, number>;
}

export function costOf({ events }: History, calls?: Cost['calls']): Cost {
  const activityCalls = (events ?? []).filter(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled,
  ).length;
  const writesDigest = (events ?? []).some(
    ({ workflowPropertiesModifiedEventAttributes: modified }) => modified?.upsertedMemo?.fields?.[digestMemo],
  );
  return {
    events: events?.length ?? 0,
    activityCalls,
    ...(writesDigest && { writesDigest }),
    ...(calls === undefined ? {} : { calls }),
  };
}

/** As they are recorded. Pure. */
export const countsOf = (calls: Readonly<Partial<Record<OutsideSystem, number>>>): NonNullable<Cost['calls']> =>
  new Map(Object.entries(calls) as [OutsideSystem, number][]);

/** Where the cost is above the budget, a sentence each. Pure. */
export function excesses({ events, activityCalls, writesDigest = false, calls }: Cost, budget: Budget): string[] {
  const counts: [what: string, cost: number, most: number][] = [
    ['events', events, budget.events + Number(writesDigest)],
    ['activity calls', activityCalls, budget.activityCalls],
    ...Array.from(calls ?? [], ([system, count]): [string, number, number] => [
      `calls of ${system}`,
      count,
      budget.calls === null ? Infinity : (budget.calls[system] ?? 0),
    ]),
  ];
  return counts
    .filter(([, cost, most]) => cost > most)
    .map(([what, cost, most]) => `${cost} ${what}, ${most} are in the budget`);
}

/**
 * Requests of each run and system, by what a worker logs at level `debug` (`runtime/telemetry/outside-calls.ts`). Pure.
 *
 * @param by all runs of a workflow id together, or each run by itself
 */
export function countCalls(
  log: string,
  by: 'workflowId' | 'runId' = 'workflowId',
): Map<string, Map<OutsideSystem, number>> {
  const counts = new Map<string, Map<OutsideSystem, number>>();
  for (const line of log.split('\n')) {
    if (!line.includes('"outcome"') || !line.includes('"workflowId"')) continue;
    const { system, ...ids } = JSON.parse(line) as { workflowId: string; runId: string; system: OutsideSystem };
    const ofRun = counts.get(ids[by]) ?? new Map<OutsideSystem, number>();
    counts.set(ids[by], ofRun.set(system, (ofRun.get(system) ?? 0) + 1));
  }
  return counts;
}
