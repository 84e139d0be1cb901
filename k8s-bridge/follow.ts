import type { ActiveMode } from '../contracts/kinds/kind.ts';
import type { Kind } from '../contracts/kinds/table.ts';
import type { Mode } from '../runtime/config/config-schema.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import type { Change } from './decide-delivery.ts';
import type { RoutedChange } from './deliver.ts';
import { type Facts, findCauses, readFacts } from './facts.ts';
import { type Reflector, type ReflectorSettings, type ReflectorState, startReflector } from './reflector.ts';
import { fullNameOf, nameOf, type Reference, type Route, type WatchedKind } from './route.ts';
import type { Delta, Identity } from './store.ts';
import type { Priority } from './work-queue.ts';

/** A watched object, as each of its routes sees it. */
interface Seen extends Identity {
  name: string;
  views: ReadonlyMap<Route, Facts>;
  /** What of it matters to those that name it; null: nobody does. */
  matter: string | null;
}

export interface FollowOptions {
  kubernetes: Kubernetes;
  routes: readonly Route[];
  references: readonly Reference[];
  modes: Readonly<Record<Kind, Mode>>;
  settings: ReflectorSettings;
  onChange: (routed: RoutedChange, priority: Priority) => void;
  clock: Clock;
  /** 0 to 1: spreads watches and back-offs. */
  random: () => number;
  log: Logger;
  abort: AbortSignal;
}

/** A kind that is watched, as the route that speaks for it sees its objects. */
export interface FollowedKind {
  kind: WatchedKind;
  state: ReflectorState;
  objects: Facts[];
}

export interface Follower {
  kinds(): FollowedKind[];
  states(): Partial<Record<WatchedKind, ReflectorState>>;
  /** The change with what is known of its object by now. */
  renew(routed: RoutedChange): Change;
  /** Takes up every object that is not settled, such as after a start: changes may have been missed. */
  compare(cause: 'relist' | 'resync'): void;
  /** What must go on until `abort` ends it. */
  loops: readonly { what: string; done: Promise<void> }[];
}

