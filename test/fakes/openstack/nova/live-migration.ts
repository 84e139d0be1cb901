import type { Cloud } from '../cloud.ts';
import type { ComputeHost, InstanceAction, LiveMove, Migration, Server, TransferEnd } from '../model.ts';
import { rpcTimeoutMs } from './call.ts';
import { addAllocation, dropAllocation, dropConsumer, moveAllocations } from '../placement/state.ts';
import {
  addEvent,
  changeServer,
  createMigration,
  finishEvent,
  hostNamed,
  isHostUp,
  power,
  recordFault,
  resourcesOf,
  setStatus,
  startEvent,
} from './records.ts';
import { groupAllows, selectHost } from './scheduler.ts';
import { behaviourOf, countersOf, startTransfer } from './transfer.ts';

/**
 * What happens after Nova has answered 202 to `os-migrateLive`: record, pre-checks, queue, copy.
 * @see nova/conductor/tasks/live_migrate.py,
 * nova/compute/manager.py
 */
export function conductLiveMigration(
  cloud: Cloud,
  server: Server,
  target: string | null,
  action: InstanceAction,
): void {
  // The record comes a moment after the answer.
  cloud.soon(() => cloud.soon(() => begin(cloud, server, target, action)));
}

interface Search {
  readonly server: Server;
  readonly migration: Migration;
  readonly action: InstanceAction;
  readonly target: string | null;
  readonly attempted: string[];
}

function begin(cloud: Cloud, server: Server, target: string | null, action: InstanceAction): void {
  const source = server.host ?? '';
  const migration = createMigration(cloud, server, 'live-migration', 'accepted', null);
  const search: Search = { server, migration, action, target, attempted: [source] };
  const conductor = startEvent(cloud, action, 'conductor_live_migrate_instance', 'controller');
  const giveUp = (reason: string): void => {
    finishEvent(cloud, action, conductor, reason);
    recordFault(cloud, server, reason);
    if (!server.isDeleted && server.taskState === 'migrating') changeServer(cloud, server, { taskState: null });
    setStatus(cloud, migration, 'error');
  };
  if (server.isDeleted) return giveUp(`Instance ${server.id} could not be found.`);
  if (server.powerState !== power.running && server.powerState !== power.paused)
    return giveUp(
      `Instance ${server.id} in power_state shutdown. Cannot live migrate while the instance is in this state.`,
    );
  if (!isHostUp(cloud, source)) return giveUp(`Compute service of ${source} is unavailable at this time.`);
  moveAllocations(cloud.model.placement, server.id, migration.uuid, 'MIGRATION');
  cloud.soon(() =>
    findTarget(cloud, search, {
      found: (host) => {
        migration.dest = host.name;
        finishEvent(cloud, action, conductor, null);
        cloud.cast(hostNamed(cloud, source), () =>
          queue(cloud, { server, migration, action, phase: 'queued', isAborted: false, transfer: null }),
        );
      },
      notFound: (reason) => {
        moveAllocations(cloud.model.placement, migration.uuid, server.id, 'INSTANCE');
        giveUp(reason);
      },
    }),
  );
}

interface Outcome {
  readonly found: (host: ComputeHost) => void;
  readonly notFound: (reason: string) => void;
}

/** Asks the scheduler, then the host that it chose; of one that refuses, the next. */
function findTarget(cloud: Cloud, search: Search, outcome: Outcome): void {
  const { server, action, attempted, target } = search;
  if (server.isDeleted) return outcome.notFound(`Instance ${server.id} could not be found.`);
  const choice = selectHost(cloud, server, { ignored: attempted, only: target });
  if ('reason' in choice) return outcome.notFound(choice.reason);
  const { host } = choice;
  const provider = cloud.model.hypervisors.get(host.name)?.id ?? '';
  addAllocation(cloud.model.placement, server.id, provider, resourcesOf(server), server);
  const skip = (): void => {
    dropAllocation(cloud.model.placement, server.id, provider);
    attempted.push(host.name);
    findTarget(cloud, search, outcome);
  };
  if (host.profile.hypervisorVersion < hostNamed(cloud, attempted[0] ?? '').profile.hypervisorVersion)
    return cloud.soon(skip);
  if (!host.isRunning) return cloud.after(rpcTimeoutMs.long, skip);
  cloud.soon(() => {
    const refusal = preCheck(cloud, server, host);
    for (const { event, host: at, reason } of refusal) addEvent(cloud, action, event, at, reason);
    if (refusal.some(({ reason }) => reason !== null)) return cloud.soon(skip);
    outcome.found(host);
  });
}

