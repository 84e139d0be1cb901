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

test('those who wait for the next version of an object share one watch, which ends with the last of them', async () => {
  const watches: { name: string; signal: AbortSignal; change: () => void }[] = [];
  const client = shareReads(
    {
      changed: (_resource: Resource, { name, resourceVersion }: ObjectVersion, of: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          of.addEventListener('abort', () => reject(of.reason as Error));
          watches.push({ name: `${name} ${resourceVersion}`, signal: of, change: resolve });
        }),
    } as unknown as KubernetesObjects,
    systemClock,
    [Pod],
  );
  const version = { namespace: 'vms', name: 'pod', resourceVersion: '7' };
  const one = new AbortController();
  const waits = [client.changed(Pod, version, one.signal), client.changed(Pod, version, signal)];
  const others = [
    client.changed(Pod, { ...version, resourceVersion: '8' }, one.signal),
    client.changed(PersistentVolumeClaim, version, signal),
    client.changed(PersistentVolumeClaim, version, signal),
  ];
  expect(watches.map(({ name }) => name)).toEqual(['pod 7', 'pod 8', 'pod 7', 'pod 7']);
  one.abort(new Error('given up'));
  await expect(waits[0]).rejects.toThrow('given up');
  await expect(others[0]).rejects.toThrow('given up');
  expect(watches.map(({ signal: of }) => of.aborted)).toEqual([false, true, false, false]);
  for (const { change } of watches) change();
  await Promise.all([waits[1], ...others.slice(1)]);
  // One that has told of a change tells of no other.
  void client.changed(Pod, version, signal).catch(() => undefined);
  expect(watches).toHaveLength(5);
});
