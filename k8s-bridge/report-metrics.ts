import { lifecycleStates } from '../contracts/hypervisor/conditions.ts';
import { notSaid } from '../contracts/kinds/shown.ts';
import type { Kind } from '../contracts/kinds/table.ts';
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
  const startedMs = bridge.now();
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
      all.flatMap(({ kind, objects }) =>
        shownStates(objects, (uid) => since.has(uid)).map((state) => ({ labels: { ...kind, ...state }, value: 1 })),
      ),
    );
    metrics.replace(
      'objectSigns',
      all.flatMap(({ kind, objects }) =>
        objects.flatMap(({ fullName, shown }) =>
          (shown?.signs ?? []).map((sign) => ({ labels: { ...kind, object: fullName, ...sign }, value: 1 })),
        ),
      ),
    );
    const objectsOf = (wanted: Kind): Facts[] =>
      all.filter(({ kind: { kind } }) => kind === wanted).flatMap(({ objects }) => objects);
    metrics.replace('hosts', countHosts(objectsOf('Hypervisor')));
    metrics.replace('evictions', countEvictions(objectsOf('Eviction')));
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
      'evictionStarted',
      evictions.map((facts) => ({ labels: evictionLabels(facts), value: facts.changedMs / 1_000 })),
    );
    metrics.replace(
      'evictionDeadline',
      evictions.flatMap((facts) => {
        const deadlineMs = facts.shown?.deadlineMs ?? null;
        return deadlineMs === null ? [] : [{ labels: evictionLabels(facts), value: deadlineMs / 1_000 }];
      }),
    );
    metrics.replace(
      'bridgeLastContact',
      // Of a kind that was never seen, such as one that a permission is lacking for, since when it is not.
      all.map(({ kind, state: { lastContact } }) => ({
        labels: kind,
        value: (lastContact === null ? startedMs : Date.parse(lastContact)) / 1_000,
      })),
    );
    for (const { kind, state } of all) {
      const before = counted.get(kind.kind) ?? { lists: 0, watches: 0 };
      metrics.count('bridgeLists', kind, state.lists - before.lists);
      metrics.count('bridgeWatches', kind, state.watches - before.watches);
      counted.set(kind.kind, state);
    }
  });
}

/** A series of an object: its labels besides the kind. */
interface ShownState extends Record<'object' | 'reason', string> {
  attention: 'true' | 'false';
}

/**
 * What is in motion, and what rests though a user has to do something about it. Of several objects about one subject
 * only the newest needs attention: an Eviction that failed is forgotten when another one of its host is there.
 */
export function shownStates(
  objects: readonly Pick<Facts, 'uid' | 'fullName' | 'subject' | 'reason' | 'shown' | 'createdMs'>[],
  isOpen: (uid: string) => boolean,
): ShownState[] {
  const newest = new Map<string, number>();
  for (const { subject, createdMs } of objects)
    if (subject !== null) newest.set(subject, Math.max(createdMs, newest.get(subject) ?? 0));
  return objects.flatMap(({ uid, fullName: object, subject, reason, shown, createdMs }): ShownState[] => {
    const isSuperseded = subject !== null && createdMs < (newest.get(subject) ?? 0);
    const attention = isSuperseded ? null : (shown?.attention ?? null);
    if (attention !== null) return [{ object, reason: attention, attention: 'true' }];
    return isOpen(uid) ? [{ object, reason: shown?.reason ?? reason ?? '', attention: 'false' }] : [];
  });
}

/** Every state has a number, so that one that no host is in shows as 0. */
export function countHosts(hosts: readonly Pick<Facts, 'shown'>[]): Sample<'hosts'>[] {
  const counts = new Map<string, number>([...lifecycleStates, notSaid].map((state) => [state, 0]));
  for (const { shown } of hosts) if (shown !== null) counts.set(shown.state, (counts.get(shown.state) ?? 0) + 1);
  return [...counts].map(([state, value]) => ({ labels: { state }, value }));
}

export function countEvictions(evictions: readonly Pick<Facts, 'shown'>[]): Sample<'evictions'>[] {
  const shown = evictions.flatMap((facts) => (facts.shown === null ? [] : [facts.shown]));
  const alike = Map.groupBy(shown, ({ state, cause }) => JSON.stringify([state, cause]));
  return [...alike.values()].map((same) => {
    const { state, cause } = same[0]!;
    return { labels: { state, cause: cause ?? '' }, value: same.length };
  });
}

const evictionLabels = ({ name, subject, shown }: Facts): Record<'object' | 'host' | 'cause', string> => ({
  object: name,
  host: subject ?? '',
  cause: shown?.cause ?? '',
});

const ageSeconds = (sinceMs: readonly number[], nowMs: number): number => (nowMs - Math.min(nowMs, ...sinceMs)) / 1_000;

/** None where the object does not say. */
const sampleOf = (
  { name, subject }: Facts,
  value: number | undefined,
): Sample<'evictionInstances' | 'evictionMemory'>[] =>
  value === undefined ? [] : [{ labels: { object: name, host: subject ?? '' }, value }];

/** Since when objects have not been reconciled. */
export interface UnreconciledClock {
  /**
   * Takes in what there is now. Returns for each object that is not reconciled since when, in milliseconds
   * since the epoch.
   */
  take(objects: Iterable<Pick<Facts, 'uid' | 'reconciled' | 'changedMs'>>, nowMs: number): Map<string, number>;
}

/**
 * An object that is found unreconciled at first has been so since it last changed as far as it says itself; later ones
 * since they were found so.
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
