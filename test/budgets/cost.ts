import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { OutsideSystem } from '../../runtime/outside-calls.ts';
import type { Budget } from './budgets.ts';

/** What a run has cost. */
export interface Cost {
  events: number;
  activityCalls: number;
  /** Undefined where nobody has counted. */
  calls?: ReadonlyMap<OutsideSystem, number>;
}

export function costOf({ events }: History, calls?: Cost['calls']): Cost {
  const activityCalls = (events ?? []).filter(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled).length;
  return { events: events?.length ?? 0, activityCalls, ...(calls === undefined ? {} : { calls }) };
}

/** Where the cost is above the budget, a sentence each. Pure. */
export function excesses({ events, activityCalls, calls }: Cost, budget: Budget): string[] {
  const counts: [what: string, cost: number, most: number][] = [
    ['events', events, budget.events],
    ['activity calls', activityCalls, budget.activityCalls],
    ...Array.from(calls ?? [], ([system, count]): [string, number, number] => [`calls of ${system}`, count, budget.calls[system] ?? 0]),
  ];
  return counts.filter(([, cost, most]) => cost > most).map(([what, cost, most]) => `${cost} ${what}, ${most} are in the budget`);
}

/** Requests of each run and system, by what a worker logs at level `debug` (`runtime/outside-calls.ts`). Pure. */
export function countCalls(log: string): Map<string, Map<OutsideSystem, number>> {
  const counts = new Map<string, Map<OutsideSystem, number>>();
  for (const line of log.split('\n')) {
    if (!line.includes('"outcome"') || !line.includes('"workflowId"')) continue;
    const { workflowId, system } = JSON.parse(line) as { workflowId: string; system: OutsideSystem };
    const ofRun = counts.get(workflowId) ?? new Map<OutsideSystem, number>();
    counts.set(workflowId, ofRun.set(system, (ofRun.get(system) ?? 0) + 1));
  }
  return counts;
}
