import { droverFailure } from '../../../runtime/failure.ts';
import type { PodMember } from './pool-places.ts';
import { vcenterProblem } from './pool-vcenters.ts';
import { mostFree, recommendDatastore } from './recommend-datastore.ts';

const gib = 1_024 ** 3;
const member = (id: string, freeGib: number, isUsable = true): PodMember => ({
  id,
  name: `name of ${id}`,
  isUsable,
  freeBytes: freeGib * gib,
  capacityBytes: 100 * gib,
});
const pod = (members: PodMember[], recommends = false) => ({
  ref: { type: 'StoragePod', value: 'group-p1' },
  name: 'pod',
  recommends,
  members,
});

test.each<[string, PodMember[], string | RegExp]>([
  ['the one with the most', [member('a', 10), member('b', 30), member('c', 20)], 'b'],
  ['the first of equals', [member('b', 30), member('a', 30)], 'a'],
  ['none in maintenance', [member('a', 10), member('b', 30, false)], 'a'],
  ['none that is too small', [member('a', 9), member('b', 8)], /has 10 GiB: name of a has the most, 9 GiB/u],
  ['none at all', [], /can be used: it has 0/u],
])('without Storage DRS, of the datastores %s is taken', (_, members, expected) => {
  const take = () => mostFree('lab', pod(members), 10 * gib);
  if (typeof expected === 'string') expect(take()).toBe(expected);
  else
    expect(take).toThrow(
      expect.objectContaining({ type: 'VsphereResourcesExhausted', message: expect.stringMatching(expected) }),
    );
});

test('a vCenter that recommends nothing has no room', async () => {
  const gateway = {
    vcenter: 'lab',
    manager: () => Promise.resolve({ type: 'StorageResourceManager', value: 'StorageResourceManager' }),
    call: () => Promise.resolve({ recommendations: [{ action: [{ $type: 'ClusterAction' }] }] }),
  } as never;
  const asked = { pod: pod([member('a', 10)], true), config: {}, resourcePool: 'r', folder: 'f', diskBytes: gib };
  await expect(recommendDatastore({ gateway }, asked, new AbortController().signal)).rejects.toMatchObject({
    type: 'VsphereResourcesExhausted',
    message: expect.stringContaining('recommends no datastore of pod for a disk of 1 GiB'),
  });
});

test.each<[unknown, string | null]>([
  [droverFailure('VsphereCredentialRefused', 'no'), 'VsphereCredentialRefused'],
  [droverFailure('CertificateNotTrusted', 'no'), 'CertificateNotTrusted'],
  [droverFailure('VsphereUnavailable', 'no'), null],
  [droverFailure('VirtualMachineNotOwned', 'no'), null],
  [new Error('a defect'), null],
])('what is a problem of the pool: %s', (error, reason) => {
  expect(vcenterProblem(error)?.reason ?? null).toBe(reason);
});
