import type { RunRow } from '../../contracts/kinds/kind.ts';
import { nodeFailureRun } from '../../contracts/kinds/node-failure.ts';
import { kindTable } from '../../contracts/kinds/table.ts';
import {
  allowanceId,
  apiServerSafetyId,
  guestWatchId,
  migrationId,
  overshootSafetyId,
  vcenterWatchId,
  workflowTypes,
} from '../../contracts/ids.ts';
import { readSharedLimit } from '../../contracts/allowance.ts';
import { largestBudget } from '../budgets/budget-of.ts';
import type { Check } from './objects.ts';
import type { ObservedRun, Snapshot } from './snapshot.ts';

type Input = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * The id that keeps a run alone with its object, by what it is asked. Types that are not here change nothing outside
 * that two could change twice.
 */
const locks: Readonly<Record<string, (input: Input) => string | null>> = {
  ...Object.fromEntries(
    [...Object.values(kindTable), nodeFailureRun].map((row: RunRow) => [
      row.workflowType,
      (input: Input) => row.workflowId(row.input.map((field) => text(input[field])).join('/')),
    ]),
  ),
  [workflowTypes.migrateInstance]: ({ instance }) => migrationId(text((instance as { id?: string } | undefined)?.id)),
  [workflowTypes.watchGuests]: ({ shard }) => guestWatchId(Number(shard)),
  [workflowTypes.watchVcenter]: ({ vcenter }) => vcenterWatchId(text(vcenter)),
  [workflowTypes.watchApiServers]: ({ namespace }) => apiServerSafetyId(text(namespace)),
  [workflowTypes.watchOvershoot]: ({ namespace }) => overshootSafetyId(text(namespace)),
  [workflowTypes.allocateAllowance](input) {
    const shared = readSharedLimit(input);
    return shared === null ? null : allowanceId(shared);
  },
};

/** What a run does before it knows whether it is the right one; one with another id hands over to that. */
const isOpening = (activity: string): boolean => /^(?:open|observe|read)/u.test(activity);

const isAtWork = ({ activities, children }: ObservedRun): boolean =>
  children > 0 || Object.keys(activities).some((name) => !isOpening(name));

/** Where several clusters share a Temporal namespace, ids begin with the cluster's name. */
const isId = (workflowId: string, lock: string): boolean => workflowId === lock || workflowId.endsWith(`/${lock}`);

/**
 * 1: at most one run drives an object: it has the id that is the object's lock, and no other does anything meanwhile.
 */
export const oneRunPerObject: Check = ({ runs, atMs }) => {
  const found: string[] = [];
  const driving = new Map<string, ObservedRun[]>();
  for (const run of runs) {
    const { type, workflowId, input, closedAtMs } = run;
    const lock = input === null ? workflowId : (locks[type]?.(Object(input) as Input) ?? null);
    if (locks[type] === undefined || (closedAtMs !== null && !isAtWork(run))) continue;
    if (isAtWork(run) && (lock === null || !isId(workflowId, lock)))
      found.push(`${type} runs as ${workflowId}, so that nothing keeps it single`);
    const key = lock ?? workflowId;
    driving.set(key, [...(driving.get(key) ?? []), run]);
  }
  for (const [lock, those] of driving) {
    const ordered = those.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    for (const [index, run] of ordered.entries()) {
      const next = ordered[index + 1];
      if (next === undefined || !areAtOnce(run, next, atMs)) continue;
      found.push(`${lock} is driven by two runs at once: ${described(run)} and ${described(next)}`);
    }
  }
  return found;
};

const described = ({ type, workflowId, runId }: ObservedRun): string => `${type} ${workflowId} (${runId})`;

/** Of one id, Temporal's clocks may overlap by a moment where one run takes the other's place. */
const areAtOnce = (run: ObservedRun, next: ObservedRun, atMs: number): boolean =>
  run.workflowId === next.workflowId
    ? run.closedAtMs === null && next.closedAtMs === null
    : (run.closedAtMs ?? atMs) > next.startedAtMs;

const perMessage = 30;
const perFailure = 12;
const perVainAbort = 6;

/** A server that is on its way already is followed before it is moved: that is as much work as a move. */
const moves = ({ activities, children }: ObservedRun): number =>
  children +
  Math.min(1, activities['awaitInstanceIdle'] ?? 0) +
  ['startLiveMigration', 'startColdMigration', 'startEvacuation'].reduce(
    (sum, name) => sum + (activities[name] ?? 0),
    0,
  );

/**
 * What its history may have; null: it is not limited. What docs/limits.md leaves out is added: outages, crashes, more
 * messages than one, aborts that end nothing.
 */
function budgetOf(run: ObservedRun, { atMs, waitingEventsPerSecond }: Snapshot): number | null {
  const waiting = (waitingEventsPerSecond * ((run.closedAtMs ?? atMs) - run.startedAtMs)) / 1_000;
  switch (run.type) {
    case workflowTypes.migrateInstance:
      return (
        40 * Math.max(1, moves(run)) + perVainAbort * Math.max(0, (run.activities['abortMigration'] ?? 0) - moves(run))
      );
    case workflowTypes.evictHypervisor:
      return 150 + 16 * moves(run) + waiting;
    default: {
      const largest = largestBudget(run.type);
      return largest === null
        ? null
        : largest + perMessage * Math.max(0, run.messages - 1) + perFailure * run.failures + waiting;
    }
  }
}

/** 9: histories stay within their budget. */
export const historyBudgets: Check = (world) =>
  world.runs.flatMap((run) => {
    const { type, workflowId, runId, events, messages, failures, startedAtMs, closedAtMs } = run;
    const budget = budgetOf(run, world);
    if (budget === null) return [`${type} ${workflowId} (${runId}) is of a type without a budget`];
    if (events <= budget) return [];
    const seconds = (((closedAtMs ?? world.atMs) - startedAtMs) / 1_000).toFixed(0);
    const had = `${moves(run)} moves, ${messages} messages and ${failures} failures in ${seconds} s`;
    return [`${type} ${workflowId} (${runId}) has ${events} events for ${had}; its budget is ${budget.toFixed(0)}`];
  });
