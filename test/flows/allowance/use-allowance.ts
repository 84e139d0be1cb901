import { condition, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import { novaQueue } from '../../../contracts/ids.ts';
import { messages } from '../../../contracts/messages.ts';
import { temporal } from '../../../workflows/lib/activities.ts';
import { deadlineTimer } from '../../../workflows/lib/timer.ts';
import { allowanceOf, hearAnswer, noShare, report, reportDueMs } from '../../../workflows/limits/claim.ts';
import type { AllowanceGranted } from '../../../contracts/allowance.ts';

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

/** A consumer as an eviction is one, with pieces of work in the place of migrations. Resolves to the number of pieces done. */
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
    taskQueue: novaQueue(region),
    startToCloseTimeout: 120_000,
    retry: { maximumAttempts: 1 },
  });
  const { workflowId, runId } = workflowInfo();
  const timer = deadlineTimer('Until the next report');
  let share = noShare;
  let [todo, using, telling, changed] = [pieces, 0, false, false];
  setHandler(defineSignal<[AllowanceGranted]>(messages.allowanceGranted), (granted) => {
    share = hearAnswer(share, granted);
    changed = true;
  });

  async function work(): Promise<void> {
    [todo, using] = [todo - 1, using + 1];
    await doPiece({ region, host, pieceMs });
    [using, changed] = [using - 1, true];
  }

  async function tell(): Promise<void> {
    telling = true;
    const said = report(share, needNow(), Date.now());
    share = said.share;
    await temporal('Report').wantAllowance({
      region,
      wanted: { consumer: workflowId, runId, host, deadline: deadline ?? null, ...said.said },
    });
    [telling, changed] = [false, true];
  }

  const needNow = () => ({ using, want: Math.min(parallelism, using + todo) });

  for (;;) {
    changed = false;
    while (todo > 0 && using < Math.min(parallelism, allowanceOf(share))) void work();
    const dueMs = reportDueMs(share, needNow(), renewMs);
    if (!telling && dueMs !== null && dueMs <= Date.now()) void tell();
    if (!telling && dueMs === null) return pieces;
    if (!telling) timer.set(dueMs);
    await condition(() => changed || (!telling && timer.due()));
  }
}
