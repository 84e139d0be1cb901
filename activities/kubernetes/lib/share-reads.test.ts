import { systemClock } from '../../../runtime/clock.ts';
import {
  type KubernetesObjects,
  type ObjectVersion,
  openObjects,
  type Resource,
} from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { drive } from '../../../test/fakes/drive.ts';
import { createFakeKubernetes } from '../../../test/fakes/kubernetes/fake-kubernetes.ts';
import { randomOf } from '../../../test/faults/random.ts';
import { createVirtualClock } from '../../../test/simulator/clock.ts';
import { createNetwork } from '../../../test/simulator/network.ts';
import { shareReads } from './share-reads.ts';

const signal = new AbortController().signal;
const { StorageClass, PersistentVolumeClaim, Pod } = storageResources;

function open() {
  const random = randomOf(1);
  const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12), random);
  const kubernetes = createFakeKubernetes({ clock, network: createNetwork({ clock, random }), random });
  const counts = new Map<string, number>();
  const plain = openObjects(kubernetes.client);
  const count = (call: string): void => void counts.set(call, (counts.get(call) ?? 0) + 1);
  const client = shareReads(
    {
      ...plain,
      get: (resource, key, of) => (count(`get ${resource.kind}`), plain.get(resource, key, of)),
      listValid: (resource, query, of) => (count(`list ${resource.kind}`), plain.listValid(resource, query, of)),
    },
    clock,
    [StorageClass, Pod],
  );
  return { clock, client, counts, run: (body: () => Promise<void>) => drive(clock, body()) };
}

test('those who ask at once are answered by one request, each question by its own', async () => {
  const { client, counts, run } = open();
  await run(async () => {
    await Promise.all(['fast', 'fast', 'slow', 'fast'].map((name) => client.get(StorageClass, { name }, signal)));
    await Promise.all([1, 2, 3].map(() => client.listValid(StorageClass, {}, signal)));
    await Promise.all(['a', 'b', 'a'].map((namespace) => client.listValid(Pod, { namespace }, signal)));
  });
  expect(Object.fromEntries(counts)).toEqual({
    'get StorageClass': 2,
    'list StorageClass': 1,
    'list Pod': 2,
  });
});

test('what is not shared is asked each time', async () => {
  const { client, counts, run } = open();
  const key = { namespace: 'vms', name: 'disk' };
  await run(async () => {
    await Promise.all([1, 2].map(() => client.get(PersistentVolumeClaim, key, signal)));
    await Promise.all([1, 2].map(() => client.listValid(resources.DataVolume, {}, signal)));
  });
  expect(Object.fromEntries(counts)).toEqual({ 'get PersistentVolumeClaim': 2, 'list DataVolume': 2 });
});

test('who asks later sees what was written meanwhile', async () => {
  const { client, run } = open();
  await run(async () => {
    expect(await client.get(StorageClass, { name: 'fast' }, signal)).toBeNull();
    await client.create(StorageClass, { metadata: { name: 'fast' }, provisioner: 'dir' }, signal);
    expect((await client.get(StorageClass, { name: 'fast' }, signal))?.metadata.name).toBe('fast');
  });
});

describe('those who watch an object', () => {
  const version = { namespace: 'vms', name: 'pod', resourceVersion: '7' };

  interface Watch {
    of: string;
    signal: AbortSignal;
    change: () => void;
    end: (error?: Error) => void;
  }

  function watching() {
    const watches: Watch[] = [];
    async function* changes(_resource: Resource, { name, resourceVersion }: ObjectVersion, of: AbortSignal) {
      let next = Promise.withResolvers<boolean>();
      watches.push({
        of: `${name} ${resourceVersion}`,
        signal: of,
        change: () => next.resolve(true),
        end: (error) => (error === undefined ? next.resolve(false) : next.reject(error)),
      });
      of.addEventListener('abort', () => next.reject(of.reason as Error));
      while (await next.promise) {
        next = Promise.withResolvers();
        yield;
      }
    }
    const client = shareReads({ changes } as unknown as KubernetesObjects, systemClock, [Pod]);
    const watch = (resource: Resource, of: ObjectVersion, until = signal): AsyncIterator<void> =>
      client.changes(resource, of, until)[Symbol.asyncIterator]();
    return { watches, watch };
  }

  test('share one watch, which ends with the last of them', async () => {
    const { watches, watch } = watching();
    const one = new AbortController();
    const [first, second] = [watch(Pod, version, one.signal), watch(Pod, version)];
    const [given, kept] = [first.next(), second.next()];
    const others = [
      watch(Pod, { ...version, resourceVersion: '8' }, one.signal).next(),
      watch(PersistentVolumeClaim, version).next(),
      watch(PersistentVolumeClaim, version).next(),
    ];
    expect(watches.map(({ of }) => of)).toEqual(['pod 7', 'pod 8', 'pod 7', 'pod 7']);
    one.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    await expect(others[0]).rejects.toThrow('given up');
    expect(watches.map(({ signal: of }) => of.aborted)).toEqual([false, true, false, false]);
    for (const { change } of watches) change();
    await Promise.all([kept, ...others.slice(1)]);
    // One that has told of a change is joined by no other.
    const late = watch(Pod, version).next();
    expect(watches).toHaveLength(5);
    await second.return?.();
    expect(watches.map(({ signal: of }) => of.aborted)).toEqual([true, true, false, false, false]);
    watches[4]?.end();
    await expect(late).resolves.toMatchObject({ done: true });
  });

  test('are told of each change, and that their watch has failed', async () => {
    const { watches, watch } = watching();
    const [first, second] = [watch(Pod, version), watch(Pod, version)];
    for (let change = 0; change < 2; change += 1) {
      const both = [first.next(), second.next()];
      await Promise.resolve();
      watches[0]?.change();
      await expect(Promise.all(both)).resolves.toEqual([{ value: undefined, done: false }, expect.anything()]);
    }
    const both = Promise.allSettled([first.next(), second.next()]);
    watches[0]?.end(new Error('the connection was lost'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(watches).toHaveLength(1);
  });
});
