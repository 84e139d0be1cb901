import type { ClaimFacts, DesiredVolume } from '../../contracts/data-volume/data-volume.ts';
import type { VolumePhase } from '../../contracts/data-volume/metadata.ts';
import { wantedBytes } from '../../contracts/data-volume/size.ts';
import { done, execute, wait } from '../lib/plan.ts';
import type { VolumeMemory, VolumePlan, VolumeSituation } from './lifecycle.ts';
import { beginAnew, makeClaim, planClone, waitForConsumer, waitsForConsumer } from './plan-clone.ts';

/**
 * How the volume of a DataVolume is made: what the charts of docs/data-volumes.md say, a rule after the other. All of
 * it is pure.
 */

/** What was not gone is looked at again. */
const removalPollMs = 5_000;

export function planVolume(situation: VolumeSituation): VolumePlan {
  const { desired, observed, input } = situation;
  if (desired === null) return done('gone', 'NotFound', 'There is no such DataVolume');
  if (desired.deleting) return planDeletion(situation, desired);
  if (desired.foreignSource !== '') return leaveToCdi(desired);
  const { target, problem, recorded } = observed;
  const isGivenUp = recorded.phase === 'Failed' && !situation.memory.isRetried;
  if (target?.deleting === true) {
    // A wait would be said in its place, and the clone would begin again when the PVC is gone.
    if (isGivenUp) return planGivenUp(situation, desired);
    const { job } = observed.temporary;
    // The Pod of the Job holds the PVC, though it may have ended.
    if (job !== null)
      return planAnew(situation, { strategy: 'copy', fallbackReason: observed.chosen?.fallbackReason ?? null });
    return wait('Pending', 'ErrResourceMarkedForDeletion', `PVC ${input.name} to be gone: it is being deleted`);
  }
  if (target?.owner === 'predecessor')
    return execute([
      {
        kind: 'removePredecessor',
        phase: 'Pending',
        summary: `Delete PVC ${input.name}: it belongs to a DataVolume of this name that was deleted`,
      },
    ]);
  if (target?.phase === 'Lost')
    return done('blocked', 'ErrClaimLost', `PVC ${input.name} lost its volume: delete the PVC, and it is made anew`);
  // One that a backup brought back has no owner.
  if (target?.populatedFor === input.name && target.owner !== 'other') return complete(situation, desired);
  if (target !== null && target.owner !== 'volume') return planForeignClaim(situation, desired, target);
  if (desired.prePopulatedBy !== null) return planPrePopulated(situation, desired, target);
  if (situation.memory.anew) return planAnew(situation, situation.memory.anew);
  if (isGivenUp) return planGivenUp(situation, desired);
  if (target !== null && (target.isCloned || recorded.phase === 'Succeeded')) return complete(situation, desired);
  if (problem !== null) return done('blocked', problem.reason, problem.message);
  const { source, claimSpec } = observed;
  if (source === null || claimSpec === null)
    return done('blocked', 'CloneWithoutSource', 'What is to be in the volume is not known yet');
  const plan = source.kind === 'blank' ? planBlank(situation) : planClone(situation, desired, source);
  return plan ?? complete(situation, desired);
}

function leaveToCdi({ foreignSource, isLeft }: DesiredVolume): VolumePlan {
  const message = `Its source is ${foreignSource}: CDI imports and uploads, drover clones`;
  if (isLeft) return done('reconciled', 'LeftToCdi', message);
  return execute([{ kind: 'leave', phase: '', summary: 'Leave it to CDI', source: foreignSource }]);
}

function planForeignClaim({ input, settings }: VolumeSituation, desired: DesiredVolume, claim: ClaimFacts): VolumePlan {
  const { name } = input;
  const adopts = desired.adopts ?? claim.allowsAdoption ?? settings.rules.adoptClaims;
  if (claim.owner === 'other' || !adopts)
    return done('blocked', 'ErrResourceExists', `Resource "${name}" already exists and is not managed by DataVolume`);
  return execute([{ kind: 'adopt', phase: 'Pending', summary: `Adopt PVC ${name}` }]);
}

function planPrePopulated(situation: VolumeSituation, desired: DesiredVolume, target: ClaimFacts | null): VolumePlan {
  if (target?.phase === 'Bound') return complete(situation, desired);
  return wait(
    'Pending',
    'Pending',
    `PVC ${situation.input.name} to be bound: the DataVolume says that it holds the data already`,
  );
}

