import * as fc from 'fast-check';
import { dataVolume, gib } from '../../test/fixtures/activities/volume-facts.ts';
import { dataVolumeCrd } from '../crds/data-volume.ts';
import { toStructuralSchema } from '../crds/structural-schema.ts';
import type { ClaimPropertySet } from './known-provisioners.ts';
import { type ChoosableClass, chooseClass, isProblem, renderClaim } from './render-claim.ts';
import { wantedBytes } from './size.ts';

const source = { pvc: { namespace: 'images', name: 'golden' } };
const sized = (parts: object = {}, size: string | number = '1Gi') => ({
  resources: { requests: { storage: size } },
  ...parts,
});
const specOf = (parts: object) => dataVolume({ spec: { source, ...parts } }).spec;

const made = (name: string, marks: string[] = [], day = 1): ChoosableClass => ({
  metadata: {
    name,
    creationTimestamp: `2026-01-0${day}T00:00:00Z`,
    annotations: Object.fromEntries(marks.map((mark) => [mark, 'true'])),
  },
  provisioner: 'csi.example.com',
});
const isDefault = 'storageclass.kubernetes.io/is-default-class';
const forVms = 'storageclass.kubevirt.io/is-default-virt-class';
const all = [made('plain', [isDefault]), made('vms', [forVms]), made('fast')];

const classRows: [rule: string, spec: object, classes: ChoosableClass[], chosen: string][] = [
  ['the one that is named', { storage: { storageClassName: 'fast' } }, all, 'fast'],
  ['one that is named in a pvc', { pvc: { storageClassName: 'fast' } }, all, 'fast'],
  [
    'one that is not there',
    { storage: { storageClassName: 'slow' } },
    all,
    'StorageClass slow is not found: create it, or the DataVolume with another one',
  ],
  ['none', { pvc: { storageClassName: '' } }, all, 'StorageClass "" has no provisioner that could make the volume'],
  ['that for VMs', { storage: {} }, all, 'vms'],
  ['that for VMs is not for archives', { storage: {}, contentType: 'archive' }, all, 'plain'],
  ['that for VMs is not for a pvc, which stays as it is', { pvc: {} }, all, 'plain'],
  ['the default, where none is for VMs', { storage: {} }, [made('plain', [isDefault])], 'plain'],
  ['of several the newest', { pvc: {} }, [made('a', [isDefault], 1), made('b', [isDefault], 2)], 'b'],
  ['of several of one time the first', { pvc: {} }, [made('b', [isDefault]), made('a', [isDefault])], 'a'],
  [
    'no default',
    { storage: { accessModes: ['ReadWriteOnce'] } },
    [made('fast')],
    'The DataVolume names no StorageClass, and none is the default',
  ],
  [
    'no default, and no access mode',
    { storage: {} },
    [],
    'DataVolume.storage spec is missing accessMode and no storageClass to choose profile',
  ],
];

test.each(classRows)('class: %s', (_rule, spec, classes, expected) => {
  const chosen = chooseClass(specOf(spec), classes);
  expect(isProblem(chosen) ? chosen.message : chosen.metadata.name).toBe(expected);
});

const sets: ClaimPropertySet[] = [
  { accessModes: ['ReadWriteMany'], volumeMode: 'Block' },
  { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], volumeMode: 'Filesystem' },
];
const render = (spec: object, claimPropertySets = sets, minimumBytes = 0) =>
  renderClaim({
    spec: specOf(spec),
    storageClass: 'fast',
    profile: { claimPropertySets, minimumBytes },
    overhead: 0.06,
  });

const once = { accessModes: ['ReadWriteOnce'] };
const rendered = (parts: object) => ({
  storageClass: 'fast',
  requestBytes: gib,
  overhead: 0,
  minimumBytes: 0,
  ...parts,
});

const rows: [rule: string, spec: object, claim: object][] = [
  [
    'a pvc stays as it is',
    { pvc: sized({ ...once, volumeMode: 'Block' }) },
    rendered({ ...once, volumeMode: 'Block' }),
  ],
  [
    'a pvc is a file system unless it says otherwise',
    { pvc: sized(once) },
    rendered({ ...once, volumeMode: 'Filesystem' }),
  ],
  [
    'storage: the best of the profile',
    { storage: sized() },
    rendered({ accessModes: ['ReadWriteMany'], volumeMode: 'Block' }),
  ],
  [
    'storage: the best of the profile for a file system, with room for it',
    { storage: sized({ volumeMode: 'Filesystem' }) },
    rendered({ accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], volumeMode: 'Filesystem', overhead: 0.06 }),
  ],
  [
    'storage: the volume mode that the access modes are possible with',
    { storage: sized({ accessModes: ['ReadOnlyMany'] }) },
    rendered({ accessModes: ['ReadOnlyMany'], volumeMode: 'Filesystem', overhead: 0.06 }),
  ],
  [
    'storage: access modes that the profile does not know are a file system',
    { storage: sized({ accessModes: ['ReadWriteOncePod'] }) },
    rendered({ accessModes: ['ReadWriteOncePod'], volumeMode: 'Filesystem', overhead: 0.06 }),
  ],
  [
    'storage: all is said',
    { storage: sized({ accessModes: ['ReadWriteOncePod'], volumeMode: 'Block' }) },
    rendered({ accessModes: ['ReadWriteOncePod'], volumeMode: 'Block' }),
  ],
  [
    'storage: an archive is a file system',
    { storage: sized(), contentType: 'archive' },
    rendered({ accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], volumeMode: 'Filesystem', overhead: 0.06 }),
  ],
  [
    'storage: a clone needs no size',
    { storage: {} },
    rendered({ accessModes: ['ReadWriteMany'], volumeMode: 'Block', requestBytes: null }),
  ],
  ['a number is a size', { pvc: sized(once, gib) }, rendered({ ...once, volumeMode: 'Filesystem' })],
];

