import type { z } from 'zod';

import { type Clock, withTimeout } from '../../../runtime/clock.ts';
import type { KubernetesObjects, ObjectChange, ObjectVersion, Resource } from '../../../runtime/kubernetes/objects.ts';
import { sendTogether } from '../../lib/send-together.ts';
import { combinePatches } from './merge-patch.ts';

type Patch = ReturnType<typeof sendTogether<unknown, unknown>>;

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
  const senders = new Map<string, { patch: Patch; users: number }>();
  const open = (resource: Resource, version: ObjectVersion): Patch =>
    sendTogether(async (changes) => {
      const change = changes.reduce(combinePatches) as ObjectChange<z.ZodType>;
      const patched = await withTimeout(clock, timeoutMs, (signal) => client.patch(resource, version, change, signal));
      return changes.map(() => patched);
    });
  return {
    ...client,
    async patch<Schema extends z.ZodType>(
      resource: Resource<Schema>,
      version: ObjectVersion,
      change: ObjectChange<Schema>,
      signal: AbortSignal,
    ): Promise<z.output<Schema>> {
      const { namespace, name, uid, resourceVersion } = version;
      if (resourceVersion !== undefined || !resources.some(({ plural }) => plural === resource.plural))
        return await client.patch(resource, version, change, signal);
      const key = JSON.stringify([resource.plural, namespace, name, uid]);
      const sender = senders.get(key) ?? { patch: open(resource, version), users: 0 };
      senders.set(key, sender);
      sender.users += 1;
      try {
        return (await sender.patch(change, signal)) as z.output<Schema>;
      } finally {
        sender.users -= 1;
        if (sender.users === 0) senders.delete(key);
      }
    },
  };
}
