import * as fc from 'fast-check';
import { claim, claimSpec, gib, snapshot, storageClass } from '../../test/fixtures/activities/volume-facts.ts';
import type { ObservedVolume } from './data-volume.ts';
import type { CdiConfig } from '../crds/cdi.ts';
import { overheadOf, readOverheads, restoreBytes, wantedBytes, withOverhead } from './size.ts';

const mib = 1024 ** 2;

test.each([
  [gib, 0.06, 1_138_166_334],
  [gib, 0, gib],
  [gib - 1, 0, gib],
  [mib, 0.055, Math.ceil(mib * 1.055)],
  [10 * gib, 0.1, 11 * gib],
])('%d bytes with a share of %d are %d', (bytes, overhead, expected) => {
  expect(withOverhead(bytes, overhead)).toBe(expected);
});

test('a volume with room for its file system is never smaller than what was asked for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: mib, max: 64 * 1024 * gib }),
      fc.integer({ min: 0, max: 1_000 }),
      (bytes, thousandths) => {
        const sized = withOverhead(bytes, thousandths / 1_000);
        expect(sized).toBeGreaterThanOrEqual(bytes);
        expect(Number.isSafeInteger(sized)).toBe(true);
      },
    ),
  );
});

const ofClaim = (parts: Parameters<typeof claim>[0] = {}): ObservedVolume['source'] => ({
  kind: 'pvc',
  namespace: 'images',
  name: 'golden',
  claim: claim(parts),
  class: storageClass(),
  usedBy: [],
  isPopulated: true,
});
const ofSnapshot = (parts: Parameters<typeof snapshot>[0] = {}): ObservedVolume['source'] => ({
  kind: 'snapshot',
  namespace: 'images',
  name: 'golden-monday',
  snapshot: snapshot(parts),
  restoresBy: null,
});
const missing: ObservedVolume['source'] = { ...ofSnapshot(), snapshot: null } as ObservedVolume['source'];
const unsized = { requestBytes: null };
const large = { capacityBytes: 3 * gib, requestBytes: gib };

const rows: [
  rule: string,
  spec: Parameters<typeof claimSpec>[0] | null,
  source: ObservedVolume['source'],
  bytes: number,
][] = [
  ['nothing to be', null, ofClaim(), 0],
  ['what is asked for', {}, ofClaim(large), gib],
  ['with room for a file system', { overhead: 0.06 }, ofClaim(large), 1_138_166_334],
  ['a block volume has none', { overhead: 0.06, volumeMode: 'Block' }, ofClaim(), gib],
  ['no smaller than the class can make', { minimumBytes: 4 * gib }, ofClaim(), 4 * gib],
  ['as large as its source has become', unsized, ofClaim(large), 3 * gib],
  ['as large as its source is asked for, which is not bound', unsized, ofClaim({ capacityBytes: null }), gib],
  ['a file system has room for itself already', { ...unsized, overhead: 0.06 }, ofClaim(), gib],
  ['a block volume gets room for one', { ...unsized, overhead: 0.06 }, ofClaim({ volumeMode: 'Block' }), 1_138_166_334],
  [
    'a block volume stays one',
    { ...unsized, volumeMode: 'Block', overhead: 0.06 },
    ofClaim({ volumeMode: 'Block' }),
    gib,
  ],
  ['as large as the snapshot', unsized, ofSnapshot({ restoreSizeBytes: 2 * gib }), 2 * gib],
  [
    'the snapshot of a block volume gets room for a file system',
    { ...unsized, overhead: 0.06 },
    ofSnapshot({ sourceVolumeMode: 'Block' }),
    1_138_166_334,
  ],
  ['its source says nothing', { ...unsized, minimumBytes: gib }, ofSnapshot({ restoreSizeBytes: 0 }), 0],
  ['its source is not there', unsized, missing, 0],
  ['its source is not known', unsized, null, 0],
  ['an empty one has its size', {}, { kind: 'blank' }, gib],
];

test.each(rows)('wanted: %s', (_rule, spec, source, bytes) => {
  expect(wantedBytes({ claimSpec: spec === null ? null : claimSpec(spec), source })).toBe(bytes);
});

test.each([
  ['a snapshot', snapshot({ restoreSizeBytes: 2 * gib }), 2 * gib],
  ['a snapshot of any size', snapshot({ restoreSizeBytes: 0 }), 5 * gib],
  ['a snapshot that does not say', snapshot({ restoreSizeBytes: null }), 5 * gib],
  ['a volume', claim(large), 3 * gib],
  ['a volume that is not bound', claim({ capacityBytes: null }), gib],
])('it is requested as large as %s', (_what, from, bytes) => {
  expect(restoreBytes(from, 5 * gib)).toBe(bytes);
});

type Said = Pick<CdiConfig, 'status'>;
const config = (filesystemOverhead: NonNullable<Said['status']>['filesystemOverhead']): Said => ({
  status: { filesystemOverhead },
});

test.each<[what: string, said: Said | null, overheads: object | null]>([
  ['no CDI', null, null],
  ['one that says nothing', { status: {} }, null],
  ['one without a share', config(null), null],
  ['one for all', config({ global: '0.055' }), { default: 0.055, classes: {} }],
  [
    'one for a class, and what is none',
    config({ global: '0.06', storageClass: { nfs: '0', odd: '6 %', negative: '-1', whole: '1' } }),
    { default: 0.06, classes: { nfs: 0, whole: 1 } },
  ],
  ['what is none for all', config({ global: '2' }), null],
])('shares: %s', (_what, said, expected) => {
  expect(readOverheads(said)).toEqual(expected);
});

test('a class has its own share, or that of all', () => {
  const overheads = { default: 0.06, classes: { nfs: 0 } };
  expect([overheadOf(overheads, 'nfs'), overheadOf(overheads, 'fast'), overheadOf(overheads, 'toString')]).toEqual([
    0, 0.06, 0.06,
  ]);
});
