import type { HypervisorPatch } from '../../../contracts/hypervisor/hypervisor.ts';
import { sampleHypervisor } from '../../../test/fixtures/activities/hypervisor.ts';
import { patchesLeft } from './patch-hypervisor.ts';

const owner = { kind: 'Node', uid: 'n' };
const toHa: HypervisorPatch = { labels: { a: null }, spec: { maintenance: 'ha' } };
const toNone: HypervisorPatch = { spec: { maintenance: '' } };
const annotate: HypervisorPatch = { annotations: { 'drover.dev/retry-handled': 'now' } };

/** The decision was made on generation 3. */
const rows: [
  why: string,
  object: Parameters<typeof sampleHypervisor>[0],
  patches: HypervisorPatch[],
  left: HypervisorPatch[],
  owners?: { kind: string; uid: string }[],
][] = [
  ['nothing is written yet', { generation: 3, spec: { maintenance: 'auto' } }, [toNone], [toNone]],
  ['it says so already', { generation: 4, spec: { maintenance: '' } }, [toNone], []],
  [
    'a user changed the spec since',
    { generation: 4, spec: { maintenance: 'manual', maintenanceReason: 'disks' } },
    [toNone],
    [],
  ],
  ['a user changed the spec, and no field of it is written', { generation: 4 }, [annotate], [annotate]],
  [
    'an annotation that is there',
    { generation: 3, annotations: { 'drover.dev/retry-handled': 'now' } },
    [annotate],
    [],
  ],
  [
    'another value of that annotation',
    { generation: 3, annotations: { 'drover.dev/retry-handled': 'before' } },
    [annotate],
    [annotate],
  ],
  [
    'a label to be taken away',
    { generation: 3, labels: { a: 'b' }, spec: { maintenance: 'termination' } },
    [toHa, toNone],
    [toHa, toNone],
  ],
  ['the first of two was written', { generation: 4, spec: { maintenance: 'ha' } }, [toHa, toNone], [toNone]],
  [
    'the first of two was written, then a user changed the spec',
    { generation: 5, spec: { maintenance: 'ha', skipTests: true } },
    [toHa, toNone],
    [],
  ],
  ['both were written', { generation: 5, spec: { maintenance: '' } }, [toHa, toNone], []],
  [
    'a list in another order',
    { generation: 3, spec: { aggregates: ['b', 'a'] } },
    [{ spec: { aggregates: ['a', 'b'] } }],
    [{ spec: { aggregates: ['a', 'b'] } }],
  ],
  ['its Node owns it', { generation: 3 }, [{ dropNodeOwner: true }], [{ dropNodeOwner: true }], [owner]],
  ['it has no owner', { generation: 3 }, [{ dropNodeOwner: true }], []],
  ['another object owns it', { generation: 3 }, [{ dropNodeOwner: true }], [], [{ kind: 'Rack', uid: 'r' }]],
];

test.each(rows)('%s', (_why, sample, patches, left, owners = []) => {
  const hypervisor = sampleHypervisor(sample);
  const metadata = { ...hypervisor.metadata, ownerReferences: owners };
  expect(patchesLeft({ ...hypervisor, metadata }, 3, patches)).toEqual(left);
});
