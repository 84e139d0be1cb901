import type { Clock } from '../../../runtime/clock.ts';
import { repeat } from '../../../runtime/clock.ts';
import type { KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { invalidVersion, readVersion } from './list-page.ts';
import { internalError, tooOldVersion } from './refusal.ts';
import type { Place } from './requests.ts';
import type { Resource } from './resources.ts';
import { apiVersionOf } from './resources.ts';
import { readSelectors } from './selectors.ts';
import type { Change, Storage } from './storage.ts';
import type { StoredObject } from './stored-object.ts';
import { isOf } from './storage.ts';

/** kube-apiserver sends a bookmark about every minute. */
const bookmarkMs = 60_000;
/** How long a watch lasts that says nothing of it; really a random time between 30 and 60 minutes. */
const defaultSeconds = 2_700;

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: object;
}

export interface WatchOptions {
  storage: Storage;
  clock: Clock;
  place: Place;
  request: KubernetesRequest;
  onEvent: (event: WatchEvent) => void;
  /** The server ends the watch; not called once the caller has stopped it. */
  onEnd: () => void;
}

/** Serves one watch, until the time that it asked for is over or the returned function is called. @throws Refusal */
export function serveWatch({
  storage,
  clock,
  place,
  request: { query = {} },
  onEvent,
  onEnd,
}: WatchOptions): () => void {
  const { resource, namespace } = place;
  const selects = readSelectors({ query }, resource);
  const isWatched = (object: StoredObject): boolean =>
    (namespace === undefined || object.metadata.namespace === namespace) && selects(object);

  const tell = (change: Change): void => {
    if (!isOf(resource, change.resource)) return;
    const event = eventOf(change, isWatched);
    if (event !== null) onEvent(event);
  };

  const asked = String(query['resourceVersion'] ?? '');
  const from = asked === '' || asked === '0' ? null : readVersion(asked);
  if (from === null && asked !== '' && asked !== '0') throw internalError(invalidVersion(asked));
  if (from !== null && from < storage.compactedRevision) {
    onEvent({ type: 'ERROR', object: tooOldVersion(from, storage.compactedRevision) });
    onEnd();
    return () => undefined;
  }
  if (from === null) for (const object of storage.list(resource).filter(isWatched)) onEvent({ type: 'ADDED', object });
  else for (const change of storage.changes) if (change.revision > from) tell(change);

  // Of a version that is still to come, as after a restore, nothing is told until it is passed.
  const isPast = (revision: number): boolean => from === null || revision > from;
  const unsubscribe = storage.subscribe((change) => isPast(change.revision) && tell(change));
  const stopBookmarks =
    query['allowWatchBookmarks'] === true
      ? repeat(clock, () => isPast(storage.revision) && onEvent(bookmark(resource, storage.revision)), bookmarkMs)
      : (): void => undefined;
  const stop = (): void => {
    unsubscribe();
    stopBookmarks();
    cancelEnd();
  };
  const cancelEnd = clock.schedule(
    () => {
      stop();
      onEnd();
    },
    Number(query['timeoutSeconds'] ?? defaultSeconds) * 1_000,
  );
  return stop;
}

/** How a change looks to those who watch a part of the collection: an object comes into it and leaves it. */
function eventOf({ type, object, previous }: Change, isWatched: (object: StoredObject) => boolean): WatchEvent | null {
  const was = previous !== null && isWatched(previous);
  const is = type !== 'DELETED' && isWatched(object);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object };
  // What is not watched any more is told of as it was, in the version in which it left.
  return was
    ? {
        type: 'DELETED',
        object: { ...previous, metadata: { ...previous.metadata, resourceVersion: object.metadata.resourceVersion } },
      }
    : null;
}

const bookmark = (resource: Resource, revision: number): WatchEvent => ({
  type: 'BOOKMARK',
  object: {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { resourceVersion: String(revision), creationTimestamp: null },
  },
});
