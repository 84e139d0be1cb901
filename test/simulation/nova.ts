import { decideStart } from '../../activities/nova/decide-start.ts';
import { hasEnded } from '../../activities/nova/judge-migration.ts';
import type { InstanceHistory } from '../../activities/nova/observe-instance.ts';
import { targetRoom } from '../../activities/nova/target-room.ts';
import type { HostObservation, Instance, Migration } from '../../contracts/instance.ts';
import type { InstanceObservation, MigrationStart } from '../../contracts/migrate-instance.ts';
import type { Clock } from './clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Fate } from './scenario.ts';

/** A tiny Nova with its Placement: hosts, servers, migration records, and a fate for each migration. */
export interface Nova {
  hosts: Map<string, Host>;
  servers: Map<string, Server>;
  /** The id of the eviction behind each migration that drover asked for. */
  orderedBy: Map<number, string>;
  /** Migrations that drover asked for and whose answer it has not seen: nothing proves to it that they are its own. */
  unproven: Set<number>;
  lastMigrationId: number;
  /** How often each server was on a host again that it had left, or never left it though its migration completed. */
  returned: Map<string, number>;
  /** Called after every change, so that waits can look. */
  changed(): void;
}

export interface Host {
  name: string;
  service: HostObservation['service'];
  /** Servers that were ever made on it. */
  made: number;
  /** Allocations that no server accounts for. */
  ghosts: string[];
}

export interface Server {
  instance: Instance;
  fates: Fate[];
  migrations: Migration[];
  fate: Fate;
  /** Its vm_state outside of migrations and resizes. */
  restsAs: string;
}

export const inProgress = (nova: Nova): Migration[] => [...nova.servers.values()].flatMap(({ migrations }) => migrations.filter((one) => !hasEnded(one)));

export const onHost = (nova: Nova, host: string): Server[] => [...nova.servers.values()].filter(({ instance }) => instance.host === host);

export function observeHost(nova: Nova, name: string): HostObservation {
  const host = nova.hosts.get(name)!;
  const here = onHost(nova, name);
  const migrations = inProgress(nova).filter(({ sourceHost, targetHost }) => sourceHost === name || targetHost === name);
  const unconfirmedResizes = [...nova.servers.values()]
    .filter(({ instance, migrations: its }) => instance.vmState === 'resized' && its.some(({ status, sourceHost }) => status === 'finished' && sourceHost === name))
    .map(({ instance }) => instance.id);
  return {
    host: name, hypervisorHostname: name, hypervisorId: name, serviceId: name,
    service: { ...host.service },
    instances: here.map(({ instance }) => ({ ...instance })),
    migrations: migrations.map((one) => ({ ...one })),
    unconfirmedResizes,
    allocations: [...here.map(({ instance }) => instance.id), ...unconfirmedResizes, ...host.ghosts],
    schedulingDisabled: host.service.status === 'disabled',
  };
}

const historyOf = (nova: Nova, id: string): InstanceHistory => {
  const server = nova.servers.get(id);
  return { instance: server === undefined ? null : ({ ...server.instance } as InstanceHistory['instance']), migrations: (server?.migrations ?? []).map((one) => ({ ...one })) };
};

export function observeInstance(nova: Nova, id: string): InstanceObservation {
  const { instance, migrations } = historyOf(nova, id);
  return instance === null ? { instance: null, migration: null } : { instance, migration: migrations.find((one) => !hasEnded(one)) ?? null };
}

const eligible = (nova: Nova, source: string): string[] =>
  [...nova.hosts.values()].filter(({ name, service }) => name !== source && service.status === 'enabled').map(({ name }) => name);

export const hasRoom = (nova: Nova, source: string, perTarget: number): boolean => targetRoom(eligible(nova, source), inProgress(nova), perTarget) !== 'busy';

/** What drover's activity of that name does and answers. */
export function startMigration(nova: Nova, clock: Clock, random: Random, kind: 'live' | 'cold', request: { instanceId: string; sourceHost: string; perTarget: number; by: string }): MigrationStart {
  const { instanceId, sourceHost, perTarget, by } = request;
  const history = historyOf(nova, instanceId);
  const decision = decideStart(kind, sourceHost, history, null);
  if (decision.do === 'adopt') return { outcome: 'started', migration: decision.migration };
  if (decision.do !== 'request') return { outcome: 'changed', observation: observeInstance(nova, instanceId) };
  if (!hasRoom(nova, sourceHost, perTarget)) return { outcome: 'targetsBusy' };
  const server = nova.servers.get(instanceId)!;
  if (server.fates[0] === 'refused') {
    server.fates.shift();
    return { outcome: 'refused', message: 'Nova says no' };
  }
  const migration = migrate(nova, clock, random, server, kind);
  nova.orderedBy.set(migration.id, by);
  return { outcome: 'started', migration: { ...migration } };
}

