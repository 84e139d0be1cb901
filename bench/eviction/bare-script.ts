import { setTimeout as delay } from 'node:timers/promises';
import { endedMigrationStatuses } from '../../contracts/eviction/instance.ts';
import { listMigrations } from '../../lab/openstack/migrations.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { act } from '../../lab/openstack/seed.ts';
import type { Session } from '../../lab/openstack/session.ts';

const pollMs = 300;
const deadlineMs = 300_000;

/**
 * The script that an operator would write to empty a host tonight: request a live migration, poll its record every 0.3
 * s, take the next. As many workers as the window is wide. It checks nothing, survives nothing and reports nothing: the
 * least that any driver must do.
 */
export async function moveByScript(session: Session, servers: readonly Server[], window: number): Promise<void> {
  const left = [...servers];
  const worker = async (): Promise<void> => {
    for (let server = left.shift(); server !== undefined; server = left.shift()) await move(session, server);
  };
  await Promise.all(Array.from({ length: window }, worker));
}

async function move(session: Session, { id, name }: Server): Promise<void> {
  await act(session, id, { 'os-migrateLive': { host: null, block_migration: 'auto' } });
  const lateMs = performance.now() + deadlineMs;
  for (;;) {
    await delay(pollMs);
    const [record] = await listMigrations(session, id);
    if (record?.status === 'completed') return;
    if (record !== undefined && (endedMigrationStatuses as readonly string[]).includes(record.status))
      throw new Error(`the migration of ${name} ended as ${record.status}`);
    if (performance.now() > lateMs)
      throw new Error(`the migration of ${name} is ${record?.status ?? 'not there'} after ${deadlineMs / 1000} s`);
  }
}
