import { findCondition, setConditions } from '../../../contracts/conditions.ts';
import type { Condition, ConditionUpdate } from '../../../contracts/conditions.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import type { DesiredEviction } from '../../../contracts/eviction/eviction.ts';
import {
  bootIdAnnotation,
  onlyObserves,
  retryHandledAnnotation,
  runIdAnnotation,
} from '../../../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../../../contracts/eviction/conditions.ts';
import { annotations, evictionFinalizer } from '../../../contracts/ids.ts';
import type { Tools } from './dependencies.ts';

type Mode = DesiredEviction['mode'];

/**
 * Marks the Eviction as served by this run. The status comes first: an Eviction whose retry counts as taken up must not look settled if
 * this worker dies in between.
 *
 * @param bootId of the host's Node now; null where there is none
 */
export async function beginServing(
  { client, scope, clock }: Tools,
  eviction: Eviction,
  mode: Mode,
  bootId: string | null,
): Promise<Eviction> {
  const conditions = beginConditions(eviction, mode, new Date(clock.now()));
  const told =
    conditions === null ? eviction : await client.patchEvictionStatus(eviction.metadata, { conditions }, scope.signal);
  const change = beginMetadata(eviction, mode, scope.run?.runId ?? null, bootId);
  return change === null ? told : await client.patchEvictionMetadata(told.metadata, change, scope.signal);
}

/** Conditions of an earlier run, that say nothing of the one that begins. Where drover only observes, all but its own are somebody else's. */
const ofEarlierRun: Record<Mode, readonly string[]> = {
  act: [
    evictionConditions.preflight,
    evictionConditions.migrating,
    evictionConditions.reEnabled,
    evictionConditions.observed,
  ],
  observe: [],
};

/**
 * The conditions of an Eviction whose run begins; null when they say so already. Pure.
 *
 * @param asked the mode of the run
 */
export function beginConditions({ metadata, spec, status }: Eviction, asked: Mode, now: Date): Condition[] | null {
  const mode = onlyObserves(metadata, asked) ? 'observe' : 'act';
  const running: ConditionUpdate = {
    type: mode === 'act' ? evictionConditions.evicting : evictionConditions.observed,
    status: mode === 'act' ? 'True' : 'Unknown',
    reason: evictingReasons.running,
    message: `Opening ${spec.hypervisor}`,
    observedGeneration: metadata.generation,
  };
  const before = status?.conditions ?? [];
  // A run that takes over from one that was lost leaves its words until it has better ones.
  if (findCondition(before, running.type)?.status === running.status) return null;
  const kept = before.filter(({ type }) => !ofEarlierRun[mode].includes(type));
  return [...setConditions(kept, [running], now.toISOString())];
}

/** What the metadata must say besides what it says; null: nothing. Pure. */
export function beginMetadata(
  { metadata }: Eviction,
  mode: Mode,
  runId: string | null,
  bootId: string | null,
): { annotations?: Record<string, string>; finalizers?: string[] } | null {
  const { annotations: there = {}, finalizers = [] } = metadata;
  const isHeld = finalizers.includes(evictionFinalizer);
  const wanted: Record<string, string | null | undefined> = {
    [runIdAnnotation]: runId,
    [retryHandledAnnotation]: there[annotations.retry],
    // One that is held began before this run: its node may have restarted since.
    [bootIdAnnotation]: isHeld ? (there[bootIdAnnotation] ?? bootId) : bootId,
  };
  const changed = Object.entries(wanted).flatMap(([key, value]) =>
    value === null || value === undefined || there[key] === value ? [] : [[key, value] as const],
  );
  const holds = mode === 'act' && !isHeld;
  if (changed.length === 0 && !holds) return null;
  return {
    ...(changed.length > 0 && { annotations: Object.fromEntries(changed) }),
    ...(holds && { finalizers: [...finalizers, evictionFinalizer] }),
  };
}
