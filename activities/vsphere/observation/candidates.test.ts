import type { Candidate } from '../../../contracts/virtual-machine/observation.ts';
import type { ListedVm } from './read-vm.ts';
import { onlyOne, possible, toCandidates, type Finds } from './candidates.ts';

const object = { namespace: 'team', name: 'web', uid: 'u-1' };
const own = { namespacedName: 'team/web', uid: 'u-1' };
const former = { namespacedName: 'team/web', uid: null };
const listed = (id: string, more: Partial<ListedVm> = {}): ListedVm => ({
  id,
  name: `of-${id}`,
  folderId: 'group-1',
  instanceUuid: 'i',
  owner: null,
  ...more,
});
const finds = (more: Partial<Finds> = {}): Finds => ({
  uniqueId: null,
  recordedUuid: null,
  isBeingMade: false,
  byInstanceUuid: [],
  byUid: [],
  byName: [],
  listed: [],
  folders: ['group-1'],
  targetFolders: ['group-1'],
  ...more,
});

const rows: [
  what: string,
  finds: Finds,
  elsewhere: ListedVm[],
  foundBy: Record<string, string>,
  only: string | null,
][] = [
  ['nothing', finds({ listed: [listed('vm-1')] }), [], {}, null],
  [
    'by its id, outside of the folders',
    finds({ uniqueId: 'vm-1' }),
    [listed('vm-1', { folderId: 'group-9' })],
    { 'vm-1': 'uniqueId' },
    null,
  ],
  [
    'by its id alone, without an owner, in the folder',
    finds({ uniqueId: 'vm-1', listed: [listed('vm-1')] }),
    [],
    { 'vm-1': 'uniqueId' },
    null,
  ],
  [
    'by its id and the UUID that the status has',
    finds({ uniqueId: 'vm-1', recordedUuid: 'i', listed: [listed('vm-1')] }),
    [],
    { 'vm-1': 'uniqueId recordedUuid' },
    'vm-1',
  ],
  [
    'an id that another VM has in this vCenter',
    finds({ uniqueId: 'vm-1', recordedUuid: 'j', listed: [listed('vm-1')] }),
    [],
    { 'vm-1': '' },
    null,
  ],
  [
    'its own, whose UUID was changed',
    finds({ uniqueId: 'vm-1', recordedUuid: 'j', listed: [listed('vm-1', { owner: own })] }),
    [],
    { 'vm-1': 'uniqueId owner' },
    'vm-1',
  ],
  [
    'its own and a copy',
    finds({ uniqueId: 'vm-1', listed: [listed('vm-1', { owner: own }), listed('vm-2', { owner: own })] }),
    [],
    { 'vm-1': 'uniqueId owner', 'vm-2': 'owner' },
    'vm-1',
  ],
  ['an id that is of no VM any more', finds({ uniqueId: 'vm-1' }), [], {}, null],
  [
    'by both UUIDs',
    finds({ byInstanceUuid: ['vm-1'], byUid: ['vm-1'], listed: [listed('vm-1')] }),
    [],
    { 'vm-1': 'instanceUuid uid' },
    'vm-1',
  ],
  ['by its owner alone', finds({ listed: [listed('vm-1', { owner: own })] }), [], { 'vm-1': 'owner' }, 'vm-1'],
  [
    'by its owner, found elsewhere by its UUID',
    finds({ byUid: ['vm-1'] }),
    [listed('vm-1', { owner: own })],
    { 'vm-1': 'uid owner' },
    'vm-1',
  ],
  ['a name is no proof', finds({ listed: [listed('vm-1', { name: 'web' })] }), [], { 'vm-1': 'name' }, null],
  [
    'the name in another folder is nothing',
    finds({ listed: [listed('vm-1', { name: 'web', folderId: 'group-2' })] }),
    [],
    {},
    null,
  ],
  [
    'that of the operator before, in the folder',
    finds({ byUid: ['vm-1'], listed: [listed('vm-1', { owner: former })] }),
    [],
    { 'vm-1': 'uid' },
    'vm-1',
  ],
  [
    'that of another object',
    finds({ byUid: ['vm-1'], listed: [listed('vm-1', { owner: { ...own, uid: 'u-0' } })] }),
    [],
    { 'vm-1': 'uid' },
    null,
  ],
  [
    'two with the owner',
    finds({ listed: [listed('vm-1', { owner: own }), listed('vm-2', { owner: own })] }),
    [],
    { 'vm-1': 'owner', 'vm-2': 'owner' },
    null,
  ],
  [
    'one with the owner, and another one of the name',
    finds({ listed: [listed('vm-1', { owner: own }), listed('vm-2', { name: 'web' })] }),
    [],
    { 'vm-1': 'owner', 'vm-2': 'name' },
    'vm-1',
  ],
  [
    'two that could be adopted',
    finds({ byInstanceUuid: ['vm-1'], byUid: ['vm-2'], listed: [listed('vm-1'), listed('vm-2')] }),
    [],
    { 'vm-1': 'instanceUuid', 'vm-2': 'uid' },
    null,
  ],
];

