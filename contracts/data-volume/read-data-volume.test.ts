import { dataVolume } from '../../test/fixtures/activities/volume-facts.ts';
import type { DesiredVolume } from './data-volume.ts';
import { volumeAnnotations } from './metadata.ts';
import { readClaimedVolume, readDataVolume, readRecordedVolume, writeClaimedSource } from './read-data-volume.ts';

const pvc = { namespace: 'images', name: 'golden' };
const storage = { resources: { requests: { storage: '1Gi' } } };

test('a clone, with nothing else', () => {
  expect(readDataVolume(dataVolume())).toEqual({
    desired: {
      uid: 'dv-uid',
      generation: 1,
      createdMs: Date.parse('2026-01-31T12:00:00Z'),
      deleting: false,
      isHeld: false,
      source: { kind: 'pvc', ...pvc },
      foreignSource: '',
      isLeft: false,
      contentType: 'kubevirt',
      api: 'storage',
      prePopulatedBy: null,
      isPermissive: false,
      bindsImmediately: false,
      crashConsistent: false,
      onDeadline: null,
      adopts: null,
    },
    problem: null,
  });
});

const read = (spec: object, annotations: Record<string, string> = {}) =>
  readDataVolume(dataVolume({ annotations, spec: { storage, source: { pvc }, ...spec } }));

const specs: [rule: string, spec: object, desired: Partial<DesiredVolume>][] = [
  ['a snapshot', { source: { snapshot: pvc } }, { source: { kind: 'snapshot', ...pvc } }],
  ['nothing', { source: { blank: {} } }, { source: { kind: 'blank' } }],
  [
    'a DataSource of its namespace',
    { source: undefined, sourceRef: { kind: 'DataSource', name: 'golden' } },
    { source: { kind: 'dataSource', namespace: 'team-a', name: 'golden' } },
  ],
  [
    'a DataSource of another',
    { source: undefined, sourceRef: { kind: 'DataSource', ...pvc } },
    { source: { kind: 'dataSource', ...pvc } },
  ],
  ['what CDI imports', { source: { http: { url: 'https://x' } } }, { source: null, foreignSource: 'http' }],
  ['what CDI uploads', { source: { upload: {} } }, { source: null, foreignSource: 'upload' }],
  [
    'what another populator fills',
    { source: undefined, storage: { ...storage, dataSourceRef: { kind: 'Image', name: 'x' } } },
    { source: null, foreignSource: 'none' },
  ],
  ['a pvc', { storage: undefined, pvc: storage }, { api: 'pvc' }],
  ['an archive', { contentType: 'archive' }, { contentType: 'archive' }],
];

test.each(specs)('%s', (_rule, spec, desired) => {
  expect(read(spec)).toMatchObject({ desired, problem: null });
});

const {
  prePopulated,
  permissiveClone,
  permissiveCloneBefore,
  bindImmediately,
  crashConsistent,
  onDeadline,
  allowClaimAdoption,
  leftTo,
} = volumeAnnotations;

const annotated: [key: string, value: string, desired: Partial<DesiredVolume>][] = [
  [prePopulated, 'other', { prePopulatedBy: 'other' }],
  [prePopulated, '', { prePopulatedBy: 'disk' }],
  [permissiveClone, '', { isPermissive: true }],
  [permissiveCloneBefore, 'false', { isPermissive: true }],
  [bindImmediately, '', { bindsImmediately: true }],
  [crashConsistent, 'true', { crashConsistent: true }],
  [crashConsistent, 'yes', { crashConsistent: false }],
  [onDeadline, 'copy', { onDeadline: 'copy' }],
  [allowClaimAdoption, 'true', { adopts: true }],
  [allowClaimAdoption, 'false', { adopts: false }],
  [allowClaimAdoption, 'maybe', { adopts: null }],
  [leftTo, 'cdi', { isLeft: true }],
];

test.each(annotated)('%s: %s', (key, value, desired) => {
  expect(read({}, { [key]: value })).toMatchObject({ desired, problem: null });
});

const metadata: [rule: string, metadata: object, desired: Partial<DesiredVolume>][] = [
  ['held', { finalizers: ['cdi.kubevirt.io/dataVolumeFinalizer'] }, { isHeld: true }],
  ['held by another', { finalizers: ['other'] }, { isHeld: false }],
  ['deleted', { deletionTimestamp: '2026-01-31T13:00:00Z' }, { deleting: true }],
];

