import { openCallBudget } from './budget.ts';
import { testClock } from '../../test/fixtures/activities/nova.ts';

const never = new AbortController().signal;

test('so many at once, the others in their order', async () => {
  const budget = openCallBudget({ calls: 2, callsPerSecond: 1_000_000 }, testClock());
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const calls = gates.map((gate, number) => budget.run(() => (begun.push(number), gate.promise), never));
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1]);
  gates[1]!.resolve();
  await calls[1];
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.all(calls);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('one that gives up waiting leaves its place to the next, and one that fails too', async () => {
  const budget = openCallBudget({ calls: 1, callsPerSecond: 1_000_000 }, testClock());
  const gate = Promise.withResolvers<void>();
  const first = budget.run(() => gate.promise, never);
  const stop = new AbortController();
  const reason = new Error('cancelled');
  const given = budget.run(() => Promise.resolve('never'), stop.signal);
  const last = budget.run(() => Promise.resolve('last'), never);
  stop.abort(reason);
  await expect(given).rejects.toBe(reason);
  gate.reject(new Error('failed'));
  await expect(first).rejects.toThrow('failed');
  await expect(last).resolves.toBe('last');
  await expect(budget.run(() => Promise.resolve(), AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('a second’s worth at once, then one for each share of a second', async () => {
  const clock = testClock();
  const startMs = clock.monotonicMs();
  const budget = openCallBudget({ calls: 1, callsPerSecond: 10 }, clock);
  const begunMs: number[] = [];
  for (let call = 0; call < 13; call += 1)
    await budget.run(() => Promise.resolve(begunMs.push(Math.round(clock.monotonicMs() - startMs))), never);
  expect(begunMs).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200, 300]);
});
