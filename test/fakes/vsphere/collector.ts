import type {
  ObjectContent,
  ObjectSpec,
  PropertyFilterSpec,
  PropertySpec,
  RetrieveResult,
  TraversalSpec,
  UpdateSet,
} from '../../../activities/vsphere/wire/vim/types.ts';
import { isReference } from '../../../activities/vsphere/wire/values.ts';
import { notFound, VsphereFault } from './fault.ts';
import { isOfType, readPath, type Managed, type Model, type Ref } from './model.ts';
import { present } from './shape.ts';

/** A login of one client: what it got in pages, and its property collectors, end with it. */
export interface CollectorSession {
  retrieve(specs: readonly PropertyFilterSpec[], maxObjects: number): RetrieveResult | undefined;
  /** @throws InvalidProperty for a token of another session */
  continueRetrieve(token: string): RetrieveResult;
  createCollector(): Ref;
  createFilter(collector: Ref, spec: PropertyFilterSpec): Ref;
  /** Undefined: nothing has changed for so long. @throws InvalidCollectorVersion, ManagedObjectNotFound */
  waitForUpdates(collector: Ref, version: string, maxWaitMs: number): Promise<UpdateSet | undefined>;
  end(): void;
}

type SelectedObjects = Map<string, { object: Managed; paths: readonly string[] }>;

/** Objects of one answer to a question for updates; the rest comes with the next one. */
const mostUpdates = 100;

/** What a filter selects, each object once. @throws ManagedObjectNotFound where that is asked for */
function select(
  model: Model,
  { objectSet = [], propSet = [], reportMissingObjectsInResults = false }: PropertyFilterSpec,
): SelectedObjects {
  const selected: SelectedObjects = new Map();
  const add = (object: Managed): void => {
    const spec =
      propSet.find(({ type }) => type === object.ref.type) ??
      propSet.find(({ type }) => isOfType(object.ref.type, type));
    if (spec !== undefined && !selected.has(object.ref.value))
      selected.set(object.ref.value, { object, paths: pathsOf(spec) });
  };
  const walk = (
    object: Managed,
    selectSet: ObjectSpec['selectSet'],
    named: ReadonlyMap<string, TraversalSpec>,
  ): void => {
    const all = new Map([...named, ...namedIn(selectSet)]);
    for (const given of selectSet ?? []) {
      const spec = 'path' in given ? given : all.get(given.name ?? '');
      if (spec === undefined || !isOfType(object.ref.type, spec.type)) continue;
      for (const ref of [readPath(object.state, spec.path)].flat()) {
        const next = isReference(ref) ? model.find(ref) : undefined;
        if (next === undefined) continue;
        if (spec.skip !== true) add(next);
        walk(next, spec.selectSet, all);
      }
    }
  };
  for (const { obj, skip, selectSet } of objectSet) {
    const object = model.find(obj);
    if (object === undefined) {
      if (reportMissingObjectsInResults) continue;
      throw notFound(obj);
    }
    if (skip !== true) add(object);
    walk(object, selectSet, new Map());
  }
  return selected;
}

/** Traversals that others refer to by name. */
function namedIn(selectSet: ObjectSpec['selectSet']): [string, TraversalSpec][] {
  return (selectSet ?? []).flatMap((spec) =>
    'path' in spec && spec.name !== undefined ? [[spec.name, spec] as [string, TraversalSpec]] : [],
  );
}

const pathsOf = ({ pathSet }: PropertySpec): readonly string[] => pathSet ?? [];

/** Only those that are set. */
const propertiesOf = ({ state }: Managed, paths: readonly string[]): { name: string; val: unknown }[] =>
  paths.flatMap((name) => {
    const val = readPath(state, name);
    return val === undefined ? [] : [{ name, val: present(val) }];
  });

