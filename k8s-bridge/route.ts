import type { ActiveMode, KindRow } from '../contracts/kinds/kind.ts';
import { type Kind, kindTable } from '../contracts/kinds/table.ts';
import type { Condition, ConditionUpdate } from '../contracts/conditions.ts';
import type { KubeObject } from './kube-object.ts';

/** The kinds whose objects are named by the VirtualMachines that they matter to. */
export type NamedKind =
  | 'VirtualMachineClass'
  | 'VirtualMachineImage'
  | 'ClusterVirtualMachineImage'
  | 'VirtualMachineSetResourcePolicy'
  | 'VirtualMachineImageCache'
  | 'VirtualMachineGroup';

/** The kinds that are watched. */
export type WatchedKind = Kind | 'Node' | NamedKind;

/** How much of an object's work is left. */
export interface Outstanding {
  instances: number;
  memoryBytes: number;
}

/** A field that matters, by its path from the object's root, which begins with the cause that its change is: `spec.…` or `status.…`. */
export type WatchedFields = Record<`${'spec' | 'status'}.${string}`, WatchedField>;

export interface WatchedField {
  value: string | boolean | number | null;
  /** drover has written that value, so that its coming is no news. */
  own?: boolean;
}

/** One row of the table: which changes of a kind matter, and whose run they concern. A kind may have several. */
export interface Route {
  kind: WatchedKind;
  /** API group and version. */
  apiVersion: string;
  plural: string;
  /** The kind whose run is told. Its mode switches the route. */
  drives: Kind;
  /** What the run is found by: the host of an Eviction, `namespace/name` of a VirtualMachine. Null where the object does not say. */
  subject(object: KubeObject): string | null;
  /**
   * The run looks at more than this object, so that a settled one does not tell whether a change of it matters: each change starts a run,
   * as long as the subject is there. So does the bridge's start, as nothing else tells what the run has seen of the rest.
   */
  partial: boolean;
  /**
   * The kind whose object of the subject's name answers for this one: while it is there, comparisons pass this one over, and without it
   * a change matters only where this one is not settled.
   */
  standIn: WatchedKind | null;
  /** Whether a new generation matters. */
  watchesSpec: boolean;
  watchesLabel(key: string): boolean;
  /** Never true for those that drover itself writes. */
  watchesAnnotation(key: string): boolean;
  /** Where a run notes which value of `drover.dev/retry` it has taken up; null: nobody asks for a retry there. */
  retryHandled: string | null;
  /** drover's own; other finalizers matter, this one does not. Null: none matters. */
  finalizer: string | null;
  /** Which objects of other kinds it names, as {@link nameOf} has them: a change of one concerns its run. None where it is left out. */
  names?(object: KubeObject): string[];
  /** What matters besides; never what drover has written, unless it is another run's. */
  fields(object: KubeObject): WatchedFields;
  isSettled(object: KubeObject, mode: ActiveMode): boolean;
  /** Type of the condition that says how far drover has come; null: the kind has none. */
  condition(object: KubeObject, mode: ActiveMode): string | null;
  /** For metrics; null where the object does not say. */
  outstanding(object: KubeObject): Outstanding | null;
  /** What the object shall say once a person has stopped its run for good: with these it is settled. */
  stopped(object: KubeObject, mode: ActiveMode, message: string): ConditionUpdate[];
  /** The ends of a run after which resync does not start another one for the same generation (design section 2, rule 15). */
  final: readonly ('CANCELLED' | 'TERMINATED')[];
}

/** A kind whose objects others name. A change of one concerns the runs of all that name it. */
export interface Reference {
  kind: NamedKind;
  apiVersion: string;
  plural: string;
  /** The only one where it is looked for; left out: all of them. */
  namespace?: string;
  /** The kind that names it, and whose runs are told. */
  drives: Kind;
  /** Whom it concerns: whoever names it, or only those that are not settled, as it is needed once. */
  concerns: 'all' | 'unsettled';
  /** What of it matters, as text: equal while nothing of it changes. */
  matter(object: KubeObject): string;
}

/** What others name an object by. */
export const nameOf = (kind: NamedKind, fullName: string): string => `${kind} ${fullName}`;

/** An object's name among all of its kind. */
export const fullNameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** The route of a kind's own objects, as it is for most kinds: a new spec, a deletion and drover's annotations matter. */
export function ownRoute(kind: Kind) {
  const row: KindRow = kindTable[kind];
  return {
    kind,
    apiVersion: row.apiVersion,
    plural: row.plural,
    drives: kind,
    subject: fullNameOf,
    partial: false,
    standIn: null,
    watchesSpec: true,
    watchesLabel: () => false,
    watchesAnnotation: (key: string) => key.startsWith('drover.dev/'),
    retryHandled: null,
    finalizer: null,
    fields: () => ({}),
    // What does not fit the schema is not settled: the run reads it and says what is wrong.
    isSettled: (object, mode) => {
      const { success, data } = row.schema.safeParse(object);
      return success && row.isReconciled(data, mode);
    },
    condition: () => null,
    outstanding: () => null,
    stopped: () => [],
    // A run that was only ended is missed, and healed.
    final: [],
  } as const satisfies Route;
}

/** The conditions in an object's status, whatever else is in it. */
export function conditionsOf({ status }: KubeObject): Condition[] {
  const { conditions } = (status ?? {}) as { conditions?: unknown };
  return Array.isArray(conditions)
    ? conditions.filter((one): one is Condition => typeof one === 'object' && one !== null)
    : [];
}
