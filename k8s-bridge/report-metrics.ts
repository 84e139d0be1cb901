import type { Metrics, Sample } from '../runtime/telemetry/metrics.ts';
import type { Facts } from './facts.ts';
import type { FollowedKind } from './follow.ts';
import type { ReflectorState } from './reflector.ts';
import type { WorkQueueStats } from './work-queue.ts';

/** What the bridge shows of itself when Prometheus asks. */
export interface ReportedBridge {
  kinds(): readonly FollowedKind[];
  queue(): WorkQueueStats;
  leading(): boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Fills the bridge's gauges before each page: from the copies it holds anyway, so that it sends no request. */
export function reportMetrics(metrics: Metrics, bridge: ReportedBridge): void {
  const unreconciled = createUnreconciledClock();
  const counted = new Map<string, Pick<ReflectorState, 'lists' | 'watches'>>();
  metrics.beforePage(() => {
    const nowMs = bridge.now();
    const all = bridge.kinds().map(({ kind, ...rest }) => ({ ...rest, kind: { kind } }));
    const since = unreconciled.take(
      all.flatMap(({ objects }) => objects),
      nowMs,
    );
    const open = all.map(({ objects, ...rest }) => ({ ...rest, objects: objects.filter(({ uid }) => since.has(uid)) }));

    const { fresh, resync, inFlight, backingOff } = bridge.queue();
    const states = { fresh, resync, in_flight: inFlight, backing_off: backingOff };
    metrics.replace(
      'bridgeQueue',
      Object.entries(states).map(([state, value]) => ({ labels: { state }, value })),
    );
    metrics.replace('bridgeLeading', [{ labels: {}, value: bridge.leading() ? 1 : 0 }]);
    metrics.replace(
      'objects',
      all.map(({ kind, state: { objects } }) => ({ labels: kind, value: objects })),
    );
    metrics.replace(
      'unreconciledObjects',
      open.map(({ kind, objects }) => ({ labels: kind, value: objects.length })),
    );
    metrics.replace(
      'oldestUnreconciled',
      open.map(({ kind, objects }) => ({
        labels: kind,
        value: ageSeconds(
          objects.map(({ uid }) => since.get(uid) ?? nowMs),
          nowMs,
        ),
      })),
    );
    metrics.replace(
      'objectState',
      open.flatMap(({ kind, objects }) =>
        objects.map(({ fullName, reason }) => ({
          labels: { ...kind, object: fullName, reason: reason ?? '' },
          value: 1,
        })),
      ),
    );
    const evictions = open.filter(({ kind: { kind } }) => kind === 'Eviction').flatMap(({ objects }) => objects);
    metrics.replace(
      'evictionInstances',
      evictions.flatMap((facts) => sampleOf(facts, facts.outstanding?.instances)),
    );
    metrics.replace(
      'evictionMemory',
      evictions.flatMap((facts) => sampleOf(facts, facts.outstanding?.memoryBytes)),
    );
    metrics.replace(
      'bridgeLastContact',
      all.flatMap(({ kind, state }) =>
        state.lastContact === null ? [] : [{ labels: kind, value: Date.parse(state.lastContact) / 1_000 }],
      ),
    );
    for (const { kind, state } of all) {
      const before = counted.get(kind.kind) ?? { lists: 0, watches: 0 };
      metrics.count('bridgeLists', kind, state.lists - before.lists);
      metrics.count('bridgeWatches', kind, state.watches - before.watches);
      counted.set(kind.kind, state);
    }
  });
}

const ageSeconds = (sinceMs: readonly number[], nowMs: number): number => (nowMs - Math.min(nowMs, ...sinceMs)) / 1_000;

/** None where the object does not say. */
const sampleOf = (
  { name, subject }: Facts,
  value: number | undefined,
): Sample<'evictionInstances' | 'evictionMemory'>[] =>
  value === undefined ? [] : [{ labels: { object: name, host: subject ?? '' }, value }];

/** Since when objects have not been reconciled. */
export interface UnreconciledClock {
  /** Takes in what there is now. Returns for each object that is not reconciled since when, in milliseconds since the epoch. */
  take(objects: Iterable<Pick<Facts, 'uid' | 'reconciled' | 'changedMs'>>, nowMs: number): Map<string, number>;
}

/**
 * An object that is found unreconciled at first has been so since it last changed as far as it says itself; later ones since they were
 * found so.
 */
export function createUnreconciledClock(): UnreconciledClock {
  /** By uid; null: reconciled. */
  let known = new Map<string, number | null>();
  return {
    take(objects, nowMs) {
      const now = new Map<string, number | null>();
      for (const { uid, reconciled, changedMs } of objects) {
        const before = known.get(uid);
        now.set(uid, reconciled ? null : (before ?? (before === undefined ? Math.min(changedMs, nowMs) : nowMs)));
      }
      known = now;
      return new Map([...now].filter((entry): entry is [string, number] => entry[1] !== null));
    },
  };
}
