import { isDeepStrictEqual } from 'node:util';

import { uuidFrom } from '../uuid.ts';
import type { Admission } from './admission.ts';
import { checkDraft, draftNew, draftNext } from './drafts.ts';
import type { Fields } from './field-set.ts';
import { isFields, without } from './field-set.ts';
import type { Manager, Writer } from './managed-fields.ts';
import { afterUpdate, applyConfiguration, writeManagers } from './managed-fields.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  internalError,
  invalid,
  namespaceTerminating,
  notFound,
} from './refusal.ts';
import type { Resource } from './resources.ts';
import { apiVersionOf } from './resources.ts';
import type { ObjectKey, Storage, Stored } from './storage.ts';
import type { Draft, StoredObject } from './stored-object.ts';
import { validateMetadataChange } from './validate-metadata.ts';

/** Which object a request is about, and who asks. */
export interface Target {
  resource: Resource;
  key: ObjectKey;
  /** Empty: the object itself. */
  subresource: string;
  manager: string;
}

export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  gracePeriodSeconds?: number;
}

/** What kube-apiserver does with one object; what it refuses is thrown as {@link Refusal}. */
export interface Objects {
  create(resource: Resource, namespace: string | undefined, body: unknown, manager: string): StoredObject;
  /** @param change the new object, of the one that is there */
  update(target: Target, change: (live: StoredObject) => unknown): StoredObject;
  /** PUT: a whole object, whose uid is a precondition. */
  replace(target: Target, body: unknown): StoredObject;
  /** Server-side apply; makes the object where there is none. */
  apply(target: Target, body: unknown, isForced: boolean): StoredObject;
  /** The object that is left, as a finalizer or its grace period holds it; null: it is gone. */
  remove(target: Target, options: DeleteOptions): { left: StoredObject | null; uid: string };
}

