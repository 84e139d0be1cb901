import { droverFailure } from './failure.ts';
import type { Kubernetes, KubernetesRequest } from './kubernetes/kubernetes.ts';
import { openObjects } from './kubernetes/objects.ts';
import { refusalFailure } from './kubernetes/kubernetes-faults.ts';
import { keepKey, liftKeep, readKeeps, setKeep } from './sweep-keeps.ts';

const { signal } = new AbortController();
const uuid = '4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11';
const id = `vsphere://eu-1/${uuid}`;
const keep = { providerId: id, by: 'jane', reason: 'forensics', at: '2026-01-31T12:00:00Z' };

/** A ConfigMap that is not there yet, or has such data. */
function objectsWith(given: Record<string, string> | null) {
  const state = { data: given };
  const request = async ({ method, body }: KubernetesRequest): Promise<unknown> => {
    const { data = {} } = (body ?? {}) as { data?: Record<string, string | null> };
    if (method === 'POST') state.data = data as Record<string, string>;
    if (state.data === null)
      throw refusalFailure(404, JSON.stringify({ kind: 'Status', details: { name: 'drover-sweep' } }), 'x');
    if (method === 'PATCH') {
      const entries = Object.entries({ ...state.data, ...data }).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      state.data = Object.fromEntries(entries);
    }
    return { metadata: { name: 'drover-sweep' }, data: state.data };
  };
  return { state, objects: openObjects({ request } as unknown as Kubernetes) };
}

test.each([
  [id, `keep.vsphere.${uuid}`],
  [`vsphere://other/${uuid.toUpperCase()}`, `keep.vsphere.${uuid}`],
  [`openstack:///RegionOne/${uuid}`, `keep.openstack.${uuid}`],
  ['aws:///one', 'keep.sha256.'],
])('%s is kept as %s', (providerId, key) => {
  expect(keepKey(providerId).startsWith(key)).toBe(true);
  expect(keepKey(providerId)).toMatch(/^[-._a-zA-Z0-9]+$/u);
});

test('a VM is kept, whatever its id is spelled like, until that is lifted', async () => {
  const { objects } = objectsWith(null);
  expect((await readKeeps(objects, 'drover-system', signal)).all).toEqual([]);
  await setKeep(objects, 'drover-system', keep, signal);
  await setKeep(objects, 'drover-system', { ...keep, providerId: 'aws:///one' }, signal);
  const keeps = await readKeeps(objects, 'drover-system', signal);
  expect(keeps.find(`vsphere:///${uuid.toUpperCase()}`)).toEqual(keep);
  expect(keeps.find('vsphere:///another')).toBeUndefined();
  expect(await liftKeep(objects, 'drover-system', id, signal)).toEqual(keep);
  expect(await liftKeep(objects, 'drover-system', id, signal)).toBeNull();
  expect((await readKeeps(objects, 'drover-system', signal)).all).toHaveLength(1);
});

test('a note that cannot be read keeps all the same', async () => {
  const { objects } = objectsWith({ [keepKey(id)]: 'by hand', other: '{}' });
  const keeps = await readKeeps(objects, 'drover-system', signal);
  expect(keeps.find(id)).toMatchObject({ by: 'unknown', reason: 'by hand' });
  expect(keeps.all).toHaveLength(1);
});

test('keeps that cannot be read are a failure, and not none', async () => {
  const get = () => Promise.reject(droverFailure('KubernetesUnavailable', 'no answer'));
  await expect(readKeeps({ get }, 'drover-system', signal)).rejects.toMatchObject({ type: 'KubernetesUnavailable' });
});
