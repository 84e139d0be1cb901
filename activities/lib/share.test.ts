import { drive } from '../../test/fakes/drive.ts';
import { randomOf } from '../../test/faults/random.ts';
import { createVirtualClock } from '../../test/simulator/clock.ts';
import { share, shareByKey } from './share.ts';

const signal = new AbortController().signal;

/** Each reading takes 10 ms and answers with its number. */
function open(outcome: (number: number) => Error | null = () => null) {
  const clock = createVirtualClock(1_000_000, randomOf(1));
  let begun = 0;
  const shared = share(clock, async (bound) => {
    const number = (begun += 1);
    await clock.sleep(10, bound);
    const failure = outcome(number);
    if (failure !== null) throw failure;
    return number;
  });
  return { clock, shared, begun: () => begun, run: (body: () => Promise<void>) => drive(clock, body()) };
}

test('who asks at the same moment shares one reading', async () => {
  const { shared, begun, run } = open();
  await run(async () => {
    expect(await Promise.all([1, 2, 3].map(() => shared.read(0, signal)))).toEqual([1, 1, 1]);
  });
  expect(begun()).toBe(1);
});

test('who asks later gets an answer to a question that was sent after theirs, and as old a one as they trust', async () => {
  const { shared, clock, begun, run } = open();
  await run(async () => {
    expect(await shared.read(0, signal)).toBe(1);
    await clock.sleep(4_000, signal);
    expect(await shared.read(5_000, signal)).toBe(1);
    expect(await shared.read(0, signal)).toBe(2);
    await clock.sleep(5_001, signal);
    expect(await shared.read(5_000, signal)).toBe(3);
  });
  expect(begun()).toBe(3);
});

test('questions in a row are read together, at most ten times a second', async () => {
  const { shared, clock, begun, run } = open();
  await run(async () => {
    const answers: Promise<number>[] = [];
    for (let count = 0; count < 100; count += 1) {
      answers.push(shared.read(0, signal));
      await clock.sleep(3, signal);
    }
    await Promise.all(answers);
  });
  expect(begun()).toBeLessThanOrEqual(5);
});

test('what this process has changed is read again, whatever is trusted', async () => {
  const { shared, run } = open();
  await run(async () => {
    expect(await shared.read(5_000, signal)).toBe(1);
    shared.forget();
    expect(await shared.read(5_000, signal)).toBe(2);
    expect(await shared.read(5_000, signal)).toBe(2);
  });
});

test('a failure is all askers’ own, and is not kept', async () => {
  const { shared, run } = open((number) => (number === 1 ? new Error('no answer') : null));
  await run(async () => {
    const asked = await Promise.allSettled([shared.read(5_000, signal), shared.read(5_000, signal)]);
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await shared.read(5_000, signal)).toBe(2);
  });
});

test('who is cancelled leaves, and the others get their answer', async () => {
  const { shared, run } = open();
  await run(async () => {
    const cancelled = new AbortController();
    const asked = Promise.allSettled([shared.read(0, cancelled.signal), shared.read(0, signal)]);
    cancelled.abort(new Error('cancelled'));
    expect(await asked).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 1 }]);
  });
});

test('each question has an answer of its own, for as long as it is asked', async () => {
  const clock = createVirtualClock(1_000_000, randomOf(1));
  const asked: string[] = [];
  const shared = shareByKey(clock, async (key) => {
    asked.push(key);
    return `${key}!`;
  });
  const body = async (): Promise<void> => {
    const answers = await Promise.all(['a', 'b', 'a'].map((key) => shared.read(key, 600_000, signal)));
    expect(answers).toEqual(['a!', 'b!', 'a!']);
    expect(asked).toEqual(['a', 'b']);
    await clock.sleep(59_000, signal);
    await shared.read('b', 600_000, signal);
    await clock.sleep(2_000, signal);
    await shared.read('b', 600_000, signal);
    await shared.read('a', 600_000, signal);
  };
  await drive(clock, body());
  expect(asked).toEqual(['a', 'b', 'a']);
});
