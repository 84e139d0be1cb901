import { condition, workflowInfo } from '@temporalio/workflow';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import { kubernetesWait, nova, novaSurvey } from '../lib/activities.ts';
import type { Problem } from '../lib/failures.ts';
import { explain } from '../lib/failures.ts';
import { deadlineTimer } from '../lib/timer.ts';
import { hostLookedAt, preflightAnswered } from './answers.ts';
import { abortMoves, startMove } from './move-instance.ts';
import type { Step } from './plan.ts';
import { planRun } from './plan-run.ts';
import { refresh } from './open.ts';
import { failed, isFinal } from './problem.ts';
import { createPublisher, enterPhase, publishNow, showDetails } from './publish.ts';
import type { EvictionRun } from './run.ts';
import { note, unlessSteered } from './run.ts';
import { createReporter } from './share.ts';
import { inState } from './state.ts';

/** A stop is lifted by a person; the run asks again at least once a day. */
const stopWaitMs = 24 * 60 * 60_000;

/** A run this old continues as new, so that none is older than the release before last. */
const oldMs = 24 * 60 * 60_000;

/**
 * Interprets the plan until the eviction has ended, or the run should continue as new and nothing is in flight. Beside the steps it
 * publishes, and keeps its share of the region's migrations.
 */
export async function drive(run: EvictionRun): Promise<'ended' | 'old'> {
  const { state } = run;
  let woken = false;
  run.wake = () => (woken = true);
  const timer = deadlineTimer('Look at the plan again');
  const publisher = createPublisher(run);
  const share = createReporter(run);
  try {
    while (state.end === null) {
      woken = false;
      const step = planRun(
        state,
        {
          readAtMs: run.readAtMs,
          unheard: run.unheard !== null,
          old: isOld(state.startedAtMs),
          inFlight: run.moves.size,
        },
        Date.now(),
      );
      if (step.do === 'continueAsNew') return 'old';
      if (step.do === 'refresh') {
        await refresh(run);
        continue;
      }
      if (step.do === 'forget') {
        state.problem = null;
        run.unpublished = true;
        continue;
      }
      if (step.do === 'wait') {
        run.waiting = { for: step.for, untilMs: step.untilMs };
        showDetails(run);
        share.tellWhenDue();
        publisher.publishWhenDue();
        timer.set(earliest(step.untilMs, share.nextMs(), publisher.nextMs()));
        await condition(() => woken || timer.due());
        run.waiting = null;
        continue;
      }
      showDetails(run);
      share.tellWhenDue();
      await attempt(run, step);
      publisher.publishWhenDue();
    }
    return 'ended';
  } finally {
    timer.set(null);
    await publisher.idle();
    await share.leave();
  }
}

const isOld = (startedAtMs: number): boolean =>
  workflowInfo().continueAsNewSuggested || Date.now() - startedAtMs > oldMs;

const earliest = (...times: (number | null)[]): number | null => {
  const set = times.filter((time) => time !== null);
  return set.length === 0 ? null : Math.min(...set);
};

async function attempt(run: EvictionRun, step: Exclude<Step, { do: 'wait' }>): Promise<void> {
  try {
    await carryOut(run, step);
    if (step.do !== 'move') run.state.problem = null;
  } catch (error) {
    await takeProblem(run, explain(error));
  }
}

async function takeProblem(run: EvictionRun, problem: Problem): Promise<void> {
  if (isFinal(problem)) {
    run.state.end = { outcome: 'Failed', reason: problem.reason, message: problem.message };
    return;
  }
  failed(run, problem, 'step');
  if (problem.code !== 'Stopped') return;
  // Said before the wait: who looks at the run or the Eviction must see why nothing moves.
  run.waiting = { for: problem.message, untilMs: null };
  showDetails(run);
  await publishNow(run, { releaseFinalizer: false }).catch((failure: unknown) => void explain(failure));
  try {
    const lifted = await unlessSteered(run, async () => {
      await kubernetesWait('Wait until `drover stop` is lifted', stopWaitMs).awaitStopLifted();
      return true;
    });
    if (lifted === true) run.state.problem = null;
  } catch (failure) {
    // Nobody can tell whether it is lifted: the next mutation asks again.
    failed(run, explain(failure), 'step');
  }
  run.waiting = null;
}

async function carryOut(run: EvictionRun, step: Exclude<Step, { do: 'wait' }>): Promise<void> {
  const { state } = run;
  const { desired, settings } = state;
  const { hypervisor } = desired;
  switch (step.do) {
    case 'preflight': {
      enterPhase(run, 'Preflight');
      const found = await novaSurvey(
        settings.region,
        `Preflight: what stands in the way of emptying ${hypervisor}`,
      ).preflightEviction({
        hypervisor,
        evictionUid: desired.uid,
      });
      preflightAnswered(state, found, Date.now());
      run.unpublished = true;
      return;
    }
    case 'disable': {
      if (state.phase !== 'Preflight')
        note(
          run,
          'Warning',
          'ServiceEnabled',
          `Somebody enabled the compute service of ${hypervisor}; drover disables it again`,
        );
      enterPhase(run, 'Disabling');
      const reason = `${disabledReasonPrefix} eviction ${desired.name}: ${desired.reason}`.slice(0, 255);
      const host = hostOf(run);
      host.service = await nova(settings.region, `Disable the compute service of ${hypervisor}`).ensureServiceDisabled({
        host: host.host,
        reason,
      });
      run.unpublished = true;
      return;
    }
    case 'move':
      enterPhase(run, 'Moving');
      for (const one of step.instances) startMove(run, one);
      return;
    case 'look': {
      if (inState(state, 'pending', 'busy').length === 0) enterPhase(run, 'Verifying');
      hostLookedAt(state, await nova(settings.region, step.why).observeHost({ hypervisor }), Date.now());
      run.unpublished = true;
      return;
    }
    case 'abort':
      if (state.stop !== null) state.stop.aborted = true;
      return abortMoves(run);
    case 'reEnable': {
      const host = hostOf(run);
      state.reEnabled = await nova(
        settings.region,
        `Enable the compute service of ${hypervisor} again`,
      ).ensureServiceEnabled({ host: host.host });
      if (state.reEnabled) host.service = { ...host.service, status: 'enabled', disabledReason: null };
      return;
    }
    case 'end':
      state.end = { outcome: step.outcome, reason: step.reason, message: step.message };
      return;
  }
}

function hostOf({ state }: EvictionRun): NonNullable<EvictionRun['state']['host']> {
  if (state.host === null) throw new Error('planned before the preflight');
  return state.host;
}
