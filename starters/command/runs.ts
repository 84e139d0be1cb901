import type { WorkflowExecutionInfo } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, defineSearchAttributeKey } from '@temporalio/common';
import pMap from 'p-map';

import type { EvictionProgress, EvictionResult } from '../../contracts/eviction/eviction.ts';
import { evictionId, workflowTypes } from '../../contracts/ids.ts';
import { progressQuery } from '../../contracts/messages.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { readRuns } from '../../runtime/temporal/read-runs.ts';
import type { Answer, Ending, EvictionRun, RunStatus } from '../eviction/eviction-objects.ts';
import { formatTime } from '../render/duration.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import type { TemporalAccess } from './temporal-access.ts';
import { answered } from './temporal-access.ts';

/** No list that a person reads is longer. */
export const mostRuns = 1_000;

/** A run whose worker is gone must not hold up the list of all the others. */
const progressTimeoutMs = 5_000;

const queriesAtOnce = 8;

const keyword = (name: string) => defineSearchAttributeKey(name, 'KEYWORD');
const hostKey = keyword(searchAttributes.host);
const phaseKey = keyword(searchAttributes.phase);
const reasonKey = keyword(searchAttributes.reason);

/**
 * Every running eviction, and those that ended since `sinceMs`, the last started first. `isCut`: there are more than
 * are listed.
 */
export function listRuns(access: TemporalAccess, sinceMs: number): Promise<{ runs: EvictionRun[]; isCut: boolean }> {
  const ended = sinceMs > 0 ? `CloseTime > '${formatTime(sinceMs)}'` : 'CloseTime IS NOT NULL';
  return list(
    access,
    `WorkflowType = '${workflowTypes.evictHypervisor}' AND (ExecutionStatus = 'Running' OR ${ended})`,
  );
}

/** Every run that emptied `host` that Temporal still has, the last started first. */
export const listRunsOf = async (access: TemporalAccess, host: string): Promise<EvictionRun[]> =>
  (await list(access, `WorkflowId = '${evictionId(host, access.config.cluster)}'`)).runs;

async function list(access: TemporalAccess, query: string): Promise<{ runs: EvictionRun[]; isCut: boolean }> {
  const prefix = evictionId('', access.config.cluster);
  return readRuns(access.client, (workflow) =>
    answered(access, async () => {
      const runs: EvictionRun[] = [];
      let isCut = false;
      for await (const execution of workflow.list({ query })) {
        const run = describeRun(execution, prefix);
        isCut = run !== null && runs.length === mostRuns;
        if (isCut) break;
        if (run !== null) runs.push(run);
      }
      return { runs: runs.sort((a, b) => b.startedAt.localeCompare(a.startedAt)), isCut };
    }),
  );
}

/** Null for what only handed over to the host's run, and for the links of a chain of runs before its last. */
function describeRun(execution: WorkflowExecutionInfo, prefix: string): EvictionRun | null {
  const { workflowId, runId, status, startTime, closeTime, typedSearchAttributes } = execution;
  if (!workflowId.startsWith(prefix) || status.name === 'CONTINUED_AS_NEW') return null;
  return {
    workflowId,
    runId,
    host: typedSearchAttributes.get(hostKey) ?? workflowId.slice(prefix.length),
    status: runStatus(status.name),
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
    phase: typedSearchAttributes.get(phaseKey) ?? null,
    reason: typedSearchAttributes.get(reasonKey) ?? null,
  };
}

/** A run as Temporal knows it now. */
export type FoundRun = { runId: string } & (
  | { status: 'running' }
  /** `phase`: in which it was when another run went on; null where it does not say. */
  | { status: 'continued'; phase: string | null }
  /** RFC 3339. */
  | { status: 'ended'; endedAt: string }
);

