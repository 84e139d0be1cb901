import { setVolumeConditions, volumeConditions, type VolumeState } from './conditions.ts';
import { phases } from './metadata.ts';

const claim = (phase: 'Pending' | 'Bound' | 'Lost') => ({ name: 'disk', phase });
const state = (parts: Partial<VolumeState>): VolumeState => ({
  phase: 'CloneScheduled',
  claim: null,
  problem: null,
  isClone: true,
  ...parts,
});
const quota = { reason: 'ErrExceededQuota', message: 'exceeded quota: team-a' };

type Said = [status: string, reason: string, message: string];
const noClaim: Said = ['False', 'NotFound', 'No PVC found'];
const bound: Said = ['True', 'Bound', 'PVC disk Bound'];
const problem: Said = ['False', quota.reason, quota.message];
const populating: Said = ['True', 'Populator is running', ''];
const transferring: Said = ['False', 'TransferRunning', ''];

const rows: [rule: string, parts: Partial<VolumeState>, bound: Said, running: Said, ready: Said][] = [
  ['scheduled', {}, noClaim, ['False', 'Pending', 'Clone Pending'], ['False', '', '']],
  ['nothing is said yet', { phase: '' }, noClaim, ['False', 'Pending', 'Clone Pending'], ['False', '', '']],
  ['a snapshot is made', { phase: 'SnapshotForSmartCloneInProgress' }, noClaim, populating, transferring],
  [
    'the PVC is made',
    { phase: 'SmartClonePVCInProgress', claim: claim('Pending') },
    ['False', 'Pending', 'PVC disk Pending'],
    populating,
    transferring,
  ],
  ['it is expanded', { phase: 'ExpansionInProgress', claim: claim('Bound') }, bound, populating, transferring],
  [
    'it waits for a consumer',
    { phase: 'WaitForFirstConsumer', claim: claim('Pending') },
    ['False', 'Pending', 'PVC disk Pending'],
    ['False', 'Pending', 'Clone Pending'],
    ['False', '', ''],
  ],
  [
    'done',
    { phase: 'Succeeded', claim: claim('Bound') },
    bound,
    ['False', 'Completed', 'Clone Complete'],
    ['True', '', ''],
  ],
  [
    'done, whatever was waited for',
    { phase: 'Succeeded', claim: claim('Bound'), problem: quota },
    bound,
    ['False', 'Completed', 'Clone Complete'],
    ['True', '', ''],
  ],
  [
    'done, and no clone',
    { phase: 'Succeeded', claim: claim('Bound'), isClone: false },
    bound,
    ['False', 'Completed', ''],
    ['True', '', ''],
  ],
  ['a problem without a PVC', { problem: quota }, problem, problem, problem],
  [
    'a problem with one',
    { phase: 'ExpansionInProgress', claim: claim('Bound'), problem: quota },
    bound,
    problem,
    problem,
  ],
  ['failed', { phase: 'Failed', problem: quota }, problem, problem, problem],
  ['failed without a word', { phase: 'Failed' }, noClaim, ['False', 'Error', 'Clone Failed'], ['False', '', '']],
  ['not known', { phase: 'Unknown' }, noClaim, ['False', 'Unknown', ''], ['Unknown', '', '']],
  ['paused', { phase: 'Paused' }, noClaim, ['False', 'Paused', ''], ['False', '', '']],
  [
    'its PVC is lost',
    { phase: 'Failed', claim: claim('Lost'), problem: quota },
    ['False', 'ClaimLost', 'Claim Lost'],
    problem,
    problem,
  ],
];

test.each(rows)('%s', (_rule, parts, ...said) => {
  expect(volumeConditions(state(parts)).map(({ status, reason, message }) => [status, reason, message])).toEqual(said);
});

test.each(phases)('%s: all three, and ready only when it has succeeded', (phase) => {
  const conditions = volumeConditions(state({ phase }));
  expect(conditions.map(({ type }) => type)).toEqual(['Bound', 'Running', 'Ready']);
  expect(conditions[2]?.status === 'True').toBe(phase === 'Succeeded');
});

const noon = '2026-01-31T12:00:00Z';
const later = '2026-01-31T12:05:00Z';
const ready = (parts: object) => ({
  type: 'Ready' as const,
  status: 'False' as const,
  reason: '',
  message: '',
  ...parts,
});

test.each([
  ['new', [], ready({}), { lastTransitionTime: later, lastHeartbeatTime: later }],
  [
    'the same',
    [{ ...ready({}), lastTransitionTime: noon, lastHeartbeatTime: noon }],
    ready({}),
    { lastTransitionTime: noon, lastHeartbeatTime: noon },
  ],
  [
    'the same, where empty words are left out',
    [{ type: 'Ready' as const, status: 'False' as const, lastTransitionTime: noon, lastHeartbeatTime: noon }],
    ready({}),
    { lastTransitionTime: noon, lastHeartbeatTime: noon },
  ],
  [
    'another word',
    [{ ...ready({}), lastTransitionTime: noon, lastHeartbeatTime: noon }],
    ready({ reason: 'TransferRunning' }),
    { lastTransitionTime: noon, lastHeartbeatTime: later },
  ],
  [
    'another status',
    [{ ...ready({}), lastTransitionTime: noon, lastHeartbeatTime: noon }],
    ready({ status: 'True' }),
    { lastTransitionTime: later, lastHeartbeatTime: later },
  ],
])('times of a condition: %s', (_rule, current, update, times) => {
  expect(setVolumeConditions(current, [update], later)).toEqual([{ ...update, ...times }]);
});

test('conditions of others stay', () => {
  const other = { type: 'Mine', status: 'True' };
  expect(setVolumeConditions([other], [ready({})], noon)).toEqual([
    other,
    { ...ready({}), lastTransitionTime: noon, lastHeartbeatTime: noon },
  ]);
});
