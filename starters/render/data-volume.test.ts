import { describedVolume, sampleVolume, volumeWaits } from '../../test/fixtures/starters/data-volume.ts';
import { ago, now } from '../../test/fixtures/starters/progress.ts';
import type { VolumeDescription } from '../data-volume/volume-description.ts';
import { renderVolume } from './data-volume.ts';
import { plain } from './paint.ts';

const gib = 1024 ** 3;
const render = (fields: Partial<VolumeDescription>): string[] => renderVolume(describedVolume(fields), now, plain, 200);

test('one that waits', () => {
  const object = sampleVolume({
    ...volumeWaits('SnapshotFailing', 'the pool is full', 1_200),
    source: 'DataSource golden/latest',
    fallbackReason: null,
  });
  const others = ['a', 'b', 'c', 'd', 'e'].map((name) => `team/${name}`);
  expect(
    render({
      object,
      claim: { phase: 'Bound', volume: 'pv-1', storageClass: 'fast', requestBytes: 10 * gib, capacityBytes: 5 * gib },
      temporary: [
        {
          kind: 'VolumeSnapshot',
          namespace: 'golden',
          name: 'tmp-snapshot-s-1',
          createdAt: ago(60),
          state: 'the pool is full',
          sharedWith: others,
        },
        {
          kind: 'ObjectTransfer',
          namespace: null,
          name: 'cdi-tmp-uid-1',
          createdAt: ago(5),
          state: 'Running',
          sharedWith: [],
        },
      ],
      events: [{ at: ago(60), type: 'Warning', reason: 'SnapshotFailing', message: 'the pool\nis full' }],
      problems: ['x'],
    }),
  ).toEqual([
    'team/disk: CloneScheduled for 20m, SnapshotFailing, and needs attention',
    '  says         the pool is full',
    '  source       DataSource golden/latest, which was pvc golden/image',
    '  strategy     snapshot',
    '  asks for     10 GiB, of class fast',
    '  PVC          Bound, 5 GiB, to be 10 GiB, fast, pv-1',
    '',
    'Temporary objects',
    'KIND            NAME                     AGE  STATE             SHARED WITH',
    'VolumeSnapshot  golden/tmp-snapshot-s-1   1m  the pool is full  team/a, team/b, team/c and 2 more',
    'ObjectTransfer  cdi-tmp-uid-1             5s  Running',
    '',
    'Events',
    'AT      TYPE     REASON           MESSAGE',
    '1m ago  Warning  SnapshotFailing  the pool is full',
    '',
    'Conditions of DataVolume team/disk',
    'TYPE     STATUS  REASON           SINCE  MESSAGE',
    'Bound    False   NotFound         20m    No PVC found',
    'Running  False   SnapshotFailing  20m    the pool is full',
    'Ready    False   SnapshotFailing  20m    the pool is full',
    '',
    'Could not be read',
    'x',
    '',
    'What you can do',
    expect.stringMatching(/^ {2}kubectl describe volumesnapshot -n golden tmp-snapshot-s-1 /u),
    expect.stringMatching(/^ {2}kubectl annotate dv .*on-deadline=copy/u),
    expect.stringMatching(/^ {2}drover retry dv team\/disk /u),
    expect.stringMatching(/^ {2}kubectl describe dv -n team disk /u),
  ]);
});

test.each<[why: string, fields: Partial<VolumeDescription>, headline: string, others: string[]]>([
  ['complete', { claim: 'none' }, 'Succeeded for 2m', ['  PVC          none yet']],
  [
    'copied',
    {
      object: sampleVolume({
        phase: 'CloneInProgress',
        conditions: [],
        strategy: 'copy',
        fallbackReason: 'drivers differ',
        sizeBytes: null,
        storageClass: null,
      }),
    },
    'CloneInProgress for 2m',
    ['  strategy     copy, as drivers differ', '  asks for     as much as its source'],
  ],
  [
    'deleted',
    { object: sampleVolume({ deleting: true, observed: true }) },
    'Succeeded for 2m',
    ['  deletion     requested', '  mode         only observed (drover.dev/mode)'],
  ],
  ['an import', { object: sampleVolume({ isLeft: true }) }, 'left to CDI, which imports and uploads', []],
  [
    'nothing was said',
    { object: sampleVolume({ phase: '', conditions: [] }) },
    'drover has said nothing of this DataVolume yet',
    ['none yet'],
  ],
  ['unreadable', { object: null }, 'the object cannot be read', []],
])('%s', (_why, fields, headline, others) => {
  const [first, ...rest] = render(fields);
  expect(first).toBe(`team/disk: ${headline}`);
  expect(rest).toEqual(expect.arrayContaining(others));
});
