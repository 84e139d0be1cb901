import { droverFailure } from '../../../runtime/failure.ts';
import { openTaskReader } from './task-reader.ts';
import type { TaskState } from '../types.ts';
import { testClock } from '../../../test/fixtures/activities/nova.ts';

const never = new AbortController().signal;
const running: TaskState = { state: 'running', progressPercent: null, isCancelable: false, entity: null };

/** A vCenter that knows all tasks but those whose names say otherwise. */
function world() {
  const calls: string[][] = [];
  const clock = testClock();
  const startMs = clock.monotonicMs();
  const read = openTaskReader({
    vcenter: 'lab',
    readTasks: (taskIds) => {
      calls.push([...taskIds]);
      if (taskIds.includes('cut')) return Promise.reject(droverFailure('VsphereUnavailable', 'cut'));
      if (taskIds.includes('secret')) return Promise.reject(droverFailure('VsphereNotPermitted', 'secret'));
      return Promise.resolve(
        new Map(
          taskIds.flatMap((taskId): [string, TaskState | Error][] =>
            taskId === 'gone' ? [] : [[taskId, taskId === 'odd' ? new Error('odd') : running]],
          ),
        ),
      );
    },
    clock,
  });
  return {
    calls,
    read: (taskId: string, signal = never) => read(taskId, signal),
    waitedMs: () => clock.monotonicMs() - startMs,
  };
}

test('one that asks alone gets its answer at once', async () => {
  const { read, calls, waitedMs } = world();
  expect(await read('task-1')).toBe(running);
  expect([calls, waitedMs()]).toEqual([[['task-1']], 0]);
});

test('those that ask within a moment share a call, and the next call comes after a distance', async () => {
  const { read, calls, waitedMs } = world();
  await Promise.all([read('task-1'), read('task-2'), read('task-1')]);
  await Promise.all([read('task-1'), read('task-3')]);
  expect(calls).toEqual([
    ['task-1', 'task-2'],
    ['task-1', 'task-3'],
  ]);
  expect(waitedMs()).toBe(100);
});

test('the failure of one is given to the caller that asks for it', async () => {
  const { read, calls } = world();
  const results = await Promise.allSettled([read('task-1'), read('gone'), read('odd')]);
  expect(results).toEqual([
    { status: 'fulfilled', value: running },
    { status: 'rejected', reason: expect.objectContaining({ type: 'VsphereTaskNotFound' }) },
    { status: 'rejected', reason: expect.objectContaining({ message: 'odd' }) },
  ]);
  expect(calls).toHaveLength(1);
});

test('one that may not be read does not fail the call for others', async () => {
  const { read, calls } = world();
  const [first, second] = await Promise.allSettled([read('task-1'), read('secret')]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  expect(calls).toEqual([['task-1', 'secret'], ['task-1'], ['secret']]);
});

test('a vCenter that does not answer is not asked once for each', async () => {
  const { read, calls } = world();
  const results = await Promise.allSettled([read('task-1'), read('cut')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(calls).toHaveLength(1);
});

test('a caller that aborts is released, and the others get their answers', async () => {
  const { read } = world();
  const stop = new AbortController();
  const [given, other] = [read('task-1', stop.signal), read('task-2')];
  stop.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  expect(await other).toBe(running);
  await expect(read('task-1', stop.signal)).rejects.toThrow('enough');
});
