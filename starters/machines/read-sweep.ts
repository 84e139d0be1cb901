import { orphanSweepDryId, orphanSweepId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { machineKind } from '../../contracts/kinds/machine.ts';
import type { AskedLeftover, SweepProgress, SweepReport, SweepResult } from '../../contracts/machine-safety/sweep.ts';
import { asSignal, messages, progressQuery, unseenChange } from '../../contracts/messages.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { runStatus } from '../command/runs.ts';
import { answered, type TemporalAccess } from '../command/temporal-access.ts';
import { webUiLink } from '../command/web-ui.ts';
import type { RunStatus } from '../eviction/eviction-objects.ts';

/** A sweep that runs, or the last one: the JSON of `drover sweep` and `drover sweep ls`. Times are RFC 3339. */
export interface SweepView {
  namespace: string;
  workflowId: string;
  runId: string;
  status: RunStatus;
  startedAt: string;
  /** Null while it is open. */
  endedAt: string | null;
  /** Null while it is open; else how it has ended. */
  outcome: string | null;
  reason: string;
  message: string;
  /** What an open one waits for; null: it does not, or no worker answers. */
  waitingFor: string | null;
  /** What was found, and what holds each orphan; null: it has not swept, or no worker answers. */
  report: SweepReport | null;
  webUi: string | null;
}

/** A worker may be gone. */
const progressTimeoutMs = 5_000;

export interface SweepRun {
  workflowId: string;
  /** Left out: the last one of the id. */
  runId?: string;
}

/**
 * Has a sweep begin, or one that is open observe again.
 *
 * @param by for the memo of a run that this starts
 */
export async function beginSweep(
  access: TemporalAccess,
  namespace: string,
  { dryRun, by }: { dryRun: boolean; by: string },
): Promise<Required<SweepRun>> {
  const { client, config, abort } = access;
  const { cluster } = config;
  if (!dryRun) {
    const signal = unseenChange('asked for by a user');
    const target = { subject: namespace, cluster, startedBy: by, signal };
    const runId = await signalWithStart(client, machineKind, target, { clock: access.context.clock, abort });
    return { workflowId: orphanSweepId(namespace, cluster), runId };
  }
  const workflowId = orphanSweepDryId(namespace, cluster);
  const handle = await answered(access, () =>
    client.workflow.start(workflowTypes.sweepOrphans, {
      workflowId,
      taskQueue: workflowQueue(cluster),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ namespace, dryRun: true }],
      memo: { startedBy: by },
      staticSummary: `Say what a sweep of ${namespace} would delete`,
    }),
  );
  return { workflowId, runId: handle.firstExecutionRunId };
}

/** Has a leftover deleted by the run that is open, or by one that this starts. */
export async function askForLeftover(
  access: TemporalAccess,
  namespace: string,
  asked: AskedLeftover,
): Promise<Required<SweepRun>> {
  const { client, config, abort, context } = access;
  const { cluster } = config;
  const message = asSignal(messages.deleteLeftover);
  const target = { subject: namespace, cluster, startedBy: asked.by, message, signal: asked };
  const runId = await signalWithStart(client, machineKind, target, { clock: context.clock, abort });
  return { workflowId: orphanSweepId(namespace, cluster), runId };
}

/** The run, open or closed. Null: Temporal knows of none. */
export async function readSweep(
  access: TemporalAccess,
  namespace: string,
  { workflowId, runId }: SweepRun,
): Promise<SweepView | null> {
  const handle = access.client.workflow.getHandle(workflowId, runId, { followRuns: false });
  const described = await answered(access, () => handle.describe()).catch((error: unknown) => {
    access.abort.throwIfAborted();
    if (explainError(error).exitCode === exitCodes.notFound) return null;
    throw error;
  });
  if (described === null) return null;
  const status = runStatus(described.status.name);
  const about = {
    namespace,
    workflowId,
    runId: described.runId,
    status,
    startedAt: described.startTime.toISOString(),
    endedAt: described.closeTime?.toISOString() ?? null,
    webUi: webUiLink(access.namespace, workflowId, described.runId, access.context.env),
  };
  if (status === 'Running') {
    const progress = await answered(
      access,
      () => handle.query(progressQuery<SweepProgress>()),
      progressTimeoutMs,
    ).catch(() => null);
    access.abort.throwIfAborted();
    return {
      ...about,
      outcome: null,
      reason: progress?.reason ?? '',
      message: progress?.message ?? 'No worker answers for it: `drover doctor` shows which queue has none',
      waitingFor: progress?.waiting?.reason ?? null,
      report: reportOf(progress),
    };
  }
  const ended = answered(access, () => handle.result() as Promise<SweepResult>);
  const result = await ended.catch((error: unknown): Ending => {
    access.abort.throwIfAborted();
    const cause = error instanceof Error && error.name === 'WorkflowFailedError' ? error.cause : null;
    if (cause === null) throw error;
    return { outcome: status, reason: status, message: cause instanceof Error ? cause.message : '' };
  });
  const { outcome, reason, message } = result;
  return { ...about, outcome, reason, message, waitingFor: null, report: reportOf(result) };
}

type Ending = Partial<SweepReport> & { outcome: string; reason: string; message: string };

/** Null: it has not swept. */
function reportOf(found: Partial<SweepReport> | null): SweepReport | null {
  if (found?.candidates === undefined) return null;
  const { dryRun = false, classes = [], listed = 0, machines = 0, orphans = 0, candidates, deleted = [] } = found;
  const { deletedCount = 0, nodes = null, leftovers = [], leftoverCount = 0, answeredLeftovers = [] } = found;
  return {
    dryRun,
    classes,
    listed,
    machines,
    orphans,
    candidates,
    deleted,
    deletedCount,
    nodes,
    leftovers,
    leftoverCount,
    answeredLeftovers,
  };
}

const pollMs = 500;
/** What a run waits for longer than a user does. */
const longWaits: readonly (string | null)[] = ['ApprovalNeeded', 'ClassNotSwept', 'NothingListed', 'NoProgress'];

/**
 * Follows a run until it ends, or waits for something that takes long.
 * @param onMessage called with each new sentence
 */
export async function followSweep(
  access: TemporalAccess,
  namespace: string,
  run: Required<SweepRun>,
  onMessage: (message: string) => void,
): Promise<SweepView> {
  let shown = '';
  for (;;) {
    const view = await readSweep(access, namespace, run);
    if (view === null) throw new CommandError(`There is no run ${run.runId} of ${run.workflowId}.`, exitCodes.notFound);
    if (view.outcome !== null || longWaits.includes(view.waitingFor)) return view;
    if (view.message !== shown) onMessage(view.message);
    shown = view.message;
    await access.context.clock.sleep(pollMs, access.abort);
  }
}
