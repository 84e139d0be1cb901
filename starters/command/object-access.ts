import type { z } from 'zod';

import type { Resource } from '../../runtime/kubernetes/objects.ts';
import type { KubernetesAccess } from './kubernetes-access.ts';
import { type Noun, type ObjectReference, onlyOneNamed, unknownObject } from './object-reference.ts';

/** What tells an object from another one of its name, and a version of it from the next. */
export interface ObjectIdentity {
  namespace: string;
  name: string;
  uid: string;
  resourceVersion: string;
}

/** The objects of a kind as commands use them. Every call fails with a row of the error table. */
export interface ObjectAccess<One> {
  /** All that fit the schema, and `namespace/name` of those that do not. @param namespace null: of all */
  list: (namespace: string | null) => Promise<{ found: One[]; unreadable: string[] }>;
  /** Null: there is none. @throws CommandError for one that does not fit the schema */
  find: (namespace: string, name: string) => Promise<One | null>;
  /**
   * @param consequence a sentence for who names one that is none: nothing was changed
   * @throws CommandError notFound, with the one that may have been meant; refused for one that does not fit the schema
   */
  read: (reference: ObjectReference, consequence?: string) => Promise<One>;
  /**
   * Sets annotations of that very object, and leaves the others.
   *
   * @param object with its version where the annotations follow from what it says
   * @throws ObjectConflict where it is another object, or another version, by now
   */
  annotate: (
    object: Omit<ObjectIdentity, 'resourceVersion'> & Partial<ObjectIdentity>,
    annotations: Readonly<Record<string, string>>,
  ) => Promise<One>;
}

/** What commands need of Kubernetes for that. */
export type ObjectCalls = Pick<KubernetesAccess, 'list' | 'get' | 'patch'>;

/** @param resource as people are shown it */
export function objectAccess<One extends ObjectIdentity>(
  kubernetes: ObjectCalls,
  { noun, resource }: { noun: Noun; resource: Resource<z.ZodType<One>> },
  abort: AbortSignal,
): ObjectAccess<One> {
  const list: ObjectAccess<One>['list'] = (namespace) => kubernetes.list(resource, namespace ?? undefined);
  const find: ObjectAccess<One>['find'] = (namespace, name) => kubernetes.get(resource, { namespace, name });
  /** For a suggestion only: who may not list gets none. */
  const suggestions = async (): Promise<One[]> => {
    try {
      return (await list(null)).found;
    } catch {
      abort.throwIfAborted();
      return [];
    }
  };
  return {
    list,
    find,
    async read({ namespace, name }, consequence) {
      if (namespace === null) return onlyOneNamed(noun, name, (await list(null)).found, consequence);
      const found = await find(namespace, name);
      if (found === null) throw unknownObject(noun, { namespace, name }, await suggestions(), consequence);
      return found;
    },
    annotate: ({ namespace, name, uid, resourceVersion }, annotations) =>
      kubernetes.patch(
        resource,
        { namespace, name, uid, ...(resourceVersion !== undefined && { resourceVersion }) },
        { metadata: { annotations } },
      ),
  };
}
