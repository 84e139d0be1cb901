import {
  type ChosenStrategy,
  chooseStrategy,
  type StrategyFacts,
} from '../../contracts/data-volume/choose-strategy.ts';
import type {
  ClaimedVolume,
  ClaimFacts,
  DesiredVolume,
  ObservedVolume,
  SnapshotFacts,
  TransferFacts,
} from '../../contracts/data-volume/data-volume.ts';
import { type Outcome, type Strategy, temporaryNames, type VolumePhase } from '../../contracts/data-volume/metadata.ts';
import { restoreBytes, wantedBytes } from '../../contracts/data-volume/size.ts';
import { validateClone } from '../../contracts/data-volume/validate-clone.ts';
import { done, execute, type SlotRequest, wait } from '../lib/plan.ts';
import { allowanceOf } from '../limits/membership.ts';
import type { VolumePlan, VolumeSituation, VolumeStep } from './lifecycle.ts';

/** How a volume is cloned: what the tables of docs/data-volumes.md say, a rule after the other. All of it is pure. */

type CloneSource = Extract<NonNullable<ObservedVolume['source']>, { kind: 'pvc' | 'snapshot' }>;

const clones: SlotRequest = { limit: 'clones' };
/** Snapshot, claim, expansion, and transfer where the source is elsewhere. Null: the volume is there. */
export function planClone(situation: VolumeSituation, desired: DesiredVolume, source: CloneSource): VolumePlan | null {
  const { observed, input } = situation;
  const { target, temporary } = observed;
  const { job } = temporary;
  const isElsewhere = source.namespace !== input.namespace;
  // Half-way the PV is bound to no claim: nothing else is looked at before that is over, or its target is gone with it.
  if (temporary.transfer !== null && (temporary.transfer.phase !== 'Complete' || target === null))
    return transfer(situation, desired, temporary.transfer.phase === 'Complete' ? null : temporary.transfer);
  if (isElsewhere && observed.permission === 'unknown')
    return done(
      'blocked',
      'CloneNotPermitted',
      `Nothing proves that its creator may clone from namespace ${source.namespace}: the admission policy was not in force when it was created. Create the DataVolume again`,
    );
  const { strategy, fallbackReason } = chosenFor(situation, source);
  const made = isElsewhere && target === null ? temporary.claim : target;
  const clone = { strategy, fallbackReason, source, isElsewhere };
  const hindered = made === null ? planHindrance(situation, desired, clone) : null;
  if (hindered !== null) return hindered;
  // One that has been transferred has its data.
  const isCopied = strategy === 'copy' && !(isElsewhere && target !== null);
  if (isCopied && job?.claimUid !== undefined && job.claimUid !== made?.uid)
    return beginAnew('Copy it anew, as the PVC that its Job copied into is gone', 'copy', fallbackReason);
  if (isCopied && source.kind === 'snapshot') {
    const plan = planRestoreToCopy(situation, desired, source, fallbackReason);
    if (plan !== null) return plan;
  }
  if (made === null || made.phase !== 'Bound') {
    const plan = planRestore(situation, desired, clone, made);
    if (plan !== null) return plan;
  }
  if (isCopied && made !== null) {
    const plan = planCopy(situation, desired, clone, made);
    if (plan !== null) return plan;
  }
  const wanted = wantedBytes(observed);
  if (made !== null && (made.capacityBytes ?? 0) < wanted && !made.waitsForFileSystem)
    return (
      // The PVC of the DataVolume has its data, and a Pod may use it by now: giving it up would delete what that wrote.
      (made === target ? null : onDeadline(situation, desired, strategy, 'ExpansionInProgress', made.problem)) ??
      execute([
        {
          kind: 'expand',
          phase: 'ExpansionInProgress',
          summary: `Expand PVC ${made.name}`,
          claim: made.name,
          requestBytes: wanted,
          known: made.problem,
        },
      ])
    );
  return isElsewhere && target === null ? transfer(situation, desired, null) : null;
}

interface Clone {
  strategy: Strategy;
  fallbackReason: string | null;
  source: CloneSource;
  isElsewhere: boolean;
}

/** One that is being deleted is none. */
export const snapshotOf = ({ temporary: { snapshot } }: ObservedVolume): SnapshotFacts | null =>
  snapshot?.deleting === true ? null : snapshot;

