import { timeEviction } from './eviction-at-size.ts';

const mostAroundMs = 5_000;

test('the time around the moves off a host that has long been disabled is five seconds at most', async () => {
  const { moves, tookMs, moveMs } = await timeEviction({ servers: 6, seconds: 10, parallelism: 1, novaRuns: 1 });
  expect(moves).toBe(6);
  expect(tookMs - moves * moveMs).toBeLessThanOrEqual(mostAroundMs);
});

test('where Nova runs one at a time, few of those that move wait in its queue, and the whole takes no longer for it', async () => {
  const { moves, movingMs, moveMs } = await timeEviction({ servers: 12, seconds: 10, parallelism: 4, novaRuns: 1 });
  expect(moves).toBe(12);
  expect(moveMs).toBeLessThanOrEqual(20_000);
  expect(movingMs).toBeLessThanOrEqual(150_000);
});
