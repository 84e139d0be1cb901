import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.ts';

let directory: string;
let holder: ChildProcess | undefined;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'drover-lock-'))));
afterEach(() => {
  holder?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

test('one at a time, and the result is passed on', async () => {
  let inside = 0;
  let most = 0;
  const work = (result: number) =>
    withLock(directory, 'build', async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
      return result;
    });
  expect(await Promise.all([work(1), work(2), work(3)])).toEqual([1, 2, 3]);
  expect(most).toBe(1);
});

test('locks of other names do not wait', async () => {
  const result = await withLock(directory, 'a', () => withLock(directory, 'b', async () => 'both'));
  expect(result).toBe('both');
});

test('a failure frees it', async () => {
  await expect(withLock(directory, 'build', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await withLock(directory, 'build', async () => 'next')).toBe('next');
});

test('waiting ends when it is aborted', async () => {
  const abort = new AbortController();
  await withLock(directory, 'build', async () => {
    const waiting = withLock(directory, 'build', async () => 'never', {
      signal: abort.signal,
      onWait: () => abort.abort(),
    });
    await expect(waiting).rejects.toThrow(/abort/);
  });
});

test('another process holds it; its death by kill -9 frees it, and the waiting process reports which one it was', async () => {
  const lock = new URL('lock.ts', import.meta.url).href;
  const program = `import { withLock } from ${JSON.stringify(lock)};
    await withLock(${JSON.stringify(directory)}, 'build', () => new Promise((resolve) => { console.log('held'); setTimeout(resolve, 60_000); }));`;
  const child = (holder = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }));
  await once(child.stdout, 'data');
  const waitedFor: (number | undefined)[] = [];
  const result = await withLock(directory, 'build', async () => 'mine', {
    onWait: (identity) => {
      waitedFor.push(identity?.pid);
      child.kill('SIGKILL');
    },
  });
  expect({ result, waitedFor }).toEqual({ result: 'mine', waitedFor: [child.pid] });
});
