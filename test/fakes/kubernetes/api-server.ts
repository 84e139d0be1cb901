import { fieldManager } from '../../../contracts/ids.ts';
import type { CustomResourceDefinition } from '../../../contracts/crds/custom-resource-definition.ts';
import type { KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { isFields } from './field-set.ts';
import { listPage } from './list-page.ts';
import { mergePatch } from './merge-patch.ts';
import type { DeleteOptions, Objects, Target } from './objects.ts';
import { wrongKind } from './objects.ts';
import {
  badRequest,
  deleted,
  invalid,
  methodNotAllowed,
  notFound,
  unknownPath,
  unsupportedMediaType,
} from './refusal.ts';
import type { Place } from './requests.ts';
import { discover, readPlace, wireBody } from './requests.ts';
import type { Resource } from './resources.ts';
import { apiVersionOf, builtInResources, customResource } from './resources.ts';
import { readSelectors } from './selectors.ts';
import type { Storage } from './storage.ts';
import type { Draft, StoredObject } from './stored-object.ts';

/** kube-apiserver without its connections: a request is answered at once, or refused by throwing {@link Refusal}. */
export interface ApiServer {
  /** Everything but a watch. The answer is shared with the store: code that passes it on makes a copy. */
  answer(request: KubernetesRequest): unknown;
  /** Puts definitions in as they are: to make them like any other object takes longer than many a simulation. */
  define(definitions: readonly CustomResourceDefinition[]): void;
  /** Which kinds are served: what is built in, and what CustomResourceDefinitions define. */
  resources(): readonly Resource[];
}

const definitions = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };

