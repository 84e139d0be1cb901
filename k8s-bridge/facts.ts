import type { ActiveMode } from '../contracts/kinds/kind.ts';
import { findCondition } from '../contracts/conditions.ts';
import { annotations } from '../contracts/ids.ts';
import type { KubeObject } from './kube-object.ts';
import { conditionsOf, fullNameOf, type Outstanding, type Route, type WatchedFields } from './route.ts';
import type { Identity } from './store.ts';

/** What the bridge keeps of an object: enough to tell which changes matter, and to decide without reading it again. */
export interface Facts extends Identity {
  name: string;
  namespace: string | null;
  /** As people and metrics call it: `namespace/name` where it has a namespace. */
  fullName: string;
  generation: number;
  /** What the run is found by; null where the object does not say. */
  subject: string | null;
  deleting: boolean;
  /** The objects of other kinds that it names. */
  names: readonly string[];
  /** Whether drover's finalizer is on it. */
  held: boolean;
  /** Value of `drover.dev/retry`. */
  retry: string | null;
  /** Somebody asked for a retry that no run has taken up. */
  retryPending: boolean;
  /** As far as the object itself tells. */
  settled: boolean;
  /** The newest generation that drover has reported on in a condition. */
  reportedGeneration: number | null;
  /** Of the condition that drover reports in. */
  reason: string | null;
  /** When it was made, or that condition last turned; milliseconds since the epoch by the clock of whoever wrote it. */
  changedMs: number;
  /** What is left to do, where the kind tells that in figures; null where it, or this object, does not. */
  outstanding: Outstanding | null;
  /** What is watched besides; each text is equal when nothing changed. */
  watched: {
    /** Null: the kind's generation does not matter. */
    generation: number | null;
    annotations: string;
    labels: string;
    finalizers: string;
    fields: WatchedFields;
  };
}

/** Reads what a route looks at. Pure; never throws. */
export function readFacts(route: Route, object: KubeObject, mode: ActiveMode): Facts {
  const { metadata } = object;
  const given = metadata.annotations ?? {};
  const retry = route.retryHandled === null ? null : (given[annotations.retry] ?? null);
  const finalizers = route.finalizer === null ? [] : (metadata.finalizers ?? []);
  const type = route.condition(object, mode);
  const condition = type === null ? undefined : findCondition(conditionsOf(object), type);
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? null,
    fullName: fullNameOf(object),
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    subject: route.subject(object),
    names: route.names?.(object) ?? [],
    deleting: metadata.deletionTimestamp !== undefined,
    held: finalizers.some((finalizer) => finalizer === route.finalizer),
    retry,
    retryPending: retry !== null && retry !== given[route.retryHandled ?? ''],
    settled: route.isSettled(object, mode),
    reportedGeneration: condition?.observedGeneration ?? null,
    reason: typeof condition?.reason === 'string' ? condition.reason : null,
    changedMs: Math.max(0, ...[metadata.creationTimestamp, condition?.lastTransitionTime].map((time) => timeMs(time))),
    outstanding: route.outstanding(object),
    watched: {
      generation: route.watchesSpec ? metadata.generation : null,
      annotations: select(given, (key) => key !== annotations.retry && route.watchesAnnotation(key)),
      labels: select(metadata.labels ?? {}, (key) => route.watchesLabel(key)),
      finalizers: finalizers
        .filter((finalizer) => finalizer !== route.finalizer)
        .sort()
        .join(),
      fields: route.fields(object),
    },
  };
}

/** 0 for what is no time: an object may hold anything. */
const timeMs = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) || 0 : 0);

const select = (pairs: Readonly<Record<string, string>>, wanted: (key: string) => boolean): string =>
  JSON.stringify(
    Object.entries(pairs)
      .filter(([key]) => wanted(key))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Why a run is told, for people. `prerequisite`: something that the object names has changed. */
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
 * Which of the changes that matter lie between two states of one object. None: whatever changed does not concern a run, such as drover's
 * own status writes. Pure; each line is a row of the table test.
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

/** Of fields that somebody else than drover has changed. Nothing tells who took one away: then it counts whose it was. */
function fieldCauses(before: WatchedFields, after: WatchedFields): Cause[] {
  const paths = Object.keys({ ...before, ...after }) as (keyof WatchedFields)[];
  const changed = paths.filter(
    (path) => before[path]?.value !== after[path]?.value && !((after[path] ?? before[path])?.own ?? false),
  );
  return changed.map((path) => (path.startsWith('spec.') ? 'spec' : 'status'));
}
