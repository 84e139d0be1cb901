import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import { findOwn } from './find-own.ts';
import { candidateOf, desiredOf, uid } from '../../../test/fixtures/workflows/virtual-machine.ts';

const found = (...candidates: Partial<Candidate>[]): Candidate[] => candidates.map(candidateOf);
const stranger: Partial<Candidate> = { moId: 'vm-2', owner: null, foundBy: ['name'], instanceUuid: 'another' };

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
  ['or status.uniqueID', found({ owner: null, foundBy: ['uniqueId'] }), 'adopted vm-1'],
  ['or the object’s uid, as the first releases gave it', found({ owner: null, foundBy: ['uid'] }), 'adopted vm-1'],
  [
    'the owner of the replaced operator has no uid',
    found({ owner: { namespacedName: 'team/web', uid: null }, foundBy: ['uniqueId', 'name'] }),
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
      { owner: null, foundBy: ['uniqueId'] },
      { moId: 'vm-2', owner: { namespacedName: 'a/b', uid: 'b' }, foundBy: ['instanceUuid'] },
    ),
    'foreign',
  ],
  ['two with the owner are an error', found({}, { moId: 'vm-2' }), 'ambiguous'],
  [
    'so are two with the UUID',
    found({ owner: null, foundBy: ['instanceUuid'] }, { moId: 'vm-2', owner: null, foundBy: ['instanceUuid'] }),
    'ambiguous',
  ],
  [
    'and a twin of its own',
    found({}, { moId: 'vm-2', owner: null, foundBy: ['instanceUuid'], instanceUuid: uid }),
    'ambiguous',
  ],
];

test.each(rows)('%s', (_why, candidates, is) => {
  const result = findOwn(desiredOf(), candidates);
  expect(
    result.kind === 'own'
      ? `${{ drover: 'own', former: 'former', none: 'adopted' }[result.owner]} ${result.moId}`
      : result.kind,
  ).toBe(is);
  if (result.kind === 'foreign' || result.kind === 'ambiguous') expect(result.message).toContain('vm-');
});
