import type { Eviction } from '../../contracts/crds/eviction.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { Check } from './objects.ts';
import { concerns, eventsOf, evictionsOf, objectsOf } from './objects.ts';
import { offs } from './power.ts';
import type { MigrationFact, Snapshot } from './snapshot.ts';

/** Where servers are, and how they came there. */

/** 2: no server is on two hosts or on none, none is lost, each is as it was. */
export const everyServerOnce: Check = (world) => {
  const { expectedServers, servers, guests, migrationEvents } = world;
  const found: string[] = [];
  const moving = inProgress(migrationEvents);
  // Of one that was moved cold until that is confirmed.
  const isMoving = (id: string): boolean => moving.some(({ instanceId }) => instanceId === id);
  for (const { id, name, host, status } of expectedServers) {
    if (!concerns(world, host) || status === null) continue;
    const server = servers.find((one) => one.id === id);
    if (server === undefined) found.push(`server ${name} (${id}) is lost: Nova does not know it`);
    else if (server.host === null) found.push(`server ${name} (${id}) is on no host, in ${server.status}`);
    else if (server.taskState === null && server.status !== status && !isMoving(id) && !lostItsHost(world, id, server))
      found.push(`server ${name} (${id}) is ${server.status} and was ${status}`);
  }
  // A machine has more while a migration arrives, and a cold one keeps the source's copy until it is confirmed.
  const inMotion = new Set(moving.flatMap(({ sourceHost, targetHost }) => [sourceHost, targetHost]));
  for (const [host, count] of Object.entries(guests)) {
    const known = servers.filter((server) => server.host === host);
    const isUnsure = known.some(({ taskState, status }) => taskState !== null || status === 'ERROR');
    if (inMotion.has(host) || !concerns(world, host) || isUnsure) continue;
    if (count <= known.length + strandedOn(world, host)) continue;
    found.push(`host ${host} holds ${count} guests, and Nova knows ${known.length} there: a server is on two hosts`);
  }
  return found;
};

/**
 * Nova gives up a server whose source or target was without power at any time between the request for its migration
 * and the migration's end: its guest is gone, or has nowhere to go, and no controller can help that.
 */
function lostItsHost({ migrationEvents, power }: Snapshot, id: string, { status }: { status: string }): boolean {
  const last = migrationEvents.findLast(({ instanceId }) => instanceId === id);
  if (status !== 'ERROR' || last?.status !== 'error') return false;
  const fromMs = migrationEvents.find((event) => event.id === last.id)?.atMs ?? 0;
  return [last.sourceHost, last.targetHost].some((host) =>
    offs(power[host ?? ''] ?? []).some((off) => off.fromMs < last.atMs && off.untilMs > fromMs),
  );
}

/**
 * Guests of servers that a user has deleted while they arrived: Nova ends such a migration in error, knows the guest no
 * more, and reaps it half an hour later (`running_deleted_instance_action`).
 */
function strandedOn({ expectedServers, migrationEvents }: Snapshot, host: string): number {
  const last = new Map(migrationEvents.map((event) => [event.instanceId, event]));
  return expectedServers.filter(({ id, status }) => {
    const move = last.get(id);
    return status === null && move?.targetHost === host && move.status === 'error';
  }).length;
}

const ended = new Set(['completed', 'confirmed', 'reverted', 'error', 'failed', 'cancelled', 'done']);

export const hasEnded = ({ status }: Pick<MigrationFact, 'status'>): boolean => ended.has(status);

/**
 * When a migration has ended, by its record, or by the evacuation of its server: the record of a migration that a dead
 * host has left, which only that host writes, says `running` for ever. Infinity: it lasts.
 *
 * @param record the events of the migration
 * @param all those of all migrations
 */
export function endMsOf(record: readonly MigrationFact[], all: readonly MigrationFact[]): number {
  const [first] = record;
  if (first === undefined) return Infinity;
  const isEvacuation = ({ instanceId, type, status, sourceHost, atMs }: MigrationFact): boolean =>
    instanceId === first.instanceId &&
    type === 'evacuation' &&
    status === 'done' &&
    sourceHost === first.sourceHost &&
    atMs > first.atMs;
  const own = record.find(hasEnded);
  const foreign = first.type === 'evacuation' ? undefined : all.find(isEvacuation);
  return Math.min(own?.atMs ?? Infinity, foreign?.atMs ?? Infinity);
}

