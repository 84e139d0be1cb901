import { findCondition, type ConditionUpdate } from '../../contracts/conditions.ts';
import {
  no,
  trueReason,
  unknown,
  virtualMachineConditions as types,
  yes,
} from '../../contracts/virtual-machine/conditions.ts';
import type { ReconfigSpec } from '../../contracts/virtual-machine/config.ts';
import type { ObservedGuest } from '../../contracts/virtual-machine/observation.ts';
import { judgeDevices, judgePromotion, judgeRevert } from './device-conditions.ts';
import { judgeGuestBootstrap, judgeGuestNetwork } from './guest-conditions.ts';
import { describeHold, judgeBackup } from './plan/update.ts';
import { isPowerCyclePending } from './plan/advanced-keys.ts';
import { changesOf, type ConfigPart } from './plan/changes-of.ts';
import { missingDevices } from './plan/class-devices.ts';
import { diffConfig, isPaused, type ConfigDifference } from './plan/config.ts';
import { locationMismatch } from './plan/location.ts';
import { judgeEvaluation, judgePolicies } from './plan/policies.ts';
import { needsTools, powerStateOf } from './plan/power.ts';
import { lackOfIsos } from './plan/prerequisites.ts';
import { judgeResize } from './plan/want-config.ts';
import { execute, failureOf, success, type Context, type Outcome, type VmContext } from './plan/context.ts';
import { judgeProgress } from './plan/no-progress.ts';
import { judgeVolumesCondition } from './plan/volumes/volumes.ts';

/** Conditions of a VM that exists. Null: there is nothing to say, and what was said is taken away. */
export function describeVm(context: VmContext): Record<string, ConditionUpdate | null> {
  const { desired, observed, settings, vm } = context;
  const difference = diffConfig(context);
  const controllers = judgeControllers(difference);
  const cdroms = judgeCdroms(context, difference);
  const volumes = judgeVolumesCondition(context);
  return {
    [types.created]: yes(types.created),
    [types.powerStateSynced]: judgePowerState(context),
    [types.locationValid]: judgeLocation(context),
    [types.tools]: judgeTools(context),
    [types.guestCustomization]: judgeCustomization(vm.guest),
    [types.ready]: judgeProbe(context),
    [types.classSynced]: judgeResize(desired, observed.prerequisites.class, settings).condition,
    [types.groupLinked]: judgeGroup(context),
    [types.backupUpToDate]: judgeBackup(context),
    [types.computeConfigSynced]: judgeCompute(context, difference),
    [types.networkConfigSynced]:
      difference.unmet.network.length > 0
        ? no(types.networkConfigSynced, 'PrerequisiteNotMet', `Cannot set ${difference.unmet.network.join(', ')}`)
        : judgeSynced(context, difference, 'network'),
    [types.controllersVerified]: controllers,
    [types.volumesVerified]: volumes,
    [types.cdromVerified]: cdroms,
    [types.devicesVerified]: judgeDevices(cdroms, volumes, controllers),
    [types.diskPromotionSynced]: judgePromotion(context),
    [types.snapshotRevertSucceeded]: judgeRevert(context),
    [types.guestBootstrap]: judgeGuestBootstrap(context),
    [types.guestNetworkSynced]: judgeGuestNetwork(context),
    [types.extraConfigSynced]: judgeExtraConfig(context, difference),
    [types.policiesSynced]: judgePolicyTags(context, difference),
  };
}

function judgePowerState({ desired, vm }: VmContext): ConditionUpdate {
  const observed = powerStateOf(vm);
  const type = types.powerStateSynced;
  return desired.powerState === observed
    ? yes(type, 'Synced', observed)
    : no(type, 'NotSynced', `spec.powerState=${desired.powerState} != status.powerState=${observed}`);
}

/** In the pool and the folder of its namespace, or one level below. */
function judgeLocation({ vm }: VmContext): ConditionUpdate | null {
  if (vm.location === null) return null;
  const type = types.locationValid;
  const mismatch = locationMismatch(vm);
  return mismatch === null
    ? yes(type)
    : no(
        type,
        mismatch,
        'The VM was moved out of its namespace in vCenter, and nothing of it is changed until it is back',
      );
}