/** What keeps the clone from being begun. Null: nothing. */
function planHindrance(
  situation: VolumeSituation,
  desired: DesiredVolume,
  { strategy, fallbackReason, source }: Clone,
): VolumePlan | null {
  const { observed } = situation;
  // What was cut needs its source no more.
  if (strategy === 'snapshot' && snapshotOf(observed)?.isReady === true) return null;
  const problem = validateClone(desired, observed);
  if (problem !== null) return done('blocked', problem.reason, problem.message);
  const unready = planUnreadySource(situation, desired, source);
  if (unready !== null) return unready;
  const noCopy = strategy === 'copy' ? whyNoCopy(situation, source, fallbackReason) : null;
  if (noCopy !== null) return done('blocked', 'CopyNotPossible', noCopy);
  return planSourceInUse(situation, desired, source, strategy);
}

/** What is in it is not there yet. */
function planUnreadySource(situation: VolumeSituation, desired: DesiredVolume, source: CloneSource): VolumePlan | null {
  if (source.kind === 'snapshot') return planUnreadySnapshot(situation, desired, source);
  if (source.claim === null) return null;
  const name = `PVC ${source.namespace}/${source.name}`;
  if (source.claim.phase !== 'Bound') return waitForSource(situation, desired, 'SourceNotBound', `${name} to be bound`);
  return source.isPopulated
    ? null
    : waitForSource(situation, desired, 'SourceNotPopulated', `the DataVolume of ${name} to be complete`);
}

/** Its driver is known when it is bound to its content. */
function planUnreadySnapshot(
  situation: VolumeSituation,
  desired: DesiredVolume,
  { namespace, name, snapshot }: Extract<CloneSource, { kind: 'snapshot' }>,
): VolumePlan | null {
  if (snapshot?.isReady === true && snapshot.driver !== null) return null;
  const what = `VolumeSnapshot ${namespace}/${name} to be ready${because(snapshot?.error)}`;
  return waitForSource(situation, desired, 'SnapshotNotReady', what);
}

/**
 * Nobody tells the run of what a DataSource stands for before the clone has begun, nor of the DataVolume that fills its
 * source: it looks.
 */
const sourcePollMs = 30_000;

/** A copy would need the source as much. */
const waitForSource = (situation: VolumeSituation, desired: DesiredVolume, reason: string, what: string): VolumePlan =>
  onDeadline(situation, desired, 'copy', 'CloneScheduled', `it waits for ${what}`) ??
  wait(
    'CloneScheduled',
    reason,
    what,
    Math.min(situation.nowMs + sourcePollMs, deadlineMsOf(situation, 'CloneScheduled') ?? Infinity),
  );

/** A source that is in use may be cloned as it is. */
export const allowsUse = (
  { crashConsistent }: Pick<DesiredVolume, 'crashConsistent'>,
  { rules }: VolumeSituation['settings'],
): boolean => crashConsistent || rules.crashConsistent;

function planSourceInUse(
  situation: VolumeSituation,
  desired: DesiredVolume,
  source: CloneSource,
  strategy: Strategy,
): VolumePlan | null {
  if (source.kind !== 'pvc' || source.usedBy.length === 0) return null;
  const { observed, settings } = situation;
  // What is cut is not changed by what uses its source.
  if (strategy === 'snapshot' && (snapshotOf(observed)?.cutMs ?? null) !== null) return null;
  if (strategy !== 'copy' && allowsUse(desired, settings)) return null;
  return (
    onDeadline(situation, desired, 'copy', 'CloneScheduled', describeUse(source)) ??
    execute([
      {
        kind: 'awaitSource',
        phase: 'CloneScheduled',
        summary: `Wait until PVC ${source.name} is not in use`,
        usedBy: source.usedBy,
      },
    ])
  );
}

/** @param source one that is in use */
export const describeUse = ({ namespace, name, usedBy }: Extract<CloneSource, { kind: 'pvc' }>): string =>
  `${usedBy.map((pod) => `pod ${namespace}/${pod}`).join(', ')} using PersistentVolumeClaim ${name}`;

