import type { z } from 'zod';

import type { Clock } from '../../../runtime/clock.ts';
import type {
  KubernetesObjects,
  ListQuery,
  ObjectKey,
  ObjectVersion,
  Resource,
} from '../../../runtime/kubernetes/objects.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { shareByKey } from '../../lib/share.ts';

/**
 * Short beside any call of kube-apiserver under load, and long enough that a hundred that ask at once are answered by a
 * few calls.
 */
const spacingMs = 50;

/**
 * The client, whose `get` and `listValid` of these resources are shared by those who ask at the same moment: what many
 * activities need to know of the cluster is read once for all of them. Each question is answered by a request that is
 * sent after it, as one of its own would be. Objects that were read are not changed. Those who wait for the next
 * version of an object share one watch.
 */
export function shareReads(client: KubernetesObjects, clock: Clock, resources: readonly Resource[]): KubernetesObjects {
  const shared = new Map(resources.map((resource) => [resource.plural, resource]));
  const isShared = (resource: Resource): boolean => shared.get(resource.plural) === resource;
  const gets = shareByKey<unknown>(
    clock,
    (key, signal) => {
      const [resource, of] = readKey<ObjectKey>(shared, key);
      return client.get(resource, of, signal);
    },
    { spacingMs },
  );
  const lists = shareByKey<unknown[]>(
    clock,
    (key, signal) => {
      const [resource, query] = readKey<ListQuery>(shared, key);
      return client.listValid(resource, query, signal);
    },
    { spacingMs },
  );
  const waits = new Map<string, Wait>();
  const beginWait = (resource: Resource, version: ObjectVersion): Wait => {
    const controller = new AbortController();
    return { changed: client.changed(resource, version, controller.signal), controller, waiting: 0 };
  };
  return {
    ...client,
    async changed(resource, version, signal) {
      if (!isShared(resource)) return await client.changed(resource, version, signal);
      const { namespace, name, resourceVersion } = version;
      const key = JSON.stringify([resource.plural, namespace, name, resourceVersion]);
      const wait = waits.get(key) ?? beginWait(resource, version);
      waits.set(key, wait);
      wait.waiting += 1;
      const end = (): void => {
        if (waits.get(key) === wait) waits.delete(key);
      };
      try {
        await unlessAborted(wait.changed.finally(end), signal);
      } finally {
        wait.waiting -= 1;
        if (wait.waiting === 0) {
          end();
          wait.controller.abort();
        }
      }
    },
    get: <Schema extends z.ZodType>(resource: Resource<Schema>, key: ObjectKey, signal: AbortSignal) => {
      const { namespace, name } = key;
      return isShared(resource)
        ? (gets.read(keyOf(resource, { namespace, name }), 0, signal) as Promise<z.output<Schema> | null>)
        : client.get(resource, key, signal);
    },
    listValid: <Schema extends z.ZodType>(resource: Resource<Schema>, query: ListQuery, signal: AbortSignal) =>
      isShared(resource)
        ? (lists.read(keyOf(resource, query), 0, signal) as Promise<z.output<Schema>[]>)
        : client.listValid(resource, query, signal),
  };
}

/** For the next version of an object. */
interface Wait {
  changed: Promise<void>;
  controller: AbortController;
  /** How many wait. */
  waiting: number;
}

const keyOf = ({ plural }: Resource, asked: object): string => JSON.stringify([plural, asked]);

function readKey<Asked>(shared: ReadonlyMap<string, Resource>, key: string): [Resource, Asked] {
  const [plural, asked] = JSON.parse(key) as [string, Asked];
  const resource = shared.get(plural);
  if (resource === undefined) throw new Error(`${plural} are not shared`);
  return [resource, asked];
}
