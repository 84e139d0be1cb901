import { sampleVolume, volumeCondition, volumeWaits } from '../../test/fixtures/starters/data-volume.ts';
import { now } from '../../test/fixtures/starters/progress.ts';
import { plain } from '../render/paint.ts';
import { renderClones } from '../render/data-volume.ts';
import { type CloneStatus, listClones } from './listed-clone.ts';
import type { VolumeObject } from './volume-object.ts';

const minutes = 60;

test.each<[why: string, volume: Partial<VolumeObject>, status: CloneStatus, needsAttention: boolean]>([
  ['complete', {}, 'complete', false],
  [
    'under way',
    {
      phase: 'SmartClonePVCInProgress',
      conditions: [volumeCondition('Ready', 'False', 'TransferRunning')],
    },
    'under way',
    false,
  ],
  ['nothing was said yet', { phase: '', conditions: [] }, 'unknown', false],
  ['an import', { phase: '', conditions: [], isLeft: true }, 'left', false],
  ['given up', { ...volumeWaits('DeadlineExceeded'), phase: 'Failed' }, 'failed', true],
  ['it waits for a while', volumeWaits('CloneSourceInUse', 'pod a', 9 * minutes), 'waiting', false],
  ['it waits for long', volumeWaits('CloneSourceInUse', 'pod a', 11 * minutes), 'waiting', true],
  ['its turn comes', volumeWaits('TooManyClones', '20 are under way', 60 * minutes), 'waiting', false],
  ['it is bound where it is used', volumeWaits('WaitForFirstConsumer', 'a', 60 * minutes), 'waiting', false],
  ['only observed', volumeWaits('ObserveOnly', 'drover only observes', 60 * minutes), 'waiting', false],
  ['what only a user changes', volumeWaits('CloneNotPermitted', 'create it again', 1), 'waiting', true],
])('%s', (_why, fields, status, needsAttention) => {
  expect(listClones([sampleVolume(fields)], { attention: false }, now)).toEqual([
    expect.objectContaining({ status, needsAttention }),
  ]);
});

const volumes = [
  sampleVolume(),
  sampleVolume({ name: 'disk-10', phase: '', conditions: [], since: null, strategy: null, sizeBytes: null }),
  sampleVolume({ name: 'disk-2', ...volumeWaits('CopyNotPossible', 'no image\nis named'), strategy: 'copy' }),
  sampleVolume({ name: 'iso', source: 'http', isLeft: true, phase: '', since: null, strategy: null }),
];

test('the table: those in need first, in the order of their names', () => {
  const listed = listClones(volumes, { attention: false }, now);
  expect(renderClones(listed, now, plain, Infinity)).toEqual([
    'DATAVOLUME    PHASE             SINCE  SOURCE            STRATEGY    SIZE  WAITS FOR',
    'team/disk-2   CloneScheduled !     2m  pvc golden/image  copy      10 GiB  CopyNotPossible: no image is named',
    'team/disk     Succeeded            2m  pvc golden/image  snapshot  10 GiB',
    'team/disk-10  -                     -  pvc golden/image  -              -  no run has said anything yet',
    'team/iso      -                     -  http              -         10 GiB  left to CDI',
  ]);
  expect(renderClones(listed, now, plain, 70)[1]).toMatch(/^team\/disk-2 {3}CloneScheduled ! {2}CopyNotPossible: no/u);
  expect(listClones(volumes, { attention: true }, now).map(({ name }) => name)).toEqual(['disk-2']);
});