/** Null: it is there. */
function planBlank(situation: VolumeSituation): VolumePlan | null {
  const { target } = situation.observed;
  if (target?.phase === 'Bound') return null;
  if (target !== null && waitsForConsumer(situation, target)) return waitForConsumer(target);
  return makeClaim(situation, {
    from: null,
    isTemporary: false,
    phase: 'Pending',
    requestBytes: wantedBytes(situation.observed),
  });
}

/** Null: nothing is left, or what was may be gone and the rest can be removed. */
function waitForRemoval({ memory, nowMs }: VolumeSituation, phase: VolumePhase): VolumePlan | null {
  const againMs = (memory.leftAtMs ?? 0) + removalPollMs;
  if (memory.left.length === 0 || nowMs >= againMs) return null;
  return wait(phase, 'TemporaryObjectsRemain', `${memory.left.join(', ')} to be gone`, againMs);
}

/** Until nothing is left of the last attempt, it is not written down how the next one is made. */
const planAnew = (situation: VolumeSituation, anew: NonNullable<VolumeMemory['anew']>): VolumePlan =>
  waitForRemoval(situation, 'CloneScheduled') ??
  beginAnew(
    `Begin it anew by ${anew.strategy}, once nothing of the last attempt is left`,
    anew.strategy,
    anew.fallbackReason,
  );

function complete(situation: VolumeSituation, { isHeld }: DesiredVolume): VolumePlan {
  const { observed, input } = situation;
  const { recorded, temporary } = observed;
  const isClean = Object.values(temporary).every((one) => one === null);
  const removal = recorded.phase === 'Succeeded' ? waitForRemoval(situation, 'Succeeded') : null;
  if (removal !== null) return removal;
  if (isHeld || !isClean || recorded.phase !== 'Succeeded')
    return execute([
      { kind: 'complete', phase: 'Succeeded', summary: 'Complete the volume, and remove what was temporary' },
    ]);
  return done('reconciled', 'Succeeded', `PVC ${input.name} holds its data`);
}

/** It says why; what is left of it goes. */
function planGivenUp(situation: VolumeSituation, { isHeld }: DesiredVolume): VolumePlan {
  const { observed } = situation;
  const said = observed.recorded.conditions.find(({ type }) => type === 'Running');
  if (!isHeld) return done('blocked', said?.reason ?? 'Error', said?.message ?? 'The clone was given up');
  return (
    waitForRemoval(situation, 'Failed') ??
    execute([
      { kind: 'remove', phase: 'Failed', summary: 'Remove what is left of the clone' },
      { kind: 'removeFinalizer', phase: 'Failed', summary: 'Remove the finalizer' },
    ])
  );
}

function planDeletion(situation: VolumeSituation, { isHeld }: DesiredVolume): VolumePlan {
  if (!isHeld) return done('gone', 'Released', 'It is being deleted, and drover holds nothing of it');
  return (
    waitForRemoval(situation, '') ??
    execute([{ kind: 'remove', phase: '', summary: 'Remove what is temporary, and the PVC; then the finalizer' }])
  );
}

/** What one in the queue for a slot of its driver says. */
const queuedReason = 'TooManyClones';

/** Each phase has its own deadline. */
export function awaitingAfter(
  { memory, observed: { recorded }, nowMs }: VolumeSituation,
  plan: VolumePlan,
): VolumeMemory['awaiting'] {
  const phase = plan.kind === 'execute' ? plan.steps[0]?.phase : plan.kind === 'wait' ? plan.phase : undefined;
  if (phase === undefined) return null;
  if (memory.awaiting?.phase === phase) return memory.awaiting;
  const wasQueued = recorded.conditions.some(({ reason }) => reason === queuedReason);
  // An earlier run may have waited for it, but not in the queue.
  return { phase, sinceMs: (recorded.phase === phase && !wasQueued ? recorded.sinceMs : null) ?? nowMs };
}

/**
 * The deadline is for the driver's work, not for the queue before it: of the phase that a slot was asked for. What is
 * awaited by the time that the run leaves the queue may be another one, or may have begun since.
 */
export function awaitingAfterQueue(
  awaiting: VolumeMemory['awaiting'],
  asked: { phase: string | null; atMs: number },
  nowMs: number,
): VolumeMemory['awaiting'] {
  if (awaiting === null || awaiting.phase !== asked.phase) return awaiting;
  const queuedMs = nowMs - Math.max(asked.atMs, awaiting.sinceMs);
  return { ...awaiting, sinceMs: awaiting.sinceMs + Math.max(0, queuedMs) };
}