test.each(rows)('%s', (_, given, elsewhere, foundBy, only) => {
  const there = [...given.listed, ...elsewhere];
  const ids = possible(object, 'web', given);
  const candidates = toCandidates(
    object,
    'web',
    given,
    there.filter(({ id }) => ids.includes(id)).map((vm) => ({ vm, folder: null })),
  );
  expect(Object.fromEntries(candidates.map((candidate) => [candidate.moId, candidate.foundBy.join(' ')]))).toEqual(
    foundBy,
  );
  expect(onlyOne(object, candidates)).toBe(only);
});

test.each<[where: string, folderId: string | null, parent: string | null, is: boolean]>([
  ['in the folder of the namespace', 'group-1', 'group-0', true],
  ['in a folder there', 'group-7', 'group-1', true],
  ['elsewhere', 'group-7', 'group-0', false],
  ['in no folder that can be read', null, null, false],
])('%s', (_, folderId, parent, is) => {
  expect(
    toCandidates(object, 'web', finds(), [{ vm: listed('vm-1', { folderId }), folder: { parent } }]).map(
      ({ inFolder }) => inFolder,
    ),
  ).toEqual([is]);
});

test('what the list shows under another name than it has now is judged as it is now', () => {
  const given = finds({ listed: [listed('vm-1', { name: 'web' })] });
  expect(possible(object, 'web', given)).toEqual(['vm-1']);
  expect(
    toCandidates(object, 'web', given, [{ vm: listed('vm-1', { name: 'renamed' }), folder: null }])[0]?.foundBy,
  ).toEqual([]);
});

test.each<[what: string, more: Partial<Finds>, is: boolean | null]>([
  ['by its id', { uniqueId: 'vm-1' }, true],
  ['by its UUID', { uniqueId: 'vm-9', recordedUuid: 'i' }, true],
  ['neither', { uniqueId: 'vm-9', recordedUuid: 'j' }, false],
  ['of none', {}, null],
  ['of one that is gone, while another is being made', { uniqueId: 'vm-9', isBeingMade: true }, null],
])('what the status says: %s', (_, more, is) => {
  const vm = { ...listed('vm-1', { owner: own }), properties: { 'config.createDate': '2026-01-01T00:00:00Z' } };
  expect(toCandidates(object, 'web', finds(more), [{ vm, folder: null }])).toMatchObject([
    { isRecorded: is, createdMs: Date.parse('2026-01-01T00:00:00Z') },
  ]);
});

test.each<[what: string, instanceUuid: string, config: null | undefined, foundBy: Candidate['foundBy']]>([
  ['unknown, with the configuration', '', null, ['uniqueId']],
  ['another one', 'i', null, []],
  ['none, of a VM that can be read', '', undefined, []],
])('by its id, while its UUID is %s', (_, instanceUuid, config, foundBy) => {
  const vm = { ...listed('vm-1', { instanceUuid }), ...(config === null && { config }) };
  const [candidate] = toCandidates(object, 'web', finds({ uniqueId: 'vm-1', recordedUuid: 'j' }), [
    { vm, folder: null },
  ]);
  expect(candidate).toMatchObject({ foundBy, ...(config === null && { unreadable: true }) });
});

test.each([undefined, 'never', '1970-01-01T00:00:00Z'])('a time that vCenter does not know: %s', (made) => {
  const vm = { ...listed('vm-1'), properties: { 'config.createDate': made } };
  expect(toCandidates(object, 'web', finds(), [{ vm, folder: null }])[0]?.createdMs).toBeNull();
});
