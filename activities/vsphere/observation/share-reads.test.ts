import { shareReads } from './share-reads.ts';

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise(setImmediate);

/** Calls that end when a test says so. */
function world() {
  const calls: { asked: string; answer: (answer: string) => void; fail: (error: Error) => void }[] = [];
  const ask = shareReads(
    (asked: string) => new Promise<string>((resolve, reject) => calls.push({ asked, answer: resolve, fail: reject })),
    (asked) => asked,
  );
  return { calls, ask: (asked: string, signal = never) => ask(asked, signal) };
}

test('those that ask the same at once share a call; who asks meanwhile is told what comes after', async () => {
  const { calls, ask } = world();
  const first = [ask('a'), ask('a')];
  await turn();
  const late = [ask('a'), ask('a')];
  await turn();
  expect(calls).toHaveLength(1);
  calls[0]?.answer('before');
  expect(await Promise.all(first)).toEqual(['before', 'before']);
  await turn();
  expect(calls).toHaveLength(2);
  calls[1]?.answer('after');
  expect(await Promise.all(late)).toEqual(['after', 'after']);
});

test('another question does not wait', async () => {
  const { calls, ask } = world();
  void ask('a');
  const other = ask('b');
  await turn();
  expect(calls.map(({ asked }) => asked)).toEqual(['a', 'b']);
  calls[1]?.answer('well');
  expect(await other).toBe('well');
});

test('what fails is told to those who share it, and to nobody else', async () => {
  const { calls, ask } = world();
  const first = Promise.allSettled([ask('a'), ask('a')]);
  await turn();
  const late = ask('a');
  calls[0]?.fail(new Error('cut'));
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await turn();
  calls[1]?.answer('well');
  expect(await late).toBe('well');
});

test('who gives up is let go, and the others are told', async () => {
  const { calls, ask } = world();
  const stop = new AbortController();
  const [given, other] = [ask('a', stop.signal), ask('a')];
  await turn();
  stop.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  calls[0]?.answer('well');
  expect(await other).toBe('well');
  await expect(ask('a', stop.signal)).rejects.toThrow('enough');
});
