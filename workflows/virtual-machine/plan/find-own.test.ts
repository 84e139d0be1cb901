import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import { findOwn } from './find-own.ts';
import { beginMs, candidateOf, desiredOf, minute, uid } from '../../../test/fixtures/workflows/virtual-machine.ts';

const found = (...candidates: Partial<Candidate>[]): Candidate[] => candidates.map(candidateOf);
const stranger: Partial<Candidate> = { moId: 'vm-2', owner: null, foundBy: ['name'], instanceUuid: 'another' };

/** As a backup tool leaves it: both marks, another UUID, made later. */
const copy: Partial<Candidate> = {
  moId: 'vm-2',
  foundBy: ['owner'],
  instanceUuid: 'another',
  isRecorded: false,
  createdMs: beginMs + minute,
};
/** Its datastore is away: vCenter returns no configuration. */
const unread: Partial<Candidate> = { owner: null, unreadable: true };
/** The status names none. */
const unsaid: Partial<Candidate> = { foundBy: ['owner'], isRecorded: null };

const rows: [why: string, candidates: Candidate[], is: string][] = [
  ['Find VM: nothing is there', [], 'none'],
  ['Find VM: the one with its owner', found({}), 'own vm-1'],
  ['the owner alone is enough, wherever the VM was moved', found({ foundBy: ['owner'], inFolder: false }), 'own vm-1'],
  ['its own, beside a stranger of the same name', found({}, stranger), 'own vm-1'],
  ['a stranger’s name is a lock', found(stranger), 'foreign'],
  [
    'so is a VM of an earlier object of the same name',
    found({ owner: { namespacedName: 'team/web', uid: 'older' }, foundBy: ['name'] }),
    'foreign',
  ],
  [
    'even with the UUID that is asked for',
    found({ owner: { namespacedName: 'team/web', uid: 'older' }, foundBy: ['name', 'instanceUuid'] }),
    'foreign',
  ],
  [
    'or one of another namespace',
    found({ owner: { namespacedName: 'other/web', uid: null }, foundBy: ['instanceUuid'] }),
    'foreign',
  ],
  [
    'without an owner, the instance UUID makes it adopted',
    found({ owner: null, foundBy: ['instanceUuid'] }),
    'adopted vm-1',
  ],
  [
    'or what the status says, where both its id and its UUID are those',
    found({ owner: null, foundBy: ['uniqueId', 'recordedUuid'] }),
    'adopted vm-1',
  ],
  ['an id alone is any VM’s, in another vCenter', found({ owner: null, foundBy: ['uniqueId'] }), 'foreign'],
  ['or the object’s uid, as the first releases gave it', found({ owner: null, foundBy: ['uid'] }), 'adopted vm-1'],
  [
    'the owner of the replaced operator has no uid',
    found({ owner: { namespacedName: 'team/web', uid: null }, foundBy: ['uniqueId', 'recordedUuid', 'name'] }),
    'former vm-1',
  ],
  [
    'a name alone is not adopted',
    found({ owner: { namespacedName: 'team/web', uid: null }, foundBy: ['name'] }),
    'foreign',
  ],
  [
    'nor what lies outside the folder of the namespace',
    found({ owner: null, foundBy: ['instanceUuid'], inFolder: false }),
    'foreign',
  ],
  [
    'nor one whose UUID a stranger has too',
    found(
      { owner: null, foundBy: ['uniqueId', 'recordedUuid'] },
      { moId: 'vm-2', owner: { namespacedName: 'a/b', uid: 'b' }, foundBy: ['instanceUuid'] },
    ),
    'foreign',
  ],
  ['of two with the owner, that of the status is it', found(copy, {}), 'own vm-1, beside vm-2'],
  [
    'or that with its UUID',
    found({ ...copy, isRecorded: null }, { ...unsaid, foundBy: ['instanceUuid', 'owner'] }),
    'own vm-1, beside vm-2',
  ],
  [
    'or the oldest',
    found({ ...unsaid, createdMs: 2 }, { ...unsaid, moId: 'vm-2', createdMs: 1 }),
    'own vm-2, beside vm-1',
  ],
  ['of as old ones none is', found(unsaid, { ...unsaid, moId: 'vm-2' }), 'ambiguous'],
  [
    'nor where vCenter does not know how old one is',
    found(unsaid, { ...unsaid, moId: 'vm-2', createdMs: null }),
    'ambiguous',
  ],
  ['where its own is gone, a copy is not it', found(copy), 'foreign'],
  ['but one that was restored under its UUID is', found({ ...copy, foundBy: ['instanceUuid', 'owner'] }), 'own vm-2'],
  ['and one that is being made is, whatever UUID vCenter gave it', found({ ...copy, isRecorded: null }), 'own vm-2'],
  [
    'two with the UUID and no owner are an error',
    found({ owner: null, foundBy: ['instanceUuid'] }, { moId: 'vm-2', owner: null, foundBy: ['instanceUuid'] }),
    'ambiguous',
  ],
  [
    'a twin of its own without the owner is a copy',
    found({}, { moId: 'vm-2', owner: null, foundBy: ['instanceUuid'], instanceUuid: uid }),
    'own vm-1, beside vm-2',
  ],
  [
    'one whose owner vCenter does not return is not adopted by its UUID',
    found({ ...unread, foundBy: ['instanceUuid'] }),
    'unreadable',
  ],
  ['nor by its id', found({ ...unread, foundBy: ['uniqueId'] }), 'unreadable'],
  ['nor taken for another’s by its name', found({ ...unread, foundBy: ['name'] }), 'unreadable'],
  ['its own, beside one that cannot be read', found({}, { ...unread, moId: 'vm-2', foundBy: ['name'] }), 'own vm-1'],
  [
    'a copy is not it while the one that the status names cannot be read',
    found({ ...copy, foundBy: ['instanceUuid', 'owner'] }, { ...unread, foundBy: ['uniqueId'] }),
    'unreadable',
  ],
  ['nor another’s while one of the name cannot be read', found(copy, { ...unread, foundBy: ['name'] }), 'unreadable'],
  ['what has another name and UUID by now is none', found({ owner: null, foundBy: [] }), 'none'],
];

test.each(rows)('%s', (_why, candidates, is) => {
  const result = findOwn(desiredOf(), candidates);
  expect(
    result.kind === 'own'
      ? [
          `${{ drover: 'own', former: 'former', none: 'adopted' }[result.owner]} ${result.moId}`,
          ...result.copies.map(({ moId }) => `beside ${moId}`),
        ].join(', ')
      : result.kind,
  ).toBe(is);
  if (result.kind !== 'own' && result.kind !== 'none') expect(result.message).toContain('vm-');
});

test.each<[what: string, twin: Partial<Candidate>, is: string]>([
  ['with another UUID is left behind', copy, 'own'],
  [
    'that would be taken for it afterwards holds its deletion',
    { ...copy, foundBy: ['instanceUuid', 'owner'] },
    'ambiguous',
  ],
  ['without the owner never would', { ...copy, owner: null, foundBy: ['instanceUuid'] }, 'own'],
])('Delete: a copy %s', (_what, twin, is) => {
  expect(findOwn(desiredOf({ deleting: true }), found({}, twin)).kind).toBe(is);
});
