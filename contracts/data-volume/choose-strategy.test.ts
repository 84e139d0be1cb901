import * as fc from 'fast-check';
import { claim, gib, snapshot, storageClass } from '../../test/fixtures/activities/volume-facts.ts';
import { chooseStrategy, type ChosenStrategy, type StrategyFacts } from './choose-strategy.ts';
import type { ClassFacts } from './data-volume.ts';
import { strategies } from './metadata.ts';

interface Parts extends Partial<Omit<StrategyFacts, 'class' | 'source'>> {
  claim?: Parameters<typeof claim>[0];
  /** Of the source. Null: it has none. */
  from?: Partial<ClassFacts> | null;
  to?: Partial<ClassFacts>;
  snapshot?: Parameters<typeof snapshot>[0];
}

const facts = ({ claim: ofClaim, from, to, snapshot: ofSnapshot, ...parts }: Parts): StrategyFacts => ({
  source: ofSnapshot
    ? { kind: 'snapshot', snapshot: snapshot(ofSnapshot) }
    : { kind: 'pvc', claim: claim(ofClaim), class: from === null ? null : storageClass(from) },
  class: storageClass(to),
  claimSpec: { volumeMode: 'Filesystem' },
  wantedBytes: gib,
  isElsewhere: false,
  override: null,
  ...parts,
});

const copied = (fallbackReason: string): ChosenStrategy => ({ strategy: 'copy', fallbackReason });
const chosen = (strategy: ChosenStrategy['strategy']): ChosenStrategy => ({ strategy, fallbackReason: null });

const rows: [rule: string, parts: Parts, chosen: ChosenStrategy][] = [
  ['as the profile of the source says: snapshot', {}, chosen('snapshot')],
  ['as the profile of the source says: csi-clone', { from: { cloneStrategy: 'csi-clone' } }, chosen('csi-clone')],
  ['as the profile of the source says: copy', { from: { cloneStrategy: 'copy' } }, chosen('copy')],
  ['the profile of the target says nothing', { to: { cloneStrategy: 'copy' } }, chosen('snapshot')],
  [
    'the override goes before the profile',
    { override: 'csi-clone', from: { cloneStrategy: 'copy' } },
    chosen('csi-clone'),
  ],
  ['an override to copy needs no reason', { override: 'copy' }, chosen('copy')],
  ['a source without a class is of no driver that is known', { from: null }, copied('Provisioners are incompatible')],
  [
    'no CSI driver, so nothing but a copy',
    { to: { isCsi: false } },
    copied('In tree storage class does not support snapshot/clone'),
  ],
  [
    'an override does not bypass the tests',
    { override: 'csi-clone', to: { provisioner: 'other.example.com' } },
    copied('Provisioners are incompatible'),
  ],
  ['other names of classes of one driver', { from: { name: 'a' }, to: { name: 'b' } }, chosen('snapshot')],
  ['other drivers', { to: { provisioner: 'other.example.com' } }, copied('Provisioners are incompatible')],
  ['no class for snapshots', { from: { snapshotClass: null } }, copied('No compatible volumesnapshotclass found')],
  [
    'csi-clone needs no class for snapshots',
    { from: { snapshotClass: null, cloneStrategy: 'csi-clone' } },
    chosen('csi-clone'),
  ],
  [
    'another volume mode',
    { claimSpec: { volumeMode: 'Block' } },
    copied('The volume modes of source and target are incompatible'),
  ],
  ['larger, where the class expands', { wantedBytes: 2 * gib }, chosen('snapshot')],
  [
    'larger, where it does not',
    { wantedBytes: 2 * gib, to: { expands: false } },
    copied('No volume expansion is possible'),
  ],
  [
    'it is the class of the target that has to expand',
    { wantedBytes: 2 * gib, from: { expands: false } },
    chosen('snapshot'),
  ],
  ['as large, where it does not expand', { to: { expands: false } }, chosen('snapshot')],
  [
    'larger than asked for, but no larger than it has become',
    { wantedBytes: 2 * gib, claim: { capacityBytes: 2 * gib }, to: { expands: false } },
    chosen('snapshot'),
  ],
  ['elsewhere', { isElsewhere: true }, chosen('snapshot')],
  ['bound where it is used first', { to: { waitsForConsumer: true } }, chosen('snapshot')],
  [
    'elsewhere, bound where it is used first',
    { isElsewhere: true, to: { waitsForConsumer: true } },
    copied('The target is bound where it is used first, which is in another namespace than its source'),
  ],
  ['a snapshot is restored', { snapshot: {} }, chosen('snapshot')],
  ['a snapshot is restored, whatever is preferred', { snapshot: {}, override: 'csi-clone' }, chosen('snapshot')],
  [
    'a snapshot of another driver',
    { snapshot: { driver: 'other.example.com' } },
    copied('The storageclass provisioner does not match the volumesnapshotcontent driver'),
  ],
  [
    'a snapshot whose driver is not known',
    { snapshot: { driver: null } },
    copied('The storageclass provisioner does not match the volumesnapshotcontent driver'),
  ],
  [
    'a snapshot of another volume mode',
    { snapshot: { sourceVolumeMode: 'Block' } },
    copied('The volume modes of source and target are incompatible'),
  ],
  ['a snapshot that does not say its volume mode', { snapshot: { sourceVolumeMode: null } }, chosen('snapshot')],
  [
    'a smaller snapshot, where the class does not expand',
    { snapshot: {}, wantedBytes: 2 * gib, to: { expands: false } },
    copied('No volume expansion is possible'),
  ],
  [
    'a snapshot of any size, where the class does not expand',
    { snapshot: { restoreSizeBytes: 0 }, wantedBytes: 2 * gib, to: { expands: false } },
    chosen('snapshot'),
  ],
  [
    'a snapshot without a CSI driver of the target',
    { snapshot: {}, to: { isCsi: false } },
    copied('In tree storage class does not support snapshot/clone'),
  ],
];

