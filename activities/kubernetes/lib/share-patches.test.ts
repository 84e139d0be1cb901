import type { KubernetesObjects, ObjectVersion, Resource } from '../../../runtime/kubernetes/objects.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { sharePatches } from './share-patches.ts';

const { signal } = new AbortController();
const { VolumeSnapshot, PersistentVolumeClaim } = storageResources;
const snapshot: ObjectVersion = { namespace: 'golden', name: 'image', uid: 'u' };
const user = (name: string, value: string | null = 'yes') => ({ metadata: { annotations: { [name]: value } } });

function open() {
  const patches: [object: string, change: unknown][] = [];
  const gate = Promise.withResolvers<void>();
  const client = {
    patch: async ({ kind }: { kind: string }, { name }: ObjectVersion, change: unknown) => {
      patches.push([`${kind} ${name}`, change]);
      await gate.promise;
      return { metadata: { name, resourceVersion: String(patches.length) } };
    },
  } as unknown as KubernetesObjects;
  return { patches, answer: gate.resolve, client: sharePatches(client, systemClock, [VolumeSnapshot]) };
}

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('patches of one object that name no version go together with the next; what the last one says counts', async () => {
  const { patches, answer, client } = open();
  const first = client.patch(VolumeSnapshot, snapshot, user('a'), signal);
  await settle();
  const others = [user('b'), user('c'), user('b', null)].map((one) =>
    client.patch(VolumeSnapshot, snapshot, one, signal),
  );
  await settle();
  expect(patches).toHaveLength(1);
  answer();
  const answers = await Promise.all([first, ...others]);
  expect(patches).toEqual([
    ['VolumeSnapshot image', user('a')],
    ['VolumeSnapshot image', { metadata: { annotations: { b: null, c: 'yes' } } }],
  ]);
  expect(answers.map(({ metadata }) => metadata.resourceVersion)).toEqual(['1', '2', '2', '2']);
});

test.each<[what: string, resource: Resource, version: ObjectVersion]>([
  ['of another object', VolumeSnapshot, { ...snapshot, name: 'other' }],
  ['of another of that name', VolumeSnapshot, { ...snapshot, uid: 'v' }],
  ['of a version', VolumeSnapshot, { ...snapshot, resourceVersion: '7' }],
  ['of a resource that is not shared', PersistentVolumeClaim, snapshot],
])('a patch %s is sent by itself', async (_what, resource, version) => {
  const { patches, answer, client } = open();
  const all = [
    client.patch(VolumeSnapshot, snapshot, user('a'), signal),
    client.patch(resource, version, user('b'), signal),
  ];
  await settle();
  expect(patches).toHaveLength(2);
  answer();
  await Promise.all(all);
});
