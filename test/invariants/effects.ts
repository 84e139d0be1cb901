import { smokeServerName } from '../../activities/nova/smoke-server.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { workflowTypes } from '../../contracts/ids.ts';
import { type Check, concerns, eventsOf, nameOf, objectsOf } from './objects.ts';
import { endMsOf, serviceChanges } from './servers.ts';
import type { DroverObject, Snapshot } from './snapshot.ts';

/**
 * 16: what drover does to an outside system happens once for its object, and what it makes is its object's: observed in
 * what that system has written down itself. A call that is sent twice, of which the second finds the first one's
 * effect, is no second effect.
 */
export const effectsHappenOnce: Check = (world) => [
  ...migrationsAtOnce(world),
  ...serviceChangedAgain(world),
  ...evictionsAtOnce(world),
  ...vmsAtOnce(world),
  ...leftBehind(world),
];

interface Span {
  id: string;
  fromMs: number;
  /** Infinity: it lasts. */
  untilMs: number;
}

/** Pairs of neighbours that last at the same time. */
function overlaps(spans: readonly Span[]): [Span, Span][] {
  const ordered = spans.toSorted((a, b) => a.fromMs - b.fromMs);
  return ordered.flatMap((span, index): [Span, Span][] => {
    const next = ordered[index + 1];
    return next !== undefined && span.untilMs > next.fromMs ? [[span, next]] : [];
  });
}

/**
 * A server is moved by one migration at a time, and evacuated by one. An evacuation ends a migration that its dead host
 * has left.
 */
function migrationsAtOnce(world: Snapshot): string[] {
  const concerned = world.migrationEvents.filter(({ sourceHost }) => concerns(world, sourceHost));
  const kinds = Map.groupBy(
    concerned,
    ({ instanceId, type }) => `${instanceId}/${type === 'evacuation' ? 'evacuated' : 'moved'}`,
  );
  return [...kinds].flatMap(([key, events]) => {
    const [server, how] = key.split('/');
    const records = [...Map.groupBy(events, ({ id }) => id)].map(([id, those]): Span => ({
      id: String(id),
      fromMs: those[0]?.atMs ?? 0,
      untilMs: endMsOf(those, concerned),
    }));
    return overlaps(records).map(
      ([one, other]) => `server ${server} is ${how} by migrations ${one.id} and ${other.id} at once`,
    );
  });
}

/** drover disables or enables a compute service once, until a user changes it. */
function serviceChangedAgain(world: Snapshot): string[] {
  const found: string[] = [];
  for (const [host, changes] of Map.groupBy(serviceChanges(world), (change) => change.host)) {
    if (!concerns(world, host)) continue;
    for (const [index, { enabled, byDrover, atMs }] of changes.entries()) {
      const before = changes[index - 1];
      if (!byDrover || before === undefined || !before.byDrover || before.enabled !== enabled) continue;
      found.push(
        `drover ${enabled ? 'enabled' : 'disabled'} ${host} again, ${(atMs - before.atMs).toFixed(0)} ms after it had`,
      );
    }
  }
  return found;
}

/** A Hypervisor has one Eviction at a time. */
function evictionsAtOnce(world: Snapshot): string[] {
  const lives = new Map<string, Span & { owner: string | null; host: string }>();
  for (const { atMs, type, object } of eventsOf(world, 'Eviction')) {
    const { uid, name } = object.metadata;
    const life = lives.get(uid) ?? {
      id: `${name} (${uid})`,
      fromMs: atMs,
      untilMs: Infinity,
      owner: ownerOf(object),
      host: object.spec.hypervisor,
    };
    lives.set(uid, type === 'DELETED' ? { ...life, untilMs: atMs } : life);
  }
  const owned = [...lives.values()].filter(({ owner, host }) => owner !== null && concerns(world, host));
  return [...Map.groupBy(owned, ({ owner }) => owner)].flatMap(([, those]) =>
    overlaps(those).map(
      ([one, other]) => `Hypervisor ${those[0]?.host} has two Evictions at once: ${one.id}, ${other.id}`,
    ),
  );
}

/** Uid of its controller. */
function ownerOf({ metadata }: DroverObject): string | null {
  const { ownerReferences = [] } = metadata as { ownerReferences?: { uid: string; controller?: boolean }[] };
  return ownerReferences.find(({ controller }) => controller === true)?.uid ?? null;
}

/** A VirtualMachine has one VM at any time, not only in the end. */
function vmsAtOnce({ vmsMade }: Snapshot): string[] {
  const spans = vmsMade.map(({ id, uid, madeAtMs, goneAtMs }) => ({
    uid,
    id,
    fromMs: madeAtMs,
    untilMs: goneAtMs ?? Infinity,
  }));
  return [...Map.groupBy(spans, ({ uid }) => uid)].flatMap(([uid, those]) =>
    overlaps(those).map(([one, other]) => `VirtualMachine ${uid} had two VMs at once: ${one.id}, ${other.id}`),
  );
}

/** What drover has made and no object knows of: it would never be taken away. */
function leftBehind(world: Snapshot): string[] {
  if (!world.isQuiet) return [];
  const servers = objectsOf(world, 'Hypervisor').flatMap((object) => {
    const host = object.metadata.name;
    const lifecycle = findCondition(object.status?.conditions, hypervisorConditions.lifecycle);
    if (!concerns(world, host) || lifecycle === undefined || lifecycle.status === 'Unknown') return [];
    const left = world.servers.filter(({ name }) => name === smokeServerName(host));
    return left.map(({ id }) => `${nameOf(object)} is ${lifecycle.reason}, and its test server ${id} is left`);
  });
  return [...modulesLeftBehind(world), ...servers];
}

/**
 * vCenter has no name for a module: one that is made while the answer is lost stays behind, empty
 * (docs/adr/0015-what-policies-name.md).
 */
function modulesLeftBehind(world: Snapshot): string[] {
  const policies = objectsOf(world, 'VirtualMachineSetResourcePolicy');
  const known = new Set(
    policies.flatMap(({ status }) => (status?.clustermodules ?? []).map(({ moduleUUID }) => moduleUUID)),
  );
  const left = world.clusterModules.filter(({ id }) => !known.has(id));
  const answersLost = world.runs
    .filter(({ type }) => type === workflowTypes.reconcileSetResourcePolicy)
    .reduce(
      (sum, { status, failures, retries }) =>
        sum + failures + retries + (['COMPLETED', 'CONTINUED_AS_NEW', 'RUNNING'].includes(status) ? 0 : 1),
      0,
    );
  const inUse = left.filter(({ members }) => members > 0);
  const ofNone = 'of no VirtualMachineSetResourcePolicy';
  const many = `${left.length} cluster modules are ${ofNone}, and ${answersLost} answers were lost`;
  return [
    ...inUse.map(({ id, members }) => `cluster module ${id} has ${members} VMs, and is ${ofNone}`),
    ...(left.length <= answersLost ? [] : [`${many}: ${left.map(({ id }) => id).join(', ')}`]),
  ];
}