export function openCollectorSession(model: Model): CollectorSession {
  const pages = new Map<string, { rest: ObjectContent[]; maxObjects: number }>();
  const collectors = new Map<string, Collector>();
  let isOver = false;

  const pageOf = (objects: ObjectContent[], maxObjects: number): RetrieveResult => {
    if (objects.length <= maxObjects) return { objects };
    const token = `page-${model.next()}`;
    pages.set(token, { rest: objects.slice(maxObjects), maxObjects });
    return { token, objects: objects.slice(0, maxObjects) };
  };
  const collectorOf = (ref: Ref): Collector => {
    const found = collectors.get(ref.value);
    if (found === undefined || isOver) throw notFound(ref);
    return found;
  };
  return {
    retrieve(specs, maxObjects) {
      const objects = specs.flatMap((spec) =>
        [...select(model, spec).values()].map(({ object, paths }) => {
          const propSet = propertiesOf(object, paths);
          return { obj: { ...object.ref }, ...(propSet.length > 0 && { propSet }) };
        }),
      );
      return objects.length === 0 ? undefined : pageOf(objects, maxObjects);
    },
    continueRetrieve(token) {
      const page = pages.get(token);
      if (page === undefined || isOver) throw new VsphereFault('InvalidArgument', { invalidProperty: 'token' });
      pages.delete(token);
      return pageOf(page.rest, page.maxObjects);
    },
    createCollector() {
      const ref = { type: 'PropertyCollector', value: `session-collector-${model.next()}` };
      collectors.set(ref.value, openCollector(model));
      return ref;
    },
    createFilter(ref, spec) {
      const filter = { type: 'PropertyFilter', value: `${ref.value}-filter-${model.next()}` };
      collectorOf(ref).filters.set(filter.value, spec);
      return filter;
    },
    waitForUpdates: (ref, version, maxWaitMs) => collectorOf(ref).wait(version, maxWaitMs, ref),
    end() {
      isOver = true;
      for (const collector of collectors.values()) collector.end();
    },
  };
}

interface Collector {
  filters: Map<string, PropertyFilterSpec>;
  wait(version: string, maxWaitMs: number, ref: Ref): Promise<UpdateSet | undefined>;
  end(): void;
}

type Reported = Map<string, { ref: Ref; values: Map<string, string> }>;
type Update = NonNullable<NonNullable<UpdateSet['filterSet']>[number]['objectSet']>[number];

function openCollector(model: Model): Collector {
  const filters = new Map<string, PropertyFilterSpec>();
  /** By filter, what has been reported. */
  let reported = new Map<string, Reported>();
  let queue: { filter: string; update: Update }[] = [];
  let number = 0;
  let wake = (): void => undefined;
  let isOver = false;

  const collect = (): void => {
    for (const [filter, spec] of filters) {
      const before: Reported = reported.get(filter) ?? new Map();
      const after: Reported = new Map();
      for (const { object, paths } of select(model, { ...spec, reportMissingObjectsInResults: true }).values()) {
        const properties = propertiesOf(object, paths);
        const values = new Map(properties.map(({ name, val }) => [name, JSON.stringify(val)]));
        after.set(object.ref.value, { ref: object.ref, values });
        const known = before.get(object.ref.value);
        if (known === undefined) {
          queue.push({
            filter,
            update: {
              kind: 'enter',
              obj: { ...object.ref },
              changeSet: properties.map((one) => ({ ...one, op: 'assign' })),
            },
          });
          continue;
        }
        const changed = properties
          .filter(({ name }) => known.values.get(name) !== values.get(name) && isWatchable(name))
          .map((one) => ({ ...one, op: 'assign' }));
        const unset = [...known.values.keys()]
          .filter((name) => !values.has(name) && isWatchable(name))
          .map((name) => ({ name, op: 'assign', val: undefined }));
        if (changed.length + unset.length > 0)
          queue.push({ filter, update: { kind: 'modify', obj: { ...object.ref }, changeSet: [...changed, ...unset] } });
      }
      for (const [id, { ref }] of before)
        if (!after.has(id)) queue.push({ filter, update: { kind: 'leave', obj: { ...ref } } });
      reported.set(filter, after);
    }
  };
  const answer = (): UpdateSet => {
    const sent = queue.slice(0, mostUpdates);
    queue = queue.slice(mostUpdates);
    number += 1;
    const filterSet = [...Map.groupBy(sent, ({ filter }) => filter)].map(([filter, updates]) => ({
      filter: { type: 'PropertyFilter', value: filter },
      objectSet: updates.map(({ update }) => update),
    }));
    return {
      version: String(number),
      ...(filterSet.length > 0 && { filterSet }),
      ...(queue.length > 0 && { truncated: true }),
    };
  };
  return {
    filters,
    async wait(version, maxWaitMs, ref) {
      if (version === '') {
        reported = new Map();
        queue = [];
      } else if (version !== String(number)) throw new VsphereFault('InvalidCollectorVersion');
      const untilMs = model.clock.now() + maxWaitMs;
      for (;;) {
        if (isOver) throw notFound(ref);
        if (queue.length === 0) collect();
        if (queue.length > 0 || version === '') return answer();
        if (model.clock.now() >= untilMs) return undefined;
        const { promise, resolve } = Promise.withResolvers<void>();
        const stop = model.onChange(resolve);
        const cancel = model.clock.schedule(resolve, untilMs - model.clock.now());
        wake = resolve;
        await promise;
        stop();
        cancel();
      }
    },
    end() {
      isOver = true;
      wake();
    },
  };
}

/** vCenter reports a single key of ExtraConfig with the first update of a VM only. */
const isWatchable = (path: string): boolean => !path.includes('[');
