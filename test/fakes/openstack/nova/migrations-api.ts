import type { Migration, Server } from '../model.ts';
import { novaRefusal, type Routes } from '../wire.ts';
import { accepted, findMigration, findServer, needAdmin, ok, pageOf, type NovaCall } from './call.ts';
import { abortLiveMigration, completeLiveMigration, writtenMs } from './live-migration.ts';
import { existing, startAction } from './records.ts';
import { viewAction, viewActionWithEvents, viewMigration, viewServerMigration } from './views.ts';

const liveInProgress: readonly string[] = ['queued', 'preparing', 'running', 'post-migrating'];

const isLiveInProgress = ({ type, status }: Migration): boolean =>
  type === 'live-migration' && liveInProgress.includes(status);

/** Newest first. */
function listed(call: NovaCall): Migration[] {
  const { query } = call.request;
  const [status, host, instance, type, source, since] = [
    'status',
    'host',
    'instance_uuid',
    'migration_type',
    'source_compute',
    'changes-since',
  ].map((name) => query.get(name));
  const sinceMs = since === null || since === undefined ? null : Date.parse(since);
  return (
    existing(call.cloud)
      .filter((migration) => status === null || migration.status === status)
      .filter((migration) => host === null || migration.source === host || migration.dest === host)
      .filter((migration) => instance === null || migration.instanceId === instance)
      .filter((migration) => type === null || migration.type === type)
      .filter((migration) => source === null || migration.source === source)
      // What was never written again has no time of a change.
      .filter((migration) => sinceMs === null || (writtenMs(call.cloud, migration) ?? -Infinity) >= sinceMs)
      .toReversed()
  );
}

function findInProgress(call: NovaCall, server: Server, id: string): Migration {
  const migration = call.cloud.model.migrations.find((one) => String(one.id) === id && one.instanceId === server.id);
  if (migration === undefined)
    throw novaRefusal(404, `In-progress live migration ${id} is not found for server ${server.id}.`);
  if (migration.type !== 'live-migration')
    throw novaRefusal(404, `Migration ${id} for server ${server.id} is not live-migration.`);
  if (!isLiveInProgress(migration))
    throw novaRefusal(404, `Live migration ${id} for server ${server.id} is not in progress.`);
  return migration;
}

/** Of a server that is not migrating, Nova refuses before it reads the migration. */
function needMigrating({ id, vmState, taskState }: Server, action: string, onlyActive = false): void {
  if (onlyActive && vmState !== 'active')
    throw novaRefusal(409, `Cannot '${action}' instance ${id} while it is in vm_state ${vmState}`);
  if (taskState !== 'migrating')
    throw novaRefusal(409, `Cannot '${action}' instance ${id} while it is in task_state ${taskState ?? 'None'}`);
}

const wrongStatus = ({ id, status }: Migration, server: Server, action: string) =>
  novaRefusal(
    400,
    `Migration ${id} state of instance ${server.id} is ${status}. Cannot ${action} while the migration is in this state.`,
  );

export const migrationRoutes: Routes<NovaCall> = {
  'GET /os-migrations': (call) => {
    needAdmin(call, 'os_compute_api:os-migrations:index');
    const { page, links } = pageOf(listed(call), call.request, ({ uuid }) => uuid, '/os-migrations');
    return ok({
      migrations: page.map((migration) => ({
        ...viewMigration(call.cloud, migration),
        ...(isLiveInProgress(migration) ? { links: [] } : {}),
      })),
      ...(links === undefined ? {} : { migrations_links: links }),
    });
  },
  'GET /servers/{}/migrations': (call, id) => {
    const server = findServer(call, id ?? '');
    return ok({
      migrations: call.cloud.model.migrations
        .filter((one) => one.instanceId === server.id && isLiveInProgress(one))
        .map((one) => viewServerMigration(call.cloud, one)),
    });
  },
  'GET /servers/{}/migrations/{}': (call, id, migrationId) =>
    ok({
      migration: viewServerMigration(call.cloud, findInProgress(call, findServer(call, id ?? ''), migrationId ?? '')),
    }),
  'DELETE /servers/{}/migrations/{}': (call, id, migrationId) => {
    needAdmin(call, 'os_compute_api:servers:migrations:delete');
    const server = findServer(call, id ?? '');
    needMigrating(server, 'abort live migration');
    const migration = findMigration(call, server, migrationId ?? '', 404);
    if (!['running', 'queued', 'preparing'].includes(migration.status))
      throw wrongStatus(migration, server, 'abort live migration');
    startAction(call.cloud, server, 'live_migration_cancel', call.request.requestId);
    abortLiveMigration(call.cloud, migration);
    return accepted;
  },
  'POST /servers/{}/migrations/{}/action': (call, id, migrationId) => {
    needAdmin(call, 'os_compute_api:servers:migrations:force_complete');
    const server = findServer(call, id ?? '');
    needMigrating(server, 'force_complete', true);
    const migration = findMigration(call, server, migrationId ?? '', 400);
    if (migration.status !== 'running') throw wrongStatus(migration, server, 'force complete');
    startAction(call.cloud, server, 'live_migration_force_complete', call.request.requestId);
    completeLiveMigration(call.cloud, migration);
    return accepted;
  },
  'GET /servers/{}/os-instance-actions': (call, id) => {
    const server = findServer(call, id ?? '', true);
    return ok({ instanceActions: server.actions.toReversed().map((action) => viewAction(server, action)) });
  },
  'GET /servers/{}/os-instance-actions/{}': (call, id, requestId) => {
    const server = findServer(call, id ?? '', true);
    const action = server.actions.find((one) => one.requestId === requestId);
    if (action === undefined) throw novaRefusal(404, `Action ${requestId} not found`);
    return ok({ instanceAction: viewActionWithEvents(server, action) });
  },
};
