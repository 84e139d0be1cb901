import type { Migration } from '../../contracts/eviction/instance.ts';
import type { InstanceObservation } from '../../contracts/eviction/migrate-instance.ts';
import { hasEnded } from './judge-migration.ts';
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

/** What the run is told: a server that is gone has no migration, whatever its records say. */
export const observationOf = ({ instance, migrations }: InstanceHistory): InstanceObservation =>
  instance === null
    ? { instance: null, migration: null }
    : { instance: plainInstance(instance), migration: migrations.find((migration) => !hasEnded(migration)) ?? null };

export const observeInstance = async (
  nova: NovaClient,
  instanceId: string,
  signal: AbortSignal,
): Promise<InstanceObservation> => observationOf(await readHistory(nova, instanceId, signal));
