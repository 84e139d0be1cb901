import { isDeepStrictEqual } from 'node:util';

import type { Fields } from './field-set.ts';
import { isFields, without } from './field-set.ts';
import type { FieldError } from './refusal.ts';
import { badRequest, internalError, invalid } from './refusal.ts';
import type { Resource } from './resources.ts';
import { apiVersionOf } from './resources.ts';
import { hasRules, pruneAndDefault, validate } from './schema.ts';
import type { Draft, ObjectMetadata, StoredObject } from './stored-object.ts';
import { validateMetadata } from './validate-metadata.ts';

/** What kube-apiserver gives a new object. */
export interface Identity {
  uid: string;
  creationTimestamp: string;
  /** What comes after a `generateName`. */
  suffix: string;
}

interface Given {
  metadata?: Partial<ObjectMetadata> & { generateName?: string };
  status?: unknown;
  [field: string]: unknown;
}

/** The object that a POST asks for. @throws Refusal */
export function draftNew(resource: Resource, namespace: string | undefined, body: unknown, identity: Identity): Draft {
  if (!isFields(body)) throw badRequest('the request body is no object');
  const { metadata: given = {}, status, ...content } = body as Given;
  if (given.resourceVersion) throw internalError('resourceVersion should not be set on objects to be created');
  const { generateName = '' } = given;
  const metadata = without(given, 'resourceVersion', 'deletionTimestamp', 'managedFields');
  const { uid, creationTimestamp, suffix } = identity;
  const draft = {
    ...content,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      ...withoutEmpty(metadata),
      name: given.name ?? (generateName === '' ? '' : `${generateName}${suffix}`),
      ...(namespace !== undefined && { namespace }),
      uid,
      creationTimestamp,
      ...(resource.hasGeneration && { generation: 1 }),
    },
    ...((!resource.hasStatus || resource.keepsGivenStatus) && status !== undefined && { status }),
  } as Draft;
  return shaped(resource, draft);
}

/** What a write makes of the object: the rest of it stays, whatever the request says of it. */
export function draftNext(resource: Resource, isStatus: boolean, live: StoredObject, wanted: StoredObject): Draft {
  const status = isStatus || !resource.hasStatus ? wanted['status'] : live['status'];
  // The status of what is built in may come with metadata; that of a custom resource may not.
  const metadata = isStatus && resource.schema !== null ? live.metadata : wanted.metadata;
  const { uid, name, namespace, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } =
    live.metadata;
  const kept = {
    uid,
    name,
    namespace,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
  };
  const draft = {
    ...without(isStatus ? live : wanted, 'status'),
    apiVersion: live.apiVersion,
    kind: live.kind,
    metadata: withoutEmpty({ ...without(metadata, 'resourceVersion', 'managedFields'), ...kept }),
    ...(status !== undefined && { status }),
  } as Draft;
  const next = shaped(resource, draft);
  if (generation === undefined || isDeepStrictEqual(specOf(live), specOf(next))) return next;
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } };
}

/** What the generation counts. */
const specOf = (object: StoredObject | Draft): Fields => without(object, 'metadata', 'status');

function shaped(resource: Resource, object: Draft): Draft {
  const { schema } = resource;
  if (schema === null) return resource.normalize(object);
  const { apiVersion, kind, metadata, ...content } = object;
  return { apiVersion, kind, metadata, ...(pruneAndDefault(content, schema) as Fields) };
}

/** As Go writes metadata: what is empty is left out. */
const withoutEmpty = (metadata: object): object =>
  Object.fromEntries(
    Object.entries(metadata).filter(
      ([, value]) => value !== undefined && !(typeof value === 'object' && Object.keys(value as object).length === 0),
    ),
  );

/**
 * @param more what else is wrong with it
 * @throws Refusal 422
 */
export function checkDraft(
  resource: Resource,
  object: Draft,
  isStatus: boolean,
  more: readonly FieldError[] = [],
): void {
  const found = [
    ...validateMetadata(object.metadata),
    ...more,
    ...resource.validate(object),
    ...validateContent(resource, object, isStatus),
  ];
  if (found.length === 0) return;
  const isBlocked =
    resource.schema !== null && hasRules(resource.schema) && found.some(({ reason }) => blocking.has(reason));
  // Events are of the core group still, where they are validated.
  const group = resource.group === 'events.k8s.io' ? '' : resource.group;
  const subject = { group, plural: resource.plural, name: object.metadata.name };
  throw invalid(subject, resource.kind, isBlocked ? [...found, unchecked] : found);
}

function validateContent({ schema }: Resource, object: Draft, isStatus: boolean): FieldError[] {
  if (schema === null) return [];
  if (!isStatus) return validate(object, schema);
  // Of a status the sentences speak as if it were all there is.
  const errors = object['status'] === undefined ? [] : validate(object['status'], schema.properties?.['status'] ?? {});
  return errors.map((error) => ({ ...error, field: `status.${error.field}` }));
}

const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
]);

/** Added where CEL rules would have had to look at an object that is wrong already. */
const unchecked: FieldError = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};
