import { migrationId } from '../../contracts/ids.ts';
import type { Check } from './objects.ts';
import { concerns } from './objects.ts';
import { hasEnded, inProgress } from './servers.ts';
import type { MigrationFact, Snapshot } from './snapshot.ts';

/** Whose migrations there are, by what Nova was asked. */

type Call = Snapshot['novaCalls'][number];

/** The user agent that has started a migration; null: Nova's journal has none. */
function starterOf({ novaCalls }: Snapshot, instanceId: string, beforeMs: number): string | null {
  const isStart = ({ path, action, status, timeMs }: Call): boolean =>
    status < 300 &&
    timeMs <= beforeMs &&
    (action === 'os-migrateLive' || action === 'migrate' || action === 'resize') &&
    path.includes(instanceId);
  return novaCalls.findLast(isStart)?.userAgent ?? null;
}

interface Span {
  id: number;
  fromMs: number;
  /** Infinity: it lasts. */
  untilMs: number;
}

/** Migrations that drover has begun, each until its server runs elsewhere or where it was. */
function ownSpans(world: Snapshot): Span[] {
  const records = Map.groupBy(world.migrationEvents, ({ id }) => id);
  return [...records].flatMap(([id, events]): Span[] => {
    const [first] = events as [MigrationFact, ...MigrationFact[]];
    const isOwn =
      first.type !== 'evacuation' &&
      concerns(world, first.sourceHost) &&
      starterOf(world, first.instanceId, first.atMs) === 'drover';
    const end = events.find((event) => hasEnded(event) || event.status === 'finished');
    return isOwn ? [{ id, fromMs: first.atMs, untilMs: end?.atMs ?? Infinity }] : [];
  });
}

/** 20: drover has never more migrations in progress than the region may have. */
export const limitIsKept: Check = (world) => {
  const { migrationsPerRegion: limit } = world;
  if (limit === null) return [];
  const spans = ownSpans(world);
  return spans.flatMap(({ id, fromMs }) => {
    const then = spans.filter((other) => other.fromMs <= fromMs && other.untilMs > fromMs);
    if (then.length <= limit) return [];
    const others = then.map((other) => other.id).join(', ');
    return [`migration ${id} makes ${then.length} of drover’s at once (${others}), and the region may have ${limit}`];
  });
};

/** 21: drover confirms what it has begun, all of it: a stranger’s resize only where a user has accepted that. */
export const ownAreConfirmed: Check = (world) => [...strangersConfirmed(world), ...leftUnconfirmed(world)];

function strangersConfirmed(world: Snapshot): string[] {
  const accepted = new Set(
    world.runs.flatMap(({ input }) => {
      const { instance, accepted: isAccepted } = Object(input) as { instance?: { id?: string }; accepted?: boolean };
      return isAccepted === true ? [instance?.id] : [];
    }),
  );
  const confirmed = world.novaCalls.filter(
    ({ action, status, userAgent }) => action === 'confirmResize' && status < 300 && userAgent === 'drover',
  );
  return confirmed.flatMap(({ path, timeMs }) => {
    const id = /\/servers\/([^/]+)\//u.exec(path)?.[1] ?? path;
    const starter = starterOf(world, id, timeMs);
    if (starter === null || starter === 'drover' || accepted.has(id)) return [];
    return [`drover confirmed a resize of server ${id} that ${starter} has begun, and no user has accepted that`];
  });
}

/** Its source keeps the disks and the claim of a server that has moved cold until that is confirmed. */
function leftUnconfirmed(world: Snapshot): string[] {
  if (!world.isQuiet) return [];
  const running = world.runs.filter(({ status }) => status === 'RUNNING');
  const isMoved = (id: string): boolean => running.some(({ workflowId }) => workflowId.endsWith(migrationId(id)));
  // What a run has begun is not known any more once a user has terminated it: its eviction asks that user to confirm.
  const isTerminated = (id: string): boolean =>
    world.runs.some(({ status, workflowId }) => status === 'TERMINATED' && workflowId.endsWith(migrationId(id)));
  const begunMs = new Map(world.migrationEvents.toReversed().map(({ id, atMs }) => [id, atMs]));
  return inProgress(world.migrationEvents)
    .filter(({ status, sourceHost }) => status === 'finished' && concerns(world, sourceHost))
    .filter(({ id, instanceId }) => starterOf(world, instanceId, begunMs.get(id) ?? 0) === 'drover')
    .filter(({ instanceId }) => !isMoved(instanceId) && !isTerminated(instanceId))
    .map(
      ({ id, instanceId, type }) =>
        `${type} ${id} of server ${instanceId}, which drover has begun, is not confirmed, and no run is about to`,
    );
}
