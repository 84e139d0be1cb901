import { fieldManager } from '../contracts/ids.ts';
import type { KubeObject } from './kube-object.ts';

interface ManagedFields {
  manager?: unknown;
  /** A set of fields as nested objects: `f:<field>`, `k:{"type":"Ready"}` for an item of a map list, `.` for the item itself. */
  fieldsV1?: unknown;
}

/**
 * Whether drover was the last to change a field: kube-apiserver records the manager of every value, and whoever changes it takes it over
 * from whoever updated it before.
 *
 * @param path as in `managedFields`, such as `f:status`, `f:conditions`, `k:{"type":"Ready"}`, `f:reason`
 */
export function isOwn({ metadata }: KubeObject, path: readonly string[]): boolean {
  const { managedFields } = metadata;
  return (
    Array.isArray(managedFields) &&
    (managedFields as (ManagedFields | null)[]).some(
      (entry) => entry?.manager === fieldManager && has(entry.fieldsV1, path),
    )
  );
}

function has(set: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (typeof set !== 'object' || set === null || !Object.hasOwn(set, step)) return false;
  const below: unknown = (set as Record<string, unknown>)[step];
  // A list that is no map list is owned as one.
  return has(below, rest) || (typeof below === 'object' && below !== null && Object.keys(below).length === 0);
}