/** Null: the claim is there, as far as it can be before its data is. */
function planRestore(
  situation: VolumeSituation,
  desired: DesiredVolume,
  { strategy, source, isElsewhere }: Clone,
  made: ClaimFacts | null,
): VolumePlan | null {
  const { observed } = situation;
  if (made !== null && waitsForConsumer(situation, made))
    // The Pod of the Job that copies is the first consumer.
    return strategy === 'copy' ? null : waitForConsumer(made);
  const wanted = wantedBytes(observed);
  const claim = { isTemporary: isElsewhere };
  if (strategy === 'copy')
    return restore(situation, desired, strategy, made, {
      ...claim,
      from: null,
      phase: 'CloneInProgress',
      requestBytes: wanted,
    });
  if (source.kind === 'snapshot') {
    const { snapshot } = source;
    if (snapshot?.isReady !== true) return planUnreadySnapshot(situation, desired, source);
    return restore(situation, desired, strategy, made, {
      ...claim,
      from: { kind: 'snapshot', name: source.name },
      phase: 'CloneFromSnapshotSourceInProgress',
      requestBytes: restoreBytes(snapshot, wanted),
    });
  }
  if (strategy === 'csi-clone')
    return restore(situation, desired, strategy, made, {
      ...claim,
      from: { kind: 'pvc', name: source.name, uid: source.claim?.uid ?? '' },
      phase: 'CSICloneInProgress',
      requestBytes: source.claim === null ? wanted : restoreBytes(source.claim, wanted),
    });
  const snapshot = snapshotOf(observed);
  if (snapshot !== null && snapshot.isReady)
    return restore(situation, desired, strategy, made, {
      ...claim,
      from: { kind: 'snapshot', name: snapshot.name },
      phase: 'SmartClonePVCInProgress',
      requestBytes: restoreBytes(snapshot, wanted),
    });
  const phase = 'SnapshotForSmartCloneInProgress';
  const known = snapshot === null ? situation.memory.snapshotWaitsFor : snapshot.error;
  return (
    onDeadline(situation, desired, strategy, phase, known) ??
    execute(
      [
        {
          kind: 'snapshot',
          phase,
          summary: `Take a snapshot of PVC ${source.namespace}/${source.name}`,
          snapshotClass: source.class?.snapshotClass ?? '',
          known,
          restore: made === null ? claim : null,
        },
      ],
      { ...clones, ahead: true },
    )
  );
}

type NewClaim = Pick<Extract<VolumeStep, { kind: 'claim' }>, 'from' | 'isTemporary' | 'phase' | 'requestBytes'>;

const restore = (
  situation: VolumeSituation,
  desired: DesiredVolume,
  strategy: Strategy,
  made: ClaimFacts | null,
  claim: NewClaim,
): VolumePlan =>
  (claim.from !== null && isQueued(situation)
    ? null
    : onDeadline(situation, desired, strategy, claim.phase, made?.problem ?? null)) ?? makeClaim(situation, claim);

/** It waits for the slot that the step needs: the deadline is not that of the driver's other clones. */
const isQueued = ({ memory: { slot } }: VolumeSituation): boolean =>
  slot !== null && allowanceOf(slot.membership) === 0;

export function makeClaim({ observed, input }: VolumeSituation, claim: NewClaim): VolumePlan {
  const made = claim.isTemporary ? observed.temporary.claim : observed.target;
  const name = claim.isTemporary ? 'the temporary PVC' : `PVC ${input.name}`;
  const from =
    claim.from === null ? '' : ` from ${claim.from.kind === 'pvc' ? 'PVC' : 'VolumeSnapshot'} ${claim.from.name}`;
  return execute(
    [{ kind: 'claim', summary: `Make ${name}${from}`, known: made?.problem ?? null, ...claim }],
    claim.from === null ? undefined : clones,
  );
}

/** Null: what the Job is to copy is there, as far as it can be before its Pod is, or is needed no more. */
function planRestoreToCopy(
  situation: VolumeSituation,
  desired: DesiredVolume,
  source: Extract<CloneSource, { kind: 'snapshot' }>,
  fallbackReason: string | null,
): VolumePlan | null {
  const { observed } = situation;
  const { snapshot, restoresBy } = source;
  const { job, restored } = observed.temporary;
  if (job !== null) return null;
  if (restored && restored.owner !== 'volume')
    return done(
      'blocked',
      'ErrResourceExists',
      `PVC ${restored.namespace}/${restored.name} is not of this DataVolume, and its name is needed: delete it`,
    );
  if (restored?.phase === 'Bound') return null;
  const unready = planUnreadySnapshot(situation, desired, source);
  if (unready !== null || snapshot === null) return unready;
  const noCopy = whyNoCopy(situation, source, fallbackReason);
  if (noCopy !== null || restoresBy === null) return done('blocked', 'CopyNotPossible', noCopy ?? '');
  // The Pod of the Job is its first consumer.
  if (restored && restoresBy.waitsForConsumer && !restored.hasNode) return null;
  const phase = 'CloneFromSnapshotSourceInProgress';
  const known = restored?.problem ?? null;
  const step: VolumeStep = {
    kind: 'restore',
    phase,
    summary: `Restore VolumeSnapshot ${source.name}, to copy it`,
    from: source.name,
    spec: {
      storageClass: restoresBy.name,
      volumeMode: modeOf(source) ?? observed.claimSpec?.volumeMode ?? 'Filesystem',
      requestBytes: restoreBytes(snapshot, wantedBytes(observed)),
    },
    known,
  };
  const late = isQueued(situation) ? null : onDeadline(situation, desired, 'copy', phase, known);
  return late ?? execute([step], clones);
}

