import { findCondition, type ConditionUpdate } from '../../contracts/conditions.ts';
import type { VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import { errors } from '../../contracts/errors.ts';
import { no, virtualMachineConditions as types, yes } from '../../contracts/virtual-machine/conditions.ts';
import { isReservedKey } from '../../contracts/virtual-machine/extra-config-keys.ts';
import type { PublishedVirtualMachine, VirtualMachineStatusPatch } from '../../contracts/virtual-machine/mutations.ts';
import { diskKeyOf } from '../../contracts/virtual-machine/volumes.ts';
import { describeIntent, describePlan } from '../lib/plan.ts';
import { describeCreation, describeVm } from './conditions.ts';
import {
  contextIn,
  describeRefused,
  fullName,
  releases,
  type Context,
  type ObservedVirtualMachine,
  type VirtualMachinePlan,
  type VirtualMachineSituation,
  type VmContext,
} from './plan/context.ts';
import { judgePlacement } from './plan/create.ts';
import { describeCopies, findOwn } from './plan/find-own.ts';
import { judgeVcenter } from './plan/normal.ts';
import { endsInVcenter, planWithNotes, retryNotes } from './plan/plan.ts';
import { diffPolicyTags, judgeEvaluation, judgePolicies } from './plan/policies.ts';
import { powerStateOf } from './plan/power.ts';
import { judgePrerequisites } from './plan/prerequisites.ts';
import { isWithoutRoom } from './plan/promotion.ts';
import { lastRestartMs } from './plan/restart.ts';
import { judgeVolumes } from './plan/volumes/volumes.ts';
import { diffStatus } from './status-diff.ts';

/** What a VirtualMachine says of a plan; null: nothing, as it is released, and no object is left to say it. Pure. */
export const statusOf = (
  situation: VirtualMachineSituation,
  plan: VirtualMachinePlan,
): PublishedVirtualMachine | null =>
  situation.desired === null || (plan.kind === 'done' && plan.outcome === 'gone')
    ? null
    : publishedBy(contextIn(situation, situation.desired), plan);

/** Pure. */
export function publishedBy(context: Context, plan: VirtualMachinePlan): PublishedVirtualMachine {
  const { plan: own, notes } = planWithNotes(context, false);
  if (context.settings.mode === 'observe') return { status: describeObserved(context, own), event: null, notes: [] };
  return {
    status: describeStatus(context, plan),
    event: judgeEvent(context, plan),
    notes: plan.kind === 'execute' ? [] : [...notes, ...retryNotes(context)],
  };
}

/** Whether the object says all of it. Pure. */
export const isSaid = (
  { recorded }: Pick<ObservedVirtualMachine, 'recorded'>,
  { status, event, notes }: PublishedVirtualMachine,
): boolean => event === null && notes.length === 0 && (status === null || diffStatus(recorded, status) === null);

/**
 * Everything that a VirtualMachine says, from what was observed and what happens next. Nothing is said to be so that
 * was not observed to be so.
 */
export function describeStatus(context: Context, plan: VirtualMachinePlan): VirtualMachineStatusPatch {
  const { desired, memory, observed } = context;
  const lifecycle = { ...describeLifecycle(plan), observedGeneration: desired.generation };
  const reconcile =
    lifecycle.reason === 'Paused'
      ? no(types.reconcileReady, 'VirtualMachineReconcilePaused', plan.kind === 'done' ? plan.message : '')
      : yes(types.reconcileReady);
  // Paused by its owner, not to be read, or in another vCenter: nothing is known, so nothing else is said.
  const isUnobserved = memory.failures.some(({ stage }) => stage === 'observe');
  if (desired.paused || isUnobserved || judgeVcenter(context) !== null)
    return toPatch(context, {}, { [types.lifecycle]: lifecycle, [types.reconcileReady]: reconcile });
  const found = findOwn(desired, observed.candidates);
  const vm = found.kind === 'own' && observed.vm?.moId === found.moId ? observed.vm : null;
  const isGone = found.kind === 'none' && observed.recorded.uniqueID !== undefined;
  const judged = judgePrerequisites(desired, observed.prerequisites).filter(
    ({ type }) => vm === null || !judgedOtherwise.includes(type),
  );
  const prerequisites = Object.fromEntries(judged.map(({ type, condition }) => [type, condition]));
  const given = Object.fromEntries(desired.givenConditions.map((condition) => [condition.type, condition]));
  const ofVm =
    vm === null
      ? {
          [types.created]: describeCreation(context, isBlocked(plan) || hasFailed(plan) ? plan.message : null),
          [types.placementReady]: describePlacement(context),
          [types.policiesSynced]: judgeEvaluation(judgePolicies(context, null)),
          ...(isGone && Object.fromEntries(endWithVm.map((type) => [type, null]))),
        }
      : describeVm({ ...context, vm });
  return toPatch(
    context,
    vm !== null ? describeFields({ ...context, vm }) : isGone ? withoutVm : {},
    {
      ...prerequisites,
      ...ofVm,
      [types.unique]:
        found.kind === 'own' && found.copies.length > 0
          ? no(types.unique, 'CopyFound', describeCopies(found.copies))
          : null,
      ...given,
      [types.specSupported]:
        desired.refused.length === 0 ? null : no(types.specSupported, 'NotSupported', describeRefused(desired)),
      [types.reconcileReady]: reconcile,
      [types.lifecycle]: lifecycle,
    },
    vm === null ? [] : judgeVolumes({ ...context, vm }).gone,
  );
}

/** Of a VM that is there. What it was made from may be gone: its conditions stay as they were. */
const judgedOtherwise: readonly string[] = [types.imageReady, types.storageReady, types.cdromVerified];

/**
 * What was said of a VM that is gone would have others send to an address that is no longer its own. Its ids stay, as
 * they say what drover had made; and so does what is settled anew before there is another VM.
 */
const withoutVm: VirtualMachineStatusPatch['fields'] = { powerState: null, nodeName: null, guest: null, network: null };
const endWithVm: readonly string[] = [
  types.ready,
  types.tools,
  types.powerStateSynced,
  types.locationValid,
  types.guestCustomization,
  types.guestBootstrap,
  types.guestNetworkSynced,
];

function toPatch(
  { observed }: Context,
  fields: VirtualMachineStatusPatch['fields'],
  updates: Record<string, ConditionUpdate | null>,
  goneVolumes: string[] = [],
): VirtualMachineStatusPatch {
  const conditions = Object.values(updates).filter((update) => update !== null);
  const removed = Object.entries(updates).flatMap(([type, update]) => (update === null ? [type] : []));
  return {
    fields,
    conditions: preserveImageTime(conditions, observed.recorded),
    removed,
    ...(goneVolumes.length > 0 && { goneVolumes }),
  };
}

/** Upstream's message has a time in it: the first one stays. */
function preserveImageTime(
  conditions: ConditionUpdate[],
  recorded: Context['observed']['recorded'],
): ConditionUpdate[] {
  const before = findCondition(recorded.conditions, types.imageReady);
  return conditions.map((update) =>
    update.type === types.imageReady && update.status === 'True' && before?.status === 'True'
      ? { ...update, message: before.message }
      : update,
  );
}

function describePlacement(context: Context): ConditionUpdate {
  const type = types.placementReady;
  const { placement } = context.observed;
  const placed = judgePlacement(context);
  if (placed.kind === 'placed') return yes(type);
  const reason = placement.kind === 'zoneMismatch' ? 'ZoneMismatch' : placement.kind === 'error' ? 'Error' : 'NotReady';
  return no(type, reason, placed.message);
}

/** It is not where it should be, and something else than a cancel keeps it there. */
const isBlocked = (plan: VirtualMachinePlan): plan is VirtualMachinePlan & { kind: 'done' } =>
  plan.kind === 'done' && plan.outcome === 'blocked' && plan.reason !== 'Cancelled';

/** It waits for another try, or for what vCenter does not tell of. */
const hasFailed = (plan: VirtualMachinePlan): plan is VirtualMachinePlan & { kind: 'wait' } =>
  plan.kind === 'wait' && (plan.phase === 'Failed' || plan.phase in endsInVcenter);

/**
 * Where it is and what comes next: True where it should be, False where something keeps it elsewhere, Unknown
 * on its way.
 */
function describeLifecycle(plan: VirtualMachinePlan): ConditionUpdate {
  const { lifecycle: type } = types;
  const { phase, reason, message } = describePlan(plan);
  if (plan.kind !== 'done') return { type, status: 'Unknown', reason: phase, message };
  return { type, status: plan.outcome === 'blocked' ? 'False' : 'True', reason, message };
}

/** In mode `observe`: the one condition that is written. */
function describeObserved({ desired }: Context, plan: VirtualMachinePlan): VirtualMachineStatusPatch {
  const { phase, reason } = describePlan(plan);
  const would =
    plan.kind === 'execute'
      ? `Would now: ${describeIntent(plan)}`
      : plan.kind === 'wait'
        ? `Would wait for ${plan.message}`
        : plan.message;
  const condition = {
    type: types.observed,
    status: 'True' as const,
    reason: plan.kind === 'done' ? reason : phase,
    message: `${fullName(desired)}: ${would}`,
    observedGeneration: desired.generation,
  };
  return { fields: {}, conditions: [condition], removed: [] };
}

type Fields = VirtualMachineStatusPatch['fields'];

/** What the status shows of a VM that exists; null takes a field away. */
export function describeFields(context: VmContext): Fields {
  const { observed, vm, desired } = context;
  const { guest, config, shown } = vm;
  const created = observed.recorded.provider?.creationTimestamp;
  return {
    ...shown,
    ...describeVolumes(context),
    ...describeClass(context),
    ...describePolicies(context),
    powerState: powerStateOf(vm),
    uniqueID: vm.moId,
    biosUUID: vm.biosUuid,
    instanceUUID: vm.instanceUuid,
    ...(config !== null && {
      currentSnapshot: shown.currentSnapshot ?? null,
      rootSnapshots: shown.rootSnapshots ?? null,
      crypto: shown.crypto ?? null,
      hardwareVersion: config.hardwareVersion,
      changeBlockTracking: config.changeTrackingEnabled,
      lastRestartTime: restartedAt(config.extraConfig),
      extraConfig: describeExtraConfig(desired, config.extraConfig),
    }),
    ...(vm.zone !== null && { zone: vm.zone }),
    nodeName: vm.hostName,
    guest:
      guest.guestId === null && guest.guestFullName === null
        ? null
        : {
            ...(guest.guestId !== null && { guestID: guest.guestId }),
            ...(guest.guestFullName !== null && { guestFullName: guest.guestFullName }),
          },
    network: desired.networkDisabled ? null : describeNetwork(context),
    // It is made once.
    ...(created !== undefined && { provider: { creationTimestamp: created } }),
  };
}

/**
 * Its own disks, and those of PersistentVolumeClaims whose attachment drover asks for. Others'
 * rows stay (`mergeVolumes`).
 */
function describeVolumes(context: VmContext): Pick<Fields, 'volumes'> {
  const { shown } = context.vm;
  if (shown.volumes === undefined) return {};
  const { rows } = judgeVolumes(context);
  const claimed = new Set(rows.flatMap(({ diskUUID }) => (diskUUID === undefined ? [] : [diskKeyOf(diskUUID)])));
  const isOwn = ({ diskUUID = '' }: { diskUUID?: string | undefined }): boolean => !claimed.has(diskKeyOf(diskUUID));
  return { volumes: [...shown.volumes.filter(isOwn), ...rows] };
}

/** Those that apply, once their tags are attached. */
function describePolicies(context: VmContext): Pick<Fields, 'policies'> {
  const { vm } = context;
  const judged = judgePolicies(context, vm);
  if (judged === null || judged.results === null || vm.config === null) return {};
  if (diffPolicyTags(judged, vm.config.extraConfig).tagSpecs !== undefined) return {};
  const policies = judged.results.map(({ apiVersion, kind, name, generation }) => ({
    apiVersion,
    kind,
    name,
    generation,
  }));
  return { policies: policies.length === 0 ? null : policies };
}

const classless: Pick<Fields, 'class'> = { class: null };

/**
 * Where classes are applied by resizing, the class shown is the one that was applied; otherwise the one that
 * the spec names.
 */
function describeClass({ desired, observed, settings }: VmContext): Pick<Fields, 'class'> {
  if (desired.className === null) return classless;
  const named = (name: string): NonNullable<VirtualMachineStatus['class']> => ({
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind: 'VirtualMachineClass',
    name,
  });
  if (settings.resize !== 'off')
    return desired.lastResizedClass === null ? {} : { class: named(desired.lastResizedClass.name) };
  return observed.recorded.class === undefined ? { class: named(desired.className) } : {};
}

/** The keys that the spec asks for, as the VM has them. */
function describeExtraConfig(
  { config }: Pick<VmContext['desired'], 'config'>,
  current: Readonly<Record<string, string>>,
): Fields['extraConfig'] {
  const rows = Object.keys(config.extraConfig)
    .filter((key) => !isReservedKey(key))
    .toSorted()
    .flatMap((key) => (current[key] === undefined ? [] : [{ key, value: current[key] }]));
  return rows.length === 0 ? null : rows;
}

function describeNetwork({ vm: { guest, shown, powerState } }: VmContext): VirtualMachineStatus['network'] | null {
  // What a guest said that no longer runs is not so any more.
  const isRunning = powerState === 'poweredOn';
  const network = {
    ...shown.network,
    ...(isRunning && guest.primaryIp4 !== null && { primaryIP4: guest.primaryIp4 }),
    ...(isRunning && guest.primaryIp6 !== null && { primaryIP6: guest.primaryIp6 }),
    ...(isRunning && guest.hostName !== null && { hostName: guest.hostName }),
  };
  return Object.keys(network).length === 0 ? null : network;
}

function restartedAt(extraConfig: Readonly<Record<string, string>>): string | null {
  const ms = lastRestartMs(extraConfig);
  return ms === 0 ? null : new Date(ms).toISOString();
}

/** What is worth an Event, with upstream's message: once, when it becomes true. */
export function judgeEvent(
  { desired, observed, memory }: Context,
  plan: VirtualMachinePlan,
): PublishedVirtualMachine['event'] {
  const before = findCondition(observed.recorded.conditions, types.lifecycle);
  const all = memory.failures.filter((one) => !isWithoutRoom(one));
  // A stop is a user's, holds many, and is tried again each minute.
  const failures = all.filter(({ reason }) => reason !== errors.Stopped.reason);
  const operation = desired.deleting ? 'Delete' : observed.vm === null ? 'Create' : 'Update';
  const failure = failed(operation, plan, before?.message, failures.length > 0 || hasFailed(plan));
  if (desired.deleting) {
    const isSaid = all.length > failures.length;
    return plan.kind === 'execute' && plan.steps.some(releases) && !isSaid ? good('Delete') : failure;
  }
  const wasCreated = findCondition(observed.recorded.conditions, types.created)?.status === 'True';
  if (observed.vm !== null && !wasCreated && all.length === 0) return good('Create');
  const isReconciled = plan.kind === 'done' && plan.outcome === 'reconciled';
  const wasReconciled =
    before?.status === 'True' && (before.observedGeneration ?? desired.generation) === desired.generation;
  return isReconciled && before !== undefined && !wasReconciled ? good('Update') : failure;
}

const good = (operation: string): PublishedVirtualMachine['event'] => ({
  type: 'Normal',
  reason: `${operation}Success`,
  message: `${operation} success`,
});

/** What is only waited for is no failure. */
function failed(
  operation: string,
  plan: VirtualMachinePlan,
  before: string | undefined,
  isTriedAgain: boolean,
): PublishedVirtualMachine['event'] {
  const isFailure = plan.kind === 'wait' ? isTriedAgain : isBlocked(plan) && plan.reason !== 'Paused';
  if (!isFailure || plan.kind === 'execute') return null;
  const { message } = plan;
  return before?.endsWith(message) === true ? null : { type: 'Warning', reason: `${operation}Failure`, message };
}
