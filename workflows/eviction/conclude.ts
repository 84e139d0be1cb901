import { sleep } from '@temporalio/workflow';
import type { EvictionResult } from '../../contracts/eviction/eviction.ts';
import { kubernetesWait, nova } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { refresh } from './open.ts';
import { failed } from './problem.ts';
import { countStates } from './progress.ts';
import { enterPhase, publishNow, showDetails } from './publish.ts';
import { planReEnable } from './re-enable.ts';
import type { EvictionRun } from './run.ts';
import { note, unlessSteered } from './run.ts';
import type { End } from './state.ts';
import { inState } from './state.ts';

/** The worst are named in the result; every instance is in its Migration. */
const namedAtMost = 20;

/** How often enabling the host again is tried before a person has to. */
const enableAttempts = 5;

/** The wait ends by its own deadline; Temporal's time-out only catches one that does not. */
const slackMs = 60_000;

/** Brings an eviction whose outcome is known to its end: enables the host where the cause says so, and tells everybody. */
export async function conclude(run: EvictionRun, end: End): Promise<void> {
  if (end.outcome === 'Succeeded') await reEnable(run);
  enterPhase(run, end.outcome, end.reason);
  note(run, end.outcome === 'Failed' ? 'Warning' : 'Normal', end.outcome, end.message);
  showDetails(run);
  // The story has to reach the object, however long kube-apiserver is away: the run is its only teller.
  for (let failures = 1; ; failures += 1) {
    try {
      return await publishNow(run, { releaseFinalizer: true });
    } catch {
      await sleep(retryAfterMs(failures), { summary: 'Try again to write the result' });
    }
  }
}

async function reEnable(run: EvictionRun): Promise<void> {
  const { state } = run;
  const plan = planReEnable(state.desired);
  if (state.host === null) return;
  state.reEnabled =
    plan.how === 'now' ? await enable(run) : plan.how === 'afterReboot' ? await enableAfterReboot(run) : false;
}

/** The eviction has succeeded and says so; only the host's return is still awaited, visibly and until a deadline. */
async function enableAfterReboot(run: EvictionRun): Promise<boolean> {
  const { state } = run;
  const { hypervisor } = state.desired;
  enterPhase(run, 'ReEnabling');
  const untilMs = Date.now() + state.settings.nodeReturnMs;
  run.waiting = { for: `Node ${hypervisor} to come back`, untilMs };
  showDetails(run);
  await publishNow(run, { releaseFinalizer: false }).catch((error: unknown) => void explain(error));
  const isBack = await awaitReturn(run, untilMs).catch((error: unknown) => {
    note(run, 'Warning', 'NodeNotWatched', explain(error).message);
    return false;
  });
  run.waiting = null;
  if (isBack) return await enable(run);
  note(
    run,
    'Warning',
    'NodeNotReturned',
    `Node ${hypervisor} did not come back with a new boot id and Ready, so the host is left disabled`,
  );
  return false;
}

/** A stop ends the wait, and so does the deletion of the Eviction, which must not hang for hours on a Node. */
async function awaitReturn(run: EvictionRun, untilMs: number): Promise<boolean> {
  const { hypervisor } = run.state.desired;
  while (run.state.stop === null && Date.now() < untilMs) {
    if (run.readAtMs !== null && Date.now() >= run.readAtMs) await refresh(run);
    if (run.state.stop !== null) break;
    const leftMs = (run.readAtMs === null ? untilMs : Math.min(untilMs, run.readAtMs)) - Date.now();
    const wait = kubernetesWait(`Wait until Node ${hypervisor} is back`, leftMs + slackMs);
    const isBack = await unlessSteered(run, () => wait.awaitNodeReturned(hypervisor, run.state.bootId, leftMs));
    if (isBack === true) return true;
  }
  return false;
}

async function enable(run: EvictionRun): Promise<boolean> {
  const { state } = run;
  const { hypervisor } = state.desired;
  for (let attempt = 1; attempt <= enableAttempts; attempt += 1) {
    try {
      const host = state.host?.host ?? hypervisor;
      const enabled = await nova(
        state.settings.region,
        `Enable the compute service of ${hypervisor} again`,
      ).ensureServiceEnabled({ host });
      if (enabled && state.host !== null)
        state.host.service = { ...state.host.service, status: 'enabled', disabledReason: null };
      return enabled;
    } catch (error) {
      failed(run, explain(error), 'step');
      await sleep(retryAfterMs(attempt), { summary: 'Try again to enable the host' });
    }
  }
  note(
    run,
    'Warning',
    'NotReEnabled',
    `${hypervisor} could not be enabled again: ${state.problem?.message ?? 'see the log'}`,
  );
  return false;
}

/** The result of the run: figures, and the servers that did not move. Pure. */
export function describeResult({ state }: Pick<EvictionRun, 'state'>, end: End): EvictionResult {
  const notMoved = inState(state, 'blocked', 'skipped', 'busy', 'pending')
    .slice(0, namedAtMost)
    .map(({ instance, state: its, message }) => ({ id: instance.id, name: instance.name, state: its, message }));
  return {
    eviction: state.desired.name,
    hypervisor: state.desired.hypervisor,
    outcome: end.outcome,
    message: end.message,
    counts: countStates(state),
    notMoved,
    ...(state.reEnabled === null ? {} : { reEnabled: state.reEnabled }),
  };
}
