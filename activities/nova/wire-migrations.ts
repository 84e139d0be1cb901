import { type Migration, postCopyStatus } from '../../contracts/eviction/instance.ts';
import type { Endpoint } from '../openstack/endpoint.ts';
import { allPages } from '../openstack/pages.ts';
import { toLiveMigration, toMigration } from './wire-map.ts';
import * as wire from './wire.ts';

/**
 * The statuses of a migration that is not over, in the order in which a migration of any type goes through them: live
 * (accepted, queued, preparing, running, perhaps in post-copy, post-migrating), cold and resize (pre-migrating, migrating, post-migrating,
 * finished, then confirming or reverting), evacuation (accepted, pre-migrating).
 */
export const statusesInProgress = [
  'accepted',
  'queued',
  'preparing',
  'pre-migrating',
  'running',
  postCopyStatus,
  'migrating',
  'post-migrating',
  'finished',
  'confirming',
  'reverting',
] as const;

/** A resize that waits for its confirmation, or is being confirmed, copies nothing any more. */
export const statusesCopying = statusesInProgress.filter((status) => status !== 'finished' && status !== 'confirming');

/**
 * Nova filters by one status per request, and its history without a filter has no end. One status is read after the
 * other, in the order of the life of a migration: one that moves on meanwhile is observed twice, never missed.
 */
export async function readMigrationsInProgress(
  nova: Endpoint,
  host: string | undefined,
  signal: AbortSignal,
): Promise<Migration[]> {
  return await readByStatus(nova, statusesInProgress, host === undefined ? [] : [['host', host]], signal);
}

/** Those of the whole region that copy, or are about to: what its limits are about. */
export const readMigrationsCopying = (nova: Endpoint, signal: AbortSignal): Promise<Migration[]> =>
  readByStatus(nova, statusesCopying, [], signal);

async function readByStatus(
  nova: Endpoint,
  statuses: readonly string[],
  filter: [string, string][],
  signal: AbortSignal,
): Promise<Migration[]> {
  const found = new Map<number, Migration>();
  for (const status of statuses) {
    const page = await listMigrations(nova, [['status', status], ...filter], signal);
    for (const migration of page) found.set(migration.id, migration);
  }
  return [...found.values()];
}

/** Newest first, as Nova sorts them. */
export const readMigrationsOf = (nova: Endpoint, instanceId: string, signal: AbortSignal): Promise<Migration[]> =>
  listMigrations(nova, [['instance_uuid', instanceId]], signal);

/** `updated_at` decides, which is empty until the first change. */
export const readMigrationsChangedSince = (nova: Endpoint, time: string, signal: AbortSignal): Promise<Migration[]> =>
  listMigrations(nova, [['changes-since', time]], signal);

/** Null when it is not in progress, when it is in post-copy or not a live one, and when the server is gone. */
export async function readServerMigration(
  nova: Endpoint,
  instanceId: string,
  migrationId: number,
  signal: AbortSignal,
): Promise<Migration | null> {
  const path = `/servers/${encodeURIComponent(instanceId)}/migrations/${migrationId}`;
  const answer = await nova.find(
    { method: 'GET', path, microversion: '2.94', answer: wire.serverMigrationAnswer },
    signal,
  );
  return answer === null ? null : toLiveMigration(answer.value.migration);
}

async function listMigrations(nova: Endpoint, filter: [string, string][], signal: AbortSignal): Promise<Migration[]> {
  const migrations = await allPages(
    async (marker) => {
      const query: [string, string][] = [
        ...filter,
        ...(marker === undefined ? [] : [['marker', marker] as [string, string]]),
      ];
      const { value } = await nova.call(
        { method: 'GET', path: '/os-migrations', query, microversion: '2.94', answer: wire.migrationPage },
        signal,
      );
      return { items: value.migrations, links: value.migrations_links };
    },
    (migration) => migration.id,
  );
  return migrations.map(toMigration);
}