/** The events of the pre-check, the failed ones with their reason. */
function preCheck(
  cloud: Cloud,
  server: Server,
  target: ComputeHost,
): { event: string; host: string; reason: string | null }[] {
  const { mode } = behaviourOf(cloud, server);
  const atTarget = 'compute_check_can_live_migrate_destination';
  const atSource = 'compute_check_can_live_migrate_source';
  if (mode === 'precheck-dest' || !target.profile.accept) {
    return [
      {
        event: atTarget,
        host: target.name,
        reason: `Migration pre-check error: ${target.name} refuses ${server.id}: CPU models do not match`,
      },
    ];
  }
  const reason =
    mode === 'precheck-source'
      ? '/var/lib/nova/instances is not on shared storage: live migration needs shared storage'
      : null;
  return [
    { event: atSource, host: server.host ?? '', reason },
    { event: atTarget, host: target.name, reason },
  ];
}

/** At the source: what exceeds its limit waits. */
function queue(cloud: Cloud, move: LiveMove): void {
  const source = hostNamed(cloud, move.migration.source);
  setStatus(cloud, move.migration, 'queued');
  source.leaving.push(move);
  startQueued(cloud, source);
}

/** Starts what the host's limit allows; called too when it was raised. */
export function startQueued(cloud: Cloud, source: ComputeHost): void {
  if (!source.isRunning) return;
  for (const move of source.leaving) {
    const atWork = source.leaving.filter(({ phase }) => phase !== 'queued').length;
    if (atWork >= source.profile.maxConcurrentLiveMigrations) return;
    if (move.phase === 'queued') prepare(cloud, source, move);
  }
}

function leave(cloud: Cloud, source: ComputeHost, move: LiveMove): void {
  source.leaving.splice(source.leaving.indexOf(move), 1);
  startQueued(cloud, source);
}

function prepare(cloud: Cloud, source: ComputeHost, move: LiveMove): void {
  const { server, migration, action } = move;
  const target = hostNamed(cloud, migration.dest ?? '');
  move.phase = 'preparing';
  cloud.soonOn(source, () => {
    setStatus(cloud, migration, 'preparing');
    const event = startEvent(cloud, action, 'compute_pre_live_migration', target.name);
    const fail = (reason: string): void => {
      finishEvent(cloud, action, event, reason);
      setStatus(cloud, migration, 'error');
      rollBack(cloud, source, move, 'failed');
    };
    if (!target.isRunning)
      return afterOn(cloud, source, rpcTimeoutMs.long, () => fail('Timed out waiting for a reply'));
    cloud.soonOn(source, () => {
      if (behaviourOf(cloud, server).mode === 'prefail')
        return fail(`${target.name} could not prepare for ${server.id}`);
      if (!groupAllows(cloud, server, target.name)) return fail('Failed to validate instance group policy');
      finishEvent(cloud, action, event, null);
      if (move.isAborted) return rollBack(cloud, source, move, 'cancelled');
      copy(cloud, source, move);
    });
  });
}

function afterOn(cloud: Cloud, host: ComputeHost, delayMs: number, action: () => void): void {
  const { incarnation } = host;
  cloud.after(delayMs, () => {
    if (host.incarnation === incarnation) action();
  });
}

function copy(cloud: Cloud, source: ComputeHost, move: LiveMove): void {
  const { server, migration } = move;
  move.phase = 'running';
  setStatus(cloud, migration, 'running');
  const end = (how: TransferEnd): void => {
    if (move.transfer !== null) migration.memory = countersOf(cloud, move.transfer);
    move.phase = 'ending';
    switch (how) {
      case 'crashed':
        return;
      case 'aborted':
        return rollBack(cloud, source, move, 'cancelled');
      case 'fail':
        return rollBack(cloud, source, move, 'failed');
      case 'error':
        return cloud.soonOn(source, () => lose(cloud, source, move));
      case 'ok':
      case 'forced':
        return cloud.soonOn(source, () => arrive(cloud, source, move));
    }
  };
  move.transfer = startTransfer(cloud, server, end);
}

