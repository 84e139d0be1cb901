import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { AllowanceGranted, AllowanceRequest, SlotKind } from '../../contracts/allowance.ts';
import { allowanceId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { temporal } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { noMembership, report } from '../limits/membership.ts';
import type { Inbox, VirtualMachineRun } from './run.ts';
import { hasNews } from './run.ts';
import type { Turn } from './turn.ts';
import { answered, heard, holds } from './turn.ts';

/** Asks for a turn, or again. What comes of it stands in the run; without an answer it is asked again soon. */
export async function askTurn(run: VirtualMachineRun, of: SlotKind): Promise<void> {
  if (run.seen === null) throw new Error('asked before the first look');
  const { vcenter, cluster, slotRenewMs, recheckMs } = run.seen.settings;
  const nowMs = Date.now();
  const { membership: share, request: said } = report(run.turn?.share ?? noMembership, { want: 1, using: 0 }, nowMs);
  run.turn = { of, vcenter, cluster, share, taken: run.turn?.taken ?? null, askAgainMs: nowMs + slotRenewMs };
  try {
    const answer = await temporal(`Acquire a slot of the ${of} of vCenter ${vcenter}`).acquireSlot({
      limit: { kind: of, vcenter },
      request: wantedOf(run.turn, said),
    });
    run.turn = answered(run.turn, answer);
    if (answer.limit !== null) return;
  } catch (error) {
    void explain(error);
  }
  // How many have theirs cannot be said yet, or there was no answer. From now on: the question may have taken longer than that.
  run.turn = { ...run.turn, askAgainMs: Date.now() + recheckMs };
}

/** Until it has its turn, something else has come, or there is another answer. Nothing is looked at meanwhile: it is told. */
export async function waitForTurn(run: VirtualMachineRun, inbox: Inbox, of: SlotKind, what: string): Promise<void> {
  const isWoken = (): boolean => holds(run.turn, of) || hasNews(run, inbox) || inbox.retryNow || inbox.cancelled;
  const said = JSON.stringify(run.turn?.taken);
  for (;;) {
    const untilMs = run.turn?.askAgainMs ?? Date.now();
    run.waiting = { for: what, untilMs };
    const isTold = await condition(isWoken, Math.max(0, untilMs - Date.now()));
    run.waiting = null;
    if (isTold) return;
    await askTurn(run, of);
    if (isWoken() || JSON.stringify(run.turn?.taken) !== said) return;
  }
}

/** Takes in that its turn has come. One that it does not wait for any more goes to somebody else. */
export function hearGrant(run: VirtualMachineRun, granted: AllowanceGranted): void {
  const { turn, seen } = run;
  const { kind: of, sequence, allowance } = granted;
  if (of === undefined) return;
  if (turn?.of === of) run.turn = heard(turn, granted);
  else if (allowance > 0 && seen !== null) void leave({ of, ...seen.settings }, { sequence, allowance });
}

/** Gives back the turn, or the place in the queue, if there is one. Before the run ends it is to be awaited: what a closed run has sent is not delivered. */
export async function giveBack(run: VirtualMachineRun): Promise<void> {
  const { turn } = run;
  run.turn = null;
  if (turn !== null) await leave(turn, turn.share.acknowledged);
}

async function leave(
  turn: Pick<Turn, 'of' | 'vcenter' | 'cluster'>,
  answer: AllowanceRequest['acknowledged'],
): Promise<void> {
  const { of, vcenter, cluster } = turn;
  const said = wantedOf(turn, { want: 0, using: 0, acknowledged: answer ?? null });
  try {
    await getExternalWorkflowHandle(allowanceId({ kind: of, vcenter }, cluster)).signal(
      messages.allowanceRequested,
      said,
    );
  } catch (error) {
    // Nobody shares them out any more: there is nothing to give back.
    void explain(error);
  }
}

function wantedOf(
  { vcenter }: Pick<Turn, 'vcenter'>,
  said: Pick<AllowanceRequest, 'want' | 'using' | 'acknowledged'>,
): AllowanceRequest {
  const { workflowId, runId } = workflowInfo();
  return { consumer: workflowId, runId, host: vcenter, deadline: null, ...said };
}
