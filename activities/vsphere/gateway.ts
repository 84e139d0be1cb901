import { z } from 'zod';

import type { Clock } from '../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import type { Vim } from './client.ts';
import { configPaths } from './observation/config.ts';
import { readProperties, retrieve } from './properties.ts';
import { toVm, vmPaths } from './observation/read-vm.ts';
import { folderRef, type ManagedObjectReference, taskRef, vmRef } from './wire/values.ts';
import { openTaskReader } from './tasks/task-reader.ts';
import { openTaskRoom } from './tasks/task-room.ts';
import { destroysVms, endedTasks, makesVms, readTasks, runningTasks } from './tasks/read-tasks.ts';
import type { ManagerName, VcenterGateway, VirtualMachine } from './types.ts';

/** Each of them says that a guest has started anew; a reset changes no boot time. */
const startEvents = ['VmPoweredOnEvent', 'VmResettingEvent', 'VmGuestRebootEvent'];

/** @param limits how many tasks of this worker may run at once */
export function openGateway(vim: Vim, limits: { tasks: number }, clock: Clock): VcenterGateway {
  const room = openTaskRoom({
    tasks: limits.tasks,
    readEnded: (taskIds, signal) => endedTasks(vim, taskIds, signal),
    clock,
  });
  const readTask = openTaskReader({
    vcenter: vim.name,
    readTasks: (taskIds, signal) => readTasks(vim, taskIds, signal),
    clock,
  });
  const readSecretTask = openTaskReader({
    vcenter: vim.name,
    readTasks: (taskIds, signal) => readTasks(vim, taskIds, signal, true),
    clock,
  });
  const manager = async (name: ManagerName, signal: AbortSignal): Promise<ManagedObjectReference> => {
    const { [name]: found } = await vim.content(signal);
    if (found === undefined) throw droverFailure('AnswerMalformed', `vCenter ${vim.name} has no ${name}`);
    return found;
  };
  const read = async (vmId: string, signal: AbortSignal): Promise<VirtualMachine | null> => {
    const [object] = await unlessGone(readProperties(vim, [vmRef(vmId)], [...vmPaths, ...configPaths], signal), []);
    return object === undefined ? null : toVm(vim, object);
  };
  const running = async (kind: RegExp, signal: AbortSignal): Promise<string[]> =>
    (await runningTasks(vim, await manager('taskManager', signal), signal))
      .filter(({ descriptionId }) => kind.test(descriptionId))
      .map(({ id }) => id);

  return {
    vcenter: vim.name,
    manager,
    managerId: async (signal) => {
      const { about } = await vim.content(signal);
      return about.instanceUuid ?? '';
    },
    findByPath: async (path, signal) =>
      (await vim.call('FindByInventoryPath', await manager('searchIndex', signal), { inventoryPath: path }, signal)) ??
      null,
    apiVersion: async (signal) => (await vim.content(signal)).about.apiVersion,
    storageProfiles: (signal) => vim.storageProfiles(signal),
    // FindByUuid would give any of several.
    findByInstanceUuid: async (instanceUuid, signal) =>
      (
        (await vim.call(
          'FindAllByUuid',
          await manager('searchIndex', signal),
          { uuid: instanceUuid, vmSearch: true, instanceUuid: true },
          signal,
        )) ?? []
      ).map(({ value }) => value),
    findInFolder: async (folderId, name, signal) => {
      const found = await vim.call(
        'FindChild',
        await manager('searchIndex', signal),
        { entity: folderRef(folderId), name },
        signal,
      );
      if (found === undefined) return { kind: 'nothing' };
      if (found.type !== 'VirtualMachine') return { kind: 'other', type: found.type };
      const vm = await read(found.value, signal);
      return vm === null ? { kind: 'nothing' } : { kind: 'vm', vm };
    },
    read,
    retrieve: (spec, signal) => retrieve(vim, { ...spec, reportMissingObjectsInResults: true }, signal),
    lastStart: async (vmId, signal) => {
      const filter = { entity: { entity: vmRef(vmId), recursion: 'self' }, eventTypeId: startEvents, maxCount: 1 };
      const events = (await vim.call('QueryEvents', await manager('eventManager', signal), { filter }, signal)) ?? [];
      const keys = z
        .array(z.looseObject({ key: z.number() }))
        .catch([])
        .parse(events)
        .map(({ key }) => key);
      return keys.length === 0 ? null : String(Math.max(...keys));
    },
    runningCreates: (signal) => running(makesVms, signal),
    runningDestroys: (signal) => running(destroysVms, signal),
    findActivated: async (activationId, signal) =>
      (await runningTasks(vim, await manager('taskManager', signal), signal)).find(
        (task) => task.activationId === activationId,
      )?.id ?? null,

    submit: (method, self, args, signal, options) => {
      const start = async () => taskIdOf(vim.name, method, await vim.call(method, self, args, signal, options));
      return method === 'PromoteDisks_Task' ? room.submitLong(start, signal) : room.submit(start, signal);
    },
    call: (method, self, args, signal) => vim.call(method, self, args, signal),

    readTask: async (taskId, signal, isSecret = false) => {
      const task = await (isSecret ? readSecretTask : readTask)(taskId, signal);
      if (task.state === 'success' || task.state === 'error') room.ended(taskId);
      return task;
    },
    cancelTask: async (taskId, signal) => {
      try {
        await vim.call('CancelTask', taskRef(taskId), {}, signal);
      } catch (error) {
        // It has ended, cannot be cancelled, or is not known any more.
        if (!['VirtualMachineStateRefused', 'RequestRefused', 'VsphereTaskNotFound'].includes(failureCode(error) ?? ''))
          throw error;
      }
    },
    close: () => vim.close(),
  };
}

function taskIdOf(vcenter: string, method: string, answer: unknown): string {
  const task = z.object({ type: z.literal('Task'), value: z.string().min(1) }).safeParse(answer);
  if (!task.success) throw droverFailure('AnswerMalformed', `vCenter ${vcenter} did not answer ${method} with a task`);
  return task.data.value;
}

async function unlessGone<Value>(reading: Promise<Value>, gone: Value): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    if (failureCode(error) === 'VirtualMachineNotFound') return gone;
    throw error;
  }
}
