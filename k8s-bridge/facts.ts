import { findCondition } from '../contracts/conditions.ts';
import { readWatched, type Watched } from '../contracts/kinds/digest.ts';
import type { ActiveMode, Outstanding, WatchedFields } from '../contracts/kinds/kind.ts';
import { conditionsOf, fullNameOf, type KubeObject } from '../contracts/kinds/object.ts';
import { retryHandledAnnotation } from '../contracts/eviction/annotations.ts';
import { annotations } from '../contracts/ids.ts';
import type { Shown } from '../contracts/kinds/shown.ts';
import { isIndexed, isReconciled, keyOf, nameOf, type Route, subjectOf } from './routes.ts';
import type { Identity } from './store.ts';

/**
 * What the bridge keeps of an object: enough to decide which changes matter, and to decide without reading it again.
 */
export interface Facts extends Identity {
  name: string;
  namespace: string | null;
  /** As people and metrics call it: `namespace/name` where it has a namespace. */
  fullName: string;
  generation: number;
  /** What the run is found by; null where the object does not say. */
  subject: string | null;
  deleting: boolean;
  /** The objects of other kinds that it names, as `nameOf` has them. */
  names: readonly string[];
  /** What others name it by; null: nothing. */
  key: string | null;
  /** Uids or full names of the objects that it was made for: see `madeFor` of the kind table. */
  madeFor: readonly string[];
  /** Value of `drover.dev/retry`. */
  retry: string | null;
  /** A user asked for a retry that no run has taken up. */
  retryPending: boolean;
  /** As far as the object itself says. */
  reconciled: boolean;
  /** See `KindRow.lacksSecret`. */
  lacksSecret: boolean;
  /** The newest generation that drover has reported on in a condition. */
  reportedGeneration: number | null;
  /** Of the condition that drover reports in. */
  reason: string | null;
  /** When it was made, or that condition last turned; milliseconds since the epoch by its writer's clock. */
  changedMs: number;
  /** When it was made; milliseconds since the epoch. */
  createdMs: number;
  /** For metrics; null where the kind shows nothing. */
  shown: Shown | null;
  /** What is left to do, where the kind counts that; null where it, or this object, does not. */
  outstanding: Outstanding | null;
  watched: Watched;
}

/** Reads what a route watches. Pure; never throws. */
export function readFacts(route: Route, object: KubeObject, mode: ActiveMode): Facts {
  const { row, watch } = route;
  const { metadata } = object;
  const given = metadata.annotations ?? {};
  // Of the kind's own objects alone: on others, a retry is no word to drover.
  const retry = watch === null ? (given[annotations.retry] ?? null) : null;
  const type = watch === null ? row.condition?.(object, mode) : undefined;
  const condition = type === undefined ? undefined : findCondition(conditionsOf(object), type);
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? null,
    fullName: fullNameOf(object),
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    subject: subjectOf(route, object),
    names: route.indexes.flatMap((watch) => watch.index(object).map((name) => nameOf(watch.resource, name))),
    key: keyOf(route, object),
    madeFor: watch !== null && isIndexed(watch) ? (watch.madeFor?.(object) ?? []) : [],
    deleting: metadata.deletionTimestamp !== undefined,
    retry,
    retryPending: retry !== null && retry !== given[retryHandledAnnotation],
    reconciled: isReconciled(route, object, mode),
    lacksSecret: watch === null && row.lacksSecret?.(object) === true,
    reportedGeneration: condition?.observedGeneration ?? null,
    reason: typeof condition?.reason === 'string' ? condition.reason : null,
    changedMs: Math.max(0, ...[metadata.creationTimestamp, condition?.lastTransitionTime].map((time) => timeMs(time))),
    createdMs: timeMs(metadata.creationTimestamp),
    shown: watch === null ? (row.shown?.(object, mode) ?? null) : null,
    outstanding: watch === null ? (row.outstanding?.(object) ?? null) : null,
    watched: readWatched(watch?.predicate ?? row.predicate, object, row.finalizer),
  };
}

/** 0 for what is no time: an object may hold anything. */
const timeMs = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) || 0 : 0);

/** Why a run is signalled, for people. `prerequisite`: something that the object names has changed. */
export type Cause =
  | 'spec'
  | 'prerequisite'
  | 'deleted'
  | 'retry'
  | 'annotations'
  | 'labels'
  | 'finalizers'
  | 'status'
  | 'relist'
  | 'resync';

/**
 * Which of the changes that matter lie between two states of one object. None: whatever changed does not concern a run,
 * such as drover's own status writes. Pure; each line is a row of the table test.
 */
export function findCauses(before: Facts | null, after: Facts): Cause[] {
  if (before === null) return after.deleting ? ['deleted'] : ['spec'];
  // Deleting moves the generation too, and says more.
  if (after.deleting && !before.deleting) return ['deleted'];
  const causes = new Set<Cause>();
  if (after.watched.generation !== before.watched.generation) causes.add('spec');
  if (after.retry !== before.retry && after.retry !== null) causes.add('retry');
  for (const what of ['annotations', 'labels', 'finalizers'] as const) {
    if (after.watched[what] !== before.watched[what]) causes.add(what);
  }
  for (const cause of fieldCauses(before.watched.fields, after.watched.fields)) causes.add(cause);
  return [...causes];
}

/** Of fields that another writer than drover has changed. Nothing says who removed one: then its last writer counts. */
function fieldCauses(before: WatchedFields, after: WatchedFields): Cause[] {
  const paths = Object.keys({ ...before, ...after }) as (keyof WatchedFields)[];
  const changed = paths.filter(
    (path) => before[path]?.value !== after[path]?.value && !((after[path] ?? before[path])?.own ?? false),
  );
  return changed.map((path) => {
    if (path === 'metadata.generation' || path.startsWith('spec.')) return 'spec';
    if (path === 'metadata.labels') return 'labels';
    return path.startsWith('metadata.') ? 'annotations' : 'status';
  });
}
