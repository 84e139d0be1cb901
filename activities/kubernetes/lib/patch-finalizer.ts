import type { z } from 'zod';

import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects, ObjectKey, Resource } from '../../../runtime/kubernetes/objects.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import type { ActivityContext } from '../../lib/context.ts';
import { mutate } from '../../lib/mutate.ts';

interface Held {
  metadata: ObjectKey & {
    uid: string;
    resourceVersion?: string | undefined;
    deletionTimestamp?: string | undefined;
    finalizers?: string[] | undefined;
  };
}

export interface FinalizerPatch {
  key: Required<ObjectKey>;
  /** One of that name with another uid is another object. */
  uid: string;
  finalizer: string;
  present: boolean;
  /** As it was written a moment ago, so that it need not be read. Absent: it is read. */
  known?: Held['metadata'];
  /** For the audit log. */
  action: string;
  /** `resourcepolicy/<namespace>/<name>`. */
  object: string;
}

/**
 * Puts a finalizer on the version of the object that was read, or takes it off.
 *
 * @returns false: there is no such object any more, or it is being deleted, so that none can be added
 */
export const patchFinalizer = <Schema extends z.ZodType<Held>>(
  tools: ActivityContext & { client: Pick<KubernetesObjects, 'get' | 'patch'> },
  resource: Resource<Schema>,
  request: FinalizerPatch,
): Promise<boolean> => {
  let { known } = request;
  return retryConflicts(async () => {
    const metadata = known ?? (await readMetadata(tools, resource, request));
    known = undefined;
    return await patchOnce(tools, resource, request, metadata);
  });
};

async function readMetadata<Schema extends z.ZodType<Held>>(
  { client, scope }: ActivityContext & { client: Pick<KubernetesObjects, 'get'> },
  resource: Resource<Schema>,
  { key }: FinalizerPatch,
): Promise<Held['metadata'] | null> {
  const found = (await client.get(resource, key, scope.signal)) as Held | null;
  return found?.metadata ?? null;
}

async function patchOnce<Schema extends z.ZodType<Held>>(
  tools: ActivityContext & { client: Pick<KubernetesObjects, 'get' | 'patch'> },
  resource: Resource<Schema>,
  { key, uid, finalizer, present, action, object }: FinalizerPatch,
  metadata: Held['metadata'] | null,
): Promise<boolean> {
  const { client, scope } = tools;
  if (metadata?.uid !== uid || (present && metadata.deletionTimestamp !== undefined)) return false;
  const { finalizers = [], resourceVersion } = metadata;
  const others = finalizers.filter((one) => one !== finalizer);
  const changed = present ? [...others, finalizer] : others;
  if (changed.length === finalizers.length) return true;
  const entry = { action, cause: 'its lifecycle', object, before: finalizers, after: changed };
  const version = { ...key, uid, ...(resourceVersion !== undefined && { resourceVersion }) };
  try {
    await mutate(tools, entry, () =>
      client.patch(resource, version, { metadata: { finalizers: changed } }, scope.signal),
    );
    return true;
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
    return false;
  }
}