/** Follows every kind that has a route which is switched on: one reflector per kind, however many routes it has. */
export function followKinds({
  kubernetes,
  routes,
  references,
  modes,
  settings,
  onChange,
  clock,
  random,
  log,
  abort,
}: FollowOptions): Follower {
  const active = routes.flatMap((route) => {
    const mode = modes[route.drives];
    return mode === 'off' ? [] : [{ route, mode }];
  });
  const reflectors = new Map<WatchedKind, Reflector<Seen>>();

  const named = (kind: WatchedKind, name: string): Seen | undefined => reflectors.get(kind)?.named(name);

  const isSettled = ({ standIn }: Route, { settled, subject }: Facts): boolean =>
    settled || (standIn !== null && subject !== null && named(standIn, subject) !== undefined);

  /** Whether there is an object of the subject's name that a run of the route can drive. */
  const exists = ({ drives }: Route, subject: string | null): boolean =>
    subject !== null &&
    active.some(({ route }) => {
      const facts = route.drives === drives ? named(route.kind, subject)?.views.get(route) : undefined;
      return facts !== undefined && (route.standIn === null || !facts.settled);
    });

  const take = ({ route, mode }: { route: Route; mode: ActiveMode }, delta: Delta<Seen>, relisted: boolean): void => {
    const facts = delta.after.views.get(route);
    const before = delta.type === 'changed' ? (delta.before.views.get(route) ?? null) : null;
    if (facts === undefined) return;
    const gone = delta.type === 'gone';
    const causes = gone
      ? (['deleted'] as const)
      : delta.type === 'added' && relisted
        ? (['relist'] as const)
        : findCauses(before, facts);
    if (causes.length === 0) return;
    const subjectExists = exists(route, facts.subject);
    // A Node that never was a hypervisor, an Eviction of a host that nobody drives.
    if (route.standIn !== null && !subjectExists && facts.settled && (before?.settled ?? true)) return;
    onChange(
      { route, mode, change: { facts, causes, gone, subjectExists }, seenMs: relisted ? null : clock.monotonicMs() },
      'fresh',
    );
  };

  /** What an object is to those that name it has changed: they are told as if they had themselves. */
  const tellThose = ({ kind, drives, concerns }: Reference, delta: Delta<Seen>, relisted: boolean): void => {
    if (delta.type === 'changed' && delta.before.matter === delta.after.matter) return;
    const called = nameOf(kind, delta.after.name);
    for (const { route, mode } of active.filter(({ route: { drives: driven } }) => driven === drives)) {
      for (const { views } of reflectors.get(route.kind)?.objects() ?? []) {
        const facts = views.get(route);
        if (facts === undefined || !facts.names.includes(called) || (facts.settled && concerns === 'unsettled'))
          continue;
        onChange(
          {
            route,
            mode,
            change: { facts, causes: ['prerequisite'], gone: false, subjectExists: true },
            seenMs: relisted ? null : clock.monotonicMs(),
          },
          'fresh',
        );
      }
    }
  };

  const isDue = (route: Route, facts: Facts, cause: 'relist' | 'resync'): boolean =>
    !isSettled(route, facts) || (cause === 'relist' && route.partial && route.standIn === null);

  const compareRoute = ({ route, mode }: { route: Route; mode: ActiveMode }, cause: 'relist' | 'resync'): void => {
    // Until it is listed, every object would look as if it had nobody to answer for it.
    if (route.standIn !== null && reflectors.get(route.standIn)?.state().synced !== true) return;
    for (const { views } of reflectors.get(route.kind)?.objects() ?? []) {
      const facts = views.get(route);
      if (facts === undefined || !isDue(route, facts, cause)) continue;
      onChange(
        { route, mode, change: { facts, causes: [cause], gone: false, subjectExists: true }, seenMs: null },
        'resync',
      );
    }
  };

  const follow = (kind: WatchedKind, own: typeof active, reference?: Reference): Reflector<Seen> => {
    const { apiVersion, plural, namespace }: Pick<Reference, 'apiVersion' | 'plural' | 'namespace'> =
      reference ?? own[0]!.route;
    return startReflector<Seen>({
      kubernetes,
      path: resourcePath(apiVersion, plural, namespace === undefined ? {} : { namespace }),
      settings,
      keep: (object) => {
        const { uid, resourceVersion } = object.metadata;
        const views = new Map(own.map(({ route, mode }) => [route, readFacts(route, object, mode)]));
        return { uid, resourceVersion, name: fullNameOf(object), views, matter: reference?.matter(object) ?? null };
      },
      onDelta: (delta, relisted) => {
        own.forEach((one) => take(one, delta, relisted));
        if (reference !== undefined) tellThose(reference, delta, relisted);
      },
      onSynced: () =>
        active
          .filter(({ route }) => route.kind === kind || route.standIn === kind)
          .forEach((one) => compareRoute(one, 'relist')),
      clock,
      random,
      log,
      abort,
    });
  };

  const byKind = Map.groupBy(active, ({ route }) => route.kind);
  const watchedReferences = references.filter(({ drives }) => modes[drives] !== 'off');
  const namedOnly = watchedReferences.filter(({ kind }) => !byKind.has(kind));
  for (const [kind, own] of byKind)
    reflectors.set(
      kind,
      follow(
        kind,
        own,
        watchedReferences.find((reference) => reference.kind === kind),
      ),
    );
  for (const reference of namedOnly) reflectors.set(reference.kind, follow(reference.kind, [], reference));
  for (const { kind, drives } of routes) {
    if (modes[drives] === 'off') log.info({ kind, run: drives }, 'is switched off and not routed');
  }

  return {
    kinds: () => [
      ...namedOnly.map(({ kind }) => ({ kind, state: reflectors.get(kind)!.state(), objects: [] })),
      ...[...byKind].map(([kind, [first]]) => {
        const reflector = reflectors.get(kind)!;
        const { route } = first!;
        const objects = [...reflector.objects()]
          .flatMap(({ views }) => views.get(route) ?? [])
          .map((facts) => ({ ...facts, settled: isSettled(route, facts) }));
        return { kind, state: reflector.state(), objects };
      }),
    ],
    states: () => Object.fromEntries([...reflectors].map(([kind, reflector]) => [kind, reflector.state()])),
    renew: ({ route, change }) => {
      const facts = reflectors.get(route.kind)?.get(change.facts.uid)?.views.get(route) ?? change.facts;
      return {
        ...change,
        facts: { ...facts, settled: isSettled(route, facts) },
        subjectExists: exists(route, facts.subject),
      };
    },
    compare: (cause) => active.forEach((one) => compareRoute(one, cause)),
    loops: [...reflectors].map(([kind, { done }]) => ({ what: `the reflector of ${kind}`, done })),
  };
}
