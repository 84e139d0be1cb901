import type { z } from 'zod';

import type { Clock } from '../../../runtime/clock.ts';
import type { KubernetesObjects, ListQuery, ObjectKey, Resource } from '../../../runtime/kubernetes/objects.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { shareByKey } from '../../lib/share.ts';

/**
 * Short beside any call of kube-apiserver under load, and long enough that a hundred that ask at once are answered by a
 * few calls.
 */
const shortSpacingMs = 50;

/**
 * The client, whose `get` and `listValid` of these resources are shared by those who ask at the same moment: what many
 * activities need to know of the cluster is read once for all of them. Each question is answered by a request that is
 * sent after it, as one of its own would be. Objects that were read are not changed. Those who wait for the next
 * version of an object share one watch.
 *
 * @param spacingMs between the beginnings of two requests: longer where each is large
 */
export function shareReads(
  client: KubernetesObjects,
  clock: Clock,
  resources: readonly Resource[],
  spacingMs = shortSpacingMs,
): KubernetesObjects {
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
  const watches = new Map<string, SharedWatch>();
  return {
    ...client,
    async *changes(resource, version, signal) {
      if (!isShared(resource)) return yield* client.changes(resource, version, signal);
      const { namespace, name, resourceVersion } = version;
      const key = JSON.stringify([resource.plural, namespace, name, resourceVersion]);
      const begin = (): SharedWatch => {
        const watch = shareWatch(
          (of) => client.changes(resource, version, of),
          () => {
            if (watches.get(key) === watch) watches.delete(key);
          },
        );
        watches.set(key, watch);
        return watch;
      };
      yield* (watches.get(key) ?? begin()).read(signal);
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

interface SharedWatch {
  read(signal: AbortSignal): AsyncGenerator<void>;
}

/**
 * One watch for several readers: it ends with the last of them. Each is told that something came since it read last.
 *
 * @param forget called once none may join any more, as the watch has told of a change or has ended
 */
function shareWatch(open: (signal: AbortSignal) => AsyncIterable<void>, forget: () => void): SharedWatch {
  const controller = new AbortController();
  let readers = 0;
  let changes = 0;
  let isOver = false;
  let next = Promise.withResolvers<void>();
  const follow = async (): Promise<void> => {
    for await (const _change of open(controller.signal)) {
      forget();
      changes += 1;
      next.resolve();
      next = Promise.withResolvers();
    }
  };
  follow()
    .finally(() => {
      forget();
      isOver = true;
    })
    .then(
      () => next.resolve(),
      (error: unknown) => {
        // The last reader may have left.
        next.promise.catch(() => undefined);
        next.reject(error);
      },
    );
  return {
    async *read(signal) {
      readers += 1;
      let seen = 0;
      try {
        for (;;) {
          if (seen === changes) await unlessAborted(next.promise, signal);
          if (seen === changes && isOver) return;
          seen = changes;
          yield;
        }
      } finally {
        readers -= 1;
        if (readers === 0) {
          forget();
          controller.abort();
        }
      }
    },
  };
}

const keyOf = ({ plural }: Resource, asked: object): string => JSON.stringify([plural, asked]);

function readKey<Asked>(shared: ReadonlyMap<string, Resource>, key: string): [Resource, Asked] {
  const [plural, asked] = JSON.parse(key) as [string, Asked];
  const resource = shared.get(plural);
  if (resource === undefined) throw new Error(`${plural} are not shared`);
  return [resource, asked];
}