test.each(rows)('%s', (_rule, spec, expected) => {
  expect(render(spec)).toEqual(expected);
});

const blank = { source: { blank: {} } };
const refused: [rule: string, spec: object, message: string, sets?: ClaimPropertySet[]][] = [
  ['neither', {}, 'Missing Data volume PVC'],
  [
    'room that is written before',
    { storage: sized(), preallocation: true },
    'drover does not preallocate volumes: leave preallocation out, and name a class that does',
  ],
  [
    'attributes of the volume',
    { pvc: sized({ ...once, volumeAttributesClassName: 'gold' }) },
    'drover does not set volumeAttributesClassName: leave it out, and set it in the PersistentVolumeClaim that is made',
  ],
  [
    'both',
    { pvc: sized(once), storage: sized() },
    'Duplicate storage definition, both target storage and target pvc defined',
  ],
  ['a pvc without a size', { pvc: once }, 'PVC size is missing'],
  ['an empty volume without a size', { ...blank, storage: {} }, 'Storage size is missing'],
  ['nothing', { storage: sized({}, '0') }, "Storage size can't be equal or less than zero"],
  ['less than nothing', { pvc: sized(once, '-1Gi') }, "PVC size can't be equal or less than zero"],
  ['less than a MiB', { storage: sized({}, '1023Ki') }, 'Storage size should be at least 1MiB'],
  ['a pvc without access modes', { pvc: sized() }, 'Required value: at least 1 access mode is required'],
  ['a pvc with two', { pvc: sized({ accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }) }, 'PVC multiple accessModes'],
  [
    'an archive in a block volume',
    { storage: sized({ volumeMode: 'Block' }), contentType: 'archive' },
    'DataVolume with ContentType Archive cannot have block volumeMode',
  ],
  [
    'the same in a pvc',
    { pvc: sized({ ...once, volumeMode: 'Block' }), contentType: 'archive' },
    'DataVolume with ContentType Archive cannot have block volumeMode',
  ],
  [
    'storage: nothing is known',
    { storage: sized() },
    'DataVolume.storage spec is missing accessMode and volumeMode, cannot get access mode from StorageProfile fast',
    [],
  ],
  [
    'storage: nothing is known of that volume mode',
    { storage: sized({ volumeMode: 'Block' }) },
    'DataVolume.storage spec is missing accessMode and cannot get access mode from StorageProfile fast',
    sets.slice(1),
  ],
  [
    'a volume that is there already',
    { pvc: sized({ ...once, volumeName: 'pv-1' }) },
    'volumeName and selector are of volumes that are there already: what is cloned is new',
  ],
];

test.each(refused)('refused: %s', (_rule, spec, message, known = sets) => {
  expect(render(spec, known)).toEqual({ reason: 'ErrClaimNotValid', message });
});

/** kube-apiserver refuses the same in the same words; what concerns the profile it cannot know. */
test('what the definition refuses, it refuses in the words of the table', () => {
  const schema = JSON.stringify(toStructuralSchema(dataVolumeCrd.schema));
  const said = refused
    .map(([, , message]) => message)
    .filter((message) => /^(?:Missing|Duplicate|PVC|Storage|Required)/u.test(message));
  expect(said.filter((message) => !schema.includes(message))).toEqual([]);
});

test('a rendered volume is never smaller than what was asked for, nor than the class can make', () => {
  const inMiB = fc.integer({ min: 1, max: 64 * 1024 });
  const profile = fc.subarray(sets);
  const storage = fc.record(
    { accessModes: fc.constant(['ReadWriteOnce']), volumeMode: fc.constantFrom('Filesystem', 'Block') },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(inMiB, inMiB, profile, storage, (size, minimum, known, parts) => {
      const spec = render({ storage: sized(parts, `${size}Mi`) }, known, minimum * 1024 ** 2);
      if (isProblem(spec)) return;
      const bytes = wantedBytes({ claimSpec: spec, source: { kind: 'blank' } });
      expect(bytes).toBeGreaterThanOrEqual(Math.max(size, minimum) * 1024 ** 2);
      expect(spec.accessModes).not.toHaveLength(0);
    }),
  );
});
