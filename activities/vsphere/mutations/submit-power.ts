import type { Submission, TaskPurpose, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { readRestartIntent } from '../../../contracts/virtual-machine/metadata.ts';
import type { VmFacts } from '../../../contracts/virtual-machine/observation.ts';
import type { PowerOperation } from '../../../contracts/virtual-machine/mutations.ts';
import { readBootMark } from '../observation/vm.ts';
import { mutateVm, mutateVmByTask, type Tools } from '../dependencies.ts';
import { readOwnedThere } from './find-vm.ts';
import { vmRef } from '../wire/values.ts';
import type { VirtualMachine } from '../types.ts';

type Power = VmSubject & { operation: PowerOperation };

interface Deed {
  method:
    | 'PowerOnVM_Task'
    | 'PowerOffVM_Task'
    | 'SuspendVM_Task'
    | 'ResetVM_Task'
    | 'ShutdownGuest'
    | 'StandbyGuest'
    | 'RebootGuest';
  /** What it leads to; null: to where it was. */
  to: VmFacts['powerState'] | null;
}

const deeds: Readonly<Record<PowerOperation, Deed>> = {
  powerOn: { method: 'PowerOnVM_Task', to: 'poweredOn' },
  powerOff: { method: 'PowerOffVM_Task', to: 'poweredOff' },
  suspend: { method: 'SuspendVM_Task', to: 'suspended' },
  reset: { method: 'ResetVM_Task', to: null },
  shutdownGuest: { method: 'ShutdownGuest', to: 'poweredOff' },
  standbyGuest: { method: 'StandbyGuest', to: 'suspended' },
  rebootGuest: { method: 'RebootGuest', to: null },
};

/** What is so already is well: an earlier attempt, or somebody else, has done it. */
export async function submitPower(tools: Tools, request: Power): Promise<Submission> {
  const { gateway, scope } = tools;
  const { vmId, operation } = request;
  const { method, to } = deeds[operation];
  const seen = await readOwnedThere(tools, request);
  if (to === null ? await isRestarted(tools, seen) : seen.powerState === to) return null;
  const mutation = {
    action: 'submitPower',
    owner: request,
    before: { powerState: seen.powerState },
    after: { operation },
  };
  if (method === 'ShutdownGuest' || method === 'StandbyGuest' || method === 'RebootGuest') {
    await mutateVm(tools, { ...mutation, submit: () => gateway.call(method, vmRef(vmId), {}, scope.signal) });
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
async function isRestarted(tools: Tools, seen: VirtualMachine): Promise<boolean> {
  const intent = readRestartIntent(seen.config?.extraConfig ?? {});
  return intent !== null && intent.bootMark !== (await readBootMark(tools, seen));
}
