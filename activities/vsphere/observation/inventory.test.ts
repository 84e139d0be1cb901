import { openInventory, shareReads } from './inventory.ts';

const never = new AbortController().signal;

test('a path is asked for once in a while; one that leads nowhere, each time', async () => {
  let nowMs = 0;
  const asked: string[] = [];
  const gateway = {
    vcenter: 'lab',
    findByPath: (path: string) =>
      Promise.resolve((asked.push(path), path === '/none' ? null : { type: 'Folder', value: `group-${asked.length}` })),
    retrieve: () => Promise.resolve([]),
  };
  const inventory = openInventory(gateway, { monotonicMs: () => nowMs });
  expect(await inventory.find('/a', never)).toEqual({ type: 'Folder', value: 'group-1' });
  expect(await inventory.find('/a', never)).toEqual({ type: 'Folder', value: 'group-1' });
  await inventory.find('/none', never);
  await inventory.find('/none', never);
  expect(asked).toEqual(['/a', '/none', '/none']);
  inventory.forget('/a');
  expect(await inventory.find('/a', never)).toEqual({ type: 'Folder', value: 'group-4' });
  nowMs = 60_000;
  expect(await inventory.find('/a', never)).toEqual({ type: 'Folder', value: 'group-5' });
});

test('many that look at once ask once', async () => {
  const asked: string[] = [];
  const gateway = {
    vcenter: 'lab',
    findByPath: (path: string) => Promise.resolve((asked.push(path), { type: 'Folder', value: 'group-1' })),
    retrieve: () => Promise.resolve((asked.push('around'), [])),
  };
  const inventory = openInventory(gateway, { monotonicMs: () => 0 });
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      await inventory.find('/a', never);
      await inventory.retrieve({ objectSet: [], propSet: [] }, never);
    }),
  );
  expect(asked).toEqual(['/a', 'around']);
});

test('the list of VMs is that of a moment ago, unless a new one is requested', async () => {
  let nowMs = 0;
  let asked = 0;
  const vm = () => ({ ref: { type: 'VirtualMachine', value: `vm-${++asked}` }, properties: { name: 'web' } });
  const gateway = { vcenter: 'lab', findByPath: () => Promise.resolve(null), retrieve: () => Promise.resolve([vm()]) };
  const inventory = openInventory(gateway, { monotonicMs: () => nowMs });
  const list = async (folders: string[], isAnew = false) =>
    (await inventory.vmsIn(folders, isAnew, never)).map(({ id }) => id);
  expect(await list([])).toEqual([]);
  expect(await list(['group-1'])).toEqual(['vm-1']);
  expect(await list(['group-1'])).toEqual(['vm-1']);
  expect(await list(['group-2'])).toEqual(['vm-2']);
  expect(await list(['group-1'], true)).toEqual(['vm-3']);
  nowMs = 9_999;
  expect(await list(['group-1'])).toEqual(['vm-3']);
  nowMs = 10_000;
  expect(await list(['group-1'])).toEqual(['vm-4']);
});

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

test('those that ask the same at once share a call; a caller that asks meanwhile gets the next answer', async () => {
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

test('a failure is given to those that share the call, and to no other', async () => {
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

test('a caller that aborts is released, and the others get the answer', async () => {
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