/** The last event of each migration that has not ended. */
export const inProgress = (events: readonly MigrationFact[]): MigrationFact[] =>
  [...Map.groupBy(events, ({ id }) => id).values()]
    .filter((record) => endMsOf(record, events) === Infinity)
    .flatMap((record) => record.at(-1) ?? []);

/** 3: no server is moved twice by one eviction, unless it came back in between. */
export const movedOnce: Check = (world) => {
  const found: string[] = [];
  const evicted = new Set(
    [...objectsOf(world, 'Eviction'), ...eventsOf(world, 'Eviction').map(({ object }) => object)].map(
      ({ spec }) => spec.hypervisor,
    ),
  );
  for (const { metadata, spec, sinceMs, untilMs } of spans(world)) {
    const host = spec.hypervisor;
    const here = world.migrationEvents.filter(
      ({ atMs, status }) => ['completed', 'confirmed'].includes(status) && atMs >= sinceMs && atMs < untilMs,
    );
    for (const [instanceId, those] of Map.groupBy(here, (event) => event.instanceId)) {
      const away = recordsOf(those, ({ sourceHost }) => sourceHost === host);
      const back = recordsOf(those, ({ targetHost }) => targetHost === host);
      const server = `server ${instanceId}`;
      if (away.length > 1 + back.length)
        found.push(
          `${server} was moved ${away.length} times by Eviction ${metadata.name}: migrations ${away.join(', ')}`,
        );
      // No other Eviction empties the host that it went to, so it was the same one that moved it on.
      const onward = recordsOf(
        those,
        ({ sourceHost }) => away.length > 0 && back.length === 0 && !evicted.has(sourceHost),
      );
      if (onward.length === 0) continue;
      const left = `had left by Eviction ${metadata.name} (migration ${away.join(', ')})`;
      found.push(`${server} ${left} and was moved on: migrations ${onward.join(', ')}`);
    }
  }
  return found;
};

const recordsOf = (events: readonly MigrationFact[], which: (event: MigrationFact) => boolean): number[] => [
  ...new Set(events.filter(which).map(({ id }) => id)),
];

/** Each Eviction, and the time in which its host was its own. */
function spans(world: Snapshot): (Pick<Eviction, 'metadata' | 'spec'> & { sinceMs: number; untilMs: number })[] {
  const evictions = [...eventsOf(world, 'Eviction').map(({ object }) => object), ...objectsOf(world, 'Eviction')];
  const all = [...new Map(evictions.map((eviction) => [eviction.metadata.uid, eviction])).values()]
    .filter(({ spec }) => concerns(world, spec.hypervisor))
    .map(({ metadata, spec }) => ({ metadata, spec, sinceMs: Date.parse(metadata.creationTimestamp) }));
  const next = (host: string, sinceMs: number): number =>
    Math.min(
      ...all.filter((other) => other.spec.hypervisor === host && other.sinceMs > sinceMs).map((other) => other.sinceMs),
    );
  return all.map((eviction) => ({ ...eviction, untilMs: next(eviction.spec.hypervisor, eviction.sinceMs) }));
}

/** A change of a compute service that Nova has made. */
export interface ServiceChange {
  host: string;
  atMs: number;
  /** When it was asked, and when Nova had answered: in between, Nova made the change. */
  requestedMs: number;
  answeredMs: number;
  enabled: boolean;
  byDrover: boolean;
}

/**
 * Changes of compute services, in order: one that disables counts from its answer, one that enables from when it was
 * asked. A service that is gone takes no servers.
 */
