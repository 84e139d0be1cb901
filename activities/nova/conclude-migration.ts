import type { Instance, Migration } from '../../contracts/eviction/instance.ts';
import type { InstanceObservation, MigrationEnd } from '../../contracts/eviction/migrate-instance.ts';
import type { Tools } from './dependencies.ts';
import { hasEnded } from './judge-migration.ts';
import type { Followed } from './follow-migration.ts';
import { observeInstance } from './observe-instance.ts';
import type { InstanceActionName } from './types.ts';
import { growingDelayMs, waitFor } from '../lib/wait.ts';
import { plainInstance } from './wire-map.ts';

/** How long the server may take to follow its migration's record. */
const concludeDeadlineMs = 60_000;

/**
 * What came of a migration: its record, and then the server, which may lag behind it, or never follow: Nova has been
 * observed to complete a migration and leave the server's host as it was. Then the observation shows it and the message
 * says so. Where server and record are gone the status is `gone`.
 */
export async function concludeMigration(tools: Tools, sourceHost: string, followed: Followed): Promise<MigrationEnd> {
  if (followed === null)
    return {
      status: 'gone',
      stuck: null,
      targetHost: null,
      observation: { instance: null, migration: null },
      message: null,
    };
  const { migration, stuck } = followed;
  if (stuck !== null) {
    const observation = await observeInstance(tools, migration.instanceId, tools.scope.signal);
    return {
      status: 'stuck',
      stuck,
      targetHost: migration.targetHost,
      observation: withMigration(observation, migration),
      message: null,
    };
  }
  const instance = await awaitConcluded(tools, sourceHost, migration);
  const observation = { instance, migration: instance === null || hasEnded(migration) ? null : migration };
  return {
    status: migration.status,
    stuck: null,
    targetHost: migration.targetHost,
    observation,
    message: await explain(tools, sourceHost, migration, instance),
  };
}

/** The one that is stuck is what the caller asks about, whatever else Nova may list. */
const withMigration = (observation: InstanceObservation, migration: Migration): InstanceObservation =>
  observation.instance === null ? observation : { instance: observation.instance, migration };

const awaitConcluded = (
  { nova, scope, clock }: Tools,
  sourceHost: string,
  migration: Migration,
): Promise<Instance | null> => {
  const sinceMs = clock.now();
  return waitFor<Instance | null>({
    scope,
    clock,
    async observe() {
      const instance = await nova.server(migration.instanceId, scope.signal);
      const waitedMs = clock.now() - sinceMs;
      const isLate = waitedMs >= concludeDeadlineMs || clock.now() >= scope.deadlineMs;
      if (instance === null || isLate || isConcluded(instance, sourceHost, migration))
        return { done: instance === null ? null : plainInstance(instance) };
      return { againMs: growingDelayMs(waitedMs) };
    },
  });
};

/** Whether the server is where, and as, the record's end says. */
function isConcluded(instance: Instance, sourceHost: string, migration: Migration): boolean {
  const { taskState, vmState } = instance;
  if (taskState !== null) return false;
  switch (migration.status) {
    case 'completed':
    case 'confirmed':
    // Of an evacuation.
    case 'done':
      return isWhereItWent(instance, sourceHost, migration) && vmState !== 'resized';
    case 'finished':
      return isWhereItWent(instance, sourceHost, migration) && vmState === 'resized';
    default:
      return true;
  }
}

/** A resize of another user may have gone to the host that is being emptied, or have stayed there. */
const isWhereItWent = ({ host }: Instance, sourceHost: string, { targetHost }: Migration): boolean =>
  host !== sourceHost || targetHost === sourceHost;

/** By type of migration, the instance action that has its words. */
const actionOf: Record<string, InstanceActionName> = { 'live-migration': 'live-migration', evacuation: 'evacuate' };

async function explain(
  { nova, scope }: Tools,
  sourceHost: string,
  migration: Migration,
  instance: Instance | null,
): Promise<string | null> {
  const { id, status, type, instanceId } = migration;
  if (instance === null) return null;
  switch (status) {
    case 'completed':
    case 'confirmed':
    case 'done':
    case 'finished': {
      if (isWhereItWent(instance, sourceHost, migration))
        return instance.taskState === null
          ? null
          : `Migration ${id} is ${status}, but the server is still ${instance.taskState}`;
      return `Nova says migration ${id} is ${status}, but the server is still on ${sourceHost} (${instance.status}${instance.taskState === null ? '' : `, ${instance.taskState}`})`;
    }
    case 'cancelled':
      // The run that asked for it knows why.
      return null;
    default: {
      const action = actionOf[type] ?? 'migrate';
      const words = (await nova.lastActionFailure(instanceId, { action }, scope.signal)) ?? instance.fault;
      return words === null ? `Migration ${id} ended as ${status}; Nova gives no reason` : words;
    }
  }
}
