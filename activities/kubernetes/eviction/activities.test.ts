import { pollFailureLimitMs } from '../../../contracts/policies.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { drive } from '../../../test/fakes/drive.ts';
import { randomOf } from '../../../test/faults/random.ts';
import { untilOver } from '../../../test/fixtures/activities/attempts.ts';
import { testScope } from '../../../test/fixtures/activities/nova.ts';
import { createVirtualClock } from '../../../test/simulator/clock.ts';
import { awaitNodeReturned } from './activities.ts';
import type { Tools } from './dependencies.ts';

const clockOf = () => createVirtualClock(0, randomOf(1));
const toolsOf = (clock: ReturnType<typeof clockOf>, get: () => Promise<unknown>, waited: object): Tools =>
  ({ client: { get }, clock, scope: testScope(waited) }) as unknown as Tools;

test.each([
  ['a worker whose clock is an hour ahead waits as long', { scheduledMs: -3_600_000 }, 0, 60_000],
  ['a later attempt waits for the rest', { scheduledMs: 0 }, 47_000, 13_000],
])('%s', async (_, scheduled, beforeMs, restMs) => {
  const clock = clockOf();
  const wait = untilOver((laterMs) => {
    const waitedMs = beforeMs + laterMs;
    return awaitNodeReturned(
      toolsOf(clock, async () => null, { ...scheduled, waitedMs }),
      'node-1',
      'boot-1',
      60_000,
    );
  });
  const { result, delaysMs } = await drive(clock, wait);
  expect(result).toBe(false);
  expect(delaysMs.reduce((sum, ms) => sum + ms)).toBe(restMs);
  expect(Math.max(...delaysMs)).toBe(5_000);
  // What is between the attempts takes no place of the worker.
  expect(clock.nowMs).toBe(0);
});

test('while kube-apiserver does not answer an attempt looks again, and fails for good after a minute', async () => {
  const clock = clockOf();
  const away = async () => {
    throw droverFailure('KubernetesUnavailable', 'no answer');
  };
  const wait = awaitNodeReturned(toolsOf(clock, away, { waitedMs: 0 }), 'node-1', 'boot-1', 600_000);
  const failure = await drive(
    clock,
    wait.catch((error: unknown) => error),
  );
  expect(failure).toMatchObject({ type: 'KubernetesUnavailable', nonRetryable: true });
  expect(clock.nowMs).toBe(pollFailureLimitMs);
});
