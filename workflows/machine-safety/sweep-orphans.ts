import { machineKind } from '../../contracts/kinds/machine.ts';
import type { AnsweredLeftover } from '../../contracts/machine-safety/sweep.ts';
import { explain } from '../lib/failures.ts';
import type { Executed } from '../lib/lifecycle.ts';
import { count } from '../lib/metrics.ts';
import type { Plan } from '../lib/plan.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import { sweepActivities } from '../lib/sweep-activities.ts';
import { describeSweep } from './describe-sweep.ts';
import { judgeCandidates } from './judge-candidates.ts';
import { listen } from './messages.ts';
import {
  planSweep,
  type SweepLifecycle,
  sweepReport,
  type SweepSituation,
  sweepStatus,
  type SweepStep,
} from './plan-sweep.ts';
import {
  answerLeftover,
  noSweepMemory,
  pruneRun,
  recordDeletion,
  recordFailure,
  recordNodes,
  recordRefusal,
  rememberSweep,
  type SweepRunMemory,
} from './sweep-memory.ts';

/**
 * Sweeps the orphan VMs of the Machines of a namespace: those of its MachineClasses that belong to no Machine are
 * deleted, once no gate holds them back (docs/machine-safety.md#sweeps). Requested by a Schedule, started by the
 * bridge, or by hand with plain JSON; the id `orphan-sweep/<namespace>` is the lock, and what a run of it ends with is
 * what the next one remembers.
 */
export const sweepOrphans = defineReconciler<SweepLifecycle>(machineKind, {
  memory: noSweepMemory,
  observe: (input, { sweep }) =>
    sweepActivities(`List the VMs and the Machines of ${input.namespace}`).observeSweep({
      input,
      isRemembered: sweep !== null,
    }),
  prune: (memory, { observed, settings: { sweep }, askedMs }) => ({
    ...pruneRun(memory, observed, sweep, askedMs),
    sweep: rememberSweep(memory.sweep ?? observed.lastMemory, observed, sweep, askedMs),
  }),
  plan: planSweep,
  planned,
  execute: { deleteVm, deleteLeftover, annotateNodes },
  status: sweepStatus,
  // Events of before may be gone; what is there is left as it is.
  isSaid: () => false,
  publish: ({ input: { namespace } }, { notices }) =>
    sweepActivities('Write Events on the MachineClasses').publishSweep({ namespace, notices }),
  attributes: ({ input: { namespace } }) => ({ object: namespace }),
  details: describeSweep,
  progress: (situation) => (situation === null ? {} : sweepReport(situation)),
  result: (situation) => ({
    ...sweepReport(situation),
    memory: situation.settings.isRemembered ? situation.memory.sweep : null,
  }),
  listen,
  reopen: (memory) => ({ ...memory, approvalAskedMs: null, retryAtMs: null }),
});

/** Begins and ends the run's two waits, and counts what is left. */
function planned(situation: SweepSituation, plan: Plan<SweepStep>): SweepRunMemory {
  const { memory, nowMs, observed, settings } = situation;
  // The label `namespace` is Temporal's own.
  const labels = { machine_namespace: situation.input.namespace };
  if (plan.kind !== 'execute') {
    const gates = judgeCandidates(situation).map(({ gates: [first] }) => first?.gate ?? '');
    for (const gate of new Set(gates))
      count('sweepOrphans', { ...labels, gate }, gates.filter((other) => other === gate).length);
    for (const { failure } of observed.classes)
      if (failure !== null) count('sweepFailures', { ...labels, reason: failure.code ?? 'Unexpected' });
  }
  const reason = plan.kind === 'wait' ? plan.reason : null;
  const retries = reason === 'ClassNotSwept' || reason === 'NothingListed';
  return {
    ...memory,
    approvalAskedMs: reason === 'ApprovalNeeded' ? (memory.approvalAskedMs ?? nowMs) : null,
    retryAtMs: memory.retryAtMs ?? (retries ? nowMs + settings.sweep.longRetryMs : null),
  };
}

/** One that fails is left for the next sweep, and holds up no other. */
async function deleteVm(
  { input: { namespace }, observed, memory: { sweep }, nowMs }: SweepSituation,
  step: Extract<SweepStep, { kind: 'deleteVm' }>,
): Promise<Executed<SweepLifecycle>> {
  const { summary, providerId, machineName, machineClass, why, approvedBy, reason } = step;
  const vm = { providerId, machineName, machineClass, why };
  try {
    const answer = await sweepActivities(summary).deleteOrphan({
      ...vm,
      namespace,
      clusterUid: observed.clusterUid,
      resourceVersion: sweep?.resourceVersion ?? observed.resourceVersion,
      isApproved: approvedBy !== null,
      approvedBy,
      reason,
    });
    count('sweepDeletions', { machine_namespace: namespace, outcome: answer.outcome });
    if (answer.outcome === 'kept') {
      const { message, isOver } = answer;
      return {
        applyResult: (memory) => recordRefusal(memory, providerId, { message, atMs: nowMs }, isOver),
        isOutdated: isOver,
      };
    }
    const { outcome, detachedDisks } = answer;
    return { applyResult: (memory) => recordDeletion(memory, { ...vm, outcome, detachedDisks, atMs: Date.now() }) };
  } catch (error) {
    const { code, message } = explain(error);
    count('sweepDeletions', { machine_namespace: namespace, outcome: 'failed' });
    const refusal = { message, atMs: nowMs };
    return code === 'Stopped'
      ? { applyResult: (memory) => recordRefusal(memory, providerId, refusal, true), isOutdated: true }
      : { applyResult: (memory) => recordFailure(memory, providerId, refusal), isOutdated: false };
  }
}

/** Whatever comes of it is the user's answer, and no failure of the sweep. */
async function deleteLeftover(
  { input: { namespace } }: SweepSituation,
  { summary, asked }: Extract<SweepStep, { kind: 'deleteLeftover' }>,
): Promise<Executed<SweepLifecycle>> {
  const take = (answer: Pick<AnsweredLeftover, 'outcome' | 'message'>): Executed<SweepLifecycle> => ({
    applyResult: (memory) => answerLeftover(memory, { ...asked, ...answer, atMs: Date.now() }),
  });
  try {
    return take(await sweepActivities(summary).deleteLeftover({ ...asked, namespace }));
  } catch (error) {
    return take({ outcome: 'kept', message: explain(error).message });
  }
}

/** That it fails is said, and no failure of the sweep. */
async function annotateNodes(_situation: SweepSituation, { summary }: SweepStep): Promise<Executed<SweepLifecycle>> {
  const none = { marked: [], unmarked: [] };
  try {
    const answer = (await sweepActivities(summary).annotateNodes()) ?? none;
    return { applyResult: (memory) => recordNodes(memory, answer), observation: 'unchanged' };
  } catch (error) {
    const { message } = explain(error);
    return { applyResult: (memory) => recordNodes(memory, none, message), observation: 'unchanged' };
  }
}
