import { without } from './field-set.ts';
import type { Resource } from './resources.ts';
import type { Storage } from './storage.ts';
import type { Draft, StoredObject } from './stored-object.ts';

interface CoreEvent extends StoredObject {
  involvedObject?: object;
  message?: string;
  source?: object;
  firstTimestamp?: string;
  lastTimestamp?: string;
  count?: number;
  reportingComponent?: string;
}

/**
 * Events are one kind in two groups. What is written as one of the core group, as most controllers do, is read in
 * `events.k8s.io` too; the other way is left out here.
 */
export function serveCoreEvents(storage: Storage, find: (of: { group: string; plural: string }) => Resource): void {
  const core = find({ group: '', plural: 'events' });
  const events = find({ group: 'events.k8s.io', plural: 'events' });
  storage.subscribe(({ type, resource, object }) => {
    if (resource !== core) return;
    if (type !== 'DELETED') storage.put(events, converted(object), []);
    else if (storage.get(events, object.metadata) !== null) storage.remove(events, object.metadata);
  });
}

function converted(event: CoreEvent): Draft {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, reportingComponent } = event;
  const same = without(
    event,
    'involvedObject',
    'message',
    'source',
    'firstTimestamp',
    'lastTimestamp',
    'count',
    'reportingComponent',
  );
  return {
    ...same,
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject,
    note: message,
    eventTime: null,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
    reportingController: reportingComponent,
  } as unknown as Draft;
}
