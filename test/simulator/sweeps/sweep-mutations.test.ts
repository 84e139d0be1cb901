import { mutantLimitMs, noticedBy } from '../mutations/notice.ts';
import { complaintsOf, endOf, sweepDangers } from './sweep-mutation-dangers.ts';
import { sweepMutations } from './sweep-mutations.ts';

/**
 * What no setting switches off saves VMs, too: nothing is noticed while it is whole, and something when it is broken.
 */

test.each(sweepDangers)(
  'nothing is lost: $name',
  async ({ name }) => {
    expect(complaintsOf(name, await endOf(name))).toEqual([]);
  },
  mutantLimitMs,
);

const mutant = new URL('sweep-mutant.ts', import.meta.url);

test.each(sweepMutations)(
  '$name is noticed, which breaks that $breaks',
  async ({ name }) => {
    expect(await noticedBy(mutant, name)).not.toEqual([]);
  },
  mutantLimitMs,
);

test('each danger has its mutation', () => {
  const caught = new Set(sweepMutations.map(({ caughtBy }) => caughtBy));
  expect(sweepDangers.filter(({ name }) => !caught.has(name))).toEqual([]);
});
