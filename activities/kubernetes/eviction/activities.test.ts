import { drive } from '../../../test/fakes/drive.ts';
import { randomOf } from '../../../test/faults/random.ts';
import { testScope } from '../../../test/fixtures/activities/nova.ts';
import { createVirtualClock } from '../../../test/simulator/clock.ts';
import { awaitNodeReturned } from './activities.ts';
import type { Tools } from './dependencies.ts';

test.each([
  ['a worker whose clock is an hour ahead waits as long', { scheduledMs: -3_600_000, waitedMs: 0 }, 60_000],
  ['a second attempt waits for the rest', { scheduledMs: 0, waitedMs: 45_000 }, 15_000],
])('%s', async (_, scheduled, waitedMs) => {
  const clock = createVirtualClock(0, randomOf(1));
  const client = { get: async () => null } as unknown as Tools['client'];
  const tools = { client, clock, scope: { ...testScope({}), ...scheduled, warn: () => undefined } } as unknown as Tools;
  expect(await drive(clock, awaitNodeReturned(tools, 'node-1', 'boot-1', 60_000))).toBe(false);
  expect(clock.nowMs).toBe(waitedMs);
});