test.each(rows)('%s', (_rule, parts, expected) => {
  expect(chooseStrategy(facts(parts))).toEqual(expected);
});

const driver = fc.constantFrom('a.example.com', 'b.example.com');
const mode = fc.constantFrom('Filesystem' as const, 'Block' as const);
const ofClass = fc.record({
  provisioner: driver,
  expands: fc.boolean(),
  isCsi: fc.boolean(),
  waitsForConsumer: fc.boolean(),
  cloneStrategy: fc.constantFrom(...strategies),
  snapshotClass: fc.constantFrom(null, 'snapshots'),
});
const anything = fc.record({
  source: fc.oneof(
    fc.record({
      kind: fc.constant('pvc' as const),
      claim: mode.map((volumeMode) => claim({ volumeMode })),
      class: fc.option(ofClass.map(storageClass)),
    }),
    fc.record({
      kind: fc.constant('snapshot' as const),
      snapshot: fc
        .record({
          driver: fc.option(driver),
          sourceVolumeMode: fc.option(mode),
          restoreSizeBytes: fc.option(fc.nat(3)),
        })
        .map((parts) =>
          snapshot({
            ...parts,
            restoreSizeBytes: parts.restoreSizeBytes === null ? null : parts.restoreSizeBytes * gib,
          }),
        ),
    }),
  ),
  class: ofClass.map(storageClass),
  claimSpec: mode.map((volumeMode) => ({ volumeMode })),
  wantedBytes: fc.nat(3).map((size) => size * gib),
  isElsewhere: fc.boolean(),
  override: fc.option(fc.constantFrom(...strategies)),
});

test('what the storage does itself never crosses drivers, volume modes or a size that cannot grow', () => {
  fc.assert(
    fc.property(anything, (any) => {
      const { strategy, fallbackReason } = chooseStrategy(any);
      if (strategy === 'copy') return;
      const { source, class: target, claimSpec } = any;
      const from = source.kind === 'pvc' ? source.class?.provisioner : source.snapshot.driver;
      const volumeMode = source.kind === 'pvc' ? source.claim.volumeMode : source.snapshot.sourceVolumeMode;
      const bytes = source.kind === 'pvc' ? gib : (source.snapshot.restoreSizeBytes ?? 0);
      expect(fallbackReason).toBeNull();
      expect(from).toBe(target.provisioner);
      expect([null, claimSpec.volumeMode]).toContain(volumeMode);
      expect(target.isCsi).toBe(true);
      if (!target.expands && !(source.kind === 'snapshot' && source.snapshot.restoreSizeBytes === 0))
        expect(any.wantedBytes).toBeLessThanOrEqual(bytes);
      if (strategy === 'snapshot' && source.kind === 'pvc') expect(source.class?.snapshotClass).toBe('snapshots');
    }),
  );
});
