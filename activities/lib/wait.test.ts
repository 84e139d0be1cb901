import { ApplicationFailure } from '@temporalio/common';

import { droverFailure } from '../../runtime/failure.ts';
import { testClock, testScope } from '../../test/fixtures/activities/nova.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';
import { waitFor } from './wait.ts';

test('looks until it is done, and heartbeats what the next attempt needs', async () => {
  const beats: unknown[] = [];
  const clock = testClock();
  const beganMs = clock.now();
  let looks = 0;
  const scope = testScope({ heartbeat: (details) => void beats.push(details) });
  const found = await waitFor({
    scope,
    clock,
    details: () => looks,
    observe: async () => (++looks < 3 ? { againMs: 500 } : { done: 'it' }),
  });
  expect(found).toBe('it');
  expect(clock.now() - beganMs).toBe(1_000);
  expect(beats[0]).toBe(0);
});

test('a observe that fails is repeated, for a minute on end and no longer', async () => {
  const clock = testClock();
  const beganMs = clock.now();
  const observe = async () => {
    throw droverFailure('NovaUnavailable', 'Nova did not answer');
  };
  await expect(waitFor({ scope: testScope(), clock, observe })).rejects.toMatchObject({
    type: 'NovaUnavailable',
    nonRetryable: true,
    message: expect.stringContaining('Nova did not answer'),
  });
  expect(clock.now() - beganMs).toBe(60_000);
});

test('one that succeeds in between starts the minute again', async () => {
  const clock = testClock();
  let looks = 0;
  const observe = async () => {
    looks += 1;
    if (looks === 200) return { done: looks };
    if (looks % 50 === 0) return { againMs: 1 };
    throw droverFailure('NovaUnavailable', 'Nova did not answer');
  };
  await expect(waitFor({ scope: testScope(), clock, observe })).resolves.toBe(200);
});

test('what can never succeed fails at once', async () => {
  let looks = 0;
  const observe = async () => {
    looks += 1;
    throw droverFailure('CredentialRefused', 'Keystone answered 401');
  };
  await expect(waitFor({ scope: testScope(), clock: testClock(), observe })).rejects.toBeInstanceOf(ApplicationFailure);
  expect(looks).toBe(1);
});

test('a cancelled wait ends with the reason of the cancellation', async () => {
  const cancel = new AbortController();
  const observe = async () => {
    cancel.abort(new Error('cancelled'));
    throw droverFailure('NovaUnavailable', 'the request was aborted');
  };
  await expect(waitFor({ scope: testScope({ signal: cancel.signal }), clock: testClock(), observe })).rejects.toThrow(
    'the request was aborted',
  );
  await expect(waitFor({ scope: testScope({ signal: cancel.signal }), clock: testClock(), observe })).rejects.toThrow(
    'cancelled',
  );
});

test('who is cancelled stops waiting for what others go on to wait for', async () => {
  const { promise: shared, resolve } = Promise.withResolvers<string>();
  const cancel = new AbortController();
  const mine = unlessAborted(shared, cancel.signal);
  const theirs = unlessAborted(shared, new AbortController().signal);
  cancel.abort(new Error('cancelled'));
  await expect(mine).rejects.toThrow('cancelled');
  resolve('answer');
  await expect(theirs).resolves.toBe('answer');
});

test('observes as soon as there is something new, and after its time where that cannot be known', async () => {
  const clock = testClock();
  const beganMs = clock.now();
  const atMs: number[] = [];
  const watches = [
    async () => undefined,
    () => Promise.reject(new Error('no watch')),
    () => new Promise<void>(() => {}),
  ];
  const found = await waitFor({
    scope: testScope(),
    clock,
    observe: async () => {
      atMs.push(clock.now() - beganMs);
      const changed = watches[atMs.length - 1];
      return changed === undefined ? { done: 'it' } : { againMs: 1_000, changed };
    },
  });
  expect(found).toBe('it');
  expect(atMs.slice(2)).toEqual([atMs[1]! + 1_000, atMs[1]! + 2_000]);
});

test('leaves what says so when it observes again', async () => {
  const left: boolean[] = [];
  let looks = 0;
  await waitFor({
    scope: testScope(),
    clock: testClock(),
    observe: async () => {
      looks += 1;
      if (looks === 2) return { done: true };
      return {
        againMs: 10,
        changed: (signal) =>
          new Promise<void>((_, reject) => {
            signal.addEventListener('abort', () => {
              left.push(true);
              reject(signal.reason as Error);
            });
          }),
      };
    },
  });
  expect(left).toEqual([true]);
});
