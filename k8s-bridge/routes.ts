import { schemaOf } from '../contracts/crds/definitions.ts';
import {
  type ActiveMode,
  isObserved,
  type KindRow,
  type Watch,
  watchedKey,
  type WatchSettings,
} from '../contracts/kinds/kind.ts';
import { fullNameOf, type KubeObject, type Resource } from '../contracts/kinds/object.ts';
import { type Kind, kinds, kindTable } from '../contracts/kinds/table.ts';

/** A row of the kind table, under its name. */
export type DrivenKind = KindRow & { readonly kind: Kind };
export type IndexedWatch = Extract<Watch, { index: unknown }>;
type MappedWatch = Extract<Watch, { mapFunction: unknown }>;

/**
 * One row of the bridge's table, derived from the kind table: objects of a kind, seen for the runs of the kind that is
 * driven. The kind's own objects, or others that it depends on. A kind of objects may have several.
 */
export interface Route {
  readonly row: DrivenKind;
  /** Null: the kind's own objects. */
  readonly watch: Watch | null;
  readonly resource: Resource;
  /**
   * The kind's runs observe more than the kind's own object, so that a reconciled one does not say whether a change
   * matters: each change starts a run, as long as there is something to drive.
   */
  readonly observesMore: boolean;
  /** How the kind's own objects name others. */
  readonly indexes: readonly IndexedWatch[];
}

export const isIndexed = (watch: Watch): watch is IndexedWatch => 'index' in watch;
const mappedOf = ({ watch }: Route): MappedWatch | null => (watch === null || isIndexed(watch) ? null : watch);

/** The object of the subject's name answers for this one. */
export const isMapped = (route: Route): boolean => mappedOf(route) !== null;

/** Of several routes of a kind of objects, the first speaks for them in metrics. */
export const routesFor = (settings: WatchSettings): readonly Route[] =>
  kinds.flatMap((kind) => {
    const row = kindTable[kind] as DrivenKind;
    const watches = row.dependsOn(settings);
    const own: Route = {
      row,
      watch: null,
      resource: row,
      observesMore: watches.some(isObserved),
      indexes: watches.filter(isIndexed),
    };
    return [own, ...watches.map((watch) => ({ ...own, watch, resource: watch.resource, indexes: [] }))];
  });

/**
 * One name for the objects of a kind, in health, metrics and logs: of two kinds that are called the same, the one that
 * is not driven has its group.
 */
export const typeOf = ({ kind, group }: Pick<Resource, 'kind' | 'group'>): string => {
  const driven: Partial<Record<string, Resource>> = kindTable;
  return driven[kind] === undefined || driven[kind].group === group ? kind : `${kind}.${group}`;
};

/** What others name an object by. */
export const nameOf = (resource: Pick<Resource, 'kind' | 'group'>, fullName: string): string =>
  `${typeOf(resource)} ${fullName}`;

/** What an object is named by, in an index or in messages. Null: nothing names it. */
export const keyOf = ({ watch }: Route, object: KubeObject): string | null =>
  watch !== null && isIndexed(watch) ? watchedKey(watch, object) : fullNameOf(object);

/** Null: an object that is named by those that it concerns, or does not say whom it concerns. */
export function subjectOf(route: Route, object: KubeObject): string | null {
  const { row, watch } = route;
  if (watch !== null) return mappedOf(route)?.mapFunction(object) ?? null;
  return row.subject === undefined ? fullNameOf(object) : row.subject(object);
}

/**
 * As far as the object itself says. Of the kind's own, what does not fit the schema is not reconciled: the run reads it
 * and says what is wrong.
 */
export function isReconciled(route: Route, object: KubeObject, mode: ActiveMode): boolean {
  const { row, watch } = route;
  if (watch !== null) return mappedOf(route)?.creates?.(object, mode) !== true;
  const { success, data } = schemaOf(row.kind).safeParse(object);
  return success && row.isReconciled(data as never, mode);
}
