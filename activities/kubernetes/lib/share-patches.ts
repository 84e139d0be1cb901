import type { z } from 'zod';

import { type Clock, withTimeout } from '../../../runtime/clock.ts';
import type { KubernetesObjects, ObjectChange, ObjectVersion, Resource } from '../../../runtime/kubernetes/objects.ts';
import { sendTogetherByKey } from '../../lib/send-together.ts';
import { combinePatches } from './merge-patch.ts';

interface Target {
  resource: Resource;
  version: ObjectVersion;
}

/** Of a patch of several, of which none alone can give it up. */
const timeoutMs = 15_000;

/**
 * The client, whose patches of objects of these resources, where they name no version, are sent together: what comes
 * while one is on its way goes with the next. kube-apiserver applies patches of one object one after the other, and
 * begins each anew that another one has overtaken.
 */
export function sharePatches(
  client: KubernetesObjects,
  clock: Clock,
  resources: readonly Resource[],
): KubernetesObjects {
  const patchTogether = sendTogetherByKey<Target, unknown, unknown>(
    ({ resource: { plural }, version: { namespace, name, uid } }) => JSON.stringify([plural, namespace, name, uid]),
    async ({ resource, version }, changes) => {
      const change = changes.reduce(combinePatches) as ObjectChange<z.ZodType>;
      const patched = await withTimeout(clock, timeoutMs, (signal) => client.patch(resource, version, change, signal));
      return changes.map(() => patched);
    },
  );
  return {
    ...client,
    async patch<Schema extends z.ZodType>(
      resource: Resource<Schema>,
      version: ObjectVersion,
      change: ObjectChange<Schema>,
      signal: AbortSignal,
    ): Promise<z.output<Schema>> {
      const isShared =
        version.resourceVersion === undefined && resources.some(({ plural }) => plural === resource.plural);
      return isShared
        ? ((await patchTogether({ resource, version }, change, signal)) as z.output<Schema>)
        : await client.patch(resource, version, change, signal);
    },
  };
}