export function createApiServer({ storage, objects }: { storage: Storage; objects: Objects }): ApiServer {
  const definitionResource = builtInResources.find(({ plural }) => plural === definitions.plural)!;
  let served: readonly Resource[] = builtInResources;
  /** How many changes {@link served} knows of. */
  let changesSeen = 0;

  const resources = (): readonly Resource[] => {
    const { changes } = storage;
    let isStale = false;
    for (; changesSeen < changes.length; changesSeen += 1) {
      isStale ||= changes[changesSeen]?.resource.plural === definitions.plural;
    }
    if (isStale) {
      const custom = storage
        .list(definitionResource)
        .map((object) => customResource(object as unknown as CustomResourceDefinition));
      served = [...builtInResources, ...custom];
    }
    return served;
  };

  /** What kube-apiserver's own controllers report of a definition as soon as they have seen it. */
  const establish = ({ metadata: { name, creationTimestamp: lastTransitionTime } }: Draft): StoredObject => {
    const condition = (type: string, reason: string): object => ({
      type,
      status: 'True',
      reason,
      message: '',
      lastTransitionTime,
    });
    const conditions = [condition('NamesAccepted', 'NoConflicts'), condition('Established', 'InitialNamesAccepted')];
    const key = { namespace: undefined, name };
    const target: Target = { resource: definitionResource, key, subresource: 'status', manager: 'kube-apiserver' };
    return objects.update(target, (live) => ({ ...live, status: { conditions } }));
  };

  const targetOf = (
    { resource, namespace, name, subresource }: Place & { name: string },
    { query = {} }: KubernetesRequest,
  ): Target => ({
    resource,
    key: { namespace, name },
    subresource,
    // Without a manager kube-apiserver takes the name of the program, of its user agent.
    manager: String(query['fieldManager'] ?? fieldManager),
  });

  const get = ({ resource, namespace, name }: Place & { name: string }): StoredObject => {
    const stored = storage.get(resource, { namespace, name });
    if (stored === null) throw notFound({ ...resource, name });
    return stored.object;
  };

  const patch = (target: Target, request: KubernetesRequest): StoredObject => {
    const body = wireBody(request);
    if (request.patchType === 'merge') {
      if (isFields(body)) return objects.update(target, (live) => mergePatch(live, body));
      const given = Array.isArray(body) ? 'array' : typeof body;
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${given} into Go value of type map[string]interface {}`,
      );
    }
    if (request.patchType === undefined)
      throw unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      );
    if (request.query?.['fieldManager'] === undefined) {
      const error = {
        reason: 'FieldValueRequired',
        field: 'fieldManager',
        message: 'Required value: is required for apply patch',
      } as const;
      throw invalid({ group: 'meta.k8s.io', plural: '', name: '' }, 'PatchOptions', [error]);
    }
    return objects.apply(target, checkBody(target, body), request.query['force'] === true);
  };

  const remove = (place: Place, request: KubernetesRequest): unknown => {
    const body = wireBody(request);
    const grace = request.query?.['gracePeriodSeconds'];
    const options: DeleteOptions = {
      ...(grace !== undefined && { gracePeriodSeconds: Number(grace) }),
      ...(isFields(body) ? body : {}),
    };
    if (place.name === null) {
      const selects = readSelectors(request, place.resource);
      const all = storage
        .list(place.resource)
        .filter(({ metadata }) => place.namespace === undefined || metadata.namespace === place.namespace);
      const items = all.filter(selects);
      for (const { metadata } of items)
        objects.remove(targetOf({ ...place, name: metadata.name, namespace: metadata.namespace }, request), options);
      return {
        apiVersion: apiVersionOf(place.resource),
        kind: `${place.resource.kind}List`,
        metadata: { resourceVersion: String(storage.revision) },
        items,
      };
    }
    const { left, uid } = objects.remove(targetOf({ ...place, name: place.name }, request), options);
    return left ?? deleted({ ...place.resource, name: place.name }, uid);
  };

  return {
    resources,

    define(definitions) {
      for (const { metadata, ...content } of definitions) {
        const draft = {
          ...content,
          metadata: { ...metadata, uid: metadata.name, creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
        };
        storage.put(definitionResource, draft, []);
        establish(draft);
      }
    },

    answer(request) {
      if (request.path === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.3' };
      const discovered = discover(request.path, resources());
      if (discovered !== null) return discovered;
      const place = readPlace(request.path, resources());
      const { resource, namespace, name } = place;
      if (request.method === 'DELETE') return remove(place, request);
      if (name === null) {
        if (request.method === 'GET') return listPage(storage, place, request);
        if (request.method !== 'POST') throw badRequest('name must be provided');
        if (resource.isNamespaced && namespace === undefined) throw unknownPath(request.path);
        const body = wireBody(request);
        checkKind(resource, body);
        checkNamespace(namespace, body);
        const created = objects.create(
          resource,
          namespace,
          body,
          String(request.query?.['fieldManager'] ?? fieldManager),
        );
        return resource === definitionResource ? establish(created) : created;
      }
      const target = targetOf({ ...place, name }, request);
      if (request.method === 'GET') return get({ ...place, name });
      if (request.method === 'PATCH') return patch(target, request);
      if (request.method !== 'PUT') throw methodNotAllowed(resource);
      return objects.replace(target, checkBody(target, wireBody(request)));
    },
  };
}

/** @throws Refusal 400, 422 */
function checkKind(resource: Resource, body: unknown): void {
  const { apiVersion, kind, metadata } = (isFields(body) ? body : {}) as Partial<StoredObject>;
  const expected = apiVersionOf(resource);
  const isCustom = resource.schema !== null;
  if (kind === undefined && isCustom) {
    const text = JSON.stringify(body);
    const missing = `Object 'Kind' is missing in '${text}'`;
    throw badRequest(`the object provided is unrecognized (must be of type ${resource.kind}): ${missing} (${text})`);
  }
  if ((apiVersion ?? (isCustom ? '' : expected)) !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion ?? ''}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== undefined && kind !== resource.kind) throw wrongKind(resource, metadata?.name ?? '', kind);
  checkTexts(resource, metadata?.labels, 'labels');
  checkTexts(resource, metadata?.annotations, 'annotations');
}

/** @throws Refusal 400 where a value is no text */
function checkTexts({ kind, version }: Resource, values: object | undefined, field: 'labels' | 'annotations'): void {
  const odd = Object.values(values ?? {}).find((value) => typeof value !== 'string') as unknown;
  if (odd === undefined) return;
  const type = typeof odd === 'boolean' ? 'bool' : typeof odd;
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${type} into Go struct field ObjectMeta.${field} of type string`,
  );
}

/** @throws Refusal 400 */
function checkNamespace(namespace: string | undefined, body: unknown): void {
  const given = (body as { metadata?: { namespace?: string } }).metadata?.namespace;
  if (given !== undefined && given !== '' && given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** A whole object, or a configuration, that says of itself what the path says. @throws Refusal 400 */
function checkBody({ resource, key }: Target, body: unknown): { metadata: { name: string } } {
  checkKind(resource, body);
  checkNamespace(key.namespace, body);
  const { name } = (body as { metadata?: { name?: string } }).metadata ?? {};
  if (name === undefined || name === '') {
    throw badRequest(`the name of the object (${key.name} based on URL) was undeterminable: name must be provided`);
  }
  if (name !== key.name)
    throw badRequest(`the name of the object (${name ?? ''}) does not match the name on the URL (${key.name})`);
  return body as { metadata: { name: string } };
}
