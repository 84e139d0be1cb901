import { labClock } from '../clock.ts';
import { act } from './seed.ts';
import type { Session } from './session.ts';

const POLL_MS = 200;
const RECORD_DEADLINE_MS = 20_000;

/** A migration record, as `GET /os-migrations` shows it. */
export interface MigrationRecord {
  readonly id: number;
  readonly uuid: string;
  readonly instance_uuid: string;
  readonly migration_type: string;
  readonly status: string;
  readonly source_compute: string;
  readonly dest_compute: string | null;
}

/** A migration in progress, as `GET /servers/{id}/migrations` shows it. */
export interface MigrationInProgress {
  readonly id: number;
  readonly status: string;
  readonly memory_total_bytes: number | null;
  readonly memory_processed_bytes: number | null;
  readonly memory_remaining_bytes: number | null;
}

/** Newest first. */
export async function listMigrations(session: Session, instanceId: string): Promise<MigrationRecord[]> {
  return (await session.compute<{ migrations: MigrationRecord[] }>('GET', `/os-migrations?instance_uuid=${instanceId}`))
    .migrations;
}

export async function listMigrationsInProgress(session: Session, instanceId: string): Promise<MigrationInProgress[]> {
  return (await session.compute<{ migrations: MigrationInProgress[] }>('GET', `/servers/${instanceId}/migrations`))
    .migrations;
}

/** Waits until the migration has one of the statuses. Several migrations of one instance have different ids. */
export async function waitForMigration(
  session: Session,
  instanceId: string,
  migrationId: number,
  statuses: readonly string[],
  deadlineMs = 30_000,
): Promise<MigrationRecord> {
  const deadline = labClock().monotonicMs() + deadlineMs;
  for (;;) {
    const record = (await listMigrations(session, instanceId)).find(({ id }) => id === migrationId);
    if (record !== undefined && statuses.includes(record.status)) return record;
    if (labClock().monotonicMs() > deadline)
      throw new Error(
        `migration ${migrationId} of ${instanceId} is ${record?.status ?? 'not there'} and none of ${statuses.join(', ')}`,
      );
    await labClock().sleep(POLL_MS);
  }
}

/** Resolves to the id of the migration record, which Nova makes a moment after it has answered. */
export function liveMigrate(session: Session, instanceId: string, host: string | null = null): Promise<number> {
  return startMigration(session, instanceId, { 'os-migrateLive': { host, block_migration: 'auto' } });
}

/** Resolves to the id of the migration record; it ends as `finished`, and `confirmed` after confirmResize. */
export function coldMigrate(session: Session, instanceId: string, host?: string): Promise<number> {
  return startMigration(session, instanceId, { migrate: host === undefined ? null : { host } });
}

async function startMigration(session: Session, instanceId: string, action: object): Promise<number> {
  const known = new Set((await listMigrations(session, instanceId)).map(({ id }) => id));
  await act(session, instanceId, action);
  const deadline = labClock().monotonicMs() + RECORD_DEADLINE_MS;
  while (labClock().monotonicMs() < deadline) {
    const record = (await listMigrations(session, instanceId)).find(({ id }) => !known.has(id));
    if (record !== undefined) return record.id;
    await labClock().sleep(POLL_MS);
  }
  throw new Error(`Nova made no migration record for ${instanceId} within ${RECORD_DEADLINE_MS / 1000} s`);
}

export function abortMigration(session: Session, instanceId: string, migrationId: number): Promise<void> {
  return session.compute('DELETE', `/servers/${instanceId}/migrations/${migrationId}`);
}

export function forceCompleteMigration(session: Session, instanceId: string, migrationId: number): Promise<void> {
  return session.compute('POST', `/servers/${instanceId}/migrations/${migrationId}/action`, {
    body: { force_complete: null },
  });
}
