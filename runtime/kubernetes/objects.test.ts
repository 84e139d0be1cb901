import { z } from 'zod';

import { resources } from './resources.ts';
import { sampleEviction } from '../../test/fixtures/activities/eviction.ts';
import { refusalFailure } from './kubernetes-faults.ts';
import type { Kubernetes, KubernetesRequest } from './kubernetes.ts';
import { openObjects, type KubernetesObjects } from './objects.ts';

const { signal } = new AbortController();
const evictions = resources.Eviction;
const images = {
  group: '',
  version: 'v1',
  kind: 'Image',
  plural: 'images',
  schema: z.object({ kind: z.literal('Image') }),
};
const eviction = sampleEviction({ name: 'node-1', hypervisor: 'node-1' });
const { uid, resourceVersion } = eviction.metadata;
const spec = { hypervisor: 'node-1', reason: 'firmware' };
const path = '/apis/kvm.cloud.sap/v1/evictions';

function open(answer: (request: KubernetesRequest) => unknown) {
  const sent: KubernetesRequest[] = [];
  const kubernetes = {
    request: async (request: KubernetesRequest) => {
      sent.push(request);
      const given = answer(request);
      if (given instanceof Error) throw given;
      return given;
    },
  } as unknown as Kubernetes;
  return { objects: openObjects(kubernetes), sent };
}
const refusal = (status: number, reason: string): Error =>
  refusalFailure(status, JSON.stringify({ kind: 'Status', reason, details: { name: 'node-1' } }), 'x');
const query = { fieldManager: 'drover' };

const calls: [what: string, call: (objects: KubernetesObjects) => Promise<unknown>, request: KubernetesRequest][] = [
  ['get', (o) => o.get(evictions, { name: 'node-1' }, signal), { method: 'GET', path: `${path}/node-1` }],
  [
    'create',
    (o) => o.create(evictions, { metadata: { name: 'node-1', labels: { a: 'b' } }, spec }, signal),
    {
      method: 'POST',
      path,
      query,
      body: {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name: 'node-1', labels: { a: 'b' } },
        spec,
      },
    },
  ],
  [
    'patch, on the version that was read',
    (o) => o.patch(evictions, eviction.metadata, { metadata: { annotations: { a: null } } }, signal),
    {
      method: 'PATCH',
      patchType: 'merge',
      path: `${path}/node-1`,
      query,
      body: { metadata: { annotations: { a: null }, uid, resourceVersion } },
    },
  ],
  [
    'patch, of whatever version there is',
    (o) => o.patch(evictions, { name: 'node-1' }, { spec: { reason: 'disks' } }, signal),
    {
      method: 'PATCH',
      patchType: 'merge',
      path: `${path}/node-1`,
      query,
      body: { metadata: {}, spec: { reason: 'disks' } },
    },
  ],
  [
    'patchStatus',
    (o) => o.patchStatus(evictions, { name: 'node-1', uid, resourceVersion }, { outstandingRamMb: 0 }, signal),
    {
      method: 'PATCH',
      patchType: 'merge',
      path: `${path}/node-1/status`,
      query,
      body: { metadata: { uid, resourceVersion }, status: { outstandingRamMb: 0 } },
    },
  ],
  [
    'replace',
    (o) => o.replace(evictions, { metadata: { name: 'node-1', resourceVersion }, spec }, signal),
    {
      method: 'PUT',
      path: `${path}/node-1`,
      query,
      body: { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: 'node-1', resourceVersion }, spec },
    },
  ],
  [
    'apply',
    (o) => o.apply(evictions, { metadata: { name: 'node-1' }, spec }, signal),
    {
      method: 'PATCH',
      patchType: 'apply',
      path: `${path}/node-1`,
      query,
      body: { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: 'node-1' }, spec },
    },
  ],
  [
    'applyStatus',
    (o) => o.applyStatus(evictions, { name: 'node-1' }, { outstandingRamMb: 0 }, signal),
    {
      method: 'PATCH',
      patchType: 'apply',
      path: `${path}/node-1/status`,
      query,
      body: {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name: 'node-1' },
        status: { outstandingRamMb: 0 },
      },
    },
  ],
  [
    'delete',
    (o) => o.delete(evictions, { name: 'node-1', uid }, signal),
    {
      method: 'DELETE',
      path: `${path}/node-1`,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, propagationPolicy: 'Background' },
    },
  ],
];
test.each(calls)('%s', async (_what, call, request) => {
  const { objects, sent } = open(() => eviction);
  await call(objects);
  expect(sent).toEqual([request]);
});

test.each(calls.slice(0, -1))('%s: an answer that does not fit is a failure that names the field', async (_, call) => {
  const { objects } = open(() => ({ ...eviction, spec: { reason: 7 } }));
  await expect(call(objects)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringMatching(/spec\./u),
  });
});

