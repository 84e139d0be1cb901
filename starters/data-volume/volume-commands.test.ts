import { describedVolume, sampleVolume, volumeWaits } from '../../test/fixtures/starters/data-volume.ts';
import type { VolumeDescription } from './volume-description.ts';
import { volumeCommands } from './volume-commands.ts';

const commandsOf = (fields: Partial<VolumeDescription>): string[] =>
  volumeCommands(describedVolume(fields)).map(({ command }) => command);

const last = ['drover retry dv team/disk', 'kubectl describe dv -n team disk'];

test.each<[reason: string, commands: string[]]>([
  ['CloneWithoutSource', ['kubectl get pvc -n golden']],
  [
    'CloneSourceInUse',
    ['kubectl get pods -n golden', 'kubectl annotate dv -n team disk drover.dev/crash-consistent=true --overwrite'],
  ],
  ['SnapshotNotReady', ['kubectl annotate dv -n team disk drover.dev/on-deadline=copy --overwrite']],
  ['SnapshotFailing', ['kubectl annotate dv -n team disk drover.dev/on-deadline=copy --overwrite']],
  ['TooManySnapshots', ['drover clones', 'kubectl describe volumesnapshots -n golden']],
  ['VolumeFailing', ['kubectl describe pvc -n team disk', 'kubectl describe pvc -n golden cdi-tmp-uid-1']],
  ['ErrExceededQuota', ['kubectl describe resourcequota -n team']],
  [
    'ErrResourceExists',
    [
      'kubectl describe pvc -n team disk',
      'kubectl annotate dv -n team disk cdi.kubevirt.io/allowClaimAdoption=true --overwrite',
    ],
  ],
  ['ErrClaimLost', ['kubectl delete pvc -n team disk']],
  ['CloneNotPermitted', ['drover doctor --only kubernetes', 'kubectl delete dv -n team disk']],
  ['CloneValidationFailed', ['kubectl delete dv -n team disk']],
  ['ErrClaimNotValid', ['kubectl delete dv -n team disk']],
  ['CopyNotPossible', ['kubectl get storageclasses']],
  ['Copying', ['kubectl logs -n golden job/cdi-copy-uid-1']],
  ['CopyFailed', ['kubectl logs -n golden job/cdi-copy-uid-1']],
  ['TooManyClones', []],
])('%s', (reason, commands) => {
  expect(commandsOf({ object: sampleVolume(volumeWaits(reason)) })).toEqual([...commands, ...last]);
});

test('its snapshot is named, and what is in its own namespace once', () => {
  const snapshot = {
    kind: 'VolumeSnapshot',
    namespace: 'golden',
    name: 'tmp-snapshot-s-1',
    createdAt: '',
    state: '',
    sharedWith: [],
  } as const;
  expect(
    commandsOf({
      object: sampleVolume(volumeWaits('SnapshotFailing')),
      temporary: [{ ...snapshot, sharedWith: [] }],
    })[0],
  ).toBe('kubectl describe volumesnapshot -n golden tmp-snapshot-s-1');
  const from = { kind: 'pvc', namespace: 'team', name: 'image' } as const;
  expect(commandsOf({ object: sampleVolume({ ...volumeWaits('VolumeFailing'), from }) })).toEqual([
    'kubectl describe pvc -n team disk',
    ...last,
  ]);
});

test('what a user has named is typed only where it is a name', () => {
  for (const from of [null, { kind: 'pvc', namespace: 'a; rm -rf ~', name: 'x' } as const])
    expect(commandsOf({ object: sampleVolume({ ...volumeWaits('CloneWithoutSource'), from }) })).toEqual(last);
});

test.each<[why: string, fields: Partial<VolumeDescription>, commands: string[]]>([
  ['complete', {}, ['kubectl get pvc -n team disk', 'kubectl describe dv -n team disk']],
  ['given up', { object: sampleVolume({ phase: 'Failed' }) }, last],
  ['left to CDI', { object: sampleVolume({ isLeft: true }) }, ['kubectl describe dv -n team disk']],
  [
    'nothing was said',
    { object: sampleVolume({ phase: '', conditions: [] }) },
    ['drover retry dv team/disk', 'drover doctor', 'kubectl describe dv -n team disk'],
  ],
  ['gone', { object: null }, ['drover clones']],
  [
    'stopped',
    { object: null, stops: ['everything, by bob: power work'] },
    ['drover stop --show', 'drover stop --lift', 'drover clones'],
  ],
])('%s', (_why, fields, commands) => {
  expect(commandsOf(fields)).toEqual(commands);
});
