import { createHash } from 'node:crypto';
import { annotations } from '../ids.ts';
import {
  isDigested,
  type KindRow,
  type Predicate,
  type Watch,
  watchAlways,
  watchedKey,
  type WatchedFields,
  type WatchSettings,
} from './kind.ts';
import { fullNameOf, type KubeObject } from './object.ts';

/**
 * A digest of all of Kubernetes that a run has observed and the bridge watches. A run leaves that of its last
 * observation in its memo; the bridge makes the same from its copies, and starts no run where both are equal.
 */

/** What of an object matters; each text is equal when nothing changed. */
export interface Watched {
  /** Null: the generation does not matter. */
  generation: number | null;
  annotations: string;
  labels: string;
  finalizers: string;
  fields: WatchedFields;
}

/** @param ownFinalizer drover's: it never matters */
export function readWatched(predicate: Predicate, { metadata, ...parts }: KubeObject, ownFinalizer?: string): Watched {
  const { generation, labels = {}, annotations: given = {}, finalizers = [] } = metadata;
  return {
    generation: predicate.generation === true ? generation : null,
    annotations: select(given, (key) => key !== annotations.retry && predicate.annotation?.(key) === true),
    labels: select(labels, (key) => predicate.label?.(key) === true),
    finalizers:
      predicate.finalizers === true
        ? finalizers
            .filter((finalizer) => finalizer !== ownFinalizer)
            .toSorted()
            .join()
        : '',
    fields: predicate.fields?.({ metadata, ...parts }) ?? {},
  };
}

const select = (pairs: Readonly<Record<string, string>>, wanted: (key: string) => boolean): string =>
  JSON.stringify(
    Object.entries(pairs)
      .filter(([key]) => wanted(key))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** An object as the digest takes it. */
export interface DigestedObject {
  kind: string;
  fullName: string;
  uid: string;
  deleting: boolean;
  watched: Watched;
}

/**
 * A Secret, of which its version is known and nothing else. It is no part of what is watched: to watch Secrets would be
 * to read all of them.
 */
export interface SecretVersion {
  /** `namespace/name`. */
  fullName: string;
  /** Null: there is no such Secret. */
  resourceVersion: string | null;
}

/**
 * The digest of an object and of all that it depends on, in any order; what is not there is left out. Nothing counts
 * that drover has written: no fields of the status, nor the object's own generation, which the run may have moved
 * itself. It needs not to count, as an object is reconciled for its generation, or signalled anyway.
 */
export function digestOf(
  own: DigestedObject,
  others: readonly DigestedObject[],
  secrets: readonly SecretVersion[] = [],
): string {
  const itself = { ...own, watched: { ...own.watched, generation: null } };
  const rows = [itself, ...others].map(({ kind, fullName, uid, deleting, watched: { fields, ...watched } }) => {
    const foreign = Object.entries(fields).flatMap(([path, { value, own }]) => (own === true ? [] : [[path, value]]));
    return JSON.stringify([kind, fullName, uid, deleting, Object.values(watched), foreign.toSorted(byText)]);
  });
  const hash = createHash('sha256').update(JSON.stringify(rows.toSorted())).digest('base64url').slice(0, 22);
  const versions = secrets.map(({ fullName, resourceVersion }) => `${fullName}=${resourceVersion ?? ''}`);
  return [hash, ...versions.toSorted()].join(' ');
}

const byText = ([a]: unknown[], [b]: unknown[]): number => (String(a) < String(b) ? -1 : 1);

/** The two parts of a digest: of what is watched, and the Secrets. */
export function readDigest(digest: string): { watched: string; secrets: SecretVersion[] } {
  const [watched = '', ...secrets] = digest.split(' ');
  return {
    watched,
    secrets: secrets.map((secret) => {
      const [fullName = '', resourceVersion = ''] = secret.split('=');
      return { fullName, resourceVersion: resourceVersion === '' ? null : resourceVersion };
    }),
  };
}

/** An object that was read, and its kind: not all schemas keep that. */
export interface ReadObject {
  kind: string;
  object: KubeObject;
}

/**
 * The same digest as the bridge makes it, of objects that an activity has read: those that are watched because of
 * `own`, and no others.
 *
 * @param own null: there is no such object
 */
export function digestOfRead(
  row: KindRow,
  own: KubeObject | null,
  others: readonly ReadObject[],
  settings: WatchSettings = watchAlways,
  secrets: readonly SecretVersion[] = [],
): string | null {
  if (own === null) return null;
  const subject = row.subject === undefined ? fullNameOf(own) : row.subject(own);
  const concerns = (watch: Watch, object: KubeObject): boolean => {
    if (!('index' in watch)) return watch.mapFunction(object) === subject;
    const key = watchedKey(watch, object);
    return key !== null && watch.index(own).includes(key);
  };
  const digested = (kind: string, object: KubeObject, predicate: Predicate, finalizer?: string): DigestedObject => ({
    kind,
    fullName: fullNameOf(object),
    uid: object.metadata.uid,
    deleting: object.metadata.deletionTimestamp !== undefined,
    watched: readWatched(predicate, object, finalizer),
  });
  const named = new Map(others.map((one) => [`${one.kind} ${fullNameOf(one.object)}`, one]));
  const watched = row
    .dependsOn(settings)
    .filter(isDigested)
    .flatMap((watch) =>
      [...named.values()].flatMap(({ kind, object }) =>
        kind === watch.resource.kind && concerns(watch, object) ? [digested(kind, object, watch.predicate)] : [],
      ),
    );
  return digestOf(digested(row.kind, own, row.predicate, row.finalizer), watched, secrets);
}
