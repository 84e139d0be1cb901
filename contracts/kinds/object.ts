import type { Condition } from '../conditions.ts';
import { fieldManager } from '../ids.ts';

/** A kind of objects of Kubernetes, as kube-apiserver and RBAC call it. */
export interface Resource {
  /** API group; empty: the core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** As objects of the kind name it. */
export const apiVersionOf = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** What every object has, as far as decisions need it; other fields may be anything. */
export interface KubeObject {
  metadata: {
    name: string;
    namespace?: string | undefined;
    uid: string;
    resourceVersion: string;
    generation: number;
    labels?: Record<string, string> | undefined;
    annotations?: Record<string, string> | undefined;
    finalizers?: string[] | undefined;
    creationTimestamp?: string | undefined;
    deletionTimestamp?: string | undefined;
    managedFields?: unknown;
  };
  spec?: unknown;
  status?: unknown;
}

/** An object's name among all of its kind: `namespace/name` where it has a namespace. */
export const fullNameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** Of `namespace/name`; names have no slash. */
export function namespaceAndName(fullName: string): [namespace: string, name: string] {
  const slash = fullName.indexOf('/');
  return [fullName.slice(0, Math.max(0, slash)), fullName.slice(slash + 1)];
}

/** The conditions in an object's status, whatever else is in it. */
export function conditionsOf({ status }: Pick<KubeObject, 'status'>): Condition[] {
  const { conditions } = (status ?? {}) as { conditions?: unknown };
  return Array.isArray(conditions)
    ? conditions.filter((one): one is Condition => typeof one === 'object' && one !== null)
    : [];
}

/** Null for what is no text. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

interface ManagedFields {
  manager?: unknown;
  /**
   * A set of fields as nested objects: `f:<field>`, `k:{"type":"Ready"}` for an item of a map list, `.` for
   * the item itself.
   */
  fieldsV1?: unknown;
}

/**
 * Whether drover was the last to change a field: kube-apiserver records the manager of every value, and the writer that
 * changes it takes it over from the one that updated it before.
 *
 * @param path as in `managedFields`, such as `f:status`, `f:conditions`, `k:{"type":"Ready"}`, `f:reason`
 */
export function isOwn({ metadata }: KubeObject, path: readonly string[]): boolean {
  const { managedFields } = metadata;
  return (
    Array.isArray(managedFields) &&
    (managedFields as (ManagedFields | null)[]).some(
      (entry) => entry?.manager === fieldManager && hasPath(entry.fieldsV1, path),
    )
  );
}

function hasPath(set: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (typeof set !== 'object' || set === null || !Object.hasOwn(set, step)) return false;
  const below: unknown = (set as Record<string, unknown>)[step];
  // A list that is no map list is owned as one.
  return hasPath(below, rest) || (typeof below === 'object' && below !== null && Object.keys(below).length === 0);
}