function judgeTools({ desired, settings, vm, nowMs }: VmContext): ConditionUpdate | null {
  const type = types.tools;
  if (vm.powerState !== 'poweredOn') return null;
  if (vm.guest.toolsRunning) return yes(type);
  const isLate = nowMs >= (vm.upSinceMs ?? nowMs) + settings.toolsMs;
  const message = !needsTools(desired)
    ? 'VMware Tools do not run'
    : isLate
      ? `VMware Tools have not come up within ${settings.toolsMs / 60_000} min`
      : 'VMware Tools are waited for';
  return vm.guest.known ? no(type, 'VirtualMachineToolsNotRunning', message) : unknown(type, 'NoGuestInfo', message);
}

const customizations: Record<string, [status: ConditionUpdate['status'], reason: string]> = {
  TOOLSDEPLOYPKG_IDLE: ['True', trueReason],
  TOOLSDEPLOYPKG_SUCCEEDED: ['True', trueReason],
  TOOLSDEPLOYPKG_PENDING: ['False', 'GuestCustomizationPending'],
  TOOLSDEPLOYPKG_RUNNING: ['False', 'GuestCustomizationRunning'],
  TOOLSDEPLOYPKG_FAILED: ['False', 'GuestCustomizationFailed'],
};

function judgeCustomization({ customization, customizationMessage }: ObservedGuest): ConditionUpdate | null {
  if (customization === null) return null;
  const [status, reason] = customizations[customization] ?? ['Unknown', 'GuestCustomizationUnknown'];
  return { type: types.guestCustomization, status, reason, message: customizationMessage ?? '' };
}

function judgeProbe(context: VmContext): ConditionUpdate | null {
  const { desired, observed, vm } = context;
  const type = types.ready;
  if (desired.probe === null) return null;
  if (vm.powerState !== 'poweredOn') return no(type, 'NotReady', 'virtual machine is not powered on');
  if (desired.probe === 'heartbeat') return judgeHeartbeat(vm.guest.heartbeat, desired.probeThreshold);
  if (observed.probe === null) return judgedBefore(observed) ?? unknown(type, 'Unknown', 'It was not probed yet');
  return observed.probe.passed ? yes(type) : no(type, 'NotReady', observed.probe.message);
}

/** What a step leads to is observed without a knock at its port: until the next one, it is as it was. */
function judgedBefore({ recorded }: VmContext['observed']): ConditionUpdate | null {
  const before = findCondition(recorded.conditions, types.ready);
  return before === undefined || before.reason === 'Unknown'
    ? null
    : { type: types.ready, status: before.status, reason: before.reason, message: before.message };
}

function judgeHeartbeat(heartbeat: ObservedGuest['heartbeat'], threshold: 'yellow' | 'green'): ConditionUpdate {
  const type = types.ready;
  if (heartbeat === 'green' || (heartbeat === 'yellow' && threshold === 'yellow')) return yes(type);
  return heartbeat === 'yellow'
    ? no(type, 'NotReady', 'heartbeat status "yellow" is below threshold')
    : unknown(type, 'Unknown', `The heartbeat is ${heartbeat ?? 'not known'}`);
}

function judgeGroup({ desired, observed, settings }: VmContext): ConditionUpdate | null {
  const type = types.groupLinked;
  if (desired.group === null || !settings.groups) return null;
  if (observed.group?.unknownKind === true)
    return no(
      type,
      'NotFound',
      `This cluster has no VirtualMachineGroups: nothing places or switches the VM as one of ${desired.group}`,
    );
  if (observed.group === null || !observed.group.found)
    return no(type, 'NotFound', `There is no VirtualMachineGroup ${desired.group}`);
  return observed.group.linked
    ? yes(type)
    : no(type, 'NotMember', `VirtualMachineGroup ${desired.group} does not list it`);
}

/** Upstream's reasons: for what waits, for what is to be changed, and for a change that has failed. */
const syncedBy: Record<ConfigPart, { type: string; waits: string; differs: string; fails: string }> = {
  compute: {
    type: types.computeConfigSynced,
    waits: 'PowerOffRequired',
    differs: 'ComputeConfigMismatch',
    fails: 'ComputeConfigMismatch',
  },
  network: {
    type: types.networkConfigSynced,
    waits: 'PowerOffRequired',
    differs: 'NetworkConfigMismatch',
    fails: 'NetworkConfigError',
  },
  cdrom: {
    type: types.cdromVerified,
    waits: 'HardwareCDROMMismatch',
    differs: 'HardwareCDROMMismatch',
    fails: 'HardwareCDROMMismatch',
  },
  extraConfig: {
    type: types.extraConfigSynced,
    waits: 'PowerOffRequired',
    differs: 'ExtraConfigMismatch',
    fails: 'ExtraConfigError',
  },
  policies: {
    type: types.policiesSynced,
    waits: 'PowerOffRequired',
    differs: 'PolicyTagsMismatch',
    fails: 'PolicyTagsError',
  },
};

