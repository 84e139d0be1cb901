import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  workflowInfo,
} from '@temporalio/workflow';
import type { NodeFailureInput } from '../../contracts/node-failure/activities.ts';
import type { NodeFailureResult } from '../../contracts/node-failure/run.ts';
import { cancelledFailure, fencedHold } from '../../contracts/ids.ts';
import { readCarried } from '../lib/input.ts';
import { explain } from '../lib/failures.ts';
import { failureLook } from '../lib/node-failure-activities.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { carryOutFencing, release, withdrawAdvice, type Stage } from './carry-out-fencing.ts';
import { evacuateServer } from './evacuate-server.ts';
import { answer, dismiss, emptyInbox, takeMessages, type Inbox } from './failure-inbox.ts';
import type { FailureRun, FailureState } from './failure-run.ts';
import { beginFailureState, inFlight } from './failure-run.ts';
import { beginEvacuations, endEvacuation, takeProblem } from './fencing-state.ts';
import { planFailure, type FailureStep } from './plan-failure.ts';
import { publish, sayEnd } from './say-failure.ts';
import { takeInLook } from './take-look.ts';

/**
 * Deals with the failure of a host: look, judge, plan, take one step, say so, until it is well, is handed over, or is restored. Servers are
 * started elsewhere only on evidence that was looked at again just before. Started by the hypervisor's run, or by hand with plain JSON; the
 * id `node-failure/<host>` is the lock. A cancel begins nothing more, and lets evacuations in flight end.
 *
 * @param carried what an earlier run knew, when it continues as new
 */
export async function handleNodeFailure(input: NodeFailureInput, carried?: FailureState): Promise<NodeFailureResult> {
  const run: FailureRun = {
    name: input.hypervisor,
    state: { ...beginFailureState(), ...readCarried(carried) },
    seen: null,
    waiting: null,
    message: 'Begins',
  };
  const inbox = emptyInbox();
  takeMessages(run, inbox);
  return await CancellationScope.nonCancellable(async () => {
    for (;;) {
      inbox.changed = false;
      const nothing = await look(run, inbox, input);
      if (nothing !== null) return await end(run, inbox, nothing);
      answer(run, inbox);
      const stage = stageOf(run);
      const step = stage === null ? notSeen(run) : plan(stage);
      await publish(run, stage, step);
      // What is over is ended all the same: no other run lets go of a host that is restored.
      if (inbox.cancelled && step.do !== 'end') throw await endAsCancelled(run, inbox);
      const ended = await proceed(run, inbox, stage, step);
      if (ended !== null) return await end(run, inbox, ended);
      if (inbox.cancelled && step.do === 'end') throw await endAsCancelled(run, inbox);
      if (workflowInfo().continueAsNewSuggested && inFlight(run.state) === 0) {
        await condition(() => allHandlersFinished() || inbox.asked.length > 0);
        if (inbox.asked.length === 0) await continueAsNew<typeof handleNodeFailure>(input, run.state);
      }
    }
  });
}

/** Null: it was looked at, or could not be; then `run.seen` is null. Else the run has nothing (more) to do. */
async function look(run: FailureRun, inbox: Inbox, input: NodeFailureInput): Promise<NodeFailureResult | null> {
  const { name, state } = run;
  const askedMs = Date.now();
  try {
    const seen = await failureLook(`Look at ${name}`).observeNodeFailure(input);
    if (seen.next !== 'run') {
      run.seen = null;
      await condition(() => inFlight(state) === 0);
      const incident = state.fencing?.incident.id ?? null;
      if (seen.next === 'handedOver')
        return {
          hypervisor: name,
          incident,
          outcome: 'OtherRun',
          message: `Run ${seen.workflowId} deals with ${name}`,
        };
      return { hypervisor: name, incident, outcome: 'NothingToDo', message: seen.message };
    }
    run.seen = seen;
    const { look: found, settings } = seen;
    state.fencing = takeInLook(
      state.fencing,
      name,
      { look: found, askedMs, guests: state.guests },
      settings,
      Date.now(),
    );
    if (found.hypervisor?.hold === fencedHold && state.fencing !== null) state.held = true;
    return null;
  } catch (error) {
    const { code, message } = explain(error);
    if (code === 'InvalidInput') throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
    // What was seen before is not what is: nothing is planned on it.
    run.seen = null;
    fail(run, message);
    return null;
  }
}

function fail({ state }: FailureRun, message: string): void {
  state.failures += 1;
  if (state.fencing !== null)
    state.fencing = takeProblem(state.fencing, message, Date.now() + retryAfterMs(state.failures));
}

