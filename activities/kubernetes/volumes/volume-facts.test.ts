import { volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { ownerOf, podProblem } from './volume-facts.ts';

const controller = {
  apiVersion: 'cdi.kubevirt.io/v1beta1',
  kind: 'DataVolume',
  name: 'disk',
  uid: 'u',
  controller: true,
};

const claimed = { name: 'disk', uid: 'u-disk', resourceVersion: '1', creationTimestamp: '2026-11-26T08:54:24Z' };

test.each([
  ['its own', [controller], 'volume'],
  ['of a DataVolume of its name that is gone', [{ ...controller, uid: 'before' }], 'predecessor'],
  [
    '… which another object owns, too',
    [
      { ...controller, uid: 'before' },
      { ...controller, controller: false },
    ],
    'other',
  ],
  ['of a DataVolume of another name', [{ ...controller, uid: 'o', name: 'other' }], 'other'],
  ['of another kind', [{ ...controller, uid: 'o', kind: 'StatefulSet' }], 'other'],
  ['of none that controls it', [{ ...controller, controller: false, uid: 'o' }], 'none'],
  ['of none', [], 'none'],
] as const)('a claim %s', (_, ownerReferences, owner) => {
  const metadata = { ...claimed, ownerReferences: [...ownerReferences] };
  expect(ownerOf({ metadata }, 'u')).toBe(owner);
});

test('a claim that was made for the DataVolume, and has no owner yet', () => {
  const metadata = { ...claimed, annotations: { [volumeAnnotations.createdForDataVolume]: 'u' } };
  expect(ownerOf({ metadata }, 'u')).toBe('volume');
});

const waiting = (reason: string, message?: string) => ({
  containerStatuses: [{ state: { waiting: { reason, ...(message !== undefined && { message }) } } }],
});

test.each([
  ['is not known yet', undefined, null],
  ['is placed', { conditions: [{ type: 'PodScheduled', status: 'True' }] }, null],
  [
    'finds no node',
    { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }] },
    '0/3 nodes',
  ],
  ['is being set up', waiting('ContainerCreating'), null],
  [
    'gets no image',
    waiting('ImagePullBackOff', 'Back-off pulling image "x"'),
    'ImagePullBackOff: Back-off pulling image "x"',
  ],
  ['cannot start', waiting('CreateContainerConfigError'), 'CreateContainerConfigError'],
  ['works', { containerStatuses: [{ state: { running: {} } }] }, null],
])('a Pod that %s', (_, status, problem) => {
  expect(podProblem({ status })).toBe(problem);
});
