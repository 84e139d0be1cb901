import { type Client, type WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';

import { workflowTypes } from '../../../contracts/ids.ts';
import type { SweepMemory, SweepResult } from '../../../contracts/machine-safety/sweep.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { isPayloadLost, readRuns } from '../../../runtime/temporal/read-runs.ts';
import { limited } from '../../../runtime/temporal/temporal.ts';
import { temporalFailure } from '../../temporal/activities.ts';

/** What the last run that came to its end remembers. */

const ms = z.number().nonnegative();
const memorySchema: z.ZodType<SweepMemory> = z.object({
  clusterUid: z.string().min(1),
  resourceVersion: ms,
  probationUntilMs: ms,
  probationWhy: z.string(),
  sightings: z.record(
    z.string(),
    z.object({
      firstMs: ms,
      countedMs: ms,
      count: z.int().nonnegative(),
      machineName: z.string(),
      machineClass: z.string(),
      why: z.enum(['MachineMissing', 'ProviderIdDiffers']),
      failedMs: ms.exactOptional(),
    }),
  ),
  approved: z.record(z.string(), z.object({ by: z.string(), reason: z.string().nullable(), atMs: ms })),
  round: z.object({ startedMs: ms, deleted: z.int().nonnegative(), failed: z.int().nonnegative().exactOptional() }),
});

const callMs = 20_000;
/** The key that a result is encrypted with is lost. */
const unreadable = Symbol('unreadable');

/** Runs that did not sweep, as the kind was off, have nothing to remember: so many are looked through. */
const mostRuns = 20;

interface ListedRun {
  runId: string;
  closeMs: number;
  isOpen: boolean;
}

/**
 * Null: no completed run is kept, or none that can be read: sweeps begin anew then, with their probation. Runs that
 * were cancelled, terminated or have failed do not count.
 *
 * @param runId of the run that asks, the only one that can be open; null: it is no run
 * @throws TemporalUnavailable, RequestRefused
 */
export async function readLastSweep(
  { temporal, clock }: { temporal: Client; clock: Clock },
  { workflowId, runId: ownRunId }: { workflowId: string; runId: string | null },
  signal: AbortSignal,
): Promise<SweepMemory | null> {
  const call = async <Result>(what: string, calls: () => Promise<Result>): Promise<Result> => {
    try {
      return await limited(temporal, { timeoutMs: callMs, clock, abort: signal }, calls);
    } catch (error) {
      signal.throwIfAborted();
      throw temporalFailure(what, error);
    }
  };
  const query = `WorkflowId = '${workflowId}' AND WorkflowType = '${workflowTypes.sweepOrphans}' AND (ExecutionStatus = 'Completed' OR ExecutionStatus = 'Running')`;
  const list = async (workflow: WorkflowClient): Promise<ListedRun[]> => {
    const found: ListedRun[] = [];
    for await (const { runId, closeTime, status } of workflow.list({ query, pageSize: mostRuns })) {
      if (runId === ownRunId) continue;
      found.push({ runId, closeMs: closeTime?.getTime() ?? 0, isOpen: status.name === 'RUNNING' });
      if (found.length >= mostRuns) break;
    }
    return found.toSorted((a, b) => b.closeMs - a.closeMs);
  };
  const runs = await call('list the sweeps before', () => readRuns(temporal, list));
  // One run alone can be open, so that Temporal's list is behind what has happened. The memory before would have the cap
  // be spent twice.
  const late = ownRunId === null ? undefined : runs.find(({ isOpen }) => isOpen);
  if (late !== undefined)
    throw droverFailure(
      'TemporalUnavailable',
      `Temporal lists the sweep before (run ${late.runId}) as open still: what it has done is not known yet`,
    );
  for (const { runId } of runs) {
    const result = await call('read how the sweep before has ended', () =>
      temporal.workflow
        .getHandle(workflowId, runId, { followRuns: false })
        .result()
        .catch((error: unknown) => {
          // Its history is gone by now.
          if (error instanceof WorkflowNotFoundError) return null;
          if (isPayloadLost(error)) return unreadable;
          throw error;
        }),
    );
    // Not the memory of one before: what this one has deleted, or been denied, is not in it.
    if (result === unreadable) return null;
    const memory = (result as SweepResult | null)?.memory ?? null;
    if (memory !== null) return memorySchema.safeParse(memory).data ?? null;
  }
  return null;
}