/** Null while not all is known that a step is made on. */
function stageOf(run: FailureRun): Stage | null {
  const { seen, state } = run;
  if (seen === null || state.fencing === null || seen.look.hypervisor === null || seen.look.nova === null) return null;
  return { run, fencing: state.fencing, hypervisor: seen.look.hypervisor, nova: seen.look.nova };
}

const notSeen = ({ name, seen, state }: FailureRun): FailureStep => ({
  do: 'wait',
  for: `a look at ${name}: ${seen?.look.problems.join(' ') || state.fencing?.problem?.message || 'Nova or kube-apiserver does not know it'}`,
  untilMs: null,
});

function plan({ fencing, run }: Stage): FailureStep {
  const step = planFailure(fencing, run.seen!.look, Date.now());
  // A run whose history is long lets what is in flight end, and goes on as a new one.
  if (step.do === 'evacuate' && workflowInfo().continueAsNewSuggested)
    return { do: 'wait', for: 'what is in flight to end, to go on as a new run', untilMs: null };
  return step;
}

/** Takes the step, or waits. Null: look again. */
async function proceed(
  run: FailureRun,
  inbox: Inbox,
  stage: Stage | null,
  step: FailureStep,
): Promise<NodeFailureResult | null> {
  const { state } = run;
  if (step.do === 'wait') {
    await waitFor(run, inbox, step.for, step.untilMs);
    return null;
  }
  if (stage === null) throw new Error('a step without a look');
  const { incident } = stage.fencing;
  try {
    if (step.do === 'end') {
      if (state.held) await release(stage);
      return { hypervisor: run.name, incident: incident.id, outcome: step.outcome, message: step.message };
    }
    if (step.do === 'evacuate') evacuate(run, inbox, stage.fencing, stage.nova.host, step.servers);
    else state.fencing = merge(run, await carryOutFencing(stage, step));
    state.failures = 0;
  } catch (error) {
    const { message } = explain(error);
    fail(run, message);
    await waitFor(run, inbox, message, state.fencing?.problem?.retryAtMs ?? null);
  }
  return null;
}

/** Evacuations that have ended while a step was taken are not forgotten. */
function merge(
  { state }: FailureRun,
  after: NonNullable<FailureState['fencing']>,
): NonNullable<FailureState['fencing']> {
  const servers = state.fencing?.servers ?? null;
  return servers === null ? after : { ...after, servers };
}

function evacuate(
  run: FailureRun,
  inbox: Inbox,
  fencing: Stage['fencing'],
  host: string,
  servers: Extract<FailureStep, { do: 'evacuate' }>['servers'],
): void {
  const { state } = run;
  const { settings } = run.seen!;
  state.fencing = beginEvacuations(
    fencing,
    servers.map(({ id }) => id),
  );
  for (const server of servers) {
    void evacuateServer(server, host, fencing.incident, settings).then(({ outcome, why }) => {
      if (state.fencing !== null) state.fencing = endEvacuation(state.fencing, server.id, outcome, why, Date.now());
      inbox.changed = true;
    });
  }
}

async function waitFor(run: FailureRun, inbox: Inbox, what: string, until: number | null): Promise<void> {
  const { seen, state } = run;
  const nowMs = Date.now();
  const isBusy = until !== null || inFlight(state) > 0;
  const lookAgainMs =
    nowMs +
    (seen === null
      ? retryAfterMs(Math.max(1, Math.min(3, state.failures)))
      : isBusy
        ? seen.settings.lookMs
        : seen.settings.restLookMs);
  const untilMs = Math.min(until ?? Infinity, lookAgainMs);
  run.waiting = { for: what, untilMs };
  inbox.retryNow = false;
  await condition(() => inbox.changed || inbox.retryNow || inbox.cancelled, Math.max(0, untilMs - nowMs));
  run.waiting = null;
}

async function end(run: FailureRun, inbox: Inbox, result: NodeFailureResult): Promise<NodeFailureResult> {
  await withdrawAdvice(run);
  await sayEnd(run, result);
  run.message = result.message;
  await dismiss(inbox, `${result.message}.`);
  return result;
}

async function endAsCancelled(run: FailureRun, inbox: Inbox): Promise<CancelledFailure> {
  const { fencing, held } = run.state;
  const stays = [
    ...(fencing?.forcedDown === true && !fencing.restored ? ['forced down'] : []),
    ...(held ? ['held'] : []),
  ].join(' and ');
  const message = `The run was cancelled: nothing more is begun${stays === '' ? '' : `, and ${run.name} stays ${stays}`}`;
  run.message = message;
  await condition(() => inFlight(run.state) === 0);
  await withdrawAdvice(run);
  await sayEnd(run, { outcome: 'TakenOver', message }, cancelledFailure);
  await dismiss(inbox, message);
  return new CancelledFailure(message);
}
