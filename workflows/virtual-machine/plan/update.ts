import type { Stage } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome } from './context.ts';
import { diffConfig, isLeftAlone, isPaused, planBootstrap, planConfig } from './config.ts';
import { planPolicies } from './policies.ts';
import { planPower } from './power.ts';
import { planPromotion } from './promotion.ts';
import { planVolumes } from './volumes/volumes.ts';
import { failureOf, retry, success, patch, execute, stop, wait, type VmContext } from './context.ts';
import { unlessFailed } from './no-progress.ts';
import type { VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import {
  virtualMachineAnnotations,
  virtualMachineLabels,
  extraConfigKeys,
} from '../../../contracts/virtual-machine/metadata.ts';
import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import { no, virtualMachineConditions, yes } from '../../../contracts/virtual-machine/conditions.ts';

interface UpdateStage {
  stage: Stage;
  plan: (context: VmContext) => Outcome;
}

/** The order of upstream's chart; all is observed before, so schema upgrade has what it needs. */
export const updateStages: readonly UpdateStage[] = [
  { stage: 'schemaUpgrade', plan: unlessFailed('schemaUpgrade', planSchemaUpgrade) },
  // The observation is published with every plan; here only its failure matters.
  { stage: 'status', plan: (context) => failed(context, 'status') },
  { stage: 'backup', plan: unlessFailed('backup', planBackup) },
  // Before the configuration, which has their tags.
  { stage: 'policies', plan: unlessFailed('policies', planPolicies) },
  { stage: 'config', plan: unlessFailed('config', planConfig) },
  // Before the power: a guest that starts is to find them.
  { stage: 'volumes', plan: unlessFailed('volumes', planVolumes) },
  // Before the power: Offline, it is promoted while it is off.
  { stage: 'promotion', plan: unlessFailed('promotion', planPromotion) },
  { stage: 'power', plan: unlessFailed('power', planPower) },
  { stage: 'snapshot', plan: unlessFailed('snapshot', planSnapshot) },
];

function failed(context: VmContext, stage: Stage): Outcome {
  const failure = failureOf(context, stage);
  return failure === undefined ? success : retry(failure);
}

/**
 * Goes through the steps of an update. What cannot be retried stops it, but for a configuration while the VM is powered
 * off: that it can always be. What can be retried, and what is waited for, holds up nothing that comes after; an error
 * of the last step counts before the others.
 */
export function planUpdate(context: VmContext, order: readonly UpdateStage[] = updateStages): Outcome {
  const unfinished: { stage: Stage; outcome: Outcome }[] = [];
  for (const { stage, plan } of order) {
    const outcome = plan(context);
    if (outcome.kind === 'execute') return outcome;
    if (outcome.kind === 'success') continue;
    const stops = outcome.kind === 'failed' && !outcome.requeue && outcome.holdsUp !== false;
    if (stops && !holdsNothingUp.includes(stage) && !(stage === 'config' && isPoweringOff(context)))
      return aggregate([...unfinished, { stage, outcome }]);
    unfinished.push({ stage, outcome });
  }
  const all = aggregate(unfinished);
  if (all.kind === 'success') return judgeUnapplied(context);
  const last = unfinished.at(-1);
  // Reported alone; what else has failed is retried all the same.
  return all.kind === 'failed' && last?.stage === 'snapshot' && last.outcome.kind === 'failed'
    ? { ...all, reason: last.outcome.reason, message: last.outcome.message }
    : all;
}

/** A VM that is left alone is not what its spec asks for while some of that has not been applied. */
function judgeUnapplied(context: VmContext): Outcome {
  const { vm } = context;
  if (!isLeftAlone(vm)) return success;
  const waiting = [
    ...Object.values(diffConfig(context).whenOff).flat(),
    ...(planBootstrap(context).kind === 'execute' ? ['the setup of its guest'] : []),
  ];
  if (waiting.length === 0) return success;
  return stop(isPaused(vm) ? 'Paused' : 'PowerOffRequired', `${describeHold(context)} for: ${waiting.join(', ')}`);
}

/** Why a change waits, for a message that says what is changed. */
export function describeHold({ vm }: Pick<VmContext, 'vm'>): string {
  if (isPaused(vm)) return 'An administrator has paused the VM in vCenter, and has to let go of it';
  return vm.powerState === 'suspended'
    ? 'It is suspended, and has to be resumed, or powered off,'
    : 'Has to be powered off';
}

/** What cannot be retried of it stops nothing that comes after. */
const holdsNothingUp: readonly Stage[] = ['policies', 'volumes', 'promotion', 'snapshot'];

const isPoweringOff = ({ desired, vm }: VmContext): boolean =>
  desired.powerState === 'PoweredOff' && vm.powerState === 'poweredOn';

/** All errors in one, newest first, tried again when the first of them may be; otherwise what is waited for. */
function aggregate(unfinished: readonly { stage: Stage; outcome: Outcome }[]): Outcome {
  const errors = unfinished
    .flatMap(({ stage, outcome }) => (outcome.kind === 'failed' ? [{ stage, ...outcome }] : []))
    .toReversed();
  const waits = unfinished.flatMap(({ outcome }) => (outcome.kind === 'wait' ? [outcome] : []));
  const [newest] = errors;
  // A condition of its own names what is lacking and holds nothing up.
  const isLack = errors.every(({ holdsUp }) => holdsUp === false);
  if (newest !== undefined && !(isLack && waits.length > 0)) {
    const again = errors.filter(({ requeue }) => requeue);
    // What can be retried counts more than what cannot, as long as there is some of it.
    const requeue = again.length > 0;
    const times = [...again.map(({ retryAtMs }) => retryAtMs), ...waits.map(({ untilMs }) => untilMs)].filter(
      (ms) => ms !== null,
    );
    const message = errors.map((error) => `${error.stage}: ${error.message}`).join(', ');
    return {
      kind: 'failed',
      requeue,
      reason: newest.reason,
      message,
      retryAtMs: requeue && times.length > 0 ? Math.min(...times) : null,
      ...(isLack && { holdsUp: false as const }),
    };
  }
  const [first] = waits;
  if (first === undefined) return success;
  // What is lacking is looked at again meanwhile.
  const again = errors.filter(({ requeue }) => requeue).map(({ retryAtMs }) => retryAtMs);
  const times = [...again, ...waits.map(({ untilMs }) => untilMs)].filter((ms) => ms !== null);
  return {
    ...first,
    message: waits.map((one) => one.message).join(', and for '),
    untilMs: times.length > 0 ? Math.min(...times) : null,
  };
}

export const schemaVersion = 'v1alpha6';
/** Upstream's bit mask; 1: the base. Its others are features that drover does not have. */
export const featureVersion = '1';

/**
 * Puts into the spec what an older release left to vCenter, once per release: then the spec alone says what the VM is.
 */
export function planSchemaUpgrade({ desired, settings, vm }: VmContext): Outcome {
  const { build, schema, feature } = desired.upgradedTo;
  const spec = {
    ...(desired.instanceUuid === null && { instanceUUID: vm.instanceUuid }),
    ...(desired.biosUuid === null && { biosUUID: vm.biosUuid }),
    ...(desired.bootstrap.kind === 'CloudInit' &&
      desired.bootstrap.instanceId === null && {
        // As upstream had it where the spec does not say: another one would set the guest up again.
        bootstrap: { cloudInit: { instanceID: desired.formerInstanceId ?? desired.uid } },
      }),
  };
  const labels: Record<string, string> =
    desired.zone === null && vm.zone !== null ? { [virtualMachineLabels.zone]: vm.zone } : {};
  const isUpgraded = build === settings.buildVersion && schema === schemaVersion && feature === featureVersion;
  if (isUpgraded && Object.keys({ ...spec, ...labels }).length === 0) return success;
  return patch('schemaUpgrade', `Bring ${desired.name} to ${schemaVersion}`, {
    labels,
    annotations: upgradeAnnotations(settings),
    spec,
  });
}

export const upgradeAnnotations = ({
  buildVersion,
}: Pick<VirtualMachineSettings, 'buildVersion'>): Record<string, string> => ({
  [virtualMachineAnnotations.upgradedToBuildVersion]: buildVersion,
  [virtualMachineAnnotations.upgradedToSchemaVersion]: schemaVersion,
  [virtualMachineAnnotations.upgradedToFeatureVersion]: featureVersion,
});

/** Stores the object with its VM, once per generation. */
export function planBackup(context: VmContext): Outcome {
  const { desired, vm } = context;
  if (!isBackedUp(context) || vm.config === null || isStored(context)) return success;
  const version = String(desired.generation);
  return execute('backup', [
    `Store ${desired.name}, generation ${version}, with its VM`,
    { kind: 'writeBackup', moId: vm.moId, version },
  ]);
}

/** A node of a Kubernetes cluster is made anew, not restored. */
const isBackedUp = ({ desired, settings }: VmContext): boolean =>
  settings.backup && (!desired.clusterNode || desired.forceBackup);

const isStored = ({ desired, vm }: VmContext): boolean =>
  vm.config?.extraConfig[extraConfigKeys.backupVersion] === String(desired.generation);

/** Null: it is not backed up. */
export function judgeBackup(context: VmContext): ConditionUpdate | null {
  if (!isBackedUp(context)) return null;
  const type = virtualMachineConditions.backupUpToDate;
  const failure = failureOf(context, 'backup');
  if (failure !== undefined) return no(type, 'VirtualMachineBackupFailed', failure.message);
  return isStored(context) ? yes(type) : null;
}

/**
 * Snapshots have runs of their own; here it is checked that none is half done. A revert that is left behind is not
 * worked around: the VM may be in either state.
 */
export function planSnapshot({ desired, observed, settings, nowMs }: VmContext): Outcome {
  const { inProgress, problem } = observed.snapshots;
  if (problem !== null)
    return retry({
      stage: 'snapshot',
      reason: 'VirtualMachineSnapshotFailed',
      message: problem,
      requeue: true,
      retryAtMs: nowMs + settings.pollMs,
      attempts: 1,
    });
  if (inProgress !== null) return wait('Updating', `snapshot ${inProgress}`);
  if (desired.revertInProgress)
    return stop(
      'VirtualMachineSnapshotRevertInProgress',
      `A revert was begun and not ended. Check the VM, then remove the annotation ${virtualMachineAnnotations.snapshotRevertInProgress}`,
    );
  return success;
}