/** @param runId without it, the last of the id. @returns null where Temporal knows of none */
export async function findRunOf(access: TemporalAccess, workflowId: string, runId?: string): Promise<FoundRun | null> {
  try {
    const {
      runId: found,
      status,
      startTime,
      closeTime,
      typedSearchAttributes,
    } = await readRuns(access.client, (workflow) =>
      answered(access, () => workflow.getHandle(workflowId, runId).describe()),
    );
    if (status.name === 'CONTINUED_AS_NEW')
      return { runId: found, status: 'continued', phase: typedSearchAttributes.get(phaseKey) ?? null };
    if (status.name === 'RUNNING' || status.name === 'PAUSED') return { runId: found, status: 'running' };
    return { runId: found, status: 'ended', endedAt: (closeTime ?? startTime).toISOString() };
  } catch (error) {
    if (explainError(error).exitCode === exitCodes.notFound) return null;
    throw error;
  }
}

/** How a run is or ended, of Temporal's word for it. */
export const runStatus = (name: WorkflowExecutionInfo['status']['name']): RunStatus => statuses[name] ?? 'Unknown';

const statuses: Partial<Record<WorkflowExecutionInfo['status']['name'], RunStatus>> = {
  RUNNING: 'Running',
  PAUSED: 'Running',
  COMPLETED: 'Completed',
  FAILED: 'Failed',
  CANCELLED: 'Cancelled',
  TERMINATED: 'Terminated',
  TIMED_OUT: 'TimedOut',
};

/** What the run says of itself; null when no worker answers for it. */
export async function askProgress(
  access: TemporalAccess,
  { workflowId, runId }: Pick<EvictionRun, 'workflowId'> & { runId?: string },
): Promise<Answer> {
  try {
    return await answered(
      access,
      () => access.client.workflow.getHandle(workflowId, runId).query(progressQuery<EvictionProgress>()),
      progressTimeoutMs,
    );
  } catch {
    access.abort.throwIfAborted();
    return null;
  }
}

/** What each of the runs says of itself, by run id. */
export async function askAll(access: TemporalAccess, runs: readonly EvictionRun[]): Promise<Map<string, Answer>> {
  const answers = await pMap(runs, async (run) => [run.runId, await askProgress(access, run)] as const, {
    concurrency: queriesAtOnce,
  });
  return new Map(answers);
}

/**
 * How a run ended, of one that has. A run that is still going on is waited for until the signal or
 * `timeoutMs` gives up.
 *
 * @param runId without it, the run that is the last of the id, and those that it continues as
 */
export async function readEnding(
  access: TemporalAccess,
  { workflowId, runId }: { workflowId: string; runId?: string },
  timeoutMs?: number,
): Promise<Ending> {
  const handle = access.client.workflow.getHandle(workflowId, runId, { followRuns: runId === undefined });
  try {
    return endingOf(await answered(access, () => handle.result() as Promise<EvictionResult>, timeoutMs));
  } catch (error) {
    const ending = error instanceof Error && error.name === 'WorkflowFailedError' ? endingOfFailure(error.cause) : null;
    if (ending === null) throw error;
    return ending;
  }
}

export const endingOf = (result: EvictionResult): Ending => ({
  outcome: endings[result.outcome],
  message: result.message,
  result,
});

/** As conditions and phases of an eviction say it. */
const endings = {
  reconciled: 'Succeeded',
  blocked: 'Failed',
  observed: 'Observed',
  handedOver: 'HandedOver',
  nothing: 'NothingToDo',
  gone: 'NothingToDo',
} as const satisfies Record<EvictionResult['outcome'], Ending['outcome']>;

/** A cancelled run was stopped by a person and says how; a failed one may carry its result along. */
export function endingOfFailure(cause: unknown): Ending | null {
  // Temporal keeps no message of a cancel; the Eviction has the story (eviction-description.ts).
  if (cause instanceof CancelledFailure) return { outcome: 'Stopped', message: 'It was cancelled', result: null };
  if (cause instanceof TerminatedFailure)
    return { outcome: 'Terminated', message: `The run was terminated: ${cause.message}`, result: null };
  if (cause instanceof ApplicationFailure)
    return {
      outcome: 'Failed',
      message: cause.message,
      result: (cause.details?.[0] as EvictionResult | undefined) ?? null,
    };
  return cause instanceof Error ? { outcome: 'Failed', message: cause.message, result: null } : null;
}
