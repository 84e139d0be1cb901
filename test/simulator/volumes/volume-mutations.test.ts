import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { complaintsOf, volumeDangers } from './volume-dangers.ts';
import { volumeMutations } from './volume-mutations.ts';

/** Nothing is noticed while what saves volumes is whole, and something when it is broken. */

/** A mutant that tries again and again takes most of a minute of a processor that may be busy. */
const limitMs = 1_800_000;

test.each(volumeDangers)(
  'nothing is lost: $name',
  async ({ name }) => {
    expect(await complaintsOf(name)).toEqual([]);
  },
  limitMs,
);

const mutant = fileURLToPath(new URL('volume-mutant.ts', import.meta.url));
const execute = promisify(execFile);

test.each(volumeMutations)(
  '$name is noticed, which breaks that $breaks',
  async ({ name }) => {
    const args = ['--disable-warning=ExperimentalWarning', mutant, name];
    const { stdout } = await execute(process.execPath, args, { timeout: limitMs });
    expect(JSON.parse(stdout)).not.toEqual([]);
  },
  limitMs,
);

test('each danger has its mutation', () => {
  const caught = new Set(volumeMutations.map(({ caughtBy }) => caughtBy));
  expect(volumeDangers.filter(({ name }) => !caught.has(name))).toEqual([]);
});
