import { type VolumeState, volumeConditions } from '../../contracts/data-volume/conditions.ts';
import type { ObservedVolume, VolumeProblem, VolumeStatus } from '../../contracts/data-volume/data-volume.ts';
import { fallbackEvent, phaseEvents, problemEvent } from '../../contracts/data-volume/events.ts';
import { goesOn } from '../../contracts/data-volume/storage-answers.ts';
import type { VolumePhase } from '../../contracts/data-volume/metadata.ts';
import { describePlan } from '../lib/plan.ts';
import type { VolumePlan, VolumeSituation, VolumeStep } from './lifecycle.ts';
import { claimedBy, describeUse, snapshotOf } from './plan-clone.ts';

/** What a DataVolume says of a plan, in CDI's words where it has some. Pure. */

/** Null: nothing is said of one that goes, or that is not drover's. */
export function volumeStatus(situation: VolumeSituation, plan: VolumePlan): VolumeStatus | null {
  const { desired, observed, input } = situation;
  if (desired === null || desired.deleting || desired.foreignSource !== '') return null;
  const phase = phaseOf(situation, plan);
  const problem = problemOf(situation, plan);
  const isClone = observed.source !== null && observed.source.kind !== 'blank';
  const { target } = observed;
  const claim: VolumeState['claim'] = target === null ? null : { name: target.name, phase: target.phase };
  return {
    phase,
    progress: phase === 'Succeeded' ? '100.0%' : 'N/A',
    claimName: input.name,
    conditions: volumeConditions({ phase, claim, problem, isClone }),
    event: problem === null ? eventOf(situation, plan, phase) : problemEvent(problem),
  };
}

function phaseOf({ observed, memory }: VolumeSituation, plan: VolumePlan): VolumePhase {
  // What a user tries again is not given up any more: what it lacks is waited for as before.
  const isBegun = observed.recorded.phase === 'Failed' && memory.isRetried;
  const before = isBegun ? 'Pending' : phaseBefore(observed);
  if (plan.kind === 'execute') return plan.steps[0]?.phase ?? before;
  if (plan.kind === 'wait') return isPhase(plan.phase) ? plan.phase : before;
  if (plan.outcome === 'reconciled') return 'Succeeded';
  return before === '' ? 'Pending' : before;
}

/** What the object says, unless that was a volume which is gone since. */
const phaseBefore = ({ recorded: { phase }, target }: ObservedVolume): VolumePhase =>
  phase === 'Succeeded' && (target === null || target.phase === 'Lost') ? 'Pending' : phase;

/** A failure of a step has the phase that was shown last, which the object has too. */
const isPhase = (phase: string): phase is VolumePhase =>
  phase in phaseEvents || phase === 'Pending' || phase === 'WaitForFirstConsumer';

/** What is waited for, or keeps it from being made. Null: it goes on. */
function problemOf(situation: VolumeSituation, plan: VolumePlan): VolumeProblem | null {
  return whyGivenUp(situation, plan) ?? planProblem(situation, plan);
}

/**
 * One that was given up says why while what is left of it is removed: its run says what that is. Null: it was not, or
 * the plan says what keeps it from being made.
 */
function whyGivenUp(situation: VolumeSituation, plan: VolumePlan): VolumeProblem | null {
  const { phase, conditions } = situation.observed.recorded;
  if (plan.kind === 'done' || situation.memory.isRetried) return null;
  if (phase !== 'Failed' || phaseOf(situation, plan) !== 'Failed') return null;
  if (plan.kind === 'execute' && plan.steps[0]?.kind === 'giveUp') return null;
  const said = conditions.find(({ type }) => type === 'Running');
  return said === undefined ? null : { reason: said.reason, message: said.message };
}

function planProblem(situation: VolumeSituation, plan: VolumePlan): VolumeProblem | null {
  if (plan.kind === 'execute') return stepProblem(situation, plan.steps[0]);
  if (plan.kind === 'done' && plan.outcome !== 'blocked') return null;
  const { reason, message } = describePlan(plan);
  return { reason, message };
}

function stepProblem({ observed }: VolumeSituation, step: VolumeStep | undefined): VolumeProblem | null {
  if (step === undefined) return null;
  if (step.kind === 'giveUp') return { reason: step.reason, message: step.message };
  if (step.kind === 'awaitSource' && observed.source?.kind === 'pvc')
    return { reason: 'CloneSourceInUse', message: describeUse(observed.source) };
  const known = 'known' in step ? step.known : null;
  if (known === null) return null;
  if (step.kind !== 'snapshot') return { reason: goesOn(known) ? 'StorageBusy' : 'VolumeFailing', message: known };
  if (snapshotOf(observed) === null) return { reason: 'TooManySnapshots', message: known };
  return { reason: goesOn(known) ? 'StorageBusy' : 'SnapshotFailing', message: known };
}

function eventOf(situation: VolumeSituation, plan: VolumePlan, phase: VolumePhase): VolumeStatus['event'] {
  const { observed, input } = situation;
  const { source } = observed;
  if (plan.kind !== 'execute' || source === null || source.kind === 'blank') return null;
  const why = claimedBy(situation)?.fallbackReason ?? null;
  const fellBack = why === null ? null : fallbackEvent(why);
  if (fellBack !== null) return fellBack;
  const clone = { source: { kind: source.kind, namespace: source.namespace, name: source.name }, volume: input };
  return phase in phaseEvents ? phaseEvents[phase as keyof typeof phaseEvents](clone, '') : null;
}

/** Whether the object says so. Its Events it does not have. */
export function isVolumeSaid(recorded: Omit<VolumeStatus, 'event'>, status: VolumeStatus): boolean {
  return (
    recorded.phase === status.phase &&
    recorded.progress === status.progress &&
    recorded.claimName === status.claimName &&
    status.conditions.every(({ type, status: value, reason, message }) => {
      const said = recorded.conditions.find((one) => one.type === type);
      return said?.status === value && said.reason === reason && said.message === message;
    })
  );
}
