import { describeQueue, type SlotAnswer, type SlotLimit } from '../../contracts/allowance.ts';
import { noMembership, report } from './membership.ts';
import { claimAfter, isGranted, type SlotClaim } from './slots.ts';

const creates: SlotLimit = { kind: 'creates', vcenter: 'lab' };
const asked: SlotClaim = {
  limit: 'creates',
  membership: report(noMembership, { want: 1, using: 0 }, 1_000).membership,
};
const refused = claimAfter(asked, 'creates', { sequence: 0, allowance: 0 });
const granted = claimAfter(asked, 'creates', { sequence: 1, allowance: 1 });

test('a slot is held when it is granted, at once or later, and no more when that is taken back', () => {
  expect([null, asked, refused, granted].map((claim) => isGranted(claim, 'creates'))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  expect(isGranted(granted, 'destroys')).toBe(false);
  expect(isGranted(claimAfter(refused, 'creates', { sequence: 1, allowance: 1 }), 'creates')).toBe(true);
  expect(isGranted(claimAfter(granted, 'creates', { sequence: 2, allowance: 0 }), 'creates')).toBe(false);
});

test('an answer that overtakes another counts', () => {
  const early = claimAfter(asked, 'creates', { sequence: 1, allowance: 1 });
  expect(isGranted(claimAfter(early, 'creates', { sequence: 0, allowance: 0 }), 'creates')).toBe(true);
});

test('a grant of another limit, or of none that was asked for, is no answer', () => {
  expect(claimAfter(asked, 'destroys', { sequence: 1, allowance: 1 })).toBe(asked);
  expect(claimAfter(null, 'creates', { sequence: 1, allowance: 1 })).toBeNull();
});

test.each<[of: SlotLimit, answer: Pick<SlotAnswer, 'limit' | 'inUse'> | null, message: string]>([
  [creates, { inUse: 16, limit: 16 }, 'a slot: 16 of 16 creates of vCenter lab are in progress'],
  [
    { kind: 'destroys', vcenter: 'lab' },
    { inUse: 19, limit: 16 },
    'a slot: 19 of 16 destroys of vCenter lab are in progress',
  ],
  [creates, { inUse: 3, limit: 16 }, 'a slot: the creates of vCenter lab that are in progress are being counted'],
  [creates, { inUse: 0, limit: null }, 'a slot of the creates of vCenter lab'],
  [creates, null, 'a slot of the creates of vCenter lab'],
  [
    { kind: 'clones', driver: 'rbd' },
    { inUse: 20, limit: 20 },
    'a slot: 20 of 20 clones of CSI driver rbd are in progress',
  ],
])('%j answered with %j: it waits for %s', (of, answer, message) => {
  expect(describeQueue(of, answer)).toBe(message);
});
