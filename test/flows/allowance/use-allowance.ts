import { condition, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import { novaQueue } from '../../../contracts/ids.ts';
import { messages } from '../../../contracts/messages.ts';
import { temporal } from '../../../workflows/lib/activities.ts';
import { deadlineTimer } from '../../../workflows/lib/timer.ts';
import {
  afterLease,
  afterReport,
  allowanceOf,
  applyAnswer,
  noMembership,
  report,
  reportDueMs,
} from '../../../workflows/limits/membership.ts';

/** The consumer's work, on queue `nova:<region>`. */
export interface WorkActivities {
  /** Resolves when the piece is done. The piece ends by itself, whatever becomes of the run that asked for it. */
  doPiece(piece: { region: string; host: string; pieceMs: number }): Promise<void>;
}

export interface UseAllowanceInput {
  region: string;
  host: string;
  /** How many pieces of work it has to do. */
  pieces: number;
  parallelism: number;
  pieceMs: number;
  renewMs: number;
  deadline?: string;
}

/**
 * A consumer as an eviction is one, with pieces of work in the place of migrations. Resolves to the number
 * of pieces done.
 */
export async function useAllowance({
  region,
  host,
  pieces,
  parallelism,
  pieceMs,
  renewMs,
  deadline,
}: UseAllowanceInput): Promise<number> {
  const { doPiece } = proxyActivities<WorkActivities>({
    taskQueue: novaQueue(region, ''),
    startToCloseTimeout: 120_000,
    retry: { maximumAttempts: 1 },
  });
  const { workflowId, runId } = workflowInfo();
  const timer = deadlineTimer('Until the next report');
  let membership = noMembership;
  let [todo, using, reporting, changed] = [pieces, 0, false, false];
  setHandler(messages.allowanceGranted, (granted) => {
    membership = applyAnswer(membership, granted);
    changed = true;
  });

  async function work(): Promise<void> {
    [todo, using] = [todo - 1, using + 1];
    await doPiece({ region, host, pieceMs });
    [using, changed] = [using - 1, true];
  }

  async function sendReport(): Promise<void> {
    reporting = true;
    const sentMs = Date.now();
    const reported = report(membership, needNow(), sentMs);
    membership = reported.membership;
    await temporal('Report').requestAllowance({
      region,
      request: { consumer: workflowId, runId, host, deadline: deadline ?? null, ...reported.request },
    });
    membership = afterReport(membership, sentMs, Date.now());
    [reporting, changed] = [false, true];
  }

  const needNow = () => ({ using, want: Math.min(parallelism, using + todo) });

  for (;;) {
    changed = false;
    membership = afterLease(membership, Date.now());
    while (todo > 0 && using < Math.min(parallelism, allowanceOf(membership))) void work();
    const dueMs = reportDueMs(membership, needNow(), renewMs);
    if (!reporting && dueMs !== null && dueMs <= Date.now()) void sendReport();
    if (!reporting && dueMs === null) return pieces;
    if (!reporting) timer.set(dueMs);
    await condition(() => changed || (!reporting && timer.due()));
  }
}
