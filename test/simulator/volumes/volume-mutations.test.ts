import { mutantLimitMs, noticedBy } from '../mutations/notice.ts';
import { complaintsOf, volumeDangers } from './volume-dangers.ts';
import { volumeMutations } from './volume-mutations.ts';

/** Nothing is noticed while what saves volumes is whole, and something when it is broken. */

test.each(volumeDangers)(
  'nothing is lost: $name',
  async ({ name }) => {
    expect(await complaintsOf(name)).toEqual([]);
  },
  mutantLimitMs,
);

const mutant = new URL('volume-mutant.ts', import.meta.url);

test.each(volumeMutations)(
  '$name is noticed, which breaks that $breaks',
  async ({ name }) => {
    expect(await noticedBy(mutant, name)).not.toEqual([]);
  },
  mutantLimitMs,
);

test('each danger has its mutation', () => {
  const caught = new Set(volumeMutations.map(({ caughtBy }) => caughtBy));
  expect(volumeDangers.filter(({ name }) => !caught.has(name))).toEqual([]);
});