const changeOf = ({ moId }: VmContext['vm'], spec: ReconfigSpec): Outcome =>
  execute('config', ['', { kind: 'reconfigure', moId, changeVersion: '', spec }]);

/** True only where nothing differs: a change that has failed, or is left for later, is not made. */
function judgeSynced(context: VmContext, { spec, whenOff }: ConfigDifference, part: ConfigPart): ConditionUpdate {
  const { type, waits, differs, fails } = syncedBy[part];
  const { vm } = context;
  if (whenOff[part].length > 0)
    return no(type, isPaused(vm) ? differs : waits, `${describeHold(context)} for: ${whenOff[part].join(', ')}`);
  const changes = changesOf(spec)[part];
  if (changes.length === 0) return yes(type);
  const again = spec === null ? success : changeOf(vm, spec);
  const failure = failureOf(context, 'config') ?? judgeProgress(context, again);
  return failure === undefined
    ? no(type, differs, `To be changed: ${changes.join(', ')}`)
    : no(type, fails, `${changes.join(', ')}: ${failure.message}`);
}

function judgeCompute(context: VmContext, difference: ConfigDifference): ConditionUpdate {
  const type = types.computeConfigSynced;
  const unmet = difference.unmet.compute;
  if (unmet.length > 0) return no(type, 'PrerequisiteNotMet', unmet.join('. '));
  const judged = judgeSynced(context, difference, 'compute');
  const found = context.observed.prerequisites.class;
  const missing =
    found?.kind === 'found' ? missingDevices(found.value.devices, context.vm.config?.pciDevices ?? []) : [];
  return judged.status === 'True' && missing.length > 0
    ? no(
        type,
        'ComputeConfigMismatch',
        `The VM does not have ${missing.join(', ')} of its class: a change of the class brings it (virtualMachine.resize: all, while the VM is off), or the VM is made anew`,
      )
    : judged;
}

function judgeCdroms(context: VmContext, difference: ConfigDifference): ConditionUpdate {
  const lacking = lackOfIsos(context.desired.cdroms, context.observed.prerequisites);
  return lacking === null
    ? judgeSynced(context, difference, 'cdrom')
    : no(types.cdromVerified, lacking.reason, lacking.message);
}

function judgeControllers({ controllers }: ConfigDifference): ConditionUpdate {
  const type = types.controllersVerified;
  return controllers.length === 0 ? yes(type) : no(type, 'HardwareControllersMismatch', controllers.join('. '));
}

function judgeExtraConfig(context: VmContext, difference: ConfigDifference): ConditionUpdate {
  const type = types.extraConfigSynced;
  const judged = judgeSynced(context, difference, 'extraConfig');
  const { config, powerState } = context.vm;
  return judged.status === 'True' && powerState === 'poweredOn' && isPowerCyclePending(config?.extraConfig ?? {})
    ? no(
        type,
        'PowerCyclePending',
        'What was changed counts after the next power cycle: power it off and on, or restart it',
      )
    : judged;
}

function judgePolicyTags(context: VmContext, difference: ConfigDifference): ConditionUpdate | null {
  const judged = judgePolicies(context, context.vm);
  if (judged === null) return null;
  // None applies, and none is left of those before: there is nothing more to say.
  const isOver = judged.results?.length === 0 && context.desired.policies?.named.length === 0;
  const synced = judgeEvaluation(judged) ?? judgeSynced(context, difference, 'policies');
  return isOver && synced.status === 'True' ? null : synced;
}

/** Before there is a VM. */
export function describeCreation(context: Context, problem: string | null): ConditionUpdate | null {
  const failure = failureOf(context, 'create');
  const message = failure?.message ?? problem;
  if (message === null)
    return findCondition(context.observed.recorded.conditions, types.created) === undefined
      ? null
      : no(types.created, 'Error', 'There is no VM');
  return no(types.created, 'Error', message);
}
