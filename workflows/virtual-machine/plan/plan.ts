import { errors } from '../../../contracts/errors.ts';
import { retryHandledAnnotation } from '../../../contracts/eviction/annotations.ts';
import type { SlotKind } from '../../../contracts/allowance.ts';
import type { AppliedClass, DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import { virtualMachineAnnotations as keys, readMadeDisks } from '../../../contracts/virtual-machine/metadata.ts';
import type { VirtualMachinePatch } from '../../../contracts/virtual-machine/mutations.ts';
import { done, execute, wait, type SlotRequest } from '../../lib/plan.ts';
import {
  contextIn,
  describeRefused,
  failureOf,
  fullName,
  isBeingMade,
  promotionLock,
  releases,
  retry,
  type Context,
  type Outcome,
  type StagedAction,
  type VirtualMachinePlan,
  type VirtualMachineSituation,
  type VirtualMachineStep,
} from './context.ts';
import { planDelete } from './delete.ts';
import { judgeProgress } from './no-progress.ts';
import { planNormal } from './normal.ts';
import { powerStateOf } from './power.ts';

/** Decides what happens to a VirtualMachine next. Pure. */
export function planVirtualMachine(situation: VirtualMachineSituation): VirtualMachinePlan {
  const { desired } = situation;
  if (desired === null) return done('gone', 'NotFound', 'There is no such VirtualMachine');
  return planWithNotes(contextIn(situation, desired), situation.observed.isAfterStep).plan;
}

/**
 * The plan, and what drover writes down in the object for itself, along with the status. Lost, it is
 * written again. Pure.
 */
export function planWithNotes(
  context: Context,
  isAfterStep: boolean,
): { plan: VirtualMachinePlan; notes: VirtualMachinePatch[] } {
  const failure = context.memory.failures.find(({ stage }) => stage === 'observe');
  if (failure !== undefined) {
    const slot = isBeingMade(context.memory) ? heldOnly('creates') : undefined;
    return { plan: wait('Failed', failure.reason, failure.message, failure.retryAtMs, slot), notes: [] };
  }
  const outcome = decide(context);
  const notes = context.desired.deleting ? null : notesOf(outcome);
  const then = notes === null ? outcome : decide({ ...context, desired: noted(context.desired, notes) });
  // What is only noted goes along with what is said, where nothing else is to be executed.
  const isAlong = notes !== null && then.kind !== 'execute';
  return { plan: toPlan(context, isAlong ? then : outcome, isAfterStep), notes: isAlong ? notes : [] };
}

/** A retry that this run has taken up. Nothing is written where drover only observes. Pure. */
export const retryNotes = ({ desired, settings }: Pick<Context, 'desired' | 'settings'>): VirtualMachinePatch[] =>
  desired.retry === null || settings.mode === 'observe'
    ? []
    : [{ annotations: { [retryHandledAnnotation]: desired.retry } }];

/** Whatever it is that has failed, it is not tried again before its time. */
function decide(context: Context): Outcome {
  const outcome = context.desired.deleting ? planDelete(context) : planNormal(context);
  const [first] = outcome.kind === 'execute' ? outcome.steps : [];
  const failure =
    first === undefined ? undefined : (failureOf(context, first.stage) ?? judgeProgress(context, outcome));
  return failure === undefined ? outcome : retry(failure);
}

const blockedReasons = [
  'Paused',
  'PowerOffRequired',
  'NotOwned',
  'Ambiguous',
  'VcenterChanged',
  'NotSupported',
  'DeletionBlocked',
  'BootstrapNotReady',
  'NotConnected',
  'DisksInSnapshots',
];

/** What ends in vCenter: the run that watches it starts one for the VM. Where none does, it is waited for. */
export const endsInVcenter: Readonly<Record<string, string>> = {
  NotConnected: 'its host or datastore to be back',
  DisksInSnapshots: 'its snapshots to be removed',
};

function toPlan(context: Context, outcome: Outcome, isAfterStep: boolean): VirtualMachinePlan {
  const { desired } = context;
  const slot = slotOf(context, outcome);
  switch (outcome.kind) {
    case 'execute':
      return execute(
        outcome.steps.map((step) => toStep(context, outcome.steps, step, isAfterStep)),
        slot,
      );
    case 'wait':
      return wait(outcome.phase, outcome.phase, outcome.message, outcome.untilMs, slot);
    case 'failed': {
      const { reason, message, retryAtMs } = outcome;
      const waiting = outcome.holdsUp === false && !desired.deleting ? waitForGuest(context) : null;
      if (waiting !== null) return waiting;
      if (outcome.requeue && reason === errors.Stopped.reason)
        return wait(reason, reason, `\`drover stop\` to be lifted: ${message}`, retryAtMs, slot);
      const phase = blockedReasons.includes(reason) ? reason : 'Failed';
      if (outcome.requeue) return wait(phase, reason, `another try: ${message}`, retryAtMs, slot);
      const awaited = context.settings.asyncSignal ? undefined : endsInVcenter[reason];
      return awaited === undefined
        ? done('blocked', phase, message)
        : wait(phase, reason, `${awaited}: ${message}`, context.nowMs + context.settings.pollMs, slot);
    }
    case 'success': {
      if (desired.deleting) return done('gone', 'Deleted', `${fullName(desired)} is deleted`);
      const waiting = waitForGuest(context);
      if (waiting !== null) return waiting;
      return desired.refused.length === 0
        ? done('reconciled', 'Reconciled', `${fullName(desired)} is as its spec wants it`)
        : done(
            'blocked',
            'NotSupported',
            `${fullName(desired)} is as the rest of its spec wants it. ${describeRefused(desired)}`,
          );
    }
  }
}

function toStep(
  context: Context,
  steps: readonly StagedAction[],
  step: StagedAction,
  isAfterStep: boolean,
): VirtualMachineStep {
  const isFirst = step.kind === 'cancelCreate' || releases(step) || (isDrift(context, step) && !isAfterStep);
  return {
    ...step,
    phase: phaseOf(context, steps),
    ...(isFirst && { publish: 'before' as const }),
    ...(step.kind === 'promoteDisks' && { background: promotionLock }),
  };
}

/** Another one has changed the power state. That is said before it is put right, or no user would see it. */
const isDrift = ({ observed: { vm, recorded } }: Context, { kind }: StagedAction): boolean =>
  kind === 'power' && vm !== null && recorded.powerState !== undefined && recorded.powerState !== powerStateOf(vm);

const phasesOfPower = {
  powerOn: 'PoweringOn',
  powerOff: 'PoweringOff',
  shutdownGuest: 'PoweringOff',
  suspend: 'Suspending',
  standbyGuest: 'Suspending',
  reset: 'Restarting',
  rebootGuest: 'Restarting',
} as const;

function phaseOf({ desired, observed }: Context, [first]: readonly StagedAction[]): string {
  if (desired.deleting) return 'Deleting';
  if (first?.kind === 'power') return phasesOfPower[first.operation];
  return first?.stage === 'create' && observed.vm === null ? 'Creating' : 'Updating';
}

const heldOnly = (limit: SlotKind): SlotRequest => ({ limit, onlyKept: true });

/**
 * Which slot a plan needs, or makes use of still; undefined: none, also while something that failed waits to be tried
 * again. Pure.
 */
export function slotOf({ desired, memory }: Context, outcome: Outcome): SlotRequest | undefined {
  const steps = outcome.kind === 'execute' ? outcome.steps : [];
  const kinds = steps.map(({ kind }) => kind);
  const needs = (limit: SlotKind): SlotRequest => ({ limit });
  if (!desired.deleting && kinds.includes('createVirtualMachine')) return needs('creates');
  if (isBeingMade(memory) || (memory.create !== null && kinds.length > 0)) return heldOnly('creates');
  if (!desired.deleting) return undefined;
  // A guest takes its time: neither to ask it nor to wait for it keeps others from being destroyed.
  return steps.some(isOfDestroy) ? needs('destroys') : undefined;
}

const isOfDestroy = (step: StagedAction): boolean =>
  step.kind === 'power' ? step.operation === 'powerOff' : step.kind === 'detachDisks' || step.kind === 'destroy';

/** What its guest has still to say, when all else is done. */
const waitForGuest = (context: Context): VirtualMachinePlan | null => waitForAddress(context) ?? waitForProbe(context);

/**
 * Without events of vCenter, an address that is still to come is waited for although all is done. Everything else that
 * upstream requeues for is a wait of its own, with its deadline, or has an event.
 */
function waitForAddress({ desired, observed, settings, nowMs }: Context): VirtualMachinePlan | null {
  const { vm } = observed;
  if (vm === null || settings.asyncSignal || desired.networkDisabled || desired.networkCards.length === 0) return null;
  if (vm.powerState !== 'poweredOn' || vm.guest.primaryIp4 !== null || vm.guest.primaryIp6 !== null) return null;
  const endMs = (vm.upSinceMs ?? nowMs) + settings.addressMs;
  const phase = 'WaitingForAddress';
  return nowMs < endMs ? wait(phase, phase, 'an address of the guest', Math.min(nowMs + settings.pollMs, endMs)) : null;
}

/**
 * What a guest says of itself when it is ready may come without an event: it is asked for as long as Tools may take,
 * and seen later with whatever changes.
 */
function waitForProbe({ desired, observed, settings, nowMs }: Context): VirtualMachinePlan | null {
  const { vm, probe } = observed;
  if (desired.probe !== 'guestInfo' && desired.probe !== 'tcp') return null;
  if (vm?.powerState !== 'poweredOn' || probe?.passed === true) return null;
  const endMs = (vm.upSinceMs ?? nowMs) + settings.toolsMs;
  const phase = 'WaitingForProbe';
  // Only an observation of its own knocks at a port.
  if (desired.probe === 'tcp' && probe === null) return wait(phase, phase, 'its port to be probed', nowMs);
  const againMs = nowMs + Math.max(desired.probePeriodMs, settings.pollMs);
  return nowMs < endMs
    ? wait(phase, phase, `its readiness probe: ${probe?.message ?? 'it was not probed'}`, Math.min(againMs, endMs))
    : null;
}

/** Annotations in which drover notes what it has done. No later step waits for them. */
const progressAnnotations: readonly string[] = [
  keys.lastResizedClass,
  keys.firstBootDone,
  keys.creating,
  keys.copies,
  keys.disks,
  keys.imageCacheAsked,
];

/** What an outcome only notes; null: it does something else, or more. Pure. */
export function notesOf(outcome: Outcome): VirtualMachinePatch[] | null {
  const [step, ...others] = outcome.kind === 'execute' ? outcome.steps : [];
  if (step?.kind !== 'patchVirtualMachine' || others.length > 0) return null;
  const isNote = ({ annotations = {}, ...rest }: VirtualMachinePatch): boolean =>
    Object.keys(rest).length === 0 && Object.keys(annotations).every((key) => progressAnnotations.includes(key));
  return step.patches.every(isNote) ? step.patches : null;
}

/** The object as it is once that is written. Pure. */
export const noted = (desired: DesiredVirtualMachine, notes: readonly VirtualMachinePatch[]): DesiredVirtualMachine =>
  notes.reduce((before, { annotations = {} }) => {
    const {
      [keys.lastResizedClass]: applied,
      [keys.firstBootDone]: booted,
      [keys.creating]: creating,
      [keys.copies]: copies,
      [keys.disks]: disks,
      [keys.imageCacheAsked]: asked,
    } = annotations;
    return {
      ...before,
      ...(typeof applied === 'string' && { lastResizedClass: readApplied(applied) }),
      ...(booted !== undefined && { firstBootDone: booted === 'true' }),
      ...(creating !== undefined && { creatingSince: creating }),
      // Notes only take it away.
      ...(copies === null && { copiesAt: null }),
      ...(typeof disks === 'string' && { madeDisks: readMadeDisks(disks) }),
      ...(asked !== undefined && { imageCacheAskedAt: asked }),
    };
  }, desired);

function readApplied(text: string): AppliedClass {
  const applied = JSON.parse(text) as { Name: string; UID: string; Generation: number };
  return { name: applied.Name, uid: applied.UID, generation: applied.Generation };
}
