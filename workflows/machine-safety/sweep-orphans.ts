import { setHandler } from '@temporalio/workflow';

import { machineKind } from '../../contracts/kinds/machine.ts';
import type { AnsweredLeftover, AskedLeftover } from '../../contracts/machine-safety/sweep.ts';
import { providerIdKey } from '../../contracts/machine-safety/provider-id.ts';
import { asSignal, type ApproveSweep, type DeleteLeftover, messages } from '../../contracts/messages.ts';
import { explain, invalidInput } from '../lib/failures.ts';
import type { Executed, RunHandle } from '../lib/lifecycle.ts';
import { count } from '../lib/metrics.ts';
import type { Plan } from '../lib/plan.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import { sweepActivities } from '../lib/sweep-activities.ts';
import { describeSweep } from './describe-sweep.ts';
import { awaitsApproval, judgeCandidates } from './judge-candidates.ts';
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
  approve,
  askForLeftover,
  noSweepMemory,
  pruneRun,
  recordDeletion,
  recordNodes,
  recordRefusal,
  rememberSweep,
  type SweepRunMemory,
} from './sweep-memory.ts';

/**
 * Sweeps the orphan VMs of the Machines of a namespace: those of its MachineClasses that belong to no Machine are deleted, once no gate holds
 * them back (docs/machine-safety.md#sweeps). Requested by a Schedule, started by the bridge, or by hand with plain JSON; the id
 * `orphan-sweep/<namespace>` is the lock, and what a run of it ends with is what the next one remembers.
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
  if (plan.kind !== 'execute') {
    const gates = judgeCandidates(situation).map(({ gates: [first] }) => first?.gate ?? '');
    for (const gate of new Set(gates)) count('sweepOrphans', { gate }, gates.filter((other) => other === gate).length);
    for (const { failure } of observed.classes)
      if (failure !== null) count('sweepFailures', { reason: failure.code ?? 'Unexpected' });
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
    count('sweepDeletions', { outcome: answer.outcome });
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
    const isOver = code === 'Stopped';
    count('sweepDeletions', { outcome: 'failed' });
    return {
      applyResult: (memory) => recordRefusal(memory, providerId, { message, atMs: nowMs }, isOver),
      isOutdated: isOver,
    };
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

function listen(run: RunHandle<SweepLifecycle>): void {
  listenForApproval(run);
  listenForLeftovers(run);
}

/** With the start, or to a run that is open: it observes first, and deletes by what it finds. */
function listenForLeftovers(run: RunHandle<SweepLifecycle>): void {
  const take = (argument: unknown): string => {
    const asked = readLeftover(argument);
    run.update((memory) => askForLeftover(memory, asked));
    run.wake();
    return `${asked.kind} ${asked.id} is looked at once more, and deleted where it still is left over. \`drover sweep ls\` says what came of it.`;
  };
  setHandler(messages.deleteLeftover, take);
  setHandler(asSignal(messages.deleteLeftover), (argument) => unanswered(() => take(argument)));
}

/** Nobody reads the answer to a signal. */
function unanswered(take: () => unknown): void {
  try {
    take();
  } catch (error) {
    explain(error);
  }
}

/** An approval is of what is held back then: what comes later needs another one. */
function listenForApproval(run: RunHandle<SweepLifecycle>): void {
  const take = (argument: unknown): string => {
    const { by, reason } = readApproval(argument);
    const situation = run.situation();
    const waiting = situation === null ? [] : judgeCandidates(situation).filter(awaitsApproval);
    if (waiting.length === 0)
      throw invalidInput('Nothing waits for an approval: `drover sweep ls` says what holds each orphan back.');
    const approval = { by, reason, atMs: Date.now() };
    const ids = waiting.map(({ providerId }) => providerId);
    run.update((memory) => approve(memory, ids, approval));
    run.wake();
    const many = new Set(ids.map(providerIdKey)).size;
    return `Approved by ${by}: ${many === 1 ? '1 VM is' : `${many} VMs are`} judged once more, and deleted. What comes later needs another approval.`;
  };
  setHandler(messages.approve, take);
  setHandler(asSignal(messages.approve), (argument) => unanswered(() => take(argument)));
}

const longest = 1_024;

/** @throws InvalidInput */
function readApproval(argument: unknown): { by: string; reason: string | null } {
  const given = argument ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) throw invalidInput('approve takes a JSON object');
  const { by = 'unknown', reason = null } = given as Partial<Record<keyof ApproveSweep, unknown>>;
  if (typeof by !== 'string' || by.length > longest)
    throw invalidInput(`approve: by must be a text of at most ${longest} characters`);
  if (reason !== null && (typeof reason !== 'string' || reason.length > longest))
    throw invalidInput(`approve: reason must be a text of at most ${longest} characters`);
  return { by, reason };
}

const leftoverKinds: readonly unknown[] = ['port', 'volume', 'disk'] satisfies DeleteLeftover['kind'][];

/** @throws InvalidInput */
function readLeftover(argument: unknown): AskedLeftover {
  const given = Object(argument ?? {}) as Partial<Record<keyof DeleteLeftover, unknown>>;
  const textOf = (field: 'machineClass' | 'id' | 'by' | 'at', byDefault?: string): string => {
    const text = given[field] ?? byDefault;
    if (typeof text === 'string' && text.length <= longest && (text !== '' || byDefault === '')) return text;
    throw invalidInput(`deleteLeftover: ${field} must be a text of at most ${longest} characters`);
  };
  const { kind } = given;
  if (!leftoverKinds.includes(kind)) throw invalidInput(`deleteLeftover: kind must be ${leftoverKinds.join(', ')}`);
  return {
    machineClass: textOf('machineClass'),
    kind: kind as AskedLeftover['kind'],
    id: textOf('id'),
    by: textOf('by', 'unknown'),
    at: textOf('at', ''),
  };
}
