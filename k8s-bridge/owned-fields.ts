import { fieldManager } from '../contracts/ids.ts';
import type { KubeObject } from './kube-object.ts';

/** A set of fields as kube-apiserver writes it: `f:<field>`, `k:{"type":"Ready"}` for an item of a map list, `.` for the item itself. */
type FieldSet = { [step: string]: FieldSet | undefined };

interface ManagedFields {
  manager?: unknown;
  fieldsV1?: FieldSet;
}

/**
 * Whether drover was the last to change a field: kube-apiserver records the manager of every value, and whoever changes it takes it over
 * from whoever updated it before.
 *
 * @param path as in `managedFields`, such as `f:status`, `f:conditions`, `k:{"type":"Ready"}`, `f:reason`
 */
export function isOwn({ metadata }: KubeObject, path: readonly string[]): boolean {
  const { managedFields } = metadata;
  return Array.isArray(managedFields) && (managedFields as (ManagedFields | null)[]).some((entry) => entry?.manager === fieldManager && has(entry.fieldsV1, path));
}

function has(set: FieldSet | undefined, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  const below = set?.[step];
  // A list that is no map list is owned as one.
  return below !== undefined && (Object.keys(below).length === 0 || has(below, rest));
}