test.each(metadata)('%s', (_rule, parts, desired) => {
  expect(readDataVolume(dataVolume({ metadata: parts })).desired).toMatchObject(desired);
});

const neither = 'Data volume should have either Source or SourceRef, or be externally populated';
const problems: [rule: string, spec: object, annotations: Record<string, string>, message: string][] = [
  ['no source', { source: undefined }, {}, neither],
  ['an empty one', { source: {} }, {}, neither],
  ['a source and a reference', { sourceRef: { kind: 'DataSource', name: 'x' } }, {}, neither],
  ['two sources', { source: { pvc, blank: {} } }, {}, 'Multiple Data volume sources'],
  [
    'a reference to something else',
    { source: undefined, sourceRef: { kind: 'Image', name: 'x' } },
    {},
    'Unsupported sourceRef kind Image, currently only DataSource is supported',
  ],
  [
    'an archive of nothing',
    { source: { blank: {} }, contentType: 'archive' },
    {},
    'SourceType cannot be blank and the contentType be archive',
  ],
  [
    'an outcome that is none',
    {},
    { [onDeadline]: 'retry' },
    'drover.dev/on-deadline is retry: it can be wait, copy, fail',
  ],
];

test.each(problems)('refused: %s', (_rule, spec, annotations, message) => {
  // As an object that came past the rules of the definition.
  const object = dataVolume({ annotations });
  const { problem } = readDataVolume({ ...object, spec: { storage, source: { pvc }, ...spec } });
  expect(problem).toEqual({ reason: 'ErrClaimNotValid', message });
});

test('what its status says', () => {
  const conditions = [
    { type: 'Running', status: 'True', lastHeartbeatTime: '2026-01-31T12:00:05Z', reason: 'Populator is running' },
    { type: 'Mine', status: 'True' },
  ];
  const status = { phase: 'CSICloneInProgress', progress: 'N/A', claimName: 'disk', conditions };
  expect(readRecordedVolume(dataVolume({ status }))).toEqual({
    phase: 'CSICloneInProgress',
    progress: 'N/A',
    claimName: 'disk',
    conditions: [{ type: 'Running', status: 'True', reason: 'Populator is running', message: '' }],
    event: null,
    sinceMs: Date.parse('2026-01-31T12:00:05Z'),
  });
});

test.each([
  [undefined, { phase: '', sinceMs: null }],
  [{ phase: 'Dreaming' }, { phase: 'Unknown' }],
])('a status of %j', (status, recorded) => {
  expect(readRecordedVolume(dataVolume(status === undefined ? {} : { status }))).toMatchObject(recorded);
});

const { cloneType, cloneSource, cloneFallbackReason } = volumeAnnotations;
const source = { kind: 'pvc', ...pvc, uid: 'claim-uid' } as const;
const written = writeClaimedSource(source);

test.each([
  ['nothing', {}, null],
  ['a strategy alone', { [cloneType]: 'snapshot' }, null],
  ['a source alone', { [cloneSource]: written }, null],
  ['both', { [cloneType]: 'snapshot', [cloneSource]: written }, { strategy: 'snapshot', fallbackReason: null, source }],
  [
    'a reason',
    { [cloneType]: 'copy', [cloneSource]: written, [cloneFallbackReason]: 'because' },
    { strategy: 'copy', fallbackReason: 'because', source },
  ],
  ['a strategy of before', { [cloneType]: 'network', [cloneSource]: written }, null],
  ['a source that is none', { [cloneType]: 'copy', [cloneSource]: '{"kind":"pvc","name":"golden"}' }, null],
  [
    'a source of another kind',
    { [cloneType]: 'copy', [cloneSource]: JSON.stringify({ ...source, kind: 'http' }) },
    null,
  ],
  ['no JSON', { [cloneType]: 'copy', [cloneSource]: 'images/golden' }, null],
  ['no object', { [cloneType]: 'copy', [cloneSource]: 'null' }, null],
])('what was fixed when the clone began: %s', (_rule, annotations, claimed) => {
  expect(readClaimedVolume(dataVolume({ annotations }))).toEqual(claimed);
});
