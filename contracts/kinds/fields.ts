import { conditionsOf, type KubeObject } from './object.ts';

/** What rows of the kind table read of objects, which may hold anything. Pure. */

export const statusOf = ({ status }: KubeObject): Record<string, unknown> => (status ?? {}) as Record<string, unknown>;

/** As text: equal while nothing of it changes. */
export const field = (value: unknown): { value: string } => ({ value: JSON.stringify(value ?? null) });

export const conditionsIn = (object: KubeObject): unknown[] =>
  conditionsOf(object).map(({ type, status, reason }) => [type, status, reason]);

/** The full name of what an object names beside it; none where it names nothing. */
export const inNamespaceOf = ({ metadata: { namespace = '' } }: KubeObject, name: unknown): string[] =>
  typeof name === 'string' ? [`${namespace}/${name}`] : [];