/** Begins a migration, whoever asked for it; its fate takes its course. */
export function migrate(nova: Nova, clock: Clock, random: Random, server: Server, kind: 'live' | 'cold' | 'resize'): Migration {
  const { instance } = server;
  const choices = eligible(nova, instance.host!);
  const target = choices[Math.floor(random() * choices.length)] ?? null;
  server.fate = target === null ? 'fail' : (server.fates.shift() ?? 'ok');
  const migration: Migration = {
    id: (nova.lastMigrationId += 1), instanceId: instance.id, type: kind === 'live' ? 'live-migration' : kind === 'cold' ? 'migration' : 'resize',
    status: server.fate === 'queued' ? 'queued' : 'running', sourceHost: instance.host!, targetHost: target,
    memoryTotalBytes: null, memoryRemainingBytes: null, diskTotalBytes: null, diskRemainingBytes: null, createdAt: '2026-01-31T12:00:00Z',
  };
  server.migrations.unshift(migration);
  instance.taskState = 'migrating';
  instance.status = kind === 'live' ? 'MIGRATING' : 'RESIZE';
  // Nova can abort neither of them, so a cold one that hung would hang for ever.
  if (kind !== 'live' && ['hang', 'hangs on abort', 'queued'].includes(server.fate)) server.fate = 'slow';
  const tookMs = server.fate === 'slow' ? 100_000 + random() * 40_000 : 2_000 + random() * 30_000;
  if (!isHanging(server.fate)) clock.at(clock.nowMs + tookMs, () => takeItsCourse(nova, server, migration));
  nova.changed();
  return migration;
}

export const isHanging = (fate: Fate): boolean => fate === 'hang' || fate === 'hangs on abort' || fate === 'queued';

function takeItsCourse(nova: Nova, server: Server, migration: Migration): void {
  if (hasEnded(migration)) return;
  switch (server.fate) {
    case 'fail':
      return ends(nova, server, migration, 'failed');
    case 'error':
      ends(nova, server, migration, 'error');
      server.restsAs = 'error';
      Object.assign(server.instance, { vmState: 'error', status: 'ERROR', fault: 'lost on the way' });
      return nova.changed();
    case 'vanishes':
      nova.servers.delete(server.instance.id);
      migration.status = 'error';
      return nova.changed();
    case 'stays':
      if (migration.type !== 'live-migration') return ends(nova, server, migration, 'error');
      returns(nova, server);
      return ends(nova, server, migration, 'completed');
    case 'ok':
    case 'slow':
    case 'refused':
      return arrives(nova, server, migration);
    case 'hang':
    case 'hangs on abort':
    case 'queued':
  }
}

export const returns = ({ returned }: Nova, { instance }: Server): void => void returned.set(instance.id, (returned.get(instance.id) ?? 0) + 1);

export function arrives(nova: Nova, server: Server, migration: Migration): void {
  if (hasEnded(migration)) return;
  const { instance } = server;
  instance.host = migration.targetHost;
  if (server.migrations.some((earlier) => earlier !== migration && earlier.sourceHost === migration.targetHost)) returns(nova, server);
  if (migration.type === 'live-migration') return ends(nova, server, migration, 'completed');
  migration.status = 'finished';
  Object.assign(instance, { taskState: null, status: 'VERIFY_RESIZE', vmState: 'resized' });
  nova.changed();
}

export const statusOf: Record<string, string> = { active: 'ACTIVE', paused: 'PAUSED', stopped: 'SHUTOFF', suspended: 'SUSPENDED', error: 'ERROR' };

export function ends(nova: Nova, server: Server, migration: Migration, status: string): void {
  if (hasEnded(migration)) return;
  migration.status = status;
  const { instance } = server;
  Object.assign(instance, { taskState: null, vmState: server.restsAs, status: statusOf[server.restsAs] ?? 'ACTIVE' });
  nova.changed();
}

export function confirmResize(nova: Nova, server: Server): void {
  const waiting = server.migrations.find(({ status }) => status === 'finished');
  if (waiting === undefined) return;
  waiting.status = 'confirmed';
  Object.assign(server.instance, { vmState: server.restsAs, status: statusOf[server.restsAs] ?? 'ACTIVE' });
  nova.changed();
}
