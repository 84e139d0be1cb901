import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import type { TaskState } from '../types.ts';

/** What each of the tasks is; a failure where the state of one cannot be read. Those that are gone are left out. */
export type ReadTasks = (
  taskIds: readonly string[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, TaskState | Error>>;

export interface TaskReaderOptions {
  vcenter: string;
  readTasks: ReadTasks;
  /** Between the beginnings of two calls, at least. */
  distanceMs?: number;
  clock: Clock;
}

/** Below the shortest pause between two reads of one task. */
const defaultDistanceMs = 100;

/**
 * Gives the state of one task at a time, and reads all that are awaited in one call: many VMs that are made at once
 * would otherwise use up the calls of the vCenter to poll their tasks.
 */
export function openTaskReader({
  vcenter,
  readTasks,
  distanceMs = defaultDistanceMs,
  clock,
}: TaskReaderOptions): (taskId: string, signal: AbortSignal) => Promise<TaskState> {
  let gathering: { taskIds: Set<string>; states: ReturnType<ReadTasks> } | null = null;
  let lastMs = -Infinity;

  const readAll: ReadTasks = async (taskIds, signal) => {
    try {
      return await readTasks(taskIds, signal);
    } catch (error) {
      // The failure of one task must not fail the others.
      if (taskIds.length === 1 || failureCode(error) === 'VsphereUnavailable') throw error;
      return new Map((await Promise.all(taskIds.map((taskId) => readOne(taskId, signal)))).flat());
    }
  };
  const readOne = async (taskId: string, signal: AbortSignal): Promise<[string, TaskState | Error][]> => {
    try {
      return [...(await readTasks([taskId], signal))];
    } catch (error) {
      return [[taskId, error as Error]];
    }
  };
  const gather = (): NonNullable<typeof gathering> => {
    const taskIds = new Set<string>();
    const begin = async (): ReturnType<ReadTasks> => {
      await clock.sleep(Math.max(0, lastMs + distanceMs - clock.monotonicMs()));
      gathering = null;
      lastMs = clock.monotonicMs();
      // It has a signal of its own: a caller that aborts leaves it to the others, and it ends within the time
      // of any call.
      return await readAll([...taskIds], new AbortController().signal);
    };
    const states = begin();
    // All callers may have aborted.
    states.catch(() => undefined);
    return { taskIds, states };
  };
  return async (taskId, signal) => {
    signal.throwIfAborted();
    gathering ??= gather();
    gathering.taskIds.add(taskId);
    const state = (await unlessAborted(gathering.states, signal)).get(taskId);
    if (state === undefined) throw droverFailure('VsphereTaskNotFound', `vCenter ${vcenter} does not know ${taskId}`);
    if (state instanceof Error) throw state;
    return state;
  };
}
