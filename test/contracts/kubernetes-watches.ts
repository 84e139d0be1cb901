import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { readWatchEvents, type WatchEvent } from '../../k8s-bridge/watch-events.ts';
import type { AnyObject, ContractTest, KubernetesCounterpart, ObjectList } from './kubernetes.ts';
import { migration, migrations, onceServed, refusal, requestsOf } from './kubernetes.ts';

type Query = Record<string, string | number | boolean>;

/** A watch, as the bridge reads it. */
async function openWatch(kubernetes: Kubernetes, path: string, query: Query, signal = new AbortController().signal) {
  const body = await kubernetes.stream({ method: 'GET', path, query: { watch: true, ...query } }, signal);
  return readWatchEvents(body, () => undefined);
}

/** Each event of a watch in a word, until `count` have come or the server has ended it. */
async function readWatch(watch: AsyncGenerator<WatchEvent>, count = Infinity): Promise<string[]> {
  const events: string[] = [];
  for await (const event of watch) {
    if (event.type === 'BOOKMARK') continue;
    const { metadata, status } = event.object as unknown as AnyObject;
    const { name, labels = {}, deletionTimestamp } = metadata;
    events.push(
      [
        event.type,
        name,
        ...Object.values(labels),
        ...(deletionTimestamp === undefined ? [] : ['deleting']),
        ...(status === undefined ? [] : ['status']),
      ].join(' '),
    );
    if (events.length === count) break;
  }
  return events;
}

