import type { VirtualMachinePatch } from '../../../contracts/virtual-machine/mutations.ts';
import { isCurrent, patchesLeft } from './patch-virtual-machine.ts';
import type { VirtualMachineSample } from '../../../test/fixtures/activities/virtual-machine.ts';
import { sampleVirtualMachine } from '../../../test/fixtures/activities/virtual-machine.ts';

const hold: VirtualMachinePatch = {
  addFinalizers: ['a/vm'],
  removeFinalizers: ['former'],
  spec: { instanceUUID: '11111111-1111-4111-8111-111111111111' },
};
const release: VirtualMachinePatch = { removeFinalizers: ['a/vm'] };
const annotate: VirtualMachinePatch = { annotations: { creating: 'now', gone: null } };
const cloudInit: VirtualMachinePatch = { spec: { bootstrap: { cloudInit: { instanceID: 'i' } } } };
const isHeld = { instanceUUID: '11111111-1111-4111-8111-111111111111' };
const deletionTimestamp = '2026-01-02T00:00:00Z';

/** The decision was made on generation 3. */
const rows: [why: string, object: VirtualMachineSample, patches: VirtualMachinePatch[], left: VirtualMachinePatch[]][] =
  [
    ['nothing is written yet', {}, [hold], [hold]],
    [
      'it was written by an attempt before',
      { metadata: { generation: 4, finalizers: ['other', 'a/vm'] }, spec: isHeld },
      [hold],
      [],
    ],
    [
      'the former finalizer is still there',
      { metadata: { finalizers: ['former', 'a/vm'] }, spec: isHeld },
      [hold],
      [hold],
    ],
    ['a user changed the spec since', { metadata: { generation: 4 } }, [hold], []],
    ['a user changed the spec, and no field of it is written', { metadata: { generation: 4 } }, [annotate], [annotate]],
    [
      'it is being deleted, and cannot be held any more',
      { metadata: { generation: 3, deletionTimestamp } },
      [{ addFinalizers: ['a/vm'] }],
      [],
    ],
    [
      'it is being deleted, and is released',
      { metadata: { generation: 4, deletionTimestamp, finalizers: ['a/vm'] } },
      [release],
      [release],
    ],
    ['it was released', { metadata: { deletionTimestamp, finalizers: ['other'] } }, [release], []],
    [
      'an annotation that is there, and one that is not',
      { metadata: { annotations: { creating: 'now' } } },
      [annotate],
      [],
    ],
    [
      'an annotation that is to go',
      { metadata: { annotations: { creating: 'now', gone: 'not yet' } } },
      [annotate],
      [annotate],
    ],
    [
      'a label of another value',
      { metadata: { labels: { zone: 'b' } } },
      [{ labels: { zone: 'a' } }],
      [{ labels: { zone: 'a' } }],
    ],
    [
      'a field deep down, beside others',
      { spec: { bootstrap: { cloudInit: { instanceID: 'i', sshAuthorizedKeys: ['k'] } } } },
      [cloudInit],
      [],
    ],
    [
      'a field deep down that differs',
      { spec: { bootstrap: { cloudInit: { instanceID: 'j' } } } },
      [cloudInit],
      [cloudInit],
    ],
    [
      'the first of two was written',
      { metadata: { generation: 4 }, spec: { bootstrap: { cloudInit: { instanceID: 'i' } } } },
      [cloudInit, annotate],
      [annotate],
    ],
    [
      'the first of two was written, then a user changed the spec',
      { metadata: { generation: 5 }, spec: { powerState: 'PoweredOff', ...isHeld } },
      [{ spec: isHeld }, cloudInit],
      [],
    ],
    [
      'the second says so by chance, the first does not',
      { metadata: { labels: { zone: 'a' } } },
      [annotate, { labels: { zone: 'a' } }],
      [annotate, { labels: { zone: 'a' } }],
    ],
    [
      'the second takes back what the first has done, and both were written',
      { metadata: { annotations: {} } },
      [{ annotations: { creating: 'now' } }, { annotations: { creating: null } }],
      [],
    ],
    [
      'it was held and released',
      { metadata: { finalizers: [] } },
      [{ addFinalizers: ['a/vm'] }, { removeFinalizers: ['a/vm'] }],
      [],
    ],
  ];

test.each(rows)('%s', (_why, sample, patches, left) => {
  expect(patchesLeft(sampleVirtualMachine(sample), 3, patches)).toEqual(left);
});

/** The decision was made on generation 3, and this is the object after it was to be written. */
const writtenRows: [why: string, object: VirtualMachineSample, patches: VirtualMachinePatch[], isCurrent: boolean][] = [
  ['all of it is written', { metadata: { generation: 4, finalizers: ['a/vm'] }, spec: isHeld }, [hold], true],
  ['it said so before', { metadata: { generation: 3, finalizers: ['a/vm'] }, spec: isHeld }, [hold], true],
  ['it was not written, as a user changed the spec', { metadata: { generation: 4 } }, [hold], false],
  [
    'a user changed the spec, and no field of it was written',
    { metadata: { generation: 4, annotations: { creating: 'now' } } },
    [annotate],
    false,
  ],
  [
    'a user deletes it',
    { metadata: { generation: 4, deletionTimestamp, finalizers: ['a/vm'] }, spec: isHeld },
    [hold],
    false,
  ],
  [
    'it was being deleted already',
    { metadata: { generation: 3, deletionTimestamp, annotations: { creating: 'now' } } },
    [annotate],
    true,
  ],
];

test.each(writtenRows)('goes on, or not: %s', (_why, sample, patches, expected) => {
  expect(isCurrent(sampleVirtualMachine(sample), 3, patches)).toBe(expected);
});
