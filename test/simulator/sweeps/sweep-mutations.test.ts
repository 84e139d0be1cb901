import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { complaintsOf, endOf, sweepDangers } from './sweep-mutation-dangers.ts';
import { sweepMutations } from './sweep-mutations.ts';

/** What no setting switches off saves VMs, too: nothing is noticed while it is whole, and something when it is broken. */

test.each(sweepDangers)(
  'nothing is lost: $name',
  async ({ name }) => {
    expect(complaintsOf(name, await endOf(name))).toEqual([]);
  },
  60_000,
);

const execute = promisify(execFile);
const mutant = fileURLToPath(new URL('sweep-mutant.ts', import.meta.url));

test.each(sweepMutations)(
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
  const caught = new Set(sweepMutations.map(({ caughtBy }) => caughtBy));
  expect(sweepDangers.filter(({ name }) => !caught.has(name))).toEqual([]);
});
