import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import { findOwn } from './find-own.ts';
import { candidateOf, desiredOf, uid } from '../../../test/fixtures/workflows/virtual-machine.ts';

const found = (...candidates: Partial<Candidate>[]): Candidate[] => candidates.map(candidateOf);
const stranger: Partial<Candidate> = { moId: 'vm-2', mark: null, foundBy: ['name'], instanceUuid: 'another' };

const rows: [why: string, candidates: Candidate[], is: string][] = [
  ['Find VM: nothing is there', [], 'none'],
  ['Find VM: the one with its mark', found({}), 'own vm-1'],
  ['the mark alone is enough, wherever the VM was moved', found({ foundBy: ['mark'], inFolder: false }), 'own vm-1'],
  ['its own, beside a stranger of the same name', found({}, stranger), 'own vm-1'],
  ['a stranger’s name is a lock', found(stranger), 'foreign'],
  [
    'so is a VM of an earlier object of the same name',
    found({ mark: { namespacedName: 'team/web', uid: 'older' }, foundBy: ['name'] }),
    'foreign',
  ],
  [
    'even with the UUID that is asked for',
    found({ mark: { namespacedName: 'team/web', uid: 'older' }, foundBy: ['name', 'instanceUuid'] }),
    'foreign',
  ],
  [
    'or one of another namespace',
    found({ mark: { namespacedName: 'other/web', uid: null }, foundBy: ['instanceUuid'] }),
    'foreign',
  ],
  [
    'without a mark, the instance UUID makes it adopted',
    found({ mark: null, foundBy: ['instanceUuid'] }),
    'adopted vm-1',
  ],
  ['or status.uniqueID', found({ mark: null, foundBy: ['uniqueId'] }), 'adopted vm-1'],
  ['or the object’s uid, as the first releases gave it', found({ mark: null, foundBy: ['uid'] }), 'adopted vm-1'],
  [
    'the mark of the replaced operator has no uid',
    found({ mark: { namespacedName: 'team/web', uid: null }, foundBy: ['uniqueId', 'name'] }),
    'former vm-1',
  ],
  [
    'a name alone is not adopted',
    found({ mark: { namespacedName: 'team/web', uid: null }, foundBy: ['name'] }),
    'foreign',
  ],
  [
    'nor what lies outside the folder of the namespace',
    found({ mark: null, foundBy: ['instanceUuid'], inFolder: false }),
    'foreign',
  ],
  [
    'nor one whose UUID a stranger has too',
    found(
      { mark: null, foundBy: ['uniqueId'] },
      { moId: 'vm-2', mark: { namespacedName: 'a/b', uid: 'b' }, foundBy: ['instanceUuid'] },
    ),
    'foreign',
  ],
  ['two with the mark are an error', found({}, { moId: 'vm-2' }), 'ambiguous'],
  [
    'so are two with the UUID',
    found({ mark: null, foundBy: ['instanceUuid'] }, { moId: 'vm-2', mark: null, foundBy: ['instanceUuid'] }),
    'ambiguous',
  ],
  [
    'and a twin of its own',
    found({}, { moId: 'vm-2', mark: null, foundBy: ['instanceUuid'], instanceUuid: uid }),
    'ambiguous',
  ],
];

test.each(rows)('%s', (_why, candidates, is) => {
  const result = findOwn(desiredOf(), candidates);
  expect(
    result.kind === 'own'
      ? `${{ drover: 'own', former: 'former', none: 'adopted' }[result.mark]} ${result.moId}`
      : result.kind,
  ).toBe(is);
  if (result.kind === 'foreign' || result.kind === 'ambiguous') expect(result.message).toContain('vm-');
});