/** Watches, and what becomes of them when history is lost. */
export function describeWatches(test: ContractTest): void {
  const story = async ({ name, kubernetes }: Omit<KubernetesCounterpart, 'loseHistory'>): Promise<string> => {
    const { get, post, patch, remove } = requestsOf(kubernetes);
    const { metadata } = await get<ObjectList>(migrations(name));
    await post(migrations(name), migration(name, 'a', { labels: { l: 'one' }, finalizers: ['drover.dev/a'] }));
    const a = migrations(name, { name: 'a' });
    await patch(a, { metadata: { labels: { l: 'two' } } });
    await patch(a, { metadata: { labels: { l: 'two' } } });
    await post(migrations(name), migration(name, 'b'));
    await patch(migrations(name, { name: 'b', subresource: 'status' }), {
      status: { started: '2026-01-01T00:00:00Z' },
    });
    await patch(a, { metadata: { labels: { l: 'one' } } });
    await remove(a);
    await patch(a, { metadata: { finalizers: null, labels: { l: 'last' } } });
    await remove(migrations(name, { name: 'b' }));
    return metadata.resourceVersion;
  };

  test('a watch tells every change since a version, in order, and ends when it is told to', async ({
    name,
    kubernetes,
  }) => {
    const resourceVersion = await story({ name, kubernetes });
    const told = await readWatch(await openWatch(kubernetes, migrations(name), { resourceVersion, timeoutSeconds: 1 }));
    expect(told).toEqual([
      'ADDED a one',
      'MODIFIED a two',
      'ADDED b',
      'MODIFIED b status',
      'MODIFIED a one',
      'MODIFIED a one deleting',
      'DELETED a one deleting',
      'DELETED b status',
    ]);
  });

  test('what comes into a selection is added to it, and what leaves it deleted', async ({ name, kubernetes }) => {
    const resourceVersion = await story({ name, kubernetes });
    const told = await readWatch(
      await openWatch(kubernetes, migrations(name), {
        resourceVersion,
        timeoutSeconds: 1,
        labelSelector: 'l=one',
      }),
    );
    expect(told).toEqual([
      'ADDED a one',
      'DELETED a one',
      'ADDED a one',
      'MODIFIED a one deleting',
      'DELETED a one deleting',
    ]);
    const ofOne = await readWatch(
      await openWatch(kubernetes, migrations(name), {
        resourceVersion,
        timeoutSeconds: 1,
        fieldSelector: 'metadata.name=b',
      }),
    );
    expect(ofOne).toEqual(['ADDED b', 'MODIFIED b status', 'DELETED b status']);
  });

  test('every event carries the version in which it happened', async ({ name, kubernetes }) => {
    const resourceVersion = await story({ name, kubernetes });
    const versions: number[] = [Number(resourceVersion)];
    for await (const event of await openWatch(kubernetes, migrations(name), {
      resourceVersion,
      timeoutSeconds: 1,
    })) {
      if (event.type !== 'BOOKMARK') versions.push(Number(event.object.metadata.resourceVersion));
    }
    expect(versions).toHaveLength(9);
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
  });

  test('without a version a watch begins with what there is', async ({ name, kubernetes }) => {
    const { post } = requestsOf(kubernetes);
    await post(migrations(name), migration(name, 'a'));
    await post(migrations(name), migration(name, 'b'));
    for (const query of [{}, { resourceVersion: '0' }]) {
      expect(await readWatch(await openWatch(kubernetes, migrations(name), { timeoutSeconds: 1, ...query }))).toEqual([
        'ADDED a',
        'ADDED b',
      ]);
    }
  });

  test('a change comes while the watch is open', async ({ name, kubernetes }) => {
    const { get, post } = requestsOf(kubernetes);
    const { metadata } = await get<ObjectList>(migrations(name));
    const watch = await openWatch(kubernetes, migrations(name), { resourceVersion: metadata.resourceVersion });
    const told = readWatch(watch, 1);
    await post(migrations(name), migration(name, 'a'));
    expect(await told).toEqual(['ADDED a']);
  });

  test('a client that stops watching is told no more', async ({ name, kubernetes }) => {
    const { get } = requestsOf(kubernetes);
    const { metadata } = await get<ObjectList>(migrations(name));
    const stop = new AbortController();
    const watch = await openWatch(
      kubernetes,
      migrations(name),
      { resourceVersion: metadata.resourceVersion },
      stop.signal,
    );
    const told = readWatch(watch);
    stop.abort(new Error('enough'));
    await expect(told).rejects.toThrow(/.*/u);
  });

  test('a watch that cannot begin is refused', async ({ name, kubernetes }) => {
    await expect(openWatch(kubernetes, migrations(name), { resourceVersion: 'abc' })).rejects.toMatchObject(
      refusal('KubernetesUnavailable', 500, '', 'Invalid value: "abc"'),
    );
    await expect(openWatch(kubernetes, '/apis/kvm.cloud.sap/v1/nothings', {})).rejects.toMatchObject({
      type: 'KubernetesUnavailable',
      details: [{ httpStatus: 404 }],
    });
  });

  test('bookmarks come where they are asked for, when nothing else does', async ({ name, kubernetes }) => {
    const { get, post } = requestsOf(kubernetes);
    const { metadata } = await get<ObjectList>(migrations(name));
    const watch = await openWatch(kubernetes, migrations(name), {
      resourceVersion: metadata.resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: 150,
    });
    // One of the version that is watched from would say nothing, and need not come.
    await post(migrations(name), migration(name, 'a'));
    expect((await watch.next()).value).toMatchObject({ type: 'ADDED' });
    const next = await watch.next();
    expect(next.value).toMatchObject({ type: 'BOOKMARK', resourceVersion: expect.stringMatching(/^\d+$/u) });
    await watch.return(undefined);
  });

  test('a watch of a version that is still to come is silent until then', async ({ name, kubernetes }) => {
    const { get, post } = requestsOf(kubernetes);
    const { metadata } = await get<ObjectList>(migrations(name));
    const watch = await openWatch(kubernetes, migrations(name), {
      resourceVersion: String(Number(metadata.resourceVersion) + 1_000_000),
      allowWatchBookmarks: true,
      timeoutSeconds: 90,
    });
    await post(migrations(name), migration(name, 'a'));
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  test('when history is lost, watches break, and what was before is expired', async ({
    name,
    kubernetes,
    loseHistory,
  }) => {
    const { get, post, remove } = requestsOf(kubernetes);
    for (const each of ['a', 'b', 'c']) await post(migrations(name), migration(name, each));
    const page = await get<ObjectList>(migrations(name), { limit: 1 });
    const watch = await openWatch(kubernetes, migrations(name), { resourceVersion: page.metadata.resourceVersion });
    const told = readWatch(watch);
    const ended = told.then(
      () => null,
      (error: unknown) => error,
    );
    await remove(migrations(name, { name: 'b' }));
    await loseHistory();
    expect(await ended).toMatchObject({ type: 'KubernetesUnavailable', details: [{ httpStatus: 0 }] });

    const old = page.metadata.resourceVersion;
    const expired = (words: string) => refusal('KubernetesUnavailable', 410, 'Expired', words);
    const now = await onceServed(() => get<ObjectList>(migrations(name)));
    const late = await onceServed(() => openWatch(kubernetes, migrations(name), { resourceVersion: old }));
    await expect(readWatch(late)).rejects.toMatchObject(
      expired(`the watch ended with 410: too old resource version: ${old}`),
    );
    await expect(get(migrations(name), { resourceVersion: old, resourceVersionMatch: 'Exact' })).rejects.toMatchObject(
      expired('The resourceVersion for the provided list is too old.'),
    );
    await expect(get(migrations(name), { limit: 1, continue: page.metadata.continue })).rejects.toMatchObject(
      expired('The provided continue parameter is too old'),
    );

    const again = readWatch(
      await openWatch(kubernetes, migrations(name), { resourceVersion: now.metadata.resourceVersion }),
      1,
    );
    await post(migrations(name), migration(name, 'd'));
    expect(await again).toEqual(['ADDED d']);
  });
}
