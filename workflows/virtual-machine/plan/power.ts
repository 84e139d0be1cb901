import type { PowerMode, VirtualMachinePowerState } from '../../../contracts/virtual-machine/lifecycle.ts';
import { virtualMachineAnnotations } from '../../../contracts/virtual-machine/metadata.ts';
import type { PowerOperation } from '../../../contracts/virtual-machine/mutations.ts';
import type { ObservedTask, ObservedVm } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome } from './context.ts';
import { isConnected, isNeededToStart, isPaused, planConfig } from './config.ts';
import { askedNotes, describeRefusal, perhapsAsked } from './guest-question.ts';
import { isPromotion, waitForPromotion } from './running-task.ts';
import { planRestart } from './restart.ts';
import { judgeVolumes } from './volumes/volumes.ts';
import { execute, failureOf, patch, stop, success, wait, type Context, type VmContext } from './context.ts';

const stateOf = { poweredOn: 'PoweredOn', poweredOff: 'PoweredOff', suspended: 'Suspended' } as const;
export const powerStateOf = ({ powerState }: Pick<ObservedVm, 'powerState'>): VirtualMachinePowerState =>
  stateOf[powerState];

/** Brings the VM to the power state that is wanted. */
export function planPower(context: VmContext): Outcome {
  const { desired, settings, vm, nowMs } = context;
  if (!isConnected(context)) return stop('NotConnected', `${vm.name} is ${vm.connectionState}`);
  if (vm.resourcePool === null) return stop('NoResourcePool', `${vm.name} is in no resource pool`);

  // Suspending is never delayed.
  const delayedUntilMs =
    settings.groups && desired.powerState !== 'Suspended' ? timeOf(desired.applyPowerStateAt) : null;
  if (delayedUntilMs !== null && nowMs < delayedUntilMs)
    return wait(
      'WaitingForGroup',
      `its start in group ${desired.group ?? ''}, at ${desired.applyPowerStateAt ?? ''}`,
      delayedUntilMs,
    );

  const operation = planOperation(context);
  if (operation.kind !== 'success' && isPaused(vm))
    return stop('Paused', 'An administrator has paused the VM in vCenter');
  if (operation.kind === 'execute' && isPromotion(vm.task)) return besidePromotion(context, vm.task, operation);
  if (operation.kind === 'execute' && vm.task !== null) {
    return execute('power', [
      `Wait for ${vm.task.descriptionId} on ${vm.name}`,
      { kind: 'awaitTask', task: vm.task.id, deadlineMs: settings.taskMs },
    ]);
  }
  if (operation.kind !== 'success') return operation;
  if (desired.applyPowerStateAt !== null && settings.groups)
    return patch('power', 'The time of its group has come', {
      annotations: { [virtualMachineAnnotations.applyPowerStateTime]: null },
    });
  return waitForTools(context);
}

/**
 * vCenter changes no power state while it promotes disks. What stops the VM counts more: that is begun anew when it is
 * on again.
 */
function besidePromotion(
  context: VmContext,
  { id }: ObservedTask,
  { steps: [first] }: Extract<Outcome, { kind: 'execute' }>,
): Outcome {
  return first?.kind === 'power' && stopping.includes(first.operation)
    ? execute('power', [`Cancel the promotion of disks of ${context.vm.name}`, { kind: 'cancelTask', task: id }])
    : waitForPromotion(context);
}

const stopping: readonly PowerOperation[] = ['powerOff', 'shutdownGuest', 'suspend', 'standbyGuest'];

const timeOf = (text: string | null): number | null => {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? null : ms;
};

function planOperation(context: VmContext): Outcome {
  const { desired, vm } = context;
  const observed = powerStateOf(vm);
  // Afterwards, so that a run that is lost in between has not noted what is not true.
  if (desired.powerState === 'PoweredOn' && observed === 'PoweredOn')
    return desired.firstBootDone ? planRestart(context) : noteFirstStart(context);
  if (desired.powerState === 'PoweredOn') return planPowerOn(context);
  if (desired.powerState === observed) return success;
  if (desired.powerState === 'PoweredOff')
    return planPowerOff(context, desired.powerOffMode, context.settings.softPowerMs);
  // What is off cannot be suspended.
  return observed === 'PoweredOn'
    ? soften(context, desired.suspendMode, 'standby', context.settings.softPowerMs)
    : success;
}

const noteFirstStart = ({ vm }: VmContext): Outcome =>
  patch('power', 'Note its first start', {
    annotations: { [virtualMachineAnnotations.firstBootDone]: 'true', ...madeNotes(vm) },
  });

/** What is noted of a VM that is there: nothing of it is being made any more, and which disks it was made with. */
export const madeNotes = ({ config }: Pick<ObservedVm, 'config'>): Record<string, string | null> => ({
  [virtualMachineAnnotations.creating]: null,
  [virtualMachineAnnotations.copies]: null,
  [virtualMachineAnnotations.imageCacheAsked]: null,
  ...(config !== null && {
    [virtualMachineAnnotations.disks]: config.disks.flatMap(({ name, own }) => (own ? [name] : [])).join(','),
  }),
});

