import { z } from 'zod';

import { apiVersionOf } from '../../contracts/kinds/object.ts';
import { fieldManager } from '../../contracts/ids.ts';
import { droverFailure } from '../failure.ts';
import { checkAnswer, isAlreadyExists, isFailure, isOfAnother } from './kubernetes-faults.ts';
import type { Kubernetes, KubernetesRequest } from './kubernetes.ts';
import { resourcePath } from './resource-path.ts';

/** A kind of objects as kube-apiserver serves it, with a schema (resources.ts). */
export interface Resource<Schema extends z.ZodType = z.ZodType> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  /** Of what is read of an object; what it does not speak of is left out, or kept, as it says. */
  readonly schema: Schema;
}

/** As the metadata of an object have it; without a namespace where the kind has none. */
export interface ObjectKey {
  namespace?: string | undefined;
  name: string;
}

/**
 * An object as it was read. A write on another version, or on another object of that name, is
 * refused with ObjectConflict.
 */
export interface ObjectVersion extends ObjectKey {
  uid?: string;
  resourceVersion?: string;
}

/** RFC 7386: null takes a field away, a list is replaced. */
export type MergePatch<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Field in keyof Value]?: MergePatch<Value[Field]> | null }
    : Value;

/** Of an object as it is written: what is read of it may be something else that the schema makes of it. */
type Part<Schema extends z.ZodType, Name extends 'spec' | 'status' | 'data'> =
  z.input<Schema> extends Partial<Record<Name, infer Value>> ? NonNullable<Value> : never;

/** What of the metadata may be written. */
interface Metadata {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  finalizers: readonly string[];
  ownerReferences: readonly object[];
}

export interface NewObject<Schema extends z.ZodType> {
  metadata: ObjectKey & Partial<Metadata>;
  spec?: Part<Schema, 'spec'>;
  [field: string]: unknown;
}

export interface ObjectChange<Schema extends z.ZodType> {
  metadata?: MergePatch<Metadata>;
  spec?: MergePatch<Part<Schema, 'spec'>>;
  data?: MergePatch<Part<Schema, 'data'>>;
}

export interface ListQuery {
  /** Default: of all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string;
  fieldSelector?: string;
}

/**
 * Objects of kube-apiserver, typed by their kind. Every answer is checked against the schema of the kind, and one that
 * does not fit is a failure that names the field. Failures are rows of contracts/errors.ts; what is not there is null.
 * Nothing is tried again here.
 */
export interface KubernetesObjects {
  get<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<z.output<Schema> | null>;
  /** All, of every page. */
  list<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<z.output<Schema>[]>;
  /** All, and the version of the whole that they are of: a list that asks etcd, and no cache. */
  listWithVersion<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<{ items: z.output<Schema>[]; resourceVersion: string }>;
  /** Those that fit the schema: one odd object must not hold up every other. */
  listValid<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<z.output<Schema>[]>;
  /** Null when the name is taken. */
  create<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    object: NewObject<Schema>,
    signal: AbortSignal,
  ): Promise<z.output<Schema> | null>;
  /** The object then. */
  patch<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    version: ObjectVersion,
    change: ObjectChange<Schema>,
    signal: AbortSignal,
  ): Promise<z.output<Schema>>;
  patchStatus<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    version: ObjectVersion,
    status: MergePatch<Part<Schema, 'status'>>,
    signal: AbortSignal,
  ): Promise<z.output<Schema>>;
  /** Puts the object in the place of the version that it names. */
  replace<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    object: { metadata: ObjectVersion; spec?: Part<Schema, 'spec'> },
    signal: AbortSignal,
  ): Promise<z.output<Schema>>;
  /** Server-side apply, never forced. @throws ObjectConflict where another manager owns a field with another value */
  apply<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    object: NewObject<Schema>,
    signal: AbortSignal,
  ): Promise<z.output<Schema>>;
  /** The same of the status: exactly these fields are drover's afterwards. */
  applyStatus<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    key: ObjectKey,
    status: Partial<Part<Schema, 'status'>>,
    signal: AbortSignal,
  ): Promise<z.output<Schema>>;
  /**
   * Yields whenever the object has become another one than that version, or is gone, until the server ends the watch.
   * It is a hint, and may come twice: the caller reads the object.
   */
  changes(resource: Resource, version: ObjectVersion, signal: AbortSignal): AsyncIterable<void>;
  /** One that is gone is well. @throws ObjectConflict where it is another version, or another object of that name */
  delete(resource: Resource, version: ObjectVersion, signal: AbortSignal): Promise<void>;
}

/** Large lists come in pages. */
const pageLimit = 500;

const listSchema = z.object({
  metadata: z.object({ continue: z.string().optional(), resourceVersion: z.string().optional() }).optional(),
  items: z.array(z.unknown()),
});