/** The guest is on its target. The server shows it before the record does. */
function arrive(cloud: Cloud, source: ComputeHost, move: LiveMove): void {
  const { server, migration, action } = move;
  const target = hostNamed(cloud, migration.dest ?? '');
  source.guests.delete(server.id);
  target.guests.add(server.id);
  // Of a deleted server, a guest arrives that Nova does not know.
  if (server.isDeleted) return lose(cloud, source, move);
  if (!target.isRunning) {
    return afterOn(cloud, source, rpcTimeoutMs.long, () => {
      if (!server.isDeleted) changeServer(cloud, server, { host: target.name });
      lose(cloud, source, move);
    });
  }
  addEvent(cloud, action, 'compute_post_live_migration_at_destination', target.name);
  changeServer(cloud, server, { host: target.name, taskState: null });
  cloud.soonOn(source, () => {
    dropConsumer(cloud.model.placement, migration.uuid);
    addEvent(cloud, action, 'compute_live_migration', source.name);
    setStatus(cloud, migration, 'completed');
    leave(cloud, source, move);
  });
}

/** Too late to roll back: the record and the server are in error, and Placement keeps both shares. */
function lose(cloud: Cloud, source: ComputeHost, move: LiveMove): void {
  const { server, migration } = move;
  setStatus(cloud, migration, 'error');
  if (!server.isDeleted) changeServer(cloud, server, { vmState: 'error', taskState: null });
  leave(cloud, source, move);
}

function rollBack(cloud: Cloud, source: ComputeHost, move: LiveMove, status: 'failed' | 'cancelled'): void {
  const { server, migration } = move;
  move.phase = 'ending';
  revertAllocations(cloud, server, migration);
  cloud.soonOn(source, () => {
    if (!server.isDeleted && server.taskState === 'migrating') changeServer(cloud, server, { taskState: null });
    cloud.soonOn(source, () => {
      setStatus(cloud, migration, status);
      leave(cloud, source, move);
    });
  });
}

function revertAllocations(cloud: Cloud, server: Server, migration: Migration): void {
  dropConsumer(cloud.model.placement, server.id);
  if (!server.isDeleted) moveAllocations(cloud.model.placement, migration.uuid, server.id, 'INSTANCE');
}

/** At the source, after Nova has answered 202. */
export function abortLiveMigration(cloud: Cloud, migration: Migration): void {
  const source = hostNamed(cloud, migration.source);
  cloud.cast(source, () => {
    const move = source.leaving.find((one) => one.migration === migration);
    if (move === undefined) return;
    if (move.phase === 'preparing') move.isAborted = true;
    if (move.phase === 'running') move.transfer?.end('aborted');
    if (move.phase !== 'queued') return;
    source.leaving.splice(source.leaving.indexOf(move), 1);
    revertAllocations(cloud, move.server, migration);
    if (!move.server.isDeleted) changeServer(cloud, move.server, { taskState: null });
    setStatus(cloud, migration, 'cancelled');
  });
}

export function completeLiveMigration(cloud: Cloud, migration: Migration): void {
  const source = hostNamed(cloud, migration.source);
  cloud.cast(source, () => source.leaving.find((one) => one.migration === migration)?.transfer?.end('forced'));
}

/** The counters of a live migration; null before its copy has begun. */
export function memoryOf(cloud: Cloud, migration: Migration): Migration['memory'] {
  const transfer =
    cloud.model.hosts.get(migration.source)?.leaving.find((one) => one.migration === migration)?.transfer ?? null;
  return migration.memory ?? (transfer === null ? null : countersOf(cloud, transfer));
}

/** When Nova has last written a record: a copy's counters are written once a second. Null: never since it was made. */
export function writtenMs(cloud: Cloud, migration: Migration): number | null {
  const transfer =
    cloud.model.hosts.get(migration.source)?.leaving.find((one) => one.migration === migration)?.transfer ?? null;
  if (transfer === null || migration.updatedMs === null) return migration.updatedMs;
  return Math.max(migration.updatedMs, cloud.nowMs() - ((cloud.nowMs() - Math.floor(transfer.startedMs)) % 1_000));
}
