import type { SlotKind } from '../../contracts/allowance.ts';
import type { DesiredVirtualMachine, VirtualMachineSettings } from '../../contracts/virtual-machine/lifecycle.ts';
import type {
  Phase,
  PhaseFailure,
  VirtualMachineMemory,
  VirtualMachineObservation,
  VmFacts,
} from '../../contracts/virtual-machine/observation.ts';
import type {
  Outcome,
  VirtualMachineDeed,
  VirtualMachinePatch,
  VirtualMachineStep,
} from '../../contracts/virtual-machine/plan.ts';

/** What every decision about a VM is made of. */
export interface Context {
  desired: DesiredVirtualMachine;
  observed: VirtualMachineObservation;
  memory: VirtualMachineMemory;
  settings: VirtualMachineSettings;
  /** Milliseconds since the epoch. */
  nowMs: number;
}

/** Of a VM that exists. */
export interface VmContext extends Context {
  vm: VmFacts;
}

export const success: Outcome = { kind: 'success' };

export const act = (
  phase: Phase,
  ...deeds: [words: string, deed: VirtualMachineDeed][]
): Outcome & { kind: 'act' } => ({
  kind: 'act',
  steps: deeds.map(([words, deed]) => ({ ...deed, words, phase })),
});

export const patch = (phase: Phase, words: string, ...patches: VirtualMachinePatch[]): Outcome & { kind: 'act' } =>
  act(phase, [words, { do: 'patchVirtualMachine', patches }]);

export const wait = (state: string, sentence: string, untilMs: number | null = null): Outcome => ({
  kind: 'wait',
  state,
  for: sentence,
  untilMs,
});

/** Nothing else is missing. */
export function waitTurn({ observed: { turn }, settings: { vcenter } }: Context, state: string, of: SlotKind): Outcome {
  return { kind: 'wait', state, for: describeTurn(of, vcenter, turn.taken), untilMs: null, turn: of };
}

export function describeTurn(of: SlotKind, vcenter: string, taken: Context['observed']['turn']['taken']): string {
  if (taken === null) return `a slot of the ${of} of vCenter ${vcenter}`;
  const { inUse, limit } = taken;
  return inUse < limit
    ? `a slot: the ${of} of vCenter ${vcenter} that are in progress are being counted`
    : `a slot: ${inUse} of ${limit} ${of} of vCenter ${vcenter} are in progress`;
}

/** It would be tried now, or as soon as it may. */
export const isAttempt = (outcome: Outcome): boolean =>
  outcome.kind === 'act' || (outcome.kind === 'wait' && outcome.turn !== undefined);

/** Trying again is no use: something has to change first. */
export const stop = (reason: string, message: string): Outcome => ({
  kind: 'failed',
  requeue: false,
  reason,
  message,
  retryAtMs: null,
});

export const retry = ({ reason, message, retryAtMs, requeue }: PhaseFailure): Outcome => ({
  kind: 'failed',
  requeue,
  reason,
  message,
  retryAtMs: requeue ? retryAtMs : null,
});

/** What the phase last failed with, while it is not tried again. */
export const failureOf = (
  { memory, nowMs }: Pick<Context, 'memory' | 'nowMs'>,
  phase: Phase,
): PhaseFailure | undefined =>
  memory.failures.find((failure) => failure.phase === phase && (!failure.requeue || failure.retryAtMs > nowMs));

/** A phase that has failed is not tried again before its time; everything else is decided. */
export function unlessFailed<Given extends Context>(
  phase: Phase,
  decide: (context: Given) => Outcome,
): (context: Given) => Outcome {
  return (context) => {
    const failure = failureOf(context, phase);
    const outcome = decide(context);
    return failure !== undefined && isAttempt(outcome) ? retry(failure) : outcome;
  };
}

export const fullName = ({ namespace, name }: Pick<DesiredVirtualMachine, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

export type Steps = readonly VirtualMachineStep[];
