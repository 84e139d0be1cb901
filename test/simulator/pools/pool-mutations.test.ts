import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { complaintsOf, poolDangers } from './pool-dangers.ts';
import { poolMutations } from './pool-mutations.ts';

/** Nothing is noticed while what saves VMs is whole, and something when it is broken. */

test.each(poolDangers)(
  'nothing is lost: $name',
  async ({ name }) => {
    expect(await complaintsOf(name)).toEqual([]);
  },
  60_000,
);

const execute = promisify(execFile);
const mutant = fileURLToPath(new URL('pool-mutant.ts', import.meta.url));

test.each(poolMutations)(
  '$name is noticed, which breaks that $breaks',
  async ({ name }) => {
    const { stdout } = await execute(process.execPath, ['--disable-warning=ExperimentalWarning', mutant, name], {
      timeout: 100_000,
    });
    expect(JSON.parse(stdout)).not.toEqual([]);
  },
  120_000,
);

test('each danger has its mutation', () => {
  const caught = new Set(poolMutations.map(({ caughtBy }) => caughtBy));
  expect(poolDangers.filter(({ name }) => !caught.has(name))).toEqual([]);
});
