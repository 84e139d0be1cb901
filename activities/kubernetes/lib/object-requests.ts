import { z } from 'zod';

import { checkAnswer, isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes, KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';

/** Requests whose answers are checked against a schema. */
export interface ObjectRequests {
  read: <Schema extends z.ZodType>(
    schema: Schema,
    request: KubernetesRequest,
    signal: AbortSignal,
  ) => Promise<z.output<Schema>>;
  /** Null: there is no such object. */
  readOrNull: <Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    signal: AbortSignal,
  ) => Promise<z.output<Schema> | null>;
  /** The items of every page, as they came. */
  list: (path: string, query: KubernetesRequest['query'], signal: AbortSignal) => Promise<unknown[]>;
}

/** Large lists come in pages. */
const pageLimit = 500;

const listSchema = z.object({
  metadata: z.object({ continue: z.string().optional() }).optional(),
  items: z.array(z.unknown()),
});

export function createObjectRequests(kubernetes: Kubernetes): ObjectRequests {
  const read: ObjectRequests['read'] = async (schema, request, signal) =>
    checkAnswer(schema, await kubernetes.request(request, signal), `${request.method} ${request.path}`);
  return {
    read,

    async readOrNull(schema, path, signal) {
      try {
        return await read(schema, { method: 'GET', path }, signal);
      } catch (error) {
        if (isFailure(error, 'ObjectNotFound')) return null;
        throw error;
      }
    },

    async list(path, query, signal) {
      const all: unknown[] = [];
      let next: string | undefined;
      do {
        const page = await read(
          listSchema,
          { method: 'GET', path, query: { ...query, limit: pageLimit, continue: next } },
          signal,
        );
        all.push(...page.items);
        next = page.metadata?.continue === '' ? undefined : page.metadata?.continue;
      } while (next !== undefined);
      return all;
    },
  };
}
