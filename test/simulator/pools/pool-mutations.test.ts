import { mutantLimitMs, noticedBy } from '../mutations/notice.ts';
import { complaintsOf, poolDangers } from './pool-dangers.ts';
import { poolMutations } from './pool-mutations.ts';

/** Nothing is noticed while what saves VMs is whole, and something when it is broken. */

test.each(poolDangers)(
  'nothing is lost: $name',
  async ({ name }) => {
    expect(await complaintsOf(name)).toEqual([]);
  },
  mutantLimitMs,
);

const mutant = new URL('pool-mutant.ts', import.meta.url);

test.each(poolMutations)(
  '$name is noticed, which breaks that $breaks',
  async ({ name }) => {
    expect(await noticedBy(mutant, name)).not.toEqual([]);
  },
  mutantLimitMs,
);

test('each danger has its mutation', () => {
  const caught = new Set(poolMutations.map(({ caughtBy }) => caughtBy));
  expect(poolDangers.filter(({ name }) => !caught.has(name))).toEqual([]);
});
