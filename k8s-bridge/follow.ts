import { type ActiveMode, isDigested, isMade, type Mode } from '../contracts/kinds/kind.ts';
import { type DigestedObject, digestOf } from '../contracts/kinds/digest.ts';
import { apiVersionOf, fullNameOf } from '../contracts/kinds/object.ts';
import type { Kind } from '../contracts/kinds/table.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import { unlessAborted } from '../runtime/unless-aborted.ts';
import type { Change } from './decide-delivery.ts';
import type { RoutedChange } from './deliver.ts';
import { type Cause, type Facts, findCauses, readFacts } from './facts.ts';
import { type Reflector, type ReflectorSettings, type ReflectorState, startReflector } from './reflector.ts';
import { type DrivenKind, isIndexed, isMapped, nameOf, type Route, typeOf } from './routes.ts';
import type { Delta, Identity } from './store.ts';
import type { Priority } from './work-queue.ts';

/** A watched object, as each of its routes sees it. */
interface Seen extends Identity {
  name: string;
  views: ReadonlyMap<Route, Facts>;
}

/** A route that is switched on. */
interface Active {
  route: Route;
  mode: ActiveMode;
}

export interface FollowOptions {
  kubernetes: Kubernetes;
  routes: readonly Route[];
  /** A kind that is left out is off. */
  modes: Readonly<Partial<Record<Kind, Mode>>>;
  settings: ReflectorSettings;
  onChange: (routed: RoutedChange, priority: Priority) => void;
  clock: Clock;
  /** 0 to 1: spreads watches and back-offs. */
  random: () => number;
  log: Logger;
  abort: AbortSignal;
}

/** A reconciled object whose run observes more than it, and the digest of all that as the bridge sees it. */
export interface ObservedObject {
  subject: string;
  digest: string;
  /** What its run makes is there. */
  isMade: boolean;
  facts: Facts;
  route: Route;
  mode: ActiveMode;
}

/**
 * A kind that is watched, as the first of its routes sees its objects; none where they matter only to those
 * that name them.
 */
export interface FollowedKind {
  kind: string;
  state: ReflectorState;
  objects: Facts[];
}

export interface Follower {
  kinds(): FollowedKind[];
  states(): Record<string, ReflectorState>;
  /** The change with what is known of its object by now. */
  renew(routed: RoutedChange): Change;
  /**
   * Takes up every object that is not reconciled, such as after a start: changes may have been missed. Of others, see
   * {@link observed}.
   */
  compare(cause: 'relist' | 'resync'): void;
  /** The kinds that are driven and whose runs observe more than their own objects, and end. */
  observing: readonly DrivenKind[];
  /** Resolves when the kind and all that it depends on have been listed. */
  listed(row: DrivenKind, abort: AbortSignal): Promise<void>;
  /** @param only of which objects; left out: of all */
  observed(row: DrivenKind, only?: (facts: Facts) => boolean): ObservedObject[];
  /**
   * What a run about the subject would observe now; null: there is no such object, or the kind's runs leave no digest.
   */
  readonly digestOf: (route: Route, subject: string) => string | null;
  /** By default as after a start: changes may have been missed. */
  takeUp(object: ObservedObject, cause?: 'relist' | 'prerequisite'): void;
  /** What must go on until `abort` ends it. */
  loops: readonly { what: string; done: Promise<void> }[];
}

/** What an object that a mapped route has for a subject is found by. */
const concernsOf = (row: DrivenKind, subject: string): string => `run of ${nameOf(row, subject)}`;

/** What an object is found by that has a key which is not its name. */
const keyedBy = (called: string): string => `key of ${called}`;

/** The objects that it names, the run that it concerns, and its own key where a digest looks it up by one. */
function keysOf(route: Route, { names, subject, key, fullName }: Facts): string[] {
  if (isMapped(route)) return subject === null ? [...names] : [...names, concernsOf(route.row, subject)];
  const isLookedUp = route.watch !== null && isDigested(route.watch) && route.row.ongoing !== true;
  return isLookedUp && key !== null && key !== fullName ? [...names, keyedBy(nameOf(route.resource, key))] : [...names];
}

