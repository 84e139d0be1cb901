import { claim, claimSpec, gib, snapshot, storageClass } from '../../test/fixtures/activities/volume-facts.ts';
import type { ClaimFacts, ClaimSpec, DesiredVolume, ObservedVolume, SnapshotFacts } from './data-volume.ts';
import { goesOn } from './storage-answers.ts';
import { validateClone } from './validate-clone.ts';

type Asked = Pick<DesiredVolume, 'contentType' | 'api' | 'isPermissive'>;
const asked = (parts: Partial<Asked> = {}): Asked => ({
  contentType: 'kubevirt',
  api: 'pvc',
  isPermissive: false,
  ...parts,
});
const of = (parts: Partial<ClaimFacts> | null): ObservedVolume['source'] => ({
  kind: 'pvc',
  namespace: 'images',
  name: 'golden',
  claim: parts === null ? null : claim(parts),
  class: storageClass(),
  usedBy: [],
  isPopulated: true,
});
const ofSnapshot = (parts: Partial<SnapshotFacts> | null): ObservedVolume['source'] => ({
  kind: 'snapshot',
  namespace: 'images',
  name: 'monday',
  snapshot: parts === null ? null : snapshot(parts),
  restoresBy: null,
});

const failed = (why: string): [string, string] => [
  'CloneValidationFailed',
  `The clone doesn't meet the validation requirements: ${why}`,
];
const smaller = (target: string, source: string): [string, string] =>
  failed(`target resources requests storage size is smaller than the source ${target} < ${source}`);
const half = { requestBytes: gib / 2 };
const storage = { api: 'storage' } as const;

const rows: [
  rule: string,
  Partial<Asked>,
  ObservedVolume['source'],
  Partial<ClaimSpec>,
  problem: [string, string] | null,
][] = [
  ['as large as its source', {}, of({}), {}, null],
  ['larger', {}, of({}), { requestBytes: 2 * gib }, null],
  ['a source that is not known', {}, null, half, null],
  ['none', {}, { kind: 'blank' }, half, null],
  ['a PVC that is not there', {}, of(null), {}, ['CloneWithoutSource', "The source pvc golden doesn't exist"]],
  [
    'a snapshot that is not there',
    {},
    ofSnapshot(null),
    {},
    ['CloneWithoutSource', "The source snapshot monday doesn't exist"],
  ],
  [
    'other content',
    { contentType: 'archive' },
    of({}),
    {},
    failed('Source contentType (kubevirt) and target contentType (archive) do not match'),
  ],
  ['smaller than asked for', {}, of({}), half, smaller('512Mi', '1Gi')],
  ['smaller, and permitted', { isPermissive: true }, of({}), half, null],
  ['no size', storage, of({}), { requestBytes: null }, null],
  ['storage: smaller than a block volume', storage, of({ volumeMode: 'Block' }), half, smaller('512Mi', '1Gi')],
  [
    'storage: a block volume is compared without room for a file system',
    storage,
    of({ volumeMode: 'Block' }),
    { requestBytes: gib - 1, overhead: 0.06 },
    smaller(String(gib - 1), '1Gi'),
  ],
  [
    'storage: a file system is compared with the room that is added',
    storage,
    of({}),
    { requestBytes: gib - 1, overhead: 0.06 },
    null,
  ],
  [
    'storage: smaller than a file system even so',
    storage,
    of({}),
    { ...half, overhead: 0.06 },
    smaller('569083167', '1Gi'),
  ],
  ['a source that has grown counts as it is asked for', {}, of({ capacityBytes: 2 * gib }), {}, null],
  ['a snapshot', {}, ofSnapshot({}), {}, null],
  ['a snapshot that is not ready', {}, ofSnapshot({ isReady: false, restoreSizeBytes: null }), half, null],
  [
    'a snapshot with an error',
    {},
    ofSnapshot({ isReady: false, error: 'no space' }),
    {},
    failed('the snapshot has an error: no space'),
  ],
  [
    'a snapshot with an error that goes on',
    {},
    ofSnapshot({ isReady: false, error: 'rpc error: code = Aborted desc = busy' }),
    {},
    null,
  ],
  ['a snapshot that had an error', {}, ofSnapshot({ error: 'no space' }), {}, null],
  ['a snapshot without a size', {}, ofSnapshot({ restoreSizeBytes: null }), {}, failed('snapshot has no RestoreSize')],
  ['a snapshot of any size', {}, ofSnapshot({ restoreSizeBytes: 0 }), {}, null],
  [
    'a snapshot of any size, and none is asked for',
    storage,
    ofSnapshot({ restoreSizeBytes: 0 }),
    { requestBytes: null },
    failed('the snapshot says no size, and neither does the DataVolume'),
  ],
  ['smaller than a snapshot', {}, ofSnapshot({}), half, smaller('512Mi', '1Gi')],
  ['smaller than a snapshot, and permitted', { isPermissive: true }, ofSnapshot({}), half, null],
];

test.each(rows)('%s', (_rule, parts, source, spec, problem) => {
  expect(validateClone(asked(parts), { source, claimSpec: claimSpec(spec) })).toEqual(
    problem === null ? null : { reason: problem[0], message: problem[1] },
  );
});

test('without a claim to be, sizes are not compared', () => {
  expect(validateClone(asked(), { source: of({}), claimSpec: null })).toBeNull();
  expect(validateClone(asked(), { source: ofSnapshot({}), claimSpec: null })).toBeNull();
});

const inEvent = (code: string): string =>
  `failed to provision volume with StorageClass "fast": rpc error: code = ${code} desc = an operation is pending`;

test.each([
  [inEvent('Aborted'), true],
  [inEvent('ResourceExhausted'), true],
  [inEvent('Unavailable'), true],
  [inEvent('DeadlineExceeded'), true],
  [inEvent('Internal'), false],
  [inEvent('InvalidArgument'), false],
  [inEvent('OutOfRange'), false],
  ['rpc error: code = Internal desc = rpc error: code = Aborted desc = flattening', true],
  ['rpc error: code = Aborted desc = rpc error: code = NotFound desc = gone', false],
  ['the volume is Aborted', false],
  ['', false],
])('%s goes on: %s', (message, expected) => {
  expect(goesOn(message)).toBe(expected);
});
