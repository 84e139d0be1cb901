import { fallbacks } from './choose-strategy.ts';
import { fallbackEvent, leftToCdi, phaseEvents, problemEvent, sentences, type VolumeEvent } from './events.ts';

const clone = {
  source: { kind: 'pvc', namespace: 'images', name: 'golden' },
  volume: { namespace: 'team-a', name: 'disk' },
} as const;
const ofSnapshot = { ...clone, source: { kind: 'snapshot', namespace: 'images', name: 'monday' } } as const;

const rows: [event: VolumeEvent, type: string, reason: string, message: string][] = [
  [
    phaseEvents.CloneScheduled(clone),
    'Normal',
    'CloneScheduled',
    'Cloning from images/golden into team-a/disk scheduled',
  ],
  [
    phaseEvents.SnapshotForSmartCloneInProgress(clone),
    'Normal',
    'SnapshotForSmartCloneInProgress',
    'Creating snapshot for smart-clone is in progress (for pvc images/golden)',
  ],
  [
    phaseEvents.SmartClonePVCInProgress(clone),
    'Normal',
    'SmartClonePVCInProgress',
    'Creating PVC for smart-clone is in progress (for pvc images/golden)',
  ],
  [
    phaseEvents.CloneFromSnapshotSourceInProgress(ofSnapshot),
    'Normal',
    'CloneFromSnapshotSourceInProgress',
    'Creating PVC from snapshot source is in progress (for snapshot images/monday)',
  ],
  [
    phaseEvents.CSICloneInProgress(clone),
    'Normal',
    'CSICloneInProgress',
    'CSI Volume clone in progress (for pvc images/golden)',
  ],
  [
    phaseEvents.CloneInProgress(clone),
    'Normal',
    'CloneInProgress',
    'Cloning from images/golden into team-a/disk in progress',
  ],
  [
    phaseEvents.ExpansionInProgress(clone),
    'Normal',
    'ExpansionInProgress',
    'Expanding PersistentVolumeClaim for DataVolume team-a/disk',
  ],
  [
    phaseEvents.NamespaceTransferInProgress(clone),
    'Normal',
    'NamespaceTransferInProgress',
    'Transferring PersistentVolumeClaim for DataVolume team-a/disk',
  ],
  [phaseEvents.Succeeded(clone), 'Normal', 'CloneSucceeded', 'Successfully cloned from images/golden into team-a/disk'],
  [phaseEvents.Failed(clone, ''), 'Warning', 'CloneFailed', 'Cloning from images/golden into team-a/disk failed'],
  [
    phaseEvents.Failed(clone, 'no space'),
    'Warning',
    'CloneFailed',
    'Cloning from images/golden into team-a/disk failed: no space',
  ],
  [problemEvent({ reason: 'ErrExceededQuota', message: 'no' }), 'Warning', 'ErrExceededQuota', 'no'],
  [leftToCdi('http'), 'Normal', 'LeftToCDI', 'The source http is imported or uploaded by CDI: drover leaves it alone'],
];

test.each(rows)('%o', (event, type, reason, message) => {
  expect(event).toEqual({ type, reason, message });
});

test('each reason to copy has an Event', () => {
  for (const [reason, message] of Object.entries(fallbacks))
    expect(fallbackEvent(message)).toEqual({ type: 'Warning', reason, message });
  expect(fallbackEvent('something else')).toBeNull();
});

test.each([
  [sentences.cloneWithoutSource('pvc', 'golden'), "The source pvc golden doesn't exist"],
  [sentences.sourceInUse('images/importer', 'golden'), 'pod images/importer using PersistentVolumeClaim golden'],
  [sentences.resourceExists('disk'), 'Resource "disk" already exists and is not managed by DataVolume'],
  [sentences.claimLost('disk'), 'PVC disk lost'],
])('%s', (sentence, expected) => {
  expect(sentence).toBe(expected);
});