test('what is not there is null, and need not be deleted', async () => {
  const { objects } = open(() => refusal(404, 'NotFound'));
  expect(await objects.get(evictions, { name: 'node-1' }, signal)).toBeNull();
  await objects.delete(evictions, { name: 'node-1' }, signal);
  await expect(objects.patch(evictions, eviction.metadata, {}, signal)).rejects.toMatchObject({
    type: 'ObjectNotFound',
  });
});

test('a name that is taken is null; other conflicts are failures', async () => {
  const object = { metadata: { name: 'node-1' }, spec };
  expect(await open(() => refusal(409, 'AlreadyExists')).objects.create(evictions, object, signal)).toBeNull();
  await expect(open(() => refusal(409, 'Conflict')).objects.create(evictions, object, signal)).rejects.toMatchObject({
    type: 'ObjectConflict',
  });
});

test('a patch of an object that another one has taken the place of is a conflict', async () => {
  const message = 'metadata.uid: Invalid value: "1": field is immutable';
  const refused = (text: string): Error =>
    refusalFailure(422, JSON.stringify({ kind: 'Status', message: text, reason: 'Invalid' }), 'x');
  const { objects } = open(() => refused(message));
  await expect(objects.patch(evictions, { name: 'node-1', uid: 'u' }, {}, signal)).rejects.toMatchObject({
    type: 'ObjectConflict',
    message: expect.stringContaining('Eviction node-1 is another object of that name by now'),
  });
  await expect(objects.patch(evictions, { name: 'node-1' }, {}, signal)).rejects.toMatchObject({
    type: 'ObjectRefused',
  });
  const other = open(() => refused('spec.hypervisor: Invalid value: "": field is immutable')).objects;
  await expect(other.patch(evictions, { name: 'node-1', uid: 'u' }, {}, signal)).rejects.toMatchObject({
    type: 'ObjectRefused',
  });
});

test('a list has the items of all pages, which say what they are', async () => {
  const { objects, sent } = open((request) =>
    request.query?.['continue'] === undefined
      ? { items: [{ a: 1 }], metadata: { continue: 'more' } }
      : { items: [{ kind: 'x' }], metadata: { continue: '' } },
  );
  expect(await objects.list(images, { namespace: 'a', labelSelector: 'b=c' }, signal)).toEqual([
    { kind: 'Image' },
    { kind: 'Image' },
  ]);
  const request = { method: 'GET', path: '/api/v1/namespaces/a/images' };
  expect(sent).toEqual([
    { ...request, query: { labelSelector: 'b=c', limit: 500, continue: undefined } },
    { ...request, query: { labelSelector: 'b=c', limit: 500, continue: 'more' } },
  ]);
});

test('an item that does not fit is a failure, or is left out', async () => {
  const { objects } = open(() => ({ items: [eviction, { metadata: {} }, null] }));
  expect(await objects.listValid(evictions, {}, signal)).toEqual([eviction]);
  await expect(objects.list(evictions, {}, signal)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringContaining('LIST Eviction'),
  });
});

test('a list whose pages lead to one another is refused, and not read for ever', async () => {
  const { objects, sent } = open(() => ({ items: [{}], metadata: { continue: 'again' } }));
  await expect(objects.list(images, {}, signal)).rejects.toMatchObject({ type: 'AnswerMalformed' });
  expect(sent).toHaveLength(2);
});

describe('a watch of one object', () => {
  const version = { namespace: 'apps', name: 'web', resourceVersion: '7' };
  const watching = (chunks: readonly string[], asked: KubernetesRequest[] = []) => {
    let isLeft = false;
    async function* body(): AsyncGenerator<Uint8Array> {
      try {
        for (const chunk of chunks) yield new TextEncoder().encode(chunk);
      } finally {
        isLeft = true;
      }
    }
    const stream = async (request: KubernetesRequest) => {
      asked.push(request);
      return body();
    };
    return { objects: openObjects({ stream } as unknown as Kubernetes), isLeft: () => isLeft };
  };

  const countOf = async (changes: AsyncIterable<void>): Promise<number> => {
    let count = 0;
    for await (const _change of changes) count += 1;
    return count;
  };

  test('asks for what comes after the version, of that name alone', async () => {
    const asked: KubernetesRequest[] = [];
    await countOf(watching(['{}\n'], asked).objects.changes(images, version, signal));
    expect(asked).toEqual([
      {
        method: 'GET',
        path: '/api/v1/namespaces/apps/images',
        query: { watch: true, fieldSelector: 'metadata.name=web', resourceVersion: '7' },
      },
    ]);
  });

  test('yields for what comes, and ends with the server’s end', async () => {
    expect(await countOf(watching(['{}\n', '{}\n']).objects.changes(images, version, signal))).toBe(2);
    expect(await countOf(watching([]).objects.changes(images, version, signal))).toBe(0);
  });

  test('ends with its reader', async () => {
    const watch = watching(['{}\n', '{}\n']);
    for await (const _change of watch.objects.changes(images, version, signal)) break;
    expect(watch.isLeft()).toBe(true);
  });
});
