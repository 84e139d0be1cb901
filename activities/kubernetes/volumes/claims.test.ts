import { testScope } from '../../../test/fixtures/activities/nova.ts';
import { removePredecessor } from './claims.ts';

const of = { namespace: 'vms', name: 'disk', uid: 'u' };
const owner = {
  apiVersion: 'cdi.kubevirt.io/v1beta1',
  kind: 'DataVolume',
  name: 'disk',
  uid: 'before',
  controller: true,
};

/** A claim that Kubernetes does not collect, and the versions that were deleted. */
async function remove(metadata: object): Promise<unknown[]> {
  const identity = { namespace: of.namespace, name: of.name, resourceVersion: '7' };
  let claim: object | null = { metadata: { ...identity, uid: 'claim', ...metadata }, spec: {} };
  const deleted: unknown[] = [];
  const client = {
    get: ({ kind }: { kind: string }) =>
      Promise.resolve(kind === 'DataVolume' ? { metadata: { ...identity, uid: of.uid } } : claim),
    delete: (_resource: unknown, version: unknown) => {
      deleted.push(version);
      claim = null;
      return Promise.resolve();
    },
  };
  const tools = {
    client,
    scope: testScope(),
    stopGate: () => Promise.resolve(),
    audit: { record: () => Promise.resolve() },
  };
  const answer = await removePredecessor(tools as never, { ...of, begin: null });
  expect(answer.claim === null).toBe(claim === null);
  return deleted;
}

test('the claim of a DataVolume of this name that is gone is deleted, as it was read', async () => {
  expect(await remove({ ownerReferences: [owner] })).toEqual([
    { namespace: 'vms', name: 'disk', uid: 'claim', resourceVersion: '7' },
  ]);
});

test.each([
  ['of the DataVolume itself', { ownerReferences: [{ ...owner, uid: of.uid }] }],
  ['of one of another name', { ownerReferences: [{ ...owner, name: 'other' }] }],
  [
    'that another object owns, too',
    { ownerReferences: [owner, { ...owner, kind: 'Pod', uid: 'p', controller: false }] },
  ],
  ['of no owner', {}],
  ['that is being deleted', { ownerReferences: [owner], deletionTimestamp: '2026-11-26T13:23:00Z' }],
])('a claim %s is not deleted', async (_which, metadata) => {
  expect(await remove(metadata)).toEqual([]);
});
