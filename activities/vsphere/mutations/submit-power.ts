import type { Submission, TaskPurpose, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { readRestartIntent } from '../../../contracts/virtual-machine/metadata.ts';
import type { ObservedVm } from '../../../contracts/virtual-machine/observation.ts';
import type { PowerOperation } from '../../../contracts/virtual-machine/mutations.ts';
import { readBootId } from '../observation/vm.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { mutateVm, mutateVmByTask, type Tools } from '../dependencies.ts';
import { readOwnedThere } from './find-vm.ts';
import { vmRef } from '../wire/values.ts';
import type { VirtualMachine } from '../types.ts';

type Power = VmSubject & { operation: PowerOperation };

interface PowerAction {
  method:
    | 'PowerOnVM_Task'
    | 'PowerOffVM_Task'
    | 'SuspendVM_Task'
    | 'ResetVM_Task'
    | 'ShutdownGuest'
    | 'StandbyGuest'
    | 'RebootGuest';
  /** What it leads to; null: to where it was. */
  to: ObservedVm['powerState'] | null;
}

const powerActions: Readonly<Record<PowerOperation, PowerAction>> = {
  powerOn: { method: 'PowerOnVM_Task', to: 'poweredOn' },
  powerOff: { method: 'PowerOffVM_Task', to: 'poweredOff' },
  suspend: { method: 'SuspendVM_Task', to: 'suspended' },
  reset: { method: 'ResetVM_Task', to: null },
  shutdownGuest: { method: 'ShutdownGuest', to: 'poweredOff' },
  standbyGuest: { method: 'StandbyGuest', to: 'suspended' },
  rebootGuest: { method: 'RebootGuest', to: null },
};

/** Does nothing where the VM is in that state already: an earlier attempt, or another user, has done it. */
export async function submitPower(tools: Tools, request: Power): Promise<Submission> {
  const { gateway, scope } = tools;
  const { vmId, operation } = request;
  const { method, to } = powerActions[operation];
  const vm = await readOwnedThere(tools, request);
  if (to === null ? await isRestarted(tools, vm) : vm.powerState === to) return null;
  const mutation = {
    action: 'submitPower',
    request,
    before: { powerState: vm.powerState },
    after: { operation },
  };
  if (method === 'ShutdownGuest' || method === 'StandbyGuest' || method === 'RebootGuest') {
    const submit = () => gateway.call(method, vmRef(vmId), {}, scope.signal);
    await mutateVm(tools, { ...mutation, submit }).catch((failure: unknown) => {
      // The Tools of a guest that shuts down end first.
      if (scope.waitedMs === 0 || failureCode(failure) !== 'GuestToolsNotRunning') throw failure;
      throw droverFailure('GuestAnswerLost', `${method} of ${vmId} was submitted before, and had no answer`, {
        cause: failure,
      });
    });
    return null;
  }
  const taskId = await mutateVmByTask(tools, {
    ...mutation,
    submit: () => gateway.submit(method, vmRef(vmId), {}, scope.signal),
  });
  const purpose: TaskPurpose = to === null ? { kind: 'change', vmId } : { kind: 'power', vmId, powerState: to };
  return { taskId, purpose };
}

/** The restart that the VM itself says is to be made may have been made by an attempt whose answer was lost. */
async function isRestarted(tools: Tools, vm: VirtualMachine): Promise<boolean> {
  const intent = readRestartIntent(vm.config?.extraConfig ?? {});
  return intent !== null && intent.bootId !== (await readBootId(tools, vm));
}
