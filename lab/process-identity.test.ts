import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { identify, isAlive, parseStat, signalIfSame, waitForEnd } from './process-identity.ts';

const numbers = '1 1 1 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 7 0 98765 1000 10';

describe('parseStat', () => {
  test.each([
    ['plain', `42 (etcd) S ${numbers}`, { state: 'S', threads: 7, startTicks: '98765' }],
    ['a name with blanks and brackets', `42 (a) b (c)) R ${numbers}`, { state: 'R', threads: 7, startTicks: '98765' }],
    ['a zombie', `42 (sh) Z ${numbers}`, { state: 'Z', threads: 7, startTicks: '98765' }],
    ['cut short', '42 (sh) S 1 1', undefined],
    ['empty', '', undefined],
  ])('%s', (_, stat, expected) => expect(parseStat(stat)).toEqual(expected));
});

test('a process with the same number and another start time is another process', () => {
  const own = identify(process.pid)!;
  expect(isAlive(own)).toBe(true);
  expect(isAlive({ ...own, startTime: `${own.startTime}0` })).toBe(false);
});

test('a process that took over the number of a recorded one is not signalled', async () => {
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
  const identity = identify(stranger.pid!)!;
  const recorded = { ...identity, startTime: 'an earlier one' };
  expect(signalIfSame(recorded, 'SIGKILL')).toBe(false);
  expect(isAlive(identity)).toBe(true);
  expect(signalIfSame(identity, 'SIGKILL')).toBe(true);
  await once(stranger, 'exit');
  expect(signalIfSame(identity, 'SIGKILL')).toBe(false);
});

test('one that ended counts as ended, also before its parent noticed', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const identity = identify(child.pid!)!;
  expect(await waitForEnd(identity, 30)).toBe(false);
  child.kill('SIGKILL');
  expect(await waitForEnd(identity, 5000)).toBe(true);
});