/** Of its volume; null: nothing says. */
const modeOf = (source: CloneSource): 'Filesystem' | 'Block' | null =>
  (source.kind === 'pvc' ? source.claim?.volumeMode : source.snapshot?.sourceVolumeMode) ?? null;

/** Null: the data is in the claim. */
function planCopy(
  situation: VolumeSituation,
  desired: DesiredVolume,
  { source, fallbackReason }: Clone,
  { name, uid }: ClaimFacts,
): VolumePlan | null {
  const { observed, settings, memory } = situation;
  const { job } = observed.temporary;
  if (job?.state === 'complete') return null;
  if (job?.state === 'active') {
    const of = `the Job that copies ${source.namespace}/${source.name}`;
    // One that copies takes as long as its data are large.
    if (job.hasBegun !== false) return wait('CloneInProgress', 'Copying', of);
    return (
      onDeadline(situation, desired, 'copy', 'CloneInProgress', job.message) ??
      wait('CloneInProgress', 'Copying', `${of}${because(job.message)}`, deadlineMsOf(situation, 'CloneInProgress'))
    );
  }
  if (job?.state === 'failed' && memory.isRetried)
    return beginAnew('Copy it anew, as a user asks for that', 'copy', fallbackReason);
  if (job?.state === 'failed')
    return done(
      'blocked',
      'CopyFailed',
      `The Job that copies the data failed: ${job.message}. \`drover retry\` begins it anew`,
    );
  const noCopy = whyNoCopy(situation, source, fallbackReason);
  if (noCopy !== null) return done('blocked', 'CopyNotPossible', noCopy);
  // It was free when its PVC was made.
  const inUse = planSourceInUse(situation, desired, source, 'copy');
  if (inUse !== null) return inUse;
  return execute([
    {
      kind: 'copy',
      phase: 'CloneInProgress',
      summary: `Copy ${source.name} by a Job`,
      from: source.kind === 'snapshot' ? temporaryNames.restored(desired.uid) : source.name,
      to: { name, uid },
      image: settings.rules.copyImage ?? '',
    },
  ]);
}

/** Null: a Job can copy it. */
function whyNoCopy(
  { settings: { rules }, observed: { claimSpec } }: VolumeSituation,
  source: CloneSource,
  fallbackReason: string | null,
): string | null {
  const would = `Its data would have to be copied${because(fallbackReason)}`;
  if (rules.copyImage === null) return `${would}, and dataVolumes.copyImage names no image for that`;
  const mode = modeOf(source);
  if (mode !== null && claimSpec !== null && mode !== claimSpec.volumeMode)
    return `${would}, and a Job copies a file system into a file system and a block volume onto a block volume: create the DataVolume again with volumeMode ${mode}`;
  if (source.kind === 'pvc' || source.restoresBy) return null;
  const driver = source.snapshot?.driver ?? 'unknown';
  return `${would}, and no StorageClass is of its driver ${driver}, to restore it by: create one`;
}

/** @param way how far it has come; null: it has not begun, or is over */
function transfer(situation: VolumeSituation, desired: DesiredVolume, way: TransferFacts | null): VolumePlan {
  const phase = 'NamespaceTransferInProgress';
  const message = way?.message ?? '';
  // Of one that goes on, the next attempt may find that it has arrived; one that is bound may be in use. Giving it up
  // would delete its data.
  const isStuck = way?.phase === 'Error' && situation.observed.target?.phase !== 'Bound';
  // The volume has its data: a copy would not come further.
  return (
    (isStuck ? onDeadline(situation, desired, 'copy', phase, message) : null) ??
    execute([
      {
        kind: 'transfer',
        phase,
        summary: `Transfer the volume to namespace ${situation.input.namespace}${because(message)}`,
        // It may be gone by now.
        claim: temporaryNames.claim(desired.uid),
        // What is only waited for is no problem.
        known: way?.phase === 'Error' ? way.message : null,
      },
    ])
  );
}

