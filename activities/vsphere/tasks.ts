import { droverFailure, failureCode } from '../../runtime/failure.ts';
import type { Vim } from './client.ts';
import { vimFailure } from './faults.ts';
import { readProperties, type ReadObject } from './properties.ts';
import type { TaskState } from './types.ts';
import { localizedFault } from './wire/decode.ts';
import { isReference } from './wire/values.ts';
import type { TaskInfo } from './wire/vim/types.ts';

const ref = (value: string) => ({ type: 'Task', value });

/** @throws also `VsphereTaskNotFound` */
export async function readTask(vim: Vim, taskId: string, signal: AbortSignal): Promise<TaskState> {
  const [object] = await readProperties(vim, [ref(taskId)], ['info'], signal);
  if (object === undefined) throw droverFailure('VsphereTaskNotFound', `vCenter ${vim.name} tells nothing of ${taskId}`);
  return toTaskState(vim.name, object);
}

/** Those that have ended. One that is gone hides the others from a common look, so then each is looked at by itself. */
export async function endedTasks(vim: Vim, taskIds: readonly string[], signal: AbortSignal): Promise<string[]> {
  try {
    const objects = await readProperties(vim, taskIds.map(ref), ['info.state'], signal);
    return objects.flatMap(({ ref: task, properties }) => (hasEnded(properties['info.state']) ? task.value : []));
  } catch (error) {
    if (failureCode(error) !== 'VsphereTaskNotFound') throw error;
    const [only, ...others] = taskIds;
    if (others.length === 0) return only === undefined ? [] : [only];
    const ended: string[] = [];
    for (const taskId of taskIds) ended.push(...(await endedTasks(vim, [taskId], signal)));
    return ended;
  }
}

const hasEnded = (state: unknown): boolean => state === 'success' || state === 'error';

/** @throws AnswerMalformed */
function toTaskState(vcenter: string, { ref: task, properties }: ReadObject): TaskState {
  const info = properties['info'];
  if (!isTaskInfo(info)) throw droverFailure('AnswerMalformed', `vCenter ${vcenter} has no info of ${task.value}`);
  const { state, result, error, name = info.descriptionId, progress = null, cancelable: isCancelable, entity } = info;
  if (state === 'success') return { state, vmId: isReference(result) && result.type === 'VirtualMachine' ? result.value : null };
  if (state === 'queued' || state === 'running') return { state, progressPercent: progress, isCancelable };
  if (state !== 'error') throw droverFailure('AnswerMalformed', `vCenter ${vcenter} says that ${task.value} is ${state.slice(0, 80)}`);
  const fault = error === undefined ? { type: '', words: 'it does not say why', fields: {} } : localizedFault(error);
  return { state, failure: vimFailure(fault, `${name} of ${entity?.value ?? 'an unnamed object'} at vCenter ${vcenter} ended`) };
}

const isTaskInfo = (value: unknown): value is TaskInfo => typeof value === 'object' && value !== null && '$type' in value && value.$type === 'TaskInfo';