export function openObjects(kubernetes: Kubernetes): KubernetesObjects {
  const send = async <Schema extends z.ZodType>(
    schema: Schema,
    request: KubernetesRequest,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> =>
    checkAnswer(schema, await kubernetes.request(request, signal), `${request.method} ${request.path}`);

  /** All pages are of the version of the first one. */
  const listPages = async (
    resource: Resource,
    { namespace, ...query }: ListQuery,
    signal: AbortSignal,
  ): Promise<{ items: unknown[]; resourceVersion: string }> => {
    const { kind } = resource;
    const apiVersion = apiVersionOf(resource);
    const path = pathOf(resource, { namespace });
    const all: unknown[] = [];
    let next: string | undefined;
    let resourceVersion = '';
    const tokens = new Set<string>();
    do {
      const page = await send(
        listSchema,
        { method: 'GET', path, query: { ...query, limit: pageLimit, continue: next } },
        signal,
      );
      // Items of a list do not say what they are.
      all.push(...page.items.map((item) => (typeof item === 'object' ? { ...item, apiVersion, kind } : item)));
      if (next === undefined) resourceVersion = page.metadata?.resourceVersion ?? '';
      next = page.metadata?.continue === '' ? undefined : page.metadata?.continue;
      if (next !== undefined && tokens.has(next))
        throw droverFailure('AnswerMalformed', `LIST ${kind}: a page names itself as the next one`);
      if (next !== undefined) tokens.add(next);
    } while (next !== undefined);
    return { items: all, resourceVersion };
  };

  const listWithVersion: KubernetesObjects['listWithVersion'] = async (resource, query, signal) => {
    const { items, resourceVersion } = await listPages(resource, query, signal);
    return { items: items.map((item) => checkAnswer(resource.schema, item, `LIST ${resource.kind}`)), resourceVersion };
  };

  const change = <Schema extends z.ZodType>(
    resource: Resource<Schema>,
    version: ObjectVersion,
    { metadata, ...more }: { metadata?: object; spec?: unknown; data?: unknown; status?: unknown },
    subresource: 'status' | undefined,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> => {
    const { uid, resourceVersion } = version;
    const ofVersion = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
    const request = {
      method: 'PATCH',
      patchType: 'merge',
      query: { fieldManager },
      path: pathOf(resource, version, subresource),
      body: { metadata: { ...metadata, ...ofVersion }, ...more },
    } as const;
    return send(resource.schema, request, signal).catch((error: unknown) => {
      throw uid !== undefined && isOfAnother(error)
        ? droverFailure('ObjectConflict', `${resource.kind} ${version.name} is another object of that name by now`)
        : error;
    });
  };

  const write = <Schema extends z.ZodType>(
    resource: Resource<Schema>,
    request: Pick<KubernetesRequest, 'method' | 'patchType'>,
    object: { metadata: ObjectKey; status?: unknown },
    subresource: 'status' | undefined,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> => {
    const { namespace, name } = object.metadata;
    const place = request.method === 'POST' ? { namespace } : { namespace, name };
    return send(
      resource.schema,
      {
        ...request,
        query: { fieldManager },
        path: pathOf(resource, place, subresource),
        body: { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object },
      },
      signal,
    );
  };

  return {
    async get(resource, key, signal) {
      try {
        return await send(resource.schema, { method: 'GET', path: pathOf(resource, key) }, signal);
      } catch (error) {
        if (isFailure(error, 'ObjectNotFound')) return null;
        throw error;
      }
    },
    list: async (resource, query, signal) => (await listWithVersion(resource, query, signal)).items,
    listWithVersion,
    async listValid(resource, query, signal) {
      const { items } = await listPages(resource, query, signal);
      return items.flatMap((item) => resource.schema.safeParse(item).data ?? []);
    },
    async create(resource, object, signal) {
      try {
        return await write(resource, { method: 'POST' }, object, undefined, signal);
      } catch (error) {
        if (isAlreadyExists(error)) return null;
        throw error;
      }
    },
    patch: (resource, version, changes, signal) => change(resource, version, changes, undefined, signal),
    patchStatus: (resource, version, status, signal) => change(resource, version, { status }, 'status', signal),
    replace: (resource, object, signal) => write(resource, { method: 'PUT' }, object, undefined, signal),
    apply: (resource, object, signal) =>
      write(resource, { method: 'PATCH', patchType: 'apply' }, object, undefined, signal),
    applyStatus: (resource, { namespace, name }, status, signal) => {
      const metadata = { name, ...(namespace !== undefined && { namespace }) };
      return write(resource, { method: 'PATCH', patchType: 'apply' }, { metadata, status }, 'status', signal);
    },
    async *changes(resource, { namespace, name, resourceVersion }, signal) {
      const query = { watch: true, fieldSelector: `metadata.name=${name}`, resourceVersion };
      const body = await kubernetes.stream({ method: 'GET', path: pathOf(resource, { namespace }), query }, signal);
      // Without bookmarks each byte is of an event.
      for await (const _event of body) yield;
    },
    async delete(resource, { uid, resourceVersion, ...key }, signal) {
      const preconditions = {
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      };
      // The default, but for Jobs, whose Pods would stay.
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: 'Background' };
      try {
        await kubernetes.request({ method: 'DELETE', path: pathOf(resource, key), body }, signal);
      } catch (error) {
        if (!isFailure(error, 'ObjectNotFound')) throw error;
      }
    },
  };
}

const pathOf = (resource: Resource, { namespace, name }: Partial<ObjectKey>, subresource?: 'status'): string =>
  resourcePath(apiVersionOf(resource), resource.plural, {
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  });
