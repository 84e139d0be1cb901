import type { z } from 'zod';
import type { ResourceDefinition } from '../crds/definition.ts';

/** What drover may do with a kind whose mode is not `off`. */
export type ActiveMode = 'observe' | 'act';

/** A kind of run that is signalled about a subject, and started where none is open. */
export interface RunRow {
  /** In the search attribute `DroverKind`. */
  readonly kind: string;
  readonly workflowType: string;
  /** The id is the lock: one run per subject. `cluster` is empty where one cluster has the Temporal namespace to itself. */
  workflowId(subject: string, cluster?: string): string;
  /** What a run is started with. */
  input(subject: string): unknown;
  /** The compute host concerned; null: none. */
  host(subject: string): string | null;
  /** For the people who find the run in the Web UI, as Markdown. `object` is the name of the object that was changed. */
  describe(subject: string, object: string): { readonly summary: string; readonly details: readonly string[] };
}

/** A kind of Kubernetes objects that drover drives: all that the bridge, the starters and the worker have to know of it. */
export interface KindRow<Schema extends z.ZodType = z.ZodType> extends RunRow {
  /** API group and version. */
  readonly apiVersion: string;
  readonly plural: string;
  readonly schema: Schema;
  /**
   * Whether nothing is left to do for an object, so that no run need be started for it. Pure; the bridge asks at every resync, the
   * activity that opens a run asks again.
   */
  isReconciled(object: z.output<Schema>, mode: ActiveMode): boolean;
}

/** As objects of the kind name it. */
export const apiVersionOf = ({ group, version }: ResourceDefinition): string => `${group}/${version}`;

/** Infers the type of the objects from the schema, and keeps the kind's name as a literal type. */
export const defineKind = <const Name extends string, Schema extends z.ZodType>(
  row: KindRow<Schema> & { readonly kind: Name },
): typeof row => row;

/** Of `namespace/name`, as runs of namespaced objects are found by; names have no slash. */
export function namespaceAndName(fullName: string): [namespace: string, name: string] {
  const slash = fullName.indexOf('/');
  return [fullName.slice(0, Math.max(0, slash)), fullName.slice(slash + 1)];
}

/** Input of the runs of namespaced objects. */
export function namespacedInput(fullName: string): { namespace: string; name: string } {
  const [namespace, name] = namespaceAndName(fullName);
  return { namespace, name };
}