function planPowerOn(context: VmContext): Outcome {
  const { vm } = context;
  const obstacle = obstacleToStart(context);
  if (obstacle !== null) return wait('PoweringOn', obstacle);
  const { moId, name } = vm;
  return execute('power', [`Power on ${name}`, { kind: 'power', moId, operation: 'powerOn' }]);
}

/** What has to be there before it starts, for the message; null: nothing is missing. */
function obstacleToStart(context: VmContext): string | null {
  const { desired } = context;
  if (desired.powerOnChecks.length > 0)
    return `${desired.powerOnChecks.join(', ')} to allow it to be powered on (${virtualMachineAnnotations.powerOnCheckPrefix}…)`;
  const { attached } = judgeVolumes(context);
  const missing = desired.volumes.map(({ name }) => name).filter((name) => !attached.includes(name));
  if (missing.length > 0) return `volumes ${missing.join(', ')} to be attached`;
  // A guest sets itself up once: at its first start, with what it finds then. What has failed and is there all the same
  // is no failure.
  const config = isNeededToStart(desired) ? planConfig(context) : success;
  if (config.kind === 'success') return null;
  const failure = config.kind === 'failed' ? config : failureOf(context, 'config');
  return failure === undefined ? null : `its configuration, without which it is not started now: ${failure.message}`;
}

/**
 * @param softMs how long the guest may take
 */
export function planPowerOff(
  context: Pick<Context, 'memory' | 'nowMs'> & Pick<VmContext, 'vm'>,
  mode: PowerMode,
  softMs: number,
): Outcome {
  // A guest that sleeps cannot shut down.
  if (context.vm.powerState === 'suspended')
    return mode === 'Soft'
      ? stop(
          'PowerOffRefused',
          `${context.vm.name} is suspended, and powerOffMode Soft does not power off what cannot be asked. Resume it, or choose another mode`,
        )
      : hard(context.vm, 'shutdown');
  return soften(context, mode, 'shutdown', softMs);
}

/** Asks the guest, gives it its time without holding anything up, and then forces it, as far as the mode allows. */
function soften(
  { memory, nowMs, vm }: Pick<Context, 'memory' | 'nowMs'> & Pick<VmContext, 'vm'>,
  mode: PowerMode,
  operation: 'shutdown' | 'standby',
  softMs: number,
): Outcome {
  if (mode === 'Hard') return hard(vm, operation);
  const soft = memory.soft?.operation === operation ? memory.soft : null;
  const phase = operation === 'shutdown' ? 'PoweringOff' : 'Suspending';
  const wording = operation === 'shutdown' ? 'shut down' : 'stand by';
  // Whether it was asked is not known: that decides nothing.
  const isKnown = soft !== null && (soft.failed || soft.unanswered !== true);
  const endMs = (soft?.sinceMs ?? nowMs) + softMs;
  if (isKnown && !soft.failed && nowMs < endMs) return wait(phase, 'the guest to do as it was asked', endMs);
  if (isKnown && soft.unanswered === true && nowMs < endMs) return wait(phase, perhapsAsked, endMs);
  if (isKnown && mode === 'TrySoft') return hard(vm, operation);
  // Where it must not be forced, the guest is asked again after each timeout.
  if (isKnown && soft.failed && nowMs < endMs)
    return wait(
      'GuestRefused',
      describeRefusal(wording, operation === 'shutdown' ? 'powerOffMode' : 'suspendMode'),
      endMs,
    );
  const question = operation === 'shutdown' ? 'shutdownGuest' : 'standbyGuest';
  return execute('power', [
    `Ask the guest of ${vm.name} to ${wording}`,
    { kind: 'power', moId: vm.moId, operation: question, notes: askedNotes({ vm, nowMs }, question) },
  ]);
}

const hard = ({ moId, name }: Pick<ObservedVm, 'moId' | 'name'>, operation: 'shutdown' | 'standby'): Outcome =>
  operation === 'shutdown'
    ? execute('power', [`Power off ${name}`, { kind: 'power', moId, operation: 'powerOff' }])
    : execute('power', [`Suspend ${name}`, { kind: 'power', moId, operation: 'suspend' }]);

/** Bounded, shown in VirtualMachineTools, and never in the way of anything else. */
function waitForTools({ desired, settings, vm, nowMs }: VmContext): Outcome {
  if (
    !needsTools(desired) ||
    vm.powerState !== 'poweredOn' ||
    desired.powerState !== 'PoweredOn' ||
    vm.guest.toolsRunning
  )
    return success;
  const untilMs = (vm.upSinceMs ?? nowMs) + settings.toolsMs;
  return nowMs < untilMs ? wait('WaitingForTools', 'VMware Tools to come up', untilMs) : success;
}

/** Probes and the setup of the guest need it to run. */
export const needsTools = ({ waitForTools: soft, bootstrap, probe }: Context['desired']): boolean =>
  soft ||
  probe === 'heartbeat' ||
  probe === 'guestInfo' ||
  (!bootstrap.disabled && (bootstrap.kind === 'LinuxPrep' || bootstrap.kind === 'Sysprep'));
