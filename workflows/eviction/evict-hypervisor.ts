import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { EvictionOpened } from '../../contracts/eviction/activities.ts';
import { isErrorCode } from '../../contracts/errors.ts';
import type { EvictionInput, EvictionProgress, EvictionResult } from '../../contracts/eviction/eviction.ts';
import type { ObjectChanged } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';
import { temporal } from '../lib/activities.ts';
import { readCarried } from '../lib/input.ts';
import { explain } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { readGrant } from '../limits/grant.ts';
import { conclude, describeResult } from './conclude.ts';
import { drive } from './drive.ts';
import { beginRun, openEviction } from './open.ts';
import { isFinal } from './problem.ts';
import { describeProgress, progressBeforeOpening } from './progress.ts';
import type { EvictionRun } from './run.ts';
import { note } from './run.ts';
import { takeGrant } from './share.ts';
import type { End, EvictionState } from './state.ts';
import { askToStop } from './state.ts';
import { takeCommands } from './take-commands.ts';

/** How long the run waits for its own cancel request to come back before it ends without it. */
const ownCancelMs = 10_000;

/**
 * Empties a host: every server is moved off it, and the Eviction says how that went. Started by the bridge when an Eviction changes, by
 * `drover evict`, or by hand with plain JSON under any workflow id; the id `eviction/<host>` is the lock. Design section 5.
 *
 * Cancelling asks for an orderly end (start nothing more, let what is in flight finish), so the whole run stands in a scope that a cancel
 * does not reach; the plan sees the request.
 *
 * @param carried what an earlier run of the same eviction knew, when it continues as new
 */
export async function evictHypervisor(input: EvictionInput, carried?: EvictionState): Promise<EvictionResult> {
  const inbox: Inbox = { run: null, changed: false, cancelled: false };
  takeMessages(inbox, input);
  return await CancellationScope.nonCancellable(async () => {
    let done: EvictionResult | null = null;
    let failure: ApplicationFailure | null = null;
    for (let state = readCarried(carried); ; state = null) {
      inbox.changed = false;
      const ended = inbox.run;
      // What is asked for while the next Eviction is opened is meant for that one.
      inbox.run = null;
      // What it was started with has been served after the first round: what else waits for the host asks for itself.
      const opened = await open(
        done === null ? input : { hypervisor: input.hypervisor },
        state?.desired.uid ?? null,
        inbox,
      );
      if (opened.next === 'handedOver') return handedOver(input, opened);
      if (opened.next === 'nothing') {
        inbox.run = ended;
        // No await since the look: what came before it was seen by it, what comes now makes another round.
        if (inbox.changed) continue;
        if (failure !== null) throw failure;
        return (
          done ?? {
            eviction: '',
            hypervisor: input.hypervisor,
            outcome: 'NothingToDo',
            message: `No open Eviction for ${input.hypervisor}`,
          }
        );
      }
      const run = beginRun(opened, state, () => undefined);
      inbox.run = run;
      // Both may have come while the Eviction was read, or with the answer: Temporal tells signals first.
      if (inbox.cancelled) stopForCancel(run);
      if (inbox.changed) run.readAtMs = 0;
      if ((await drive(run)) === 'old')
        await continueAsNew<typeof evictHypervisor>({ hypervisor: input.hypervisor }, run.state);
      const end = endOf(run.state);
      await conclude(run, end);
      if (end.outcome === 'Stopped') return await endAsCancelled(input, inbox, end);
      done = describeResult(run, end);
      await condition(() => inbox.changed, run.state.settings.lingerMs);
      failure = isErrorCode(end.reason)
        ? ApplicationFailure.create({ type: end.reason, message: end.message, nonRetryable: true, details: [done] })
        : null;
      if (failure !== null && !inbox.changed) throw failure;
    }
  });
}

/** What others tell the run, and what it serves now. */
interface Inbox {
  run: EvictionRun | null;
  changed: boolean;
  cancelled: boolean;
}

/** Before the first await, so that nothing that was sent with the start is missed. */
function takeMessages(inbox: Inbox, input: EvictionInput | undefined): void {
  setHandler(defineQuery<EvictionProgress>(messages.progress), () =>
    inbox.run === null
      ? progressBeforeOpening(input?.hypervisor ?? '', workflowInfo().startTime)
      : describeProgress(inbox.run.state, inbox.run.waiting, Date.now()),
  );
  setHandler(defineSignal<[ObjectChanged]>(messages.objectChanged), () => {
    inbox.changed = true;
    if (inbox.run === null) return;
    inbox.run.readAtMs ??= 0;
    inbox.run.wake();
  });
  setHandler(defineSignal<[unknown]>(messages.allowanceGranted), (value) => {
    const granted = readGrant(value);
    if (inbox.run === null || granted === null) return;
    takeGrant(inbox.run, granted);
    inbox.run.wake();
  });
  takeCommands(() => inbox.run);
  void CancellationScope.current().cancelRequested.catch(() => {
    inbox.cancelled = true;
    if (inbox.run !== null) stopForCancel(inbox.run);
  });
}

/** Who cancels by Temporal alone leaves no name. What a command or a deletion asked for before still holds. */
function stopForCancel(run: EvictionRun): void {
  if (run.state.stop === null) note(run, 'Normal', 'Stopping', 'The run was cancelled');
  askToStop(run.state, 'a cancel of the run', Date.now());
  run.wake();
}

/** Opens the Eviction, however long Kubernetes is away. What waiting does not mend fails the run with the sentence that says why. */
async function open(input: EvictionInput, servingUid: string | null, inbox: Inbox): Promise<EvictionOpened> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await openEviction(input, servingUid);
    } catch (error) {
      const problem = explain(error);
      if (isFinal(problem))
        throw ApplicationFailure.create({ type: problem.reason, message: problem.message, nonRetryable: true });
      if (inbox.cancelled) throw new CancelledFailure('Cancelled before the Eviction could be read');
      setCurrentDetails(`**Cannot read the Eviction:** ${problem.message}`);
      await sleep(retryAfterMs(failures), { summary: 'Try again to read the Eviction' });
    }
  }
}

const handedOver = (
  input: EvictionInput,
  { workflowId, eviction }: Extract<EvictionOpened, { next: 'handedOver' }>,
): EvictionResult => ({
  eviction,
  hypervisor: input.hypervisor,
  outcome: 'HandedOver',
  message: `Run ${workflowId} empties ${input.hypervisor}; Eviction ${eviction} says how it goes`,
  workflowId,
});

function endOf({ end }: EvictionState): End {
  if (end === null) throw ApplicationFailure.nonRetryable('the plan ended without an end');
  return end;
}

/**
 * However the stop was asked for (the object deleted, a command, a cancel of the run), the run closes as cancelled, so that nothing
 * starts it again by itself. Another Eviction that waits for the host is not held back by that.
 */
async function endAsCancelled(input: EvictionInput, inbox: Inbox, end: End): Promise<never> {
  const next = await openEviction({ hypervisor: input.hypervisor }, null).catch(() => null);
  if (next?.next === 'run') return await continueAsNew<typeof evictHypervisor>({ hypervisor: input.hypervisor });
  if (!inbox.cancelled) {
    const { workflowId, runId } = workflowInfo();
    await temporal('Close this run as cancelled')
      .cancelRun({ workflowId, runId })
      .catch((error: unknown) => void explain(error));
    await condition(() => inbox.cancelled, ownCancelMs);
  }
  throw new CancelledFailure(end.message);
}