const namespaces = { group: '', plural: 'namespaces' };

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** @param now milliseconds since the epoch */
export function createObjects(options: {
  storage: Storage;
  admission: Admission;
  now: () => number;
  random: () => number;
}): Objects {
  const { storage, admission, now, random } = options;
  const subjectOf = ({ group, plural }: Resource, name: string) => ({ group, plural, name });
  const timestamp = (): string => `${new Date(now()).toISOString().slice(0, 19)}Z`;

  const writerOf = (target: Omit<Target, 'key'>, operation: Writer['operation']): Writer => ({
    manager: target.manager,
    operation,
    apiVersion: apiVersionOf(target.resource),
    time: timestamp(),
    subresource: target.subresource,
  });

  const found = ({ resource, key }: Pick<Target, 'resource' | 'key'>): Stored => {
    const stored = storage.get(resource, key);
    if (stored === null) throw notFound(subjectOf(resource, key.name));
    return stored;
  };

  /** The draft with the record of who owns what of it. */
  const recorded = ({ metadata, ...content }: Draft, managers: readonly Manager[]): Draft => {
    const managedFields = writeManagers(managers);
    const own = without(metadata, 'managedFields', 'resourceVersion');
    return { ...content, metadata: { ...own, ...(managedFields.length > 0 && { managedFields }) } } as Draft;
  };

  const put = (resource: Resource, draft: Draft, managers: readonly Manager[]): StoredObject =>
    storage.put(resource, recorded(draft, managers), managers).object;

  const insert = (
    resource: Resource,
    namespace: string | undefined,
    body: unknown,
    managersOf: (object: Draft) => readonly Manager[],
  ): StoredObject => {
    const home = namespace === undefined ? undefined : storage.get(namespaces, { name: namespace });
    if (home === null) throw notFound({ ...namespaces, name: namespace ?? '' });
    const suffix = Array.from({ length: 5 }, () => suffixAlphabet[Math.floor(random() * suffixAlphabet.length)]);
    const identity = { uid: uuidFrom(random), creationTimestamp: timestamp(), suffix: suffix.join('') };
    const asked = draftNew(resource, namespace, body, identity);
    // What admission adds is owned by no manager.
    const object = admission.complete(resource, resource.admit(asked));
    checkDraft(resource, object, false);
    const { name } = object.metadata;
    if (home?.object.metadata.deletionTimestamp !== undefined)
      throw namespaceTerminating(subjectOf(resource, name), namespace ?? '');
    // A quota is asked before the name.
    admission.checkNew(resource, object);
    const there = storage.get(resource, { namespace, name });
    if (there !== null) {
      throw alreadyExists(subjectOf(resource, name), there.object.metadata.deletionTimestamp !== undefined);
    }
    return put(resource, object, managersOf(asked));
  };

  /** @throws Refusal 409 where the request is about another version; 422, 500 where it is about none */
  const checkVersion = ({ resource, key }: Target, live: StoredObject, asked: string | null | undefined): void => {
    if (asked === undefined || asked === null || asked === '') {
      if (resource.allowsUnconditionalUpdate) return;
      const message = 'Invalid value: 0: must be specified for an update';
      const error = { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message } as const;
      throw invalid(subjectOf(resource, key.name), resource.plural, [error]);
    }
    if (!/^\d+$/u.test(asked)) throw internalError(`strconv.ParseUint: parsing "${asked}": invalid syntax`);
    if (asked !== live.metadata.resourceVersion) throw conflict(subjectOf(resource, key.name));
  };

  /** Stores the new version, unless it is the old one; what no finalizer holds any more goes. */
  const write = (
    target: Target,
    { object: live, managers }: Stored,
    wanted: StoredObject,
    managersOf: (next: Draft) => readonly Manager[],
  ): StoredObject => {
    const { resource, key } = target;
    const isStatus = target.subresource === 'status';
    checkVersion(target, live, wanted.metadata.resourceVersion);
    const next = draftNext(resource, isStatus, live, wanted);
    checkDraft(resource, next, isStatus, [
      ...validateMetadataChange(live.metadata, wanted.metadata),
      ...(isStatus ? [] : resource.validateChange(live, next)),
    ]);
    if (!isStatus) admission.checkChange(resource, live, next);
    const owners = managersOf(next);
    const before = { ...live, metadata: without(live.metadata, 'managedFields', 'resourceVersion') };
    const isSame = isDeepStrictEqual(next, before) && isDeepStrictEqual(withoutTimes(owners), withoutTimes(managers));
    if (isSame) return live;
    if (next.metadata.deletionTimestamp === undefined || isHeld(next)) {
      return put(resource, next, owners);
    }
    storage.remove(resource, key);
    const last = recorded(next, owners);
    return { ...last, metadata: { ...last.metadata, resourceVersion: live.metadata.resourceVersion } } as StoredObject;
  };

  const objects: Objects = {
    create(resource, namespace, body, manager) {
      const writer = writerOf({ resource, subresource: '', manager }, 'Update');
      const managersOf = (object: Draft) =>
        afterUpdate([], writer, parts(resource, object), object, resource.mergeSchema);
      return insert(resource, namespace, body, managersOf);
    },

    update(target, change) {
      const stored = found(target);
      const wanted = change(stored.object) as StoredObject;
      checkIdentity(target, wanted);
      const { mergeSchema } = target.resource;
      return write(target, stored, wanted, (next) =>
        afterUpdate(stored.managers, writerOf(target, 'Update'), stored.object, next, mergeSchema),
      );
    },

    replace(target, body) {
      const { resource, key, manager } = target;
      if (resource.allowsCreateOnUpdate && target.subresource === '' && storage.get(resource, key) === null) {
        const { metadata, ...content } = body as StoredObject;
        return objects.create(
          resource,
          key.namespace,
          { ...content, metadata: without(metadata, 'resourceVersion') },
          manager,
        );
      }
      return objects.update(target, (live) => {
        const { uid } = (body as StoredObject).metadata;
        if (uid === undefined || uid === live.metadata.uid) return body;
        const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
        const at = `/registry/${resource.group}/${resource.plural}/${key.name}`;
        throw conflict(
          subjectOf(resource, key.name),
          `StorageError: invalid object, Code: 4, Key: ${at}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
        );
      });
    },

    apply(target, body, isForced) {
      const { resource, key, subresource } = target;
      const { mergeSchema } = resource;
      const config = configurationOf(target, body);
      const writer = writerOf(target, 'Apply');
      const stored = storage.get(resource, key);
      if (stored === null) {
        if (subresource !== '') throw notFound(subjectOf(resource, key.name));
        const made = () => applyConfiguration([], writer, {}, config, mergeSchema, isForced).managers;
        return insert(resource, key.namespace, body, made);
      }
      const { object, managers } = stored;
      const asked = (body as StoredObject).metadata.resourceVersion;
      if (asked !== undefined) checkVersion(target, object, asked);
      const applied = applyConfiguration(managers, writer, object, config, mergeSchema, isForced);
      return write(target, stored, applied.object as StoredObject, () => applied.managers);
    },

    remove(target, { preconditions = {}, gracePeriodSeconds }) {
      const { resource, key } = target;
      const { object, managers } = found(target);
      const { uid, resourceVersion, deletionTimestamp, generation } = object.metadata;
      const subject = subjectOf(resource, key.name);
      const named = resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
      if (preconditions.uid !== undefined && preconditions.uid !== uid) {
        const differ = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid})`;
        throw conflict(subject, `${differ}. The object might have been deleted and then recreated`, named);
      }
      const version = preconditions.resourceVersion;
      if (version !== undefined && version !== resourceVersion) {
        const differ = `the ResourceVersion in the precondition (${version}) does not match the ResourceVersion in record (${resourceVersion})`;
        throw conflict(subject, `${differ}. The object might have been modified`, named);
      }
      const graceSeconds = isEndedPod(object)
        ? 0
        : (gracePeriodSeconds ?? (resource.plural === 'pods' && isScheduled(object) ? 30 : 0));
      if (!isHeld(object) && graceSeconds === 0) {
        storage.remove(resource, key);
        return { left: null, uid };
      }
      if (deletionTimestamp !== undefined) return { left: object, uid };
      if (resource.plural === namespaces.plural && resource.group === namespaces.group) {
        const metadata = { ...object.metadata, deletionTimestamp: timestamp() };
        return { left: put(resource, { ...object, metadata, status: { phase: 'Terminating' } }, managers), uid };
      }
      const deleting = {
        deletionTimestamp: timestamp(),
        deletionGracePeriodSeconds: graceSeconds,
        ...(generation !== undefined && { generation: generation + 1 }),
      };
      return { left: put(resource, { ...object, metadata: { ...object.metadata, ...deleting } }, managers), uid };
    },
  };
  return objects;
}

/** A patch may not make another object of this one. @throws Refusal 400, 422 */
function checkIdentity({ resource, key }: Target, wanted: unknown): void {
  const { kind, metadata } = (isFields(wanted) ? wanted : {}) as { kind?: string; metadata?: { name?: string } };
  if (metadata === undefined) throw badRequest('the object has no metadata');
  if (metadata.name !== key.name) {
    throw badRequest(
      `the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${key.name})`,
    );
  }
  if (kind !== undefined && kind !== resource.kind) throw wrongKind(resource, key.name, kind);
}

/** @param kind that the object says it is */
export const wrongKind = ({ group, plural, kind: expected }: Resource, name: string, kind: string): Error => {
  const message = `Invalid value: ${JSON.stringify(kind)}: must be ${expected}`;
  return invalid({ group, plural, name }, kind, [{ reason: 'FieldValueInvalid', field: 'kind', message }]);
};

/** What a new object has before anything is said of it: of what is built in, its parts are there and empty. */
const parts = ({ schema }: Resource, object: Draft): Fields =>
  schema === null
    ? Object.fromEntries(
        ['metadata', 'spec', 'status'].filter((part) => isFields(object[part])).map((part) => [part, {}]),
      )
    : {};

/** What of a configuration counts on a resource. */
function configurationOf({ resource, subresource }: Target, body: unknown): Fields {
  const { apiVersion, kind, metadata, status, ...content } = body as StoredObject;
  if (subresource === 'status') return { apiVersion, kind, metadata: { name: metadata.name }, status };
  const isWhole = !resource.hasStatus && status !== undefined;
  const own = without(metadata, 'resourceVersion', 'uid', 'managedFields');
  return { apiVersion, kind, metadata: own, ...content, ...(isWhole && { status }) };
}

/** By its finalizers, or those of a Namespace: it stays until what is in it has gone. */
const isHeld = ({ metadata: { finalizers = [] }, kind, spec }: Draft): boolean =>
  finalizers.length > 0 ||
  (kind === 'Namespace' && isFields(spec) && Array.isArray(spec['finalizers']) && spec['finalizers'].length > 0);

const isScheduled = ({ spec }: StoredObject): boolean =>
  isFields(spec) && typeof spec['nodeName'] === 'string' && spec['nodeName'] !== '';

/** No kubelet has to end it. */
const isEndedPod = ({ kind, status }: StoredObject): boolean =>
  kind === 'Pod' && isFields(status) && ['Succeeded', 'Failed'].includes(String(status['phase']));

const withoutTimes = (managers: readonly Manager[]): object[] =>
  managers
    .map((manager) => without(manager, 'time'))
    .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
