import { sendTogether, sendTogetherByKey } from './send-together.ts';

const { signal } = new AbortController();

/** Answers each call when it is told to. */
function open(most?: number) {
  const calls: { asked: readonly string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const ask = sendTogether<string, string>(async (asked) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    calls.push({ asked, answer: resolve, fail: reject });
    await promise;
    return asked.map((one) => one.toUpperCase());
  }, most);
  const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));
  return { calls, ask, settle, asked: () => calls.map(({ asked }) => asked.join('')) };
}

test('what is asked while a call is on its way goes together with the next', async () => {
  const { calls, ask, settle, asked } = open();
  const first = ask('a', signal);
  await settle();
  const others = ['b', 'c', 'd'].map((one) => ask(one, signal));
  await settle();
  expect(asked()).toEqual(['a']);
  calls[0]?.answer();
  expect(await first).toBe('A');
  await settle();
  expect(asked()).toEqual(['a', 'bcd']);
  calls[1]?.answer();
  expect(await Promise.all(others)).toEqual(['B', 'C', 'D']);
});

test('a call that fails fails for all that it has, and for none after it', async () => {
  const { calls, ask, settle } = open();
  const failing = ['a', 'b'].map((one) => ask(one, signal));
  await settle();
  const next = ask('c', signal);
  calls[0]?.fail(new Error('no answer'));
  expect(await Promise.allSettled(failing)).toMatchObject([
    { reason: { message: 'no answer' } },
    { reason: { message: 'no answer' } },
  ]);
  await settle();
  calls[1]?.answer();
  expect(await next).toBe('C');
});

test('what is given up is not sent where it was not yet, and is waited for where it was', async () => {
  const { calls, ask, settle, asked } = open();
  const [sent, waiting] = [new AbortController(), new AbortController()];
  const answers = [ask('a', sent.signal), ask('b', signal)];
  await settle();
  const others = [ask('c', waiting.signal), ask('d', signal)];
  sent.abort(new Error('cancelled'));
  waiting.abort(new Error('cancelled'));
  await expect(others[0]).rejects.toThrow('cancelled');
  calls[0]?.answer();
  expect(await Promise.all(answers)).toEqual(['A', 'B']);
  await settle();
  calls[1]?.answer();
  expect(await others[1]).toBe('D');
  expect(asked()).toEqual(['ab', 'd']);
});

test('a call has at most so many', async () => {
  const { calls, ask, settle, asked } = open(2);
  const answers = ['a', 'b', 'c', 'd', 'e'].map((one) => ask(one, signal));
  await settle();
  for (const { answer } of calls) answer();
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'C', 'D', 'E']);
  expect(asked()).toEqual(['ab', 'cd', 'e']);
});

test('what is asked of one does not wait for another', async () => {
  const calls: string[] = [];
  const answers = new Map<string, () => void>();
  const ask = sendTogetherByKey<{ key: string }, string, string>(
    ({ key }) => key,
    async ({ key }, asked) => {
      calls.push(`${key}: ${asked.join('')}`);
      await new Promise<void>((resolve) => void answers.set(key, resolve));
      return asked;
    },
  );
  const [one, other] = [{ key: 'one' }, { key: 'other' }];
  const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));
  const first = ask(one, 'a', signal);
  await settle();
  const next = [ask({ ...one }, 'b', signal), ask(other, 'c', signal)];
  await settle();
  expect(calls).toEqual(['one: a', 'other: c']);
  answers.get('other')?.();
  expect(await next[1]).toBe('c');
  answers.get('one')?.();
  expect(await first).toBe('a');
  await settle();
  answers.get('one')?.();
  expect(await next[0]).toBe('b');
  expect(calls).toEqual(['one: a', 'other: c', 'one: b']);
});
