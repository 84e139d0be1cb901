import { mapConcurrently } from './concurrency.ts';

test('every item once, never more than so many at once, results in order', async () => {
  let now = 0;
  let most = 0;
  const results = await mapConcurrently([5, 4, 3, 2, 1], 2, async (item, index) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return item * 10 + index;
  });
  expect(results).toEqual([50, 41, 32, 23, 14]);
  expect(most).toBe(2);
});
