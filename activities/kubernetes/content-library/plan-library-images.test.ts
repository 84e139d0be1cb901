import { virtualMachineImageSchema } from '../../../contracts/crds/virtual-machine-image.ts';
import type { LibraryItem } from '../../../contracts/virtual-machine/content-library.ts';
import { planLibraryImages } from './plan-library-images.ts';
import { imageCacheName } from '../virtual-machine/read-objects.ts';

const now = '2026-03-01T00:00:00Z';
const before = '2026-02-01T00:00:00Z';
const item = (more: Partial<LibraryItem> = {}): LibraryItem => ({
  id: 'item-1',
  name: 'tiny',
  type: 'OVF',
  version: '1',
  problem: null,
  ...more,
});
const name = imageCacheName('item-1');
const status = {
  name: 'tiny',
  type: 'OVF',
  providerItemID: 'item-1',
  providerContentVersion: '1',
  conditions: [{ type: 'Ready', status: 'True' as const, reason: 'True', message: '', lastTransitionTime: before }],
};
const image = (given: object | undefined, as = name) =>
  virtualMachineImageSchema.parse({
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind: 'VirtualMachineImage',
    metadata: { name: as, namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: before },
    spec: {},
    ...(given && { status: given }),
  });
const plan = (items: LibraryItem[], images: ReturnType<typeof image>[]) =>
  planLibraryImages({ id: 'library-1', name: 'images', items }, images, now);

test('an item without an image gets one, which says whether a VM can be made of it', () => {
  const problem = { reason: 'ProviderNotReady' as const, message: 'not yet' };
  expect(plan([item(), item({ id: 'item-2', type: 'ISO', problem })], [])).toEqual({
    make: [
      { name, status: { ...status, conditions: [{ ...status.conditions[0], lastTransitionTime: now }] } },
      {
        name: imageCacheName('item-2'),
        status: {
          ...status,
          type: 'ISO',
          providerItemID: 'item-2',
          conditions: [{ type: 'Ready', status: 'False', ...problem, lastTransitionTime: now }],
        },
      },
    ],
    change: [],
    remove: [],
    unchanged: 0,
  });
});

test('one that says it already is left alone, with what others say in it', () => {
  const given = {
    ...status,
    osInfo: { type: 'linux' },
    conditions: [...status.conditions, { ...status.conditions[0], type: 'Theirs' }],
  };
  expect(plan([item()], [image(given)])).toEqual({ make: [], change: [], remove: [], unchanged: 1 });
});

test.each([
  ['has another version', item({ version: '2' }), status, { providerContentVersion: '2' }],
  ['has another name', item({ name: 'small' }), status, { name: 'small' }],
  ['was never told', item(), undefined, { providerItemID: 'item-1' }],
  [
    'is not ready any more',
    item({ problem: { reason: 'ProviderSecurityNotCompliant', message: 'no' } }),
    status,
    { conditions: [expect.objectContaining({ status: 'False', lastTransitionTime: now })] },
  ],
])('one whose item %s is changed in that', (_, wanted, given, patch) => {
  expect(plan([wanted], [image(given)])).toMatchObject({
    make: [],
    change: [{ image: { metadata: { name } }, status: patch }],
    remove: [],
    unchanged: 0,
  });
});

test('one whose item is gone is removed', () => {
  expect(plan([item()], [image(status), image(status, 'vmi-gone')])).toMatchObject({
    remove: [{ metadata: { name: 'vmi-gone' } }],
    unchanged: 1,
  });
});
