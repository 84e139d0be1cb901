import { droverFailure, failureCode } from '../../runtime/failure.ts';
import type { Vim } from './client.ts';
import { readBelow, readProperties } from './properties.ts';
import { listPaths, toListedVm, toVm, vmPaths } from './read-vm.ts';
import { cloneSpec, configSpec, createSpec } from './specs.ts';
import { openTaskRoom } from './task-room.ts';
import { endedTasks, readTask } from './tasks.ts';
import type { GuestRequest, PowerAction, VcenterGateway, VirtualMachine } from './types.ts';
import type { ManagedObjectReference } from './wire/values.ts';

const vm = (value: string): ManagedObjectReference => ({ type: 'VirtualMachine', value });
const folder = (value: string): ManagedObjectReference => ({ type: 'Folder', value });
const task = (value: string): ManagedObjectReference => ({ type: 'Task', value });

const powerMethods = { on: 'PowerOnVM_Task', off: 'PowerOffVM_Task', suspend: 'SuspendVM_Task', reset: 'ResetVM_Task' } as const satisfies Record<PowerAction, string>;
const guestMethods = { shutDown: 'ShutdownGuest', reboot: 'RebootGuest', standBy: 'StandbyGuest' } as const satisfies Record<GuestRequest, string>;

/** @param limits how many tasks of this worker may run at once */
export function openGateway(vim: Vim, limits: { tasks: number }): VcenterGateway {
  const room = openTaskRoom({ tasks: limits.tasks, readEnded: (taskIds, signal) => endedTasks(vim, taskIds, signal) });
  const submit = (start: () => Promise<ManagedObjectReference>, signal: AbortSignal): Promise<string> => room.submit(async () => (await start()).value, signal);
  const searchIndex = async (signal: AbortSignal): Promise<ManagedObjectReference> => {
    const { searchIndex: found } = await vim.content(signal);
    if (found === undefined) throw droverFailure('AnswerMalformed', `vCenter ${vim.name} has no search index`);
    return found;
  };
  const read = async (vmId: string, signal: AbortSignal): Promise<VirtualMachine | null> => {
    const [object] = await unlessGone(readProperties(vim, [vm(vmId)], vmPaths, signal), []);
    return object === undefined ? null : toVm(vim, object);
  };
  const reconfigure: VcenterGateway['reconfigure'] = (vmId, change, changeVersion, signal) =>
    submit(() => vim.call('ReconfigVM_Task', vm(vmId), { spec: { changeVersion, ...configSpec(change) } }, signal), signal);

  return {
    vcenter: vim.name,
    findByPath: async (path, signal) => {
      const found = await vim.call('FindByInventoryPath', await searchIndex(signal), { inventoryPath: path }, signal);
      return found === undefined ? null : { type: found.type, id: found.value };
    },
    findByInstanceUuid: async (instanceUuid, signal) => {
      // FindByUuid would give any of several.
      const [found, ...others] = (await vim.call('FindAllByUuid', await searchIndex(signal), { uuid: instanceUuid, vmSearch: true, instanceUuid: true }, signal)) ?? [];
      if (others.length > 0) throw droverFailure('VirtualMachineAmbiguous', `${1 + others.length} VMs of vCenter ${vim.name} have the instance UUID ${instanceUuid}: ${[found, ...others].map((one) => one?.value).join(', ')}`);
      return found === undefined ? null : read(found.value, signal);
    },
    findInFolder: async (folderId, name, signal) => {
      const found = await vim.call('FindChild', await searchIndex(signal), { entity: folder(folderId), name }, signal);
      if (found === undefined) return { kind: 'nothing' };
      if (found.type !== 'VirtualMachine') return { kind: 'other', type: found.type };
      const seen = await read(found.value, signal);
      return seen === null ? { kind: 'nothing' } : { kind: 'vm', vm: seen };
    },
    read,
    list: async (folderId, signal) => (await readBelow(vim, folder(folderId), 'VirtualMachine', listPaths, signal)).map((object) => toListedVm(vim, object)),

    clone: (source, wanted, signal) =>
      submit(() => vim.call('CloneVM_Task', vm(source.vmId), { folder: folder(wanted.folderId), name: wanted.name, spec: cloneSpec(source, wanted) }, signal), signal),
    create: (wanted, datastoreName, signal) =>
      submit(
        () =>
          vim.call(
            'CreateVM_Task',
            folder(wanted.folderId),
            {
              config: createSpec(wanted, datastoreName),
              pool: { type: 'ResourcePool', value: wanted.placement.resourcePoolId },
              ...(wanted.placement.hostId === null ? {} : { host: { type: 'HostSystem', value: wanted.placement.hostId } }),
            },
            signal,
          ),
        signal,
      ),
    reconfigure,
    detachDisks: (vmId, keys, changeVersion, signal) =>
      submit(
        // Without a file operation the file stays.
        () => vim.call('ReconfigVM_Task', vm(vmId), { spec: { changeVersion, deviceChange: keys.map((key) => ({ operation: 'remove', device: { $type: 'VirtualDisk', key, capacityInKB: 0 } })) } }, signal),
        signal,
      ),
    power: (vmId, action, signal) => submit(() => vim.call(powerMethods[action], vm(vmId), {}, signal), signal),
    destroy: (vmId, signal) => submit(() => vim.call('Destroy_Task', vm(vmId), {}, signal), signal),

    askGuest: async (vmId, request, signal) => {
      await vim.call(guestMethods[request], vm(vmId), {}, signal);
    },

    readTask: async (taskId, signal) => {
      const seen = await readTask(vim, taskId, signal);
      if (seen.state === 'success' || seen.state === 'error') room.ended(taskId);
      return seen;
    },
    cancelTask: async (taskId, signal) => {
      try {
        await vim.call('CancelTask', task(taskId), {}, signal);
      } catch (error) {
        // It has ended, cannot be cancelled, or is forgotten.
        if (!['VirtualMachineStateRefused', 'RequestRefused', 'VsphereTaskNotFound'].includes(failureCode(error) ?? '')) throw error;
      }
    },
    close: () => vim.close(),
  };
}

async function unlessGone<Value>(reading: Promise<Value>, gone: Value): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    if (failureCode(error) === 'VirtualMachineNotFound') return gone;
    throw error;
  }
}
