import { ratiosOf, runPairs } from './pairs.ts';

test('who goes first alternates, and a machine that gets slower leaves the ratio alone', async () => {
  const order: string[] = [];
  const pairs = await runPairs(3, ['ours', 'bare'], (side, pair) => {
    order.push(side);
    return Promise.resolve((side === 'ours' ? 3 : 2) * (pair + 1));
  });
  expect(order).toEqual(['ours', 'bare', 'bare', 'ours', 'ours', 'bare']);
  expect(pairs.map(({ first }) => first)).toEqual(['ours', 'bare', 'ours']);
  expect(ratiosOf(pairs, 'ours', 'bare')).toEqual([1.5, 1.5, 1.5]);
});

test('a side that fails is no pair', async () => {
  await expect(
    runPairs(2, ['ours', 'bare'], (side) =>
      side === 'bare' ? Promise.reject(new Error('broken')) : Promise.resolve(1),
    ),
  ).rejects.toThrow('broken');
});