/** Follows every kind that has a route which is switched on: one reflector per kind, however many routes it has. */
export function followKinds({
  kubernetes,
  routes,
  modes,
  settings,
  onChange,
  clock,
  random,
  log,
  abort,
}: FollowOptions): Follower {
  const active = routes.flatMap((route): Active[] => {
    const { [route.row.kind]: mode = 'off' } = modes;
    return mode === 'off' ? [] : [{ route, mode }];
  });
  const reflectors = new Map<string, Reflector<Seen>>();
  const viewsOf = (route: Route): Facts[] =>
    [...(reflectors.get(typeOf(route.resource))?.objects() ?? [])].flatMap(({ views }) => views.get(route) ?? []);
  const indexedViews = (route: Route, key: string): Facts[] =>
    [...(reflectors.get(typeOf(route.resource))?.indexed(key) ?? [])].flatMap(({ views }) => views.get(route) ?? []);
  const viewOf = (route: Route, name: string): Facts | undefined =>
    reflectors.get(typeOf(route.resource))?.named(name)?.views.get(route);
  /** The kind's own objects. */
  const ownOf = (row: DrivenKind): Active | undefined =>
    active.find(({ route }) => route.row === row && route.watch === null);
  const change = (
    { route, mode }: Active,
    causes: readonly Cause[],
    facts: Facts,
    seenMs: number | null,
    { gone = false, subjectExists = true } = {},
  ): RoutedChange => ({ route, mode, change: { facts, causes, gone, subjectExists }, seenMs });

  /** The object of the subject's name answers for one that is mapped to it. */
  const isReconciled = (route: Route, { reconciled, subject }: Facts): boolean =>
    reconciled || (isMapped(route) && subject !== null && reflectors.get(route.row.kind)?.named(subject) !== undefined);

  const isOngoing = ({ row, watch }: Route, { deleting }: Facts): boolean =>
    row.ongoing === true && watch === null && !deleting;

  const isDeleting = ({ row }: Route, subject: string | null): boolean => {
    const own = ownOf(row)?.route;
    return own !== undefined && subject !== null && viewOf(own, subject)?.deleting === true;
  };

  /** Whether there is an object of the subject's name that a run of the kind can drive, or is to make. */
  const exists = ({ row }: Route, subject: string | null): boolean =>
    subject !== null &&
    active.some(({ route }) => {
      const facts = route.row === row ? viewOf(route, subject) : undefined;
      return facts !== undefined && (route.watch === null || (isMapped(route) && !facts.reconciled));
    });

  const take = (one: Active, delta: Delta<Seen>, relisted: boolean): void => {
    const { route } = one;
    const facts = delta.after.views.get(route);
    const before = delta.type === 'changed' ? (delta.before.views.get(route) ?? null) : null;
    if (facts === undefined) return;
    const gone = delta.type === 'gone';
    const isFound = delta.type === 'added' && relisted;
    const causes = gone ? (['deleted'] as const) : isFound ? (['relist'] as const) : findCauses(before, facts);
    if (causes.length === 0) return;
    const seenMs = relisted ? null : clock.monotonicMs();
    if (route.watch !== null && isIndexed(route.watch)) {
      // It may have been another's before.
      for (const key of new Set([before?.key ?? null, facts.key])) if (key !== null) takeOfNamed(one, key, seenMs);
      return;
    }
    if (route.watch?.concerns === 'deleting' && !isDeleting(route, facts.subject)) return;
    const subjectExists = exists(route, facts.subject);
    // A Node that never was a hypervisor, an Eviction of a host that no Hypervisor stands for.
    if (isMapped(route) && !subjectExists && facts.reconciled && (before?.reconciled ?? true)) return;
    onChange(change(one, causes, facts, seenMs, { gone, subjectExists }), 'fresh');
  };

  /** What an object is to those that name it has changed: each is taken up as if it had itself. */
  const takeOfNamed = (
    { route: { row, watch, resource }, mode }: Active,
    name: string,
    seenMs: number | null,
  ): void => {
    const called = nameOf(resource, name);
    const onlyUnreconciled = watch !== null && isIndexed(watch) && watch.concerns === 'unreconciled';
    const own = ownOf(row);
    if (own === undefined) return;
    for (const facts of indexedViews(own.route, called)) {
      if (facts.reconciled && onlyUnreconciled) continue;
      onChange(change({ route: own.route, mode }, ['prerequisite'], facts, seenMs), 'fresh');
    }
  };

  const compareRoute = (one: Active, cause: 'relist' | 'resync'): void => {
    const { route } = one;
    if (route.watch !== null && isIndexed(route.watch)) return;
    // Until it is listed, every object would seem to have none.
    if (isMapped(route) && reflectors.get(route.row.kind)?.state().synced !== true) return;
    for (const facts of viewsOf(route))
      if (!isReconciled(route, facts) || isOngoing(route, facts)) onChange(change(one, [cause], facts, null), 'resync');
  };

  /** Called when one more kind has been listed. */
  const listing: (() => void)[] = [];
  const isListed = (row: DrivenKind): boolean =>
    active.every(({ route }) => route.row !== row || reflectors.get(typeOf(route.resource))?.state().synced === true);
  const listed = async (row: DrivenKind, aborted: AbortSignal): Promise<void> => {
    while (!isListed(row)) await unlessAborted(new Promise<void>((resolve) => void listing.push(resolve)), aborted);
  };

  const digested = ({ resource }: Route, { fullName, uid, deleting, watched }: Facts): DigestedObject => ({
    kind: resource.kind,
    fullName,
    uid,
    deleting,
    watched,
  });

  /** Those of an indexed route that the object names. */
  const namedBy = (route: Route, { names }: Facts): Facts[] => {
    const prefix = nameOf(route.resource, '');
    return [...new Set(names)].flatMap((called) => {
      if (!called.startsWith(prefix)) return [];
      const key = called.slice(prefix.length);
      const named = viewOf(route, key);
      const keyed = [...indexedViews(route, keyedBy(called)), ...(named === undefined ? [] : [named])];
      return keyed.filter((view) => view.key === key);
    });
  };

  /** Of the object, and of all that concerns it though it is reconciled. */
  const digestNow = (own: Route, subject: string, facts: Facts): string => {
    const others = active.flatMap(({ route }): DigestedObject[] => {
      const { row, watch } = route;
      if (row !== own.row || watch === null || !isDigested(watch)) return [];
      const views = isIndexed(watch) ? namedBy(route, facts) : indexedViews(route, concernsOf(row, subject));
      return views.map((view) => digested(route, view));
    });
    return digestOf(digested(own, facts), others);
  };

  const hasMade = (row: DrivenKind, facts: Facts): boolean =>
    active.every(
      ({ route }) =>
        route.row !== row ||
        route.watch === null ||
        !isMade(route.watch) ||
        namedBy(route, facts).some(({ madeFor }) => madeFor.includes(facts.uid) || madeFor.includes(facts.fullName)),
    );

  const observed = (row: DrivenKind, only: (facts: Facts) => boolean = () => true): ObservedObject[] => {
    const own = ownOf(row);
    if (own === undefined) return [];
    return viewsOf(own.route).flatMap((facts) => {
      const { subject } = facts;
      if (subject === null || !facts.reconciled || !only(facts)) return [];
      return [{ ...own, subject, facts, digest: digestNow(own.route, subject, facts), isMade: hasMade(row, facts) }];
    });
  };

  const digestOfSubject = ({ row, observesMore }: Route, subject: string): string | null => {
    const own = ownOf(row)?.route;
    const facts = own === undefined ? undefined : viewOf(own, subject);
    if (!observesMore || row.ongoing === true || own === undefined || facts === undefined) return null;
    return digestNow(own, subject, facts);
  };

  const byKind = Map.groupBy(active, ({ route }) => typeOf(route.resource));
  for (const [kind, ofKind] of byKind) {
    const { resource, watch } = ofKind[0]!.route;
    const { namespace } = watch ?? {};
    const reflector = startReflector<Seen>({
      kubernetes,
      path: resourcePath(apiVersionOf(resource), resource.plural, namespace === undefined ? {} : { namespace }),
      optional: ofKind.every(({ route }) => route.watch?.optional === true),
      settings,
      keep: (object) => {
        const { uid, resourceVersion } = object.metadata;
        const views = new Map(ofKind.map(({ route, mode }) => [route, readFacts(route, object, mode)]));
        return { uid, resourceVersion, name: fullNameOf(object), views };
      },
      keysOf: ({ views }) => [...views].flatMap(([route, facts]) => keysOf(route, facts)),
      onDelta: (delta, relisted) => ofKind.forEach((one) => take(one, delta, relisted)),
      onSynced: () => {
        listing.splice(0).forEach((wake) => wake());
        active
          .filter(({ route }) => typeOf(route.resource) === kind || (isMapped(route) && route.row.kind === kind))
          .forEach((one) => compareRoute(one, 'relist'));
      },
      clock,
      random,
      log,
      abort,
    });
    reflectors.set(kind, reflector);
  }
  for (const { row, resource } of routes) {
    if ((modes[row.kind] ?? 'off') === 'off')
      log.info({ kind: typeOf(resource), run: row.kind }, 'is switched off and not routed');
  }

  return {
    kinds: () =>
      [...byKind].map(([kind, ofKind]) => {
        const speaking = ofKind.find(({ route: { watch } }) => watch === null || !isIndexed(watch))?.route;
        const objects = speaking === undefined ? [] : viewsOf(speaking);
        return {
          kind,
          state: reflectors.get(kind)!.state(),
          objects: objects.map((facts) => ({ ...facts, reconciled: isReconciled(speaking!, facts) })),
        };
      }),
    states: () => Object.fromEntries([...reflectors].map(([kind, reflector]) => [kind, reflector.state()])),
    renew: ({ route, change: { facts: known, ...rest } }) => {
      const facts = reflectors.get(typeOf(route.resource))?.get(known.uid)?.views.get(route) ?? known;
      return {
        ...rest,
        facts: { ...facts, reconciled: isReconciled(route, facts) },
        subjectExists: exists(route, facts.subject),
      };
    },
    observing: [
      ...new Set(
        active.flatMap(({ route: { row, observesMore } }) => (observesMore && row.ongoing !== true ? [row] : [])),
      ),
    ],
    listed,
    observed,
    digestOf: digestOfSubject,
    takeUp: ({ facts, ...one }, cause = 'relist') => onChange(change(one, [cause], facts, null), 'resync'),
    compare: (cause) => active.forEach((one) => compareRoute(one, cause)),
    loops: [...reflectors].map(([kind, { done }]) => ({ what: `the reflector of ${kind}`, done })),
  };
}
