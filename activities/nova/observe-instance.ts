import { type Migration, busyWith } from '../../contracts/eviction/instance.ts';
import type { InstanceObservation } from '../../contracts/eviction/migrate-instance.ts';
import { growingDelayMs, waitFor } from '../lib/wait.ts';
import type { Tools } from './dependencies.ts';
import { hasEnded, isAbandoned } from './judge-migration.ts';
import type { InstanceDetail, NovaClient } from './types.ts';
import { plainInstance } from './wire-map.ts';

/** A server and every migration record it ever had, newest first. */
export interface InstanceHistory {
  instance: InstanceDetail | null;
  migrations: Migration[];
}

export async function readHistory(nova: NovaClient, instanceId: string, signal: AbortSignal): Promise<InstanceHistory> {
  const [instance, migrations] = await Promise.all([
    nova.server(instanceId, signal),
    nova.migrationsOf(instanceId, signal),
  ]);
  return { instance, migrations };
}

/** What the run receives: a server that is gone has no migration, whatever its records say. */
export const observationOf = (history: InstanceHistory, nowMs: number): InstanceObservation =>
  history.instance === null
    ? { instance: null, migration: null }
    : { instance: plainInstance(history.instance), migration: migrationInProgress(history, nowMs) };

/** The one that a nova-compute works on; null: none. */
export const migrationInProgress = ({ instance, migrations }: InstanceHistory, nowMs: number): Migration | null =>
  migrations.find((migration) => !hasEnded(migration) && !isAbandoned(migration, instance, nowMs)) ?? null;

export const observeInstance = async (
  { nova, clock }: Pick<Tools, 'nova' | 'clock'>,
  instanceId: string,
  signal: AbortSignal,
): Promise<InstanceObservation> => observationOf(await readHistory(nova, instanceId, signal), clock.now());

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
    async observe() {
      const observation = observationOf(await readHistory(nova, instanceId, scope.signal), clock.now());
      const waitedMs = clock.now() - sinceMs;
      const isIdle = observation.instance === null || busyWith(observation.instance) === null;
      if (isIdle || waitedMs >= deadlineMs || clock.now() >= scope.deadlineMs) return { done: observation };
      return { againMs: Math.min(growingDelayMs(waitedMs), deadlineMs - waitedMs) };
    },
  });
}
