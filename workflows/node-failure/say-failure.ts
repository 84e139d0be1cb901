import { setCurrentDetails } from '@temporalio/workflow';
import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { HypervisorStatusPatch } from '../../contracts/hypervisor/hypervisor.ts';
import type { NodeFailureResult } from '../../contracts/node-failure/run.ts';
import { showAttributes } from '../lib/attributes.ts';
import { explain } from '../lib/failures.ts';
import { hypervisorObjects } from '../lib/hypervisor-activities.ts';
import type { Stage } from './carry-out-fencing.ts';
import {
  describeFailureRun,
  endCondition,
  failureCondition,
  phaseOf,
  reportKey,
  sentenceOf,
} from './describe-failure.ts';
import type { FailureRun } from './failure-run.ts';
import type { FailureStep } from './plan-failure.ts';

/** How often the Hypervisor is told anew what has changed only in its figures. */
const repeatMs = 10 * 60_000;

/** Says in the Hypervisor, and in the Web UI, what was found and what comes next. A report that fails is not the host's problem. */
export async function publish(run: FailureRun, stage: Stage | null, step: FailureStep): Promise<void> {
  const { state } = run;
  run.message = sentenceOf(step);
  setCurrentDetails(describeFailureRun(run));
  const phase = phaseOf(state);
  if (phase !== state.phase) {
    showAttributes({ kind: 'NodeFailure', object: run.name, host: run.name, phase });
    state.phase = phase;
  }
  // What is done on evidence is done before the look that it was planned on grows old.
  if (stage === null || !['wait', 'recommend', 'powerOff'].includes(step.do)) return;
  const said = failureCondition(stage.fencing, step);
  const key = reportKey(said);
  if (state.said?.key === key && Date.now() - state.said.atMs < repeatMs) return;
  if (await say(stage.hypervisor, said)) state.said = { key, atMs: Date.now() };
}

/** Says how it ended, where a Hypervisor is there to say it in. */
export async function sayEnd(
  { seen, state }: FailureRun,
  end: Pick<NodeFailureResult, 'outcome' | 'message'>,
  reason: string = end.outcome,
): Promise<void> {
  const hypervisor = seen?.look.hypervisor ?? null;
  // Of a host that was only watched, nobody was told.
  if (hypervisor === null || (end.outcome === 'Recovered' && state.said === null)) return;
  await say(hypervisor, { ...endCondition(end), reason });
}

async function say(
  { name, uid, generation }: Stage['hypervisor'],
  said: Omit<ConditionUpdate, 'observedGeneration'>,
): Promise<boolean> {
  const nothing: HypervisorStatusPatch = {
    conditions: [],
    removed: [],
    hypervisorId: null,
    serviceId: null,
    traits: null,
    aggregates: null,
    internalIp: null,
    evicted: null,
    libVirtVersion: null,
  };
  try {
    await hypervisorObjects(`Say in Hypervisor ${name} what became of its host`).publishHypervisor({
      name,
      uid,
      status: { ...nothing, conditions: [{ ...said, observedGeneration: generation }] },
    });
    return true;
  } catch (error) {
    void explain(error);
    return false;
  }
}
