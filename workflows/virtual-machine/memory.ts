import { errors, mayPass, type ErrorCode } from '../../contracts/errors.ts';
import type { VcenterObservation } from '../../contracts/virtual-machine/activities.ts';
import type { DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import { readRestartIntent } from '../../contracts/virtual-machine/metadata.ts';
import type { GuestQuestion, StageFailure, VirtualMachineMemory } from '../../contracts/virtual-machine/observation.ts';
import type { Problem } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { type StagedAction, type VirtualMachineSituation } from './plan/context.ts';
import { findOwn, mayBeHalfMade } from './plan/find-own.ts';
import { countChange, isChange } from './plan/no-progress.ts';
import { powerStateOf } from './plan/power.ts';
import { lastRestartMs, requestedMs } from './plan/restart.ts';

/** What a run knows of itself from one plan to the next. Pure functions. */

export const noMemory: VirtualMachineMemory = {
  create: null,
  failures: [],
  changes: [],
  soft: null,
  restart: null,
  isRecalled: false,
  deletingSinceMs: null,
};

type Failed = Pick<StageFailure, 'reason' | 'message' | 'requeue'>;

export const failedBy = ({ code, reason, message }: Problem): Failed => ({
  reason,
  message,
  requeue: code === null || mayPass(code),
});

/** @param task of a create that was submitted and is not awaited */
export function applyResult<M extends VirtualMachineMemory>(
  memory: M,
  step: StagedAction,
  nowMs: number,
  task: string | null = null,
): M {
  const known = { ...memory, failures: memory.failures.filter(({ stage }) => stage !== step.stage) };
  if (step.kind === 'power') return afterPower(known, step, 'done', nowMs);
  if (step.kind === 'createVirtualMachine')
    return { ...known, create: task === null ? null : { task, sinceMs: nowMs } };
  if (step.kind === 'bootstrap' && step.part === 'custom')
    return { ...known, customized: { moId: step.moId, noted: step.noted } };
  if (isChange(step)) return { ...known, changes: countChange(memory.changes, step, nowMs) };
  return step.kind === 'cancelCreate' ? { ...known, create: null } : afterTask(known, step);
}

/**
 * A guest that refuses is no failure: the mode says what comes then. One of which no answer has come is asked again.
 */
export function applyFailure<M extends VirtualMachineMemory>(
  memory: M,
  step: StagedAction,
  failed: Failed,
  nowMs: number,
): M {
  // Nothing was asked, of a guest neither: no clock of it begins.
  if (failed.reason === errors.Stopped.reason)
    return { ...memory, failures: withFailure(memory.failures, step.stage, failed, nowMs) };
  if (step.kind === 'power' && guestOperations.includes(step.operation)) {
    const end = endOfQuestion(failed);
    const failures =
      end === 'unanswered'
        ? withFailure(memory.failures, step.stage, failed, nowMs)
        : memory.failures.filter(({ stage }) => stage !== step.stage);
    return afterPower({ ...memory, failures }, step, end, nowMs);
  }
  // What another one has begun on the VM, and has not worked out, is no failure of drover's: it is in the way no more.
  if (
    step.kind === 'awaitTask' &&
    step.task !== memory.create?.task &&
    failed.reason !== errors.VsphereTaskOverdue.reason
  )
    return memory;
  const known = { ...memory, failures: withFailure(memory.failures, step.stage, failed, nowMs) };
  if (step.kind === 'power') return afterPower(known, step, 'failed', nowMs);
  // Without an answer it may have been submitted.
  if (step.kind === 'createVirtualMachine')
    return { ...known, create: failed.requeue ? { task: null, sinceMs: nowMs } : null };
  return afterTask(known, step);
}

/** A task that has ended, well or not, is under way no more; whether there is a VM, the next observation shows. */
const afterTask = <M extends VirtualMachineMemory>(memory: M, step: StagedAction): M =>
  step.kind === 'awaitTask' && step.task === memory.create?.task ? { ...memory, create: null } : memory;

function withFailure(
  failures: readonly StageFailure[],
  stage: StageFailure['stage'],
  failed: Failed,
  nowMs: number,
): StageFailure[] {
  const attempts = (failures.find((failure) => failure.stage === stage)?.attempts ?? 0) + 1;
  const others = failures.filter((failure) => failure.stage !== stage);
  return [...others, { stage, ...failed, attempts, retryAtMs: nowMs + retryAfterMs(attempts, failed.reason) }];
}

type PowerAction = Extract<StagedAction, { kind: 'power' }>;

const guestOperations: readonly string[] = ['shutdownGuest', 'standbyGuest', 'rebootGuest'];

/** `refusedLater`: it cannot be asked, and may have been asked before. */
type QuestionEnd = 'refused' | 'refusedLater' | 'unanswered';
type PowerEnd = 'done' | 'failed' | QuestionEnd;

const refusals: readonly ErrorCode[] = ['GuestToolsNotRunning', 'VirtualMachineStateRefused', 'RequestRefused'];

/** Only what vCenter says of this guest is its refusal: nothing is forced because vCenter was away. */
function endOfQuestion({ reason }: Failed): QuestionEnd {
  if (reason === errors.GuestAnswerLost.reason) return 'refusedLater';
  return refusals.some((code) => errors[code].reason === reason) ? 'refused' : 'unanswered';
}

function afterQuestion(before: GuestQuestion | null, end: PowerEnd, nowMs: number): GuestQuestion {
  if (end === 'done') return { sinceMs: nowMs, failed: false };
  if (end === 'unanswered') return { sinceMs: nowMs, failed: false, unanswered: true };
  // A guest that shuts down refuses too.
  if (before?.unanswered === true && !before.failed) return { ...asked(before), failed: true };
  return { sinceMs: nowMs, failed: true, ...(end === 'refusedLater' && { unanswered: true as const }) };
}

const asked = ({ sinceMs, unanswered }: GuestQuestion): Omit<GuestQuestion, 'failed'> => ({
  sinceMs,
  ...(unanswered && { unanswered }),
});

function afterPower<M extends VirtualMachineMemory>(
  memory: M,
  { operation, stage, restartForMs: forMs }: PowerAction,
  end: PowerEnd,
  nowMs: number,
): M {
  const known = { ...memory, deletingSinceMs: stage === 'delete' ? (memory.deletingSinceMs ?? nowMs) : null };
  if (operation === 'shutdownGuest' || operation === 'standbyGuest') {
    const asks = operation === 'shutdownGuest' ? 'shutdown' : 'standby';
    const before = memory.soft?.operation === asks ? memory.soft : null;
    return { ...known, soft: { operation: asks, ...afterQuestion(before, end, nowMs) } };
  }
  if (operation !== 'rebootGuest' && operation !== 'reset') return end === 'done' ? { ...known, soft: null } : known;
  // A reset that failed is tried again as one; a failed flag would only say that the guest refused.
  if (forMs === undefined || (operation === 'reset' && end !== 'done')) return known;
  const before = memory.restart?.forMs === forMs ? memory.restart : null;
  const question = afterQuestion(before, end, nowMs);
  return { ...known, restart: { forMs, ...question, refusals: question.failed ? (before?.refusals ?? 0) + 1 : 0 } };
}

/** What still counts of it after an observation. */
export function prune<M extends VirtualMachineMemory>(
  before: M,
  { desired, observed, nowMs }: Pick<VirtualMachineSituation, 'desired' | 'observed' | 'nowMs'>,
): M {
  const memory = { ...before, failures: afterObservation(before.failures, observed.problem, nowMs) };
  if (desired === null) return { ...memory, ...noMemory };
  return observed.vcenter === null ? memory : pruneBy(memory, desired, observed.vcenter);
}

/**
 * No question to a guest that nothing waits for counts any more, no restart that is on record, no create, nor its
 * failure, whose VM is there, no failure of a VM that is gone, and no customization that is noted. Otherwise what was
 * asked long ago would be taken for the answer to what is asked today.
 */
export function pruneBy<M extends VirtualMachineMemory>(
  before: M,
  desired: DesiredVirtualMachine,
  { candidates, vm }: Pick<VcenterObservation, 'candidates' | 'vm'>,
): M {
  const memory = before.isRecalled ? before : recall(before, desired, vm);
  const wants =
    desired.deleting || desired.powerState === 'PoweredOff'
      ? 'shutdown'
      : desired.powerState === 'Suspended'
        ? 'standby'
        : null;
  const isOn = vm !== null && powerStateOf(vm) === 'PoweredOn';
  const lastMs = lastRestartMs(vm?.config?.extraConfig ?? {});
  const found = findOwn(desired, candidates);
  // The create may still write its owner.
  const isMade = found.kind === 'own' && !mayBeHalfMade(found);
  // What has failed of a VM that is gone is nothing of the next one.
  const isOver = (stage: StageFailure['stage']): boolean =>
    isMade ? stage === 'create' : found.kind === 'none' && stage !== 'create' && stage !== 'delete';
  const { customized } = memory;
  const isGone = vm === null ? found.kind === 'none' : vm.moId !== customized?.moId;
  const isNoted = desired.bootstrapHashes.custom === customized?.noted;
  return {
    ...memory,
    failures: memory.failures.filter(({ stage }) => !isOver(stage)),
    soft: memory.soft !== null && isOn && memory.soft.operation === wants ? memory.soft : null,
    restart: memory.restart !== null && memory.restart.forMs > lastMs ? memory.restart : null,
    create: isMade ? null : memory.create,
    deletingSinceMs: desired.deleting ? memory.deletingSinceMs : null,
    customized: isGone || isNoted ? undefined : customized,
  };
}

/**
 * What a run before has asked the guest, as the object says. Whether the guest has heard it is not known: it is asked
 * once more, and where it cannot be, it has its time before anything is forced.
 */
function recall<M extends VirtualMachineMemory>(
  memory: M,
  { guestAsked, nextRestartTime }: DesiredVirtualMachine,
  vm: VcenterObservation['vm'],
): M {
  const recalled = { ...memory, isRecalled: true };
  if (guestAsked === null || guestAsked.bootId !== vm?.bootId) return recalled;
  const question = { sinceMs: guestAsked.askedMs, failed: false, unanswered: true } as const;
  if (guestAsked.operation !== 'rebootGuest') {
    const operation = guestAsked.operation === 'shutdownGuest' ? 'shutdown' : 'standby';
    return { ...recalled, soft: memory.soft ?? { operation, ...question } };
  }
  const forMs = requestedMs(nextRestartTime);
  const isNoted = forMs !== null && readRestartIntent(vm.config?.extraConfig ?? {})?.forMs === forMs;
  return isNoted && guestAsked.askedMs >= forMs
    ? { ...recalled, restart: memory.restart ?? { forMs, refusals: 0, ...question } }
    : recalled;
}

/** @param problem null: vCenter has answered */
const afterObservation = (failures: readonly StageFailure[], problem: Failed | null, nowMs: number): StageFailure[] =>
  problem === null
    ? failures.filter(({ stage }) => stage !== 'observe')
    : withFailure(failures, 'observe', problem, nowMs);

/** A user who changed something may have put right what failed, and a guest that refused may have its Tools now. */
export const resetFailures = <M extends VirtualMachineMemory>(memory: M): M => ({
  ...memory,
  failures: [],
  changes: [],
  soft: memory.soft !== null && hasRefused(memory.soft) ? null : memory.soft,
  restart: memory.restart !== null && hasRefused(memory.restart) ? null : memory.restart,
});

/** It cannot be doing what it was asked. */
const hasRefused = ({ failed, unanswered }: GuestQuestion): boolean => failed && unanswered !== true;
