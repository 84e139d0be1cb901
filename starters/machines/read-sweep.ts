import { orphanSweepDryId, orphanSweepId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { machineKind } from '../../contracts/kinds/machine.ts';
import type { AskedLeftover, SweepProgress, SweepReport, SweepResult } from '../../contracts/machine-safety/sweep.ts';
import { asSignal, messages, progressQuery, unseenChange } from '../../contracts/messages.ts';
import { readRuns } from '../../runtime/temporal/read-runs.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { runStatus } from '../command/runs.ts';
import { answered, answerTimeoutMs, type TemporalAccess } from '../command/temporal-access.ts';
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
export const readSweep = async (access: TemporalAccess, namespace: string, run: SweepRun): Promise<SweepView | null> =>
  (await lookAt(access, namespace, run))?.view ?? null;

/** `isSilent`: it is open, and no worker answers for it. */
async function lookAt(
  access: TemporalAccess,
  namespace: string,
  { workflowId, runId }: SweepRun,
): Promise<{ view: SweepView; isSilent: boolean } | null> {
  const handle = access.client.workflow.getHandle(workflowId, runId, { followRuns: false });
  const described = await readRuns(access.client, (workflow) =>
    answered(access, () => workflow.getHandle(workflowId, runId).describe()),
  ).catch((error: unknown) => {
    access.abort.throwIfAborted();
    if (explainError(error).exitCode === exitCodes.notFound) return null;
    throw error;
  });
  if (described === null) return null;
  // The last one of the id goes on in its place.
  if (described.status.name === 'CONTINUED_AS_NEW' && runId !== undefined)
    return await lookAt(access, namespace, { workflowId });
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
    const view = {
      ...about,
      outcome: null,
      reason: progress?.reason ?? '',
      message: progress?.message ?? 'No worker answers for it: `drover doctor` shows which queue has none',
      waitingFor: progress?.waiting?.reason ?? null,
      report: reportOf(progress),
    };
    return { view, isSilent: progress === null };
  }
  const ended = answered(access, () => handle.result() as Promise<SweepResult>);
  const result = await ended.catch((error: unknown): Ending => {
    access.abort.throwIfAborted();
    const cause = error instanceof Error && error.name === 'WorkflowFailedError' ? error.cause : null;
    if (cause === null) throw error;
    return { outcome: status, reason: status, message: cause instanceof Error ? cause.message : '' };
  });
  const { outcome, reason, message } = result;
  const view = { ...about, outcome, reason, message, waitingFor: null, report: reportOf(result) };
  return { view, isSilent: false };
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

/**
 * Follows a run, and those that it continues as, until it ends, or waits: for an approval or for another attempt, which
 * both take longer than a user does.
 *
 * @param onMessage called with each new sentence
 * @param isOver what else ends it
 * @throws CommandError: unreachable where no worker answers
 */
export async function followSweep(
  access: TemporalAccess,
  namespace: string,
  { workflowId, runId: firstId }: Required<SweepRun>,
  onMessage: (message: string) => void,
  isOver: (view: SweepView) => boolean = () => false,
): Promise<SweepView> {
  const { clock } = access.context;
  let runId = firstId;
  let shown = '';
  let heardMs = clock.monotonicMs();
  for (;;) {
    const seen = await lookAt(access, namespace, { workflowId, runId });
    if (seen === null) throw new CommandError(`There is no run ${runId} of ${workflowId}.`, exitCodes.notFound);
    const { view, isSilent } = seen;
    if (view.outcome !== null || view.waitingFor !== null || isOver(view)) return view;
    if (view.message !== shown) onMessage(view.message);
    shown = view.message;
    ({ runId } = view);
    const nowMs = clock.monotonicMs();
    if (!isSilent) heardMs = nowMs;
    else if (nowMs - heardMs >= answerTimeoutMs)
      throw new CommandError(
        `No worker has answered for the sweep of ${namespace} within ${answerTimeoutMs / 1_000} s.`,
        exitCodes.unreachable,
        'What was asked stays with Temporal, for when one is there: `drover doctor` shows which queue has none.',
      );
    await clock.sleep(pollMs, access.abort);
  }
}
