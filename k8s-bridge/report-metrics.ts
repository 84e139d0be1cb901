import type { Metrics, Sample } from '../runtime/telemetry/metrics.ts';
import type { Facts } from './facts.ts';
import type { FollowedKind } from './follow.ts';
import type { ReflectorState } from './reflector.ts';
import { createUnsettledClock } from './unsettled.ts';
import type { WorkQueueStats } from './work-queue.ts';

/** What the bridge shows of itself when Prometheus asks. */
export interface ReportedBridge {
  kinds(): readonly FollowedKind[];
  queue(): WorkQueueStats;
  leading(): boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Fills the bridge's gauges before each page: from the copies it holds anyway, so that nothing is asked of anybody. */
export function reportMetrics(metrics: Metrics, bridge: ReportedBridge): void {
  const unsettled = createUnsettledClock();
  const counted = new Map<string, Pick<ReflectorState, 'lists' | 'watches'>>();
  metrics.beforePage(() => {
    const nowMs = bridge.now();
    const all = bridge.kinds().map(({ kind, ...rest }) => ({ ...rest, kind: { kind } }));
    const since = unsettled.look(
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
      'unsettledObjects',
      open.map(({ kind, objects }) => ({ labels: kind, value: objects.length })),
    );
    metrics.replace(
      'oldestUnsettled',
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
