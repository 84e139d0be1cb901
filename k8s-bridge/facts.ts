import { findCondition } from '../contracts/conditions.ts';
import { annotations } from '../contracts/ids.ts';
import type { KubeObject } from './kube-object.ts';
import { conditionsOf, type Outstanding, type Route, type RoutedMode } from './routes.ts';
import type { Identity } from './store.ts';

/** What the bridge keeps of an object: enough to tell which changes matter, and to decide without reading it again. */
export interface Facts extends Identity {
  name: string;
  namespace: string | null;
  generation: number;
  /** What the run is found by; null where the object does not say. */
  subject: string | null;
  deleting: boolean;
  /** Whether drover's finalizer is on it. */
  held: boolean;
  /** Value of `drover.dev/retry`. */
  retry: string | null;
  /** Somebody asked for a retry that no run has taken up. */
  retryPending: boolean;
  settled: boolean;
  /** The newest generation that drover has reported on in a condition. */
  reportedGeneration: number | null;
  /** Of the condition that drover reports in. */
  reason: string | null;
  /** When it was made, or that condition last turned; milliseconds since the epoch by the clock of whoever wrote it. */
  changedMs: number;
  /** What is left to do, where the kind tells that in figures; null where it, or this object, does not. */
  outstanding: Outstanding | null;
  /** What is watched besides, each as one text that is equal when nothing changed. */
  watched: { annotations: string; labels: string; finalizers: string; status: string };
}

/** Reads what a route looks at. Pure; never throws. */
export function readFacts(route: Route, object: KubeObject, mode: RoutedMode): Facts {
  const { metadata } = object;
  const given = metadata.annotations ?? {};
  const retry = given[annotations.retry] ?? null;
  const finalizers = metadata.finalizers ?? [];
  const condition = findCondition(conditionsOf(object), route.condition(object, mode));
  const ignored = [annotations.retry, ...route.ownAnnotations];
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? null,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    subject: route.subject(object),
    deleting: metadata.deletionTimestamp !== undefined,
    held: finalizers.includes(route.finalizer),
    retry,
    retryPending: retry !== null && retry !== given[route.retryHandled],
    settled: route.isSettled(object, mode),
    reportedGeneration: condition?.observedGeneration ?? null,
    reason: typeof condition?.reason === 'string' ? condition.reason : null,
    changedMs: Math.max(0, ...[metadata.creationTimestamp, condition?.lastTransitionTime].map((time) => timeMs(time))),
    outstanding: route.outstanding(object),
    watched: {
      annotations: select(given, route.annotations, ignored),
      labels: select(metadata.labels ?? {}, route.labels, []),
      finalizers: finalizers.filter((finalizer) => finalizer !== route.finalizer).sort().join(),
      status: JSON.stringify(route.foreignStatus(object)),
    },
  };
}

/** 0 for what is no time: an object may hold anything. */
const timeMs = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) || 0 : 0);

const select = (pairs: Readonly<Record<string, string>>, prefixes: readonly string[], without: readonly string[]): string =>
  JSON.stringify(
    Object.entries(pairs)
      .filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix)) && !without.includes(key))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Why a run is told, for people. */
export type Cause = 'spec' | 'deleted' | 'retry' | 'annotations' | 'labels' | 'finalizers' | 'status' | 'relist' | 'resync';

/**
 * Which of the changes that matter lie between two states of one object. None: whatever changed does not concern a run, such as drover's
 * own status writes. Pure; each line is a row of the table test.
 */
export function findCauses(before: Facts | null, after: Facts): Cause[] {
  if (before === null) return after.deleting ? ['deleted'] : ['spec'];
  // Deleting moves the generation too, and says more.
  if (after.deleting && !before.deleting) return ['deleted'];
  const causes: Cause[] = [];
  if (after.generation !== before.generation) causes.push('spec');
  if (after.retry !== before.retry && after.retry !== null) causes.push('retry');
  for (const what of ['annotations', 'labels', 'finalizers', 'status'] as const) {
    if (after.watched[what] !== before.watched[what]) causes.push(what);
  }
  return causes;
}
