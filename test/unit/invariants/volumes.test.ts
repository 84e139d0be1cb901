import { temporaryNames, volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import {
  volumeFacts,
  type ReadDriver,
  type ReadVolumeObject,
  type VolumeChange,
} from '../../invariants/read-volumes.ts';
import type { DataVolumeFact, OfVolumes } from '../../invariants/snapshot.ts';
import { violations } from '../../invariants/violations.ts';
import { good, t0 } from './sample.ts';

/** Volumes that are cloned. */

const gib = 1_024 ** 3;

const fact = (more: Partial<DataVolumeFact> = {}): DataVolumeFact => ({
  name: 'team/disk',
  uid: 'd1',
  phase: 'Succeeded',
  isThere: true,
  isDeleting: false,
  createdMs: t0,
  succeededMs: t0 + 10_000,
  source: [
    { fromMs: t0 - 10_000, content: 'old' },
    { fromMs: t0 - 5_000, content: 'first' },
    { fromMs: t0 + 5_000, content: 'second' },
    { fromMs: t0 + 15_000, content: 'third' },
  ],
  content: [{ fromMs: t0 + 1_000, content: 'first' }],
  askedBytes: 3 * gib,
  claimBytes: 3 * gib,
  isGrownByNode: false,
  driverBytes: 3 * gib,
  ...more,
});
const volume = { name: 'pvc-1', isClaimed: true, hasBytes: true, policy: 'Delete', policyBefore: 'Delete' };
const holds = (content: string): Partial<OfVolumes> => ({
  dataVolumes: [fact({ content: [{ fromMs: t0 + 6_000, content }] })],
});

test.each<[string, Partial<OfVolumes> & { isQuiet?: boolean }, RegExp | null]>([
  ['a claim that is bound', { boundClaims: [{ name: 'team/disk', phase: 'Bound', volume: 'pvc-1' }] }, null],
  [
    'a claim that is lost',
    { boundClaims: [{ name: 'team/disk', phase: 'Lost', volume: null }] },
    /invariant 28: .*team\/disk has lost its volume/u,
  ],
  [
    'a claim whose volume is another’s',
    { boundClaims: [{ name: 'team/disk', phase: 'Bound', volume: null }] },
    /invariant 28: .*not its own/u,
  ],
  ['… on its way', { boundClaims: [{ name: 'team/disk', phase: 'Bound', volume: null }], isQuiet: false }, null],
  [
    'a volume without bytes',
    { persistentVolumes: [{ ...volume, hasBytes: false }] },
    /invariant 28: PersistentVolume pvc-1 has no bytes/u,
  ],
  [
    'a volume that is no claim’s',
    { persistentVolumes: [{ ...volume, isClaimed: false }] },
    /invariant 28: PersistentVolume pvc-1 is no claim's/u,
  ],
  ['a clone with what was there', holds('first'), null],
  ['… with what came while it was cut', holds('second'), null],
  ['… with what was there before', holds('old'), /invariant 29: DataVolume team\/disk holds old/u],
  ['… with what came later', holds('third'), /invariant 29: .*holds third/u],
  ['… with nothing', holds(''), /invariant 29: .*holds nothing/u],
  [
    '… that its driver never had',
    { dataVolumes: [fact({ content: [] })] },
    /invariant 29: DataVolume team\/disk has succeeded, and its driver never had its volume/u,
  ],
  [
    'a clone that was never expanded',
    { dataVolumes: [fact({ claimBytes: gib, driverBytes: gib })] },
    /invariant 29: .*has 1073741824 by its claim\n.*has 1073741824 by its driver/u,
  ],
  [
    '… whose claim alone says that it was',
    { dataVolumes: [fact({ driverBytes: gib })] },
    /^invariant 29: DataVolume team\/disk asks for 3221225472 bytes, and has 1073741824 by its driver$/u,
  ],
  ['… of which its driver says nothing', { dataVolumes: [fact({ driverBytes: null })] }, /has none by its driver/u],
  [
    '… whose file system grows when it is mounted',
    { dataVolumes: [fact({ claimBytes: gib, isGrownByNode: true })] },
    null,
  ],
  [
    '… and never did at the driver',
    { dataVolumes: [fact({ claimBytes: gib, isGrownByNode: true, driverBytes: gib })] },
    /^invariant 29: .*has 1073741824 by its driver$/u,
  ],
  ['a clone that is larger than it asks for', { dataVolumes: [fact({ askedBytes: gib })] }, null],
  ['… that asks for no size', { dataVolumes: [fact({ askedBytes: null, claimBytes: gib, driverBytes: gib })] }, null],
  ['… that grows still', { dataVolumes: [fact({ phase: 'ExpansionInProgress', claimBytes: gib })] }, null],
  ['a clone without a volume', { dataVolumes: [fact({ content: null })] }, /invariant 29: .*has no volume/u],
  ['… that is deleted', { dataVolumes: [fact({ content: null, isDeleting: true })] }, null],
  ['… that has not succeeded', { dataVolumes: [fact({ content: null, phase: 'CloneScheduled' })] }, null],
  [
    'a snapshot of a clone that has succeeded',
    { dataVolumes: [fact()], temporary: [{ what: 'VolumeSnapshot team/s', uids: ['d1'] }] },
    /invariant 30: VolumeSnapshot team\/s is left, which was made for d1/u,
  ],
  [
    '… that another needs',
    {
      dataVolumes: [fact(), fact({ uid: 'd2', phase: 'Pending' })],
      temporary: [{ what: 'VolumeSnapshot team/s', uids: ['d1', 'd2'] }],
    },
    null,
  ],
  [
    '… of one that is gone',
    { dataVolumes: [fact({ phase: 'Pending', isThere: false })], temporary: [{ what: 'Job team/j', uids: ['d1'] }] },
    /invariant 30: Job team\/j/u,
  ],
  ['what no object names', { leftAtDriver: ['snapshot s-1'] }, /invariant 30: snapshot s-1 is left/u],
  [
    'a volume that is retained',
    { persistentVolumes: [{ ...volume, policy: 'Retain' }] },
    /invariant 31: .*Retain instead of Delete/u,
  ],
  ['… on its way', { persistentVolumes: [{ ...volume, policy: 'Retain' }], isQuiet: false }, null],
])('%s', (_what, change, expected) => {
  const lines = violations({ ...good, ...change }).filter((line) => /^invariant (?:28|29|30|31)/u.test(line));
  if (expected === null) expect(lines).toEqual([]);
  else expect(lines.join('\n')).toMatch(expected);
});

const object = (kind: string, name: string, more: object = {}, metadata: object = {}): ReadVolumeObject => ({
  kind,
  metadata: { namespace: 'team', name, uid: `${kind}-${name}`, ...metadata },
  ...more,
});
const added = (one: ReadVolumeObject, atMs = t0): VolumeChange => ({ atMs, type: 'ADDED', object: one });

test('what a DataVolume was made from, and what it holds', () => {
  const csi = (volumeHandle: string) => ({ driver: 'dir', volumeHandle });
  const bound = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };
  const pending = { type: 'FileSystemResizePending', status: 'True' };
  const status = { capacity: { storage: '1Gi' }, conditions: [pending] };
  const claim = (name: string) =>
    object('PersistentVolumeClaim', name, { spec: { volumeName: `pv-${name}` }, status }, bound);
  const volumeOf = (name: string, policy: string): ReadVolumeObject => ({
    kind: 'PersistentVolume',
    metadata: { name: `pv-${name}`, uid: `uid-pv-${name}` },
    spec: {
      csi: csi(`vol-${name}`),
      claimRef: { uid: `PersistentVolumeClaim-${name}` },
      persistentVolumeReclaimPolicy: policy,
    },
  });
  const source = { kind: 'pvc', namespace: 'team', name: 'golden', uid: 'PersistentVolumeClaim-golden' };
  const dataVolume = (phase: string) =>
    object(
      'DataVolume',
      'disk',
      { spec: { storage: { resources: { requests: { storage: '2Gi' } } } }, status: { phase } },
      { annotations: { [volumeAnnotations.cloneSource]: JSON.stringify(source) } },
    );
  const driver: ReadDriver = {
    name: 'dir',
    volumes: ['vol-golden', 'vol-disk', 'vol-stray'].map((id) => ({ id, bytes: 3 * gib })),
    snapshots: [],
    history: (id) => [{ fromMs: t0, content: `of ${id}` }],
  };
  const facts = volumeFacts(
    [
      added(claim('golden')),
      added(volumeOf('golden', 'Delete')),
      added(dataVolume('Pending'), t0 + 1),
      added(volumeOf('disk', 'Delete')),
      { atMs: t0 + 2, type: 'MODIFIED', object: volumeOf('disk', 'Retain') },
      added(claim('disk')),
      { atMs: t0 + 3, type: 'MODIFIED', object: dataVolume('Succeeded') },
      { atMs: t0 + 4, type: 'DELETED', object: claim('golden') },
    ],
    [driver],
  );
  expect(facts.dataVolumes).toEqual([
    {
      name: 'team/disk',
      uid: 'DataVolume-disk',
      phase: 'Succeeded',
      isThere: true,
      isDeleting: false,
      createdMs: t0 + 1,
      succeededMs: t0 + 3,
      source: [{ fromMs: t0, content: 'of vol-golden' }],
      content: [{ fromMs: t0, content: 'of vol-disk' }],
      askedBytes: 2 * gib,
      claimBytes: gib,
      isGrownByNode: true,
      driverBytes: 3 * gib,
    },
  ]);
  expect(facts.boundClaims).toEqual([{ name: 'team/disk', phase: '', volume: 'pv-disk' }]);
  expect(facts.persistentVolumes).toEqual([
    { name: 'pv-golden', isClaimed: false, hasBytes: true, policy: 'Delete', policyBefore: 'Delete' },
    { name: 'pv-disk', isClaimed: true, hasBytes: true, policy: 'Retain', policyBefore: 'Delete' },
  ]);
  expect(facts.leftAtDriver).toEqual(['volume vol-stray']);
});

test('what is temporary, by label and by name', () => {
  const labelled = { labels: { [volumeLabels.temporaryFor]: 'd1' } };
  const shared = (annotations: object) => ({ labels: { [volumeLabels.snapshotOf]: 'c1' }, annotations });
  const { temporary } = volumeFacts(
    [
      added(object('PersistentVolumeClaim', 'mine')),
      added(object('Job', 'x', {}, labelled)),
      added(object('PersistentVolumeClaim', temporaryNames.claim('d2'))),
      added(object('VolumeSnapshot', 's', {}, shared({ [`${volumeAnnotations.snapshotUser}d3`]: 'team/disk' }))),
      added(object('VolumeSnapshot', 't', {}, shared({}))),
    ],
    [],
  );
  expect(temporary).toEqual([
    { what: 'Job team/x', uids: ['d1'] },
    { what: `PersistentVolumeClaim team/${temporaryNames.claim('d2')}`, uids: ['d2'] },
    { what: 'VolumeSnapshot team/s', uids: ['d3'] },
    { what: 'VolumeSnapshot team/t', uids: [] },
  ]);
});
