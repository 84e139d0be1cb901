import type { DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import type {
  PhaseFailure,
  VirtualMachineMemory,
  VirtualMachineObservation,
} from '../../contracts/virtual-machine/observation.ts';
import type { VirtualMachineStep } from '../../contracts/virtual-machine/plan.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { findOwn } from './plan/find-own.ts';
import { powerStateOf } from './plan/plan-power.ts';
import { lastRestartMs, requestedMs } from './plan/plan-restart.ts';

export const noMemory: VirtualMachineMemory = {
  create: null,
  failures: [],
  soft: null,
  restart: null,
  deletingSinceMs: null,
};

/** How a step ended. `task`: of a create that was submitted and not waited for. */
export type StepEnd =
  | { ok: true; task?: string }
  | ({ ok: false } & Pick<PhaseFailure, 'reason' | 'message' | 'requeue'>);

/** What the run knows after a step. Pure. A guest that refuses is no failure: the mode says what comes then. */
export function remember(
  memory: VirtualMachineMemory,
  step: VirtualMachineStep,
  end: StepEnd,
  desired: Pick<DesiredVirtualMachine, 'nextRestartTime' | 'deleting'>,
  nowMs: number,
): VirtualMachineMemory {
  const asksGuest =
    step.do === 'power' &&
    (step.operation === 'shutdownGuest' || step.operation === 'standbyGuest' || step.operation === 'rebootGuest');
  const known = { ...memory, failures: afterStep(memory.failures, step, end, asksGuest, nowMs) };
  if (step.do === 'power') return afterPower(known, step.operation, end.ok, desired, nowMs);
  if (step.do === 'createVirtualMachine') return { ...known, create: afterCreate(end, nowMs, step.blocking) };
  // A task that has ended, well or not, is under way no more; whether there is a VM, the next look sees.
  if (step.do === 'awaitTask' && step.task === memory.create?.task) return { ...known, create: null };
  if (step.do === 'cancelCreate' && end.ok) return { ...known, create: null };
  return known;
}

/** Without an answer it may have been submitted. */
function afterCreate(end: StepEnd, nowMs: number, blocking: boolean): VirtualMachineMemory['create'] {
  if (!end.ok) return end.requeue ? { task: null, sinceMs: nowMs } : null;
  return blocking || end.task === undefined ? null : { task: end.task, sinceMs: nowMs };
}

function afterStep(
  failures: readonly PhaseFailure[],
  { phase }: VirtualMachineStep,
  end: StepEnd,
  asksGuest: boolean,
  nowMs: number,
): PhaseFailure[] {
  const others = failures.filter((failure) => failure.phase !== phase);
  if (end.ok || asksGuest) return others;
  const attempts = (failures.find((failure) => failure.phase === phase)?.attempts ?? 0) + 1;
  const { reason, message, requeue } = end;
  return [...others, { phase, reason, message, requeue, attempts, retryAtMs: nowMs + retryAfterMs(attempts) }];
}

function afterPower(
  memory: VirtualMachineMemory,
  operation: string,
  ok: boolean,
  { nextRestartTime, deleting }: Pick<DesiredVirtualMachine, 'nextRestartTime' | 'deleting'>,
  nowMs: number,
): VirtualMachineMemory {
  const deletingSinceMs = deleting ? (memory.deletingSinceMs ?? nowMs) : null;
  const known = { ...memory, deletingSinceMs };
  switch (operation) {
    case 'shutdownGuest':
    case 'standbyGuest':
      return {
        ...known,
        soft: { operation: operation === 'shutdownGuest' ? 'shutdown' : 'standby', sinceMs: nowMs, failed: !ok },
      };
    case 'rebootGuest':
    case 'reset': {
      const forMs = requestedMs(nextRestartTime);
      // A reset that failed is tried again as one; a failed flag would only say that the guest refused.
      if (forMs === null || (operation === 'reset' && !ok)) return known;
      return { ...known, restart: { forMs, failed: !ok } };
    }
    default:
      return ok ? { ...known, soft: null } : known;
  }
}

/**
 * What counts no more, as things are now: a question to a guest that nobody waits for, a restart that is on record, a create, or its
 * failure, whose VM is there. Otherwise what was asked long ago would be taken for the answer to what is asked today.
 */
export function forget(
  memory: VirtualMachineMemory,
  desired: DesiredVirtualMachine,
  { candidates, vm }: VirtualMachineObservation,
): VirtualMachineMemory {
  const wants =
    desired.deleting || desired.powerState === 'PoweredOff'
      ? 'shutdown'
      : desired.powerState === 'Suspended'
        ? 'standby'
        : null;
  const isOn = vm !== null && powerStateOf(vm) === 'PoweredOn';
  const lastMs = lastRestartMs(vm?.config?.extraConfig ?? {});
  const isMade = findOwn(desired, candidates).kind === 'own';
  return {
    ...memory,
    failures: memory.failures.filter(({ phase }) => phase !== 'create' || !isMade),
    soft: memory.soft !== null && isOn && memory.soft.operation === wants ? memory.soft : null,
    restart: memory.restart !== null && memory.restart.forMs > lastMs ? memory.restart : null,
    create: isMade ? null : memory.create,
    deletingSinceMs: desired.deleting ? memory.deletingSinceMs : null,
  };
}

/** What the run knows after a look. Pure. @param problem null: vCenter has answered */
export function afterLook(
  memory: VirtualMachineMemory,
  problem: Pick<PhaseFailure, 'reason' | 'message' | 'requeue'> | null,
  nowMs: number,
): VirtualMachineMemory {
  const before = memory.failures.find(({ phase }) => phase === 'observe');
  const others = memory.failures.filter(({ phase }) => phase !== 'observe');
  if (problem === null) return { ...memory, failures: others };
  const attempts = (before?.attempts ?? 0) + 1;
  return {
    ...memory,
    failures: [...others, { phase: 'observe', ...problem, attempts, retryAtMs: nowMs + retryAfterMs(attempts) }],
  };
}

/** Whoever changed something may have mended what failed. */
export const forgive = (memory: VirtualMachineMemory): VirtualMachineMemory => ({ ...memory, failures: [] });
