import { z } from 'zod';

import { droverFailure } from '../../../runtime/failure.ts';
import type { Vim } from '../client.ts';
import { vimFailure } from '../faults.ts';
import { retrieve, traversal, type ReadObject } from '../properties.ts';
import { isReference, type ManagedObjectReference, taskRef as ref } from '../wire/values.ts';
import type { TaskState } from '../types.ts';
import { localizedFault } from '../wire/decode.ts';
import type { TaskInfo } from '../wire/vim/types.ts';

/**
 * By id; those that are gone are left out, and one that cannot be understood is a failure.
 *
 * @param isSecret their failures state the kind only
 * @throws as a call does
 */
export async function readTasks(
  vim: Vim,
  taskIds: readonly string[],
  signal: AbortSignal,
  isSecret = false,
): Promise<Map<string, TaskState | Error>> {
  const objects = await readProperty(vim, taskIds, 'info', signal);
  return new Map(objects.map((object) => [object.ref.value, toTaskState(vim.name, object, isSecret)]));
}

/** Those that have ended, or are gone. */
export async function endedTasks(vim: Vim, taskIds: readonly string[], signal: AbortSignal): Promise<string[]> {
  const objects = await readProperty(vim, taskIds, 'info.state', signal);
  const running = new Set(
    objects.flatMap(({ ref: task, properties }) => (hasEnded(properties['info.state']) ? [] : [task.value])),
  );
  return taskIds.filter((taskId) => !running.has(taskId));
}

const readProperty = (
  vim: Vim,
  taskIds: readonly string[],
  path: 'info' | 'info.state',
  signal: AbortSignal,
): Promise<ReadObject[]> =>
  retrieve(
    vim,
    {
      propSet: [{ type: 'Task', pathSet: [path] }],
      objectSet: taskIds.map((taskId) => ({ obj: ref(taskId) })),
      reportMissingObjectsInResults: true,
    },
    signal,
  );

/**
 * Cloning, creating, deploying: as vCenter and its simulator call them. What such a task makes is not known
 * before it ends.
 */
export const makesVms = /\.(clone|cloneVm|createVm|instantClone|importVApp|deploy\w*|instantiate)$/iu;

export const destroysVms = /^VirtualMachine\.destroy$/u;

const text = z.string().default('');
const runningTask = z.object({
  'info.state': z.enum(['queued', 'running']),
  'info.descriptionId': text,
  'info.activationId': text,
});

/** All tasks of the vCenter that have not ended, also those of other users. */
export async function runningTasks(
  vim: Vim,
  taskManager: ManagedObjectReference,
  signal: AbortSignal,
): Promise<{ id: string; descriptionId: string; activationId: string }[]> {
  const selectSet = [traversal('TaskManager', 'recentTask')];
  const objects = await retrieve(
    vim,
    {
      propSet: [{ type: 'Task', pathSet: Object.keys(runningTask.shape) }],
      objectSet: [{ obj: taskManager, skip: true, selectSet }],
      reportMissingObjectsInResults: true,
    },
    signal,
  );
  return objects.flatMap(({ ref: task, properties }) => {
    const running = runningTask.safeParse(properties).data;
    return running === undefined
      ? []
      : [{ id: task.value, descriptionId: running['info.descriptionId'], activationId: running['info.activationId'] }];
  });
}

const hasEnded = (state: unknown): boolean => state === 'success' || state === 'error';

/** `AnswerMalformed` where it cannot be understood. */
function toTaskState(vcenter: string, { ref: task, properties }: ReadObject, isSecret: boolean): TaskState | Error {
  const info = properties['info'];
  if (!isTaskInfo(info)) return droverFailure('AnswerMalformed', `vCenter ${vcenter} has no info of ${task.value}`);
  const {
    state,
    result,
    error,
    name = info.descriptionId,
    progress = null,
    cancelable: isCancelable,
    entity = null,
  } = info;
  if (state === 'success')
    return { state, vmId: isReference(result) && result.type === 'VirtualMachine' ? result.value : null, entity };
  if (state === 'queued' || state === 'running') return { state, progressPercent: progress, isCancelable, entity };
  if (state !== 'error')
    return droverFailure('AnswerMalformed', `vCenter ${vcenter} says that ${task.value} is ${state.slice(0, 80)}`);
  const fault = error === undefined ? { type: '', words: 'it does not say why', fields: {} } : localizedFault(error);
  return {
    state,
    failure: vimFailure(
      fault,
      `${name} of ${entity?.value ?? 'an unnamed object'} at vCenter ${vcenter} ended`,
      isSecret,
    ),
    entity,
  };
}

const isTaskInfo = (value: unknown): value is TaskInfo =>
  typeof value === 'object' && value !== null && '$type' in value && value.$type === 'TaskInfo';
