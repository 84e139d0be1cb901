import { busyWith } from '../../contracts/eviction/instance.ts';
import type { InstanceObservation } from '../../contracts/eviction/migrate-instance.ts';
import type { Tools } from './dependencies.ts';
import { observationOf, readHistory } from './observe-instance.ts';
import { settlingDelayMs, waitFor } from '../lib/wait.ts';

/**
 * Waits until the server has no task in progress or is gone. Returns what it found, at the deadline too.
 *
 * @param request.deadlineMs from now
 */
export function awaitInstanceIdle(
  { nova, scope, clock }: Tools,
  { instanceId, deadlineMs }: { instanceId: string; deadlineMs: number },
): Promise<InstanceObservation> {
  const sinceMs = clock.now();
  return waitFor<InstanceObservation>({
    scope,
    clock,
    async look() {
      const observation = observationOf(await readHistory(nova, instanceId, scope.signal));
      const waitedMs = clock.now() - sinceMs;
      const isIdle = observation.instance === null || busyWith(observation.instance) === null;
      if (isIdle || waitedMs >= deadlineMs || clock.now() >= scope.deadlineMs) return { done: observation };
      return { againMs: Math.min(settlingDelayMs(waitedMs), deadlineMs - waitedMs) };
    },
  });
}
