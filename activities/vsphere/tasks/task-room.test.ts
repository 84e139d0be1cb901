import { droverFailure } from '../../../runtime/failure.ts';
import { openTaskRoom } from './task-room.ts';
import { testClock } from '../../../test/fixtures/activities/nova.ts';

const never = new AbortController().signal;

/** A vCenter whose tasks end when a test says so. */
function world(tasks: number) {
  const ended = new Set<string>();
  let recent = 0;
  let submitted = 0;
  const room = openTaskRoom({
    tasks,
    readEnded: (taskIds) => {
      recent += 1;
      return Promise.resolve(taskIds.filter((taskId) => ended.has(taskId)));
    },
    clock: testClock(),
  });
  return {
    room,
    ended,
    recent: () => recent,
    submit: (signal = never) => room.submit(() => Promise.resolve(`task-${(submitted += 1)}`), signal),
    submitLong: () => room.submitLong(() => Promise.resolve(`task-${(submitted += 1)}`), never),
  };
}

test('while there is room no task is read', async () => {
  const { submit, recent } = world(2);
  expect(await Promise.all([submit(), submit()])).toEqual(['task-1', 'task-2']);
  expect(recent()).toBe(0);
});

test('one that has ended makes room: read by a submission, or reported', async () => {
  const { submit, ended, room, recent } = world(1);
  await submit();
  ended.add('task-1');
  expect(await submit()).toBe('task-2');
  expect(recent()).toBe(1);
  room.ended('task-2');
  expect(await submit()).toBe('task-3');
  expect(recent()).toBe(1);
});

test('without room for too long it is busy; a submission that fails takes none', async () => {
  const { submit, room } = world(1);
  await submit();
  await expect(submit()).rejects.toMatchObject({ type: 'VsphereBusy', nonRetryable: false });
  room.ended('task-1');
  await expect(
    room.submit(() => Promise.reject(droverFailure('VsphereUnavailable', 'cut')), never),
  ).rejects.toMatchObject({ type: 'VsphereUnavailable' });
  expect(await submit()).toBe('task-2');
});

test('a cancel ends the waiting', async () => {
  const { submit } = world(1);
  await submit();
  const reason = new Error('cancelled');
  const stop = new AbortController();
  const waiting = submit(stop.signal);
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test('long tasks have a quarter of the room, and leave the rest to others', async () => {
  const { submit, submitLong, ended, room, recent } = world(8);
  await Promise.all([submitLong(), submitLong()]);
  await expect(submitLong()).rejects.toMatchObject({ type: 'PromotionsFull', nonRetryable: true });
  expect(recent()).toBe(1);
  const others = await Promise.all(Array.from({ length: 6 }, () => submit()));
  expect(others).toHaveLength(6);
  ended.add('task-1');
  expect(await submitLong()).toBe('task-9');
  room.ended('task-2');
  expect(await submitLong()).toBe('task-10');
  await expect(submit()).rejects.toMatchObject({ type: 'VsphereBusy' });
});

test('a long task whose submission fails takes no room, and a room for few has room for one', async () => {
  const { submitLong, room } = world(2);
  await expect(
    room.submitLong(() => Promise.reject(droverFailure('VsphereUnavailable', 'cut')), never),
  ).rejects.toMatchObject({ type: 'VsphereUnavailable' });
  expect(await submitLong()).toBe('task-1');
  await expect(submitLong()).rejects.toMatchObject({ type: 'PromotionsFull' });
});