/** Of the phase, which may begin now. Unix ms; null: it is over, and the wait goes on. */
function deadlineMsOf(
  { settings: { rules }, memory: { awaiting }, nowMs }: VolumeSituation,
  phase: VolumePhase,
): number | null {
  const atMs = (awaiting?.phase === phase ? awaiting.sinceMs : nowMs) + rules.deadlineMs;
  return atMs > nowMs ? atMs : null;
}

/** Null: there is time left, or the wait is to go on. */
function onDeadline(
  { settings, memory, nowMs }: VolumeSituation,
  desired: DesiredVolume,
  strategy: Strategy,
  phase: VolumePhase,
  problem: string | null,
): VolumePlan | null {
  const { rules } = settings;
  const { awaiting } = memory;
  if (awaiting?.phase !== phase || nowMs - awaiting.sinceMs < rules.deadlineMs) return null;
  const outcome: Outcome = desired.onDeadline ?? rules.onDeadline;
  const reason = `${phase} has taken longer than ${rules.deadlineMs / 1_000} s${because(problem)}`;
  if (outcome === 'fail') {
    const message = `${reason}. \`drover retry dv\` begins it anew`;
    return execute([
      { kind: 'giveUp', phase: 'Failed', summary: 'Give the clone up', reason: 'DeadlineExceeded', message },
      { kind: 'removeFinalizer', phase: 'Failed', summary: 'Remove the finalizer' },
    ]);
  }
  if (outcome === 'copy' && strategy !== 'copy' && rules.copyImage !== null)
    return beginAnew(`Copy it by a Job, as ${reason}`, 'copy', reason);
  return null;
}

/** Once nothing of the last attempt is left. */
export const beginAnew = (summary: string, strategy: Strategy, fallbackReason: string | null): VolumePlan =>
  execute([{ kind: 'beginAnew', phase: 'CloneScheduled', summary, strategy, fallbackReason }]);

const because = (problem: string | null | undefined): string => (problem ? `: ${problem}` : '');

export const waitsForConsumer = ({ observed }: VolumeSituation, claim: ClaimFacts): boolean =>
  claim.phase === 'Pending' && !claim.hasNode && observed.class?.waitsForConsumer === true;

export const waitForConsumer = ({ name }: ClaimFacts): VolumePlan =>
  wait(
    'WaitForFirstConsumer',
    'WaitForFirstConsumer',
    `a Pod that uses PVC ${name}, as its class binds a volume where it is used`,
  );

/**
 * As it was chosen when the clone began, or is chosen now. A source that is not known yet has its problem said first.
 */
function chosenFor({ observed, settings, input }: VolumeSituation, source: CloneSource): ChosenStrategy {
  const { chosen, claimSpec, class: target, strategyOverride } = observed;
  const override = strategyOverride ?? settings.rules.strategyOverride;
  const facts = factsOf(source);
  if (chosen !== null) return chosen;
  if (facts === null || target === null || claimSpec === null)
    return { strategy: override ?? 'snapshot', fallbackReason: null };
  return chooseStrategy({
    source: facts,
    class: target,
    claimSpec,
    wantedBytes: wantedBytes(observed),
    isElsewhere: source.namespace !== input.namespace,
    override,
  });
}

function factsOf(source: CloneSource): StrategyFacts['source'] | null {
  if (source.kind === 'snapshot')
    return source.snapshot === null ? null : { kind: 'snapshot', snapshot: source.snapshot };
  return source.claim === null ? null : { kind: 'pvc', claim: source.claim, class: source.class };
}

/**
 * What is fixed when the clone begins; null: it has begun, or there is nothing to fix. A clone that was complete, and
 * whose PVC is gone since, is begun again without the finalizer that its end took away.
 */
export function claimedBy(situation: VolumeSituation): ClaimedVolume | null {
  const { desired, observed } = situation;
  const { source, chosen } = observed;
  if (desired === null || source === null || source.kind === 'blank') return null;
  if (chosen !== null && desired.isHeld) return null;
  const uid = source.kind === 'pvc' ? source.claim?.uid : source.snapshot?.uid;
  const { kind, namespace, name } = source;
  if (uid === undefined) return null;
  return { ...chosenFor(situation, source), source: { kind, namespace, name, uid } };
}

/** The CSI driver that clones: that of the target, or of a snapshot that is restored to be copied. */
export function driverOf(situation: VolumeSituation): string | null {
  const { source, class: target } = situation.observed;
  const provisioner = target?.provisioner ?? null;
  if (source?.kind !== 'snapshot' || chosenFor(situation, source).strategy !== 'copy') return provisioner;
  return source.snapshot?.driver ?? provisioner;
}
