import { atMost } from './at-most.ts';

const never = new AbortController().signal;

test('so many run at once, the others in order', async () => {
  const run = atMost(2);
  const began: number[] = [];
  const ends: (() => void)[] = [];
  const works = [0, 1, 2, 3].map((number) =>
    run(async () => {
      began.push(number);
      await new Promise<void>((resolve) => ends.push(resolve));
      return number;
    }, never),
  );
  await Promise.resolve();
  expect(began).toEqual([0, 1]);
  ends[1]?.();
  expect(await works[1]).toBe(1);
  expect(began).toEqual([0, 1, 2]);
  ends[0]?.();
  await works[0];
  ends[2]?.();
  ends[3]?.();
  expect(await Promise.all(works)).toEqual([0, 1, 2, 3]);
});

test('one that fails gives its turn on; one that is given up before its turn is not begun', async () => {
  const run = atMost(1);
  const aborter = new AbortController();
  const failed = run(() => Promise.reject(new Error('it broke')), never);
  const givenUp = run(() => Promise.resolve('begun'), aborter.signal);
  const last = run(() => Promise.resolve('last'), never);
  aborter.abort(new Error('enough'));
  await expect(failed).rejects.toThrow('it broke');
  await expect(givenUp).rejects.toThrow('enough');
  expect(await last).toBe('last');
});
