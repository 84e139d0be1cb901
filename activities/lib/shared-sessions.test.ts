import { shareSessions } from './shared-sessions.ts';

/** Sessions by key, and which of them were opened and closed. */
function watched(most: number) {
  const opened: string[] = [];
  const closed: string[] = [];
  const sessions = shareSessions<{ key: string; close(): Promise<void> }>(most);
  const use = <Result>(key: string, work: (key: string) => Promise<Result>): Promise<Result> =>
    sessions.use(
      key,
      () => {
        opened.push(key);
        return { key, close: () => Promise.resolve(void closed.push(key)) };
      },
      (session) => work(session.key),
    );
  return { sessions, use, opened, closed };
}

test('all uses of a key share one session', async () => {
  const { use, opened } = watched(2);
  expect(await Promise.all(['a', 'a', 'b'].map((key) => use(key, (found) => Promise.resolve(found))))).toEqual([
    'a',
    'a',
    'b',
  ]);
  await use('a', () => Promise.resolve());
  expect(opened).toEqual(['a', 'b']);
});

test('the one that was not used for longest is closed, never one in use', async () => {
  const { use, opened, closed } = watched(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  const long = use('a', () => promise);
  await use('b', () => Promise.resolve());
  await use('c', () => Promise.resolve());
  expect(closed).toEqual(['b']);
  resolve();
  await long;
  await use('a', () => Promise.resolve());
  await use('b', () => Promise.resolve());
  expect({ opened, closed }).toEqual({ opened: ['a', 'b', 'c', 'b'], closed: ['b', 'c'] });
});

test('work that fails ends its use', async () => {
  const { use, closed } = watched(0);
  await expect(use('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(closed).toEqual(['a']);
});

test('closed, it opens nothing', async () => {
  const { sessions, use, closed } = watched(2);
  await use('a', () => Promise.resolve());
  await sessions.close();
  expect(closed).toEqual(['a']);
  await expect(use('a', () => Promise.resolve())).rejects.toThrow('closed');
});