export function serviceChanges({ novaCalls, services }: Pick<Snapshot, 'novaCalls' | 'services'>): ServiceChange[] {
  const hosts = new Map(services.map(({ id, host }) => [id, host]));
  const changes = novaCalls.flatMap(({ method, path, action, status, timeMs, durationMs, userAgent }) => {
    const host = hosts.get(/\/os-services\/([^/]+)$/u.exec(path)?.[1] ?? '');
    if (method !== 'PUT' || host === undefined || status >= 300 || (action !== 'enabled' && action !== 'disabled'))
      return [];
    const enabled = action === 'enabled';
    const answeredMs = timeMs + durationMs;
    const atMs = enabled ? timeMs : answeredMs;
    return [{ host, atMs, requestedMs: timeMs, answeredMs, enabled, byDrover: userAgent === 'drover' }];
  });
  return changes.toSorted((a, b) => a.atMs - b.atMs);
}

/** 4: no server is started on a host that drover had disabled, and that stayed disabled until Nova had chosen it. */
export const noneToDisabledHosts: Check = (world) => {
  const first = new Map<number, MigrationFact>();
  const chosen = new Map<number, MigrationFact>();
  for (const event of world.migrationEvents) {
    if (!first.has(event.id)) first.set(event.id, event);
    if (event.targetHost !== null && !chosen.has(event.id)) chosen.set(event.id, event);
  }
  const changes = serviceChanges(world);
  const found: string[] = [];
  for (const { id, instanceId, targetHost, status } of new Map(
    world.migrationEvents.map((event) => [event.id, event]),
  ).values()) {
    if (targetHost === null || !concerns(world, targetHost)) continue;
    const beganMs = first.get(id)?.atMs ?? 0;
    const ofHost = changes.filter(({ host }) => host === targetHost);
    const last = ofHost.findLast(({ atMs }) => atMs < beganMs);
    if (last === undefined || last.enabled || !last.byDrover) continue;
    if (hasLostTo(last, ofHost, world.services)) continue;
    // The scheduler chooses at some time between Nova's answer and the first record with a target.
    const chosenMs = chosen.get(id)?.atMs ?? beganMs;
    if (ofHost.some(({ enabled, atMs }) => enabled && atMs >= beganMs && atMs <= chosenMs)) continue;
    const disabled = `which drover had disabled ${beganMs - last.atMs} ms before`;
    found.push(`migration ${id} of server ${instanceId} (${status}) went to ${targetHost}, ${disabled}`);
  }
  return found;
};

/**
 * Whether the service stayed enabled although drover disabled it: another user had asked to enable it, and Nova made
 * both changes at once. Which of them it made last is known by what came then: drover disables only what it has read to
 * be enabled, and without another change the service is as it is now.
 */
function hasLostTo(disable: ServiceChange, ofHost: readonly ServiceChange[], services: Snapshot['services']): boolean {
  const at = ofHost.indexOf(disable);
  const isBeside = ofHost
    .slice(0, at)
    .some(({ enabled, byDrover, answeredMs }) => enabled && !byDrover && answeredMs > disable.requestedMs);
  if (!isBeside) return false;
  const next = ofHost[at + 1];
  if (next === undefined) return services.find(({ host }) => host === disable.host)?.status === 'enabled';
  return next.byDrover && !next.enabled && next.requestedMs > disable.answeredMs;
}

/** 5: an eviction that succeeded leaves an empty host, for as long as the host stays disabled. */
export const succeededMeansEmpty: Check = (world) => {
  const found: string[] = [];
  for (const { spec, metadata, status } of evictionsOf(world)) {
    const condition = findCondition(status?.conditions, 'Evicting');
    if (condition?.status !== 'False' || condition.reason !== 'Succeeded') continue;
    const host = spec.hypervisor;
    if (world.services.find((service) => service.host === host)?.status !== 'disabled') continue;
    const claim = `Eviction ${metadata.name} says Succeeded, and`;
    const left = world.servers.filter((server) => server.host === host);
    if (left.length > 0) found.push(`${claim} on ${host} Nova has ${left.map(({ name }) => name).join(', ')}`);
    const allocated = world.allocations[host] ?? [];
    if (allocated.length > 0) found.push(`${claim} on ${host} Placement has allocations of ${allocated.join(', ')}`);
    const moving = inProgress(world.migrationEvents).filter(
      ({ sourceHost, targetHost }) => sourceHost === host || targetHost === host,
    );
    if (moving.length > 0) found.push(`${claim} migrations ${moving.map(({ id }) => id).join(', ')} concern ${host}`);
  }
  return found;
};
