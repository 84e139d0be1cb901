import { planCreateOrUpdate } from './normal.ts';
import {
  beginMs,
  candidateOf,
  contextOf,
  failureIn,
  inShort,
  minute,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';

const none: Given = { vm: null };
const both = ['vm-1', 'vm-2'].map((moId) => candidateOf({ moId, foundBy: ['owner'], isRecorded: null }));
const creatingSince = new Date(beginMs).toISOString();
const unowned: Given = { ...none, observed: { candidates: [candidateOf({ owner: null, foundBy: ['name'] })] } };
const unread: Given = {
  ...none,
  observed: { candidates: [candidateOf({ owner: null, unreadable: true, foundBy: ['name'] })] },
};
const moved = (resourcePool: boolean, folder: boolean) => ({
  location: { resourcePool, folder },
  powerState: 'poweredOff' as const,
});
const rows: [why: string, given: Given, does: string][] = [
  [
    'Already reconciling Yes: a create of before is waited for',
    { ...none, memory: { create: { task: 'task-1', sinceMs: beginMs } } },
    'awaitTask',
  ],
  [
    'Already reconciling, but it is not known whether vCenter accepted it: it is searched for before it is made',
    { ...none, memory: { create: { task: null, sinceMs: beginMs } } },
    'createVirtualMachine',
  ],
  ['SetVCUUID: the vCenter is noted', { desired: { managerId: null } }, 'patchVirtualMachine'],
  ['VMExists Yes: it is updated', { vm: { powerState: 'poweredOff' } }, 'powerOn'],
  ['VMExists Yes: nothing is to be done', {}, 'success'],
  [
    'VMExists Yes: its properties are observed first',
    { observed: { vm: null, candidates: [candidateOf()] } },
    'wait Updating',
  ],
  [
    'VMExists Yes, without an owner: that is written first',
    { observed: { candidates: [candidateOf({ owner: null })] }, config: { extraConfig: {} } },
    'adopt',
  ],
  [
    'nothing is noted where its spec has no bootstrap',
    {
      observed: { candidates: [candidateOf({ owner: null })] },
      prerequisites: {
        bootstrap: { kind: 'found', value: { missingKeys: [], configHash: null, customHash: 'c', isDefault: true } },
      },
    },
    'adopt',
  ],
  [
    'what its guest is set up with is noted before',
    {
      observed: { candidates: [candidateOf({ owner: null })] },
      prerequisites: {
        bootstrap: { kind: 'found', value: { missingKeys: [], configHash: 'h', customHash: null, isDefault: false } },
      },
    },
    'patchVirtualMachine, adopt',
  ],
  [
    'also where its Secret is gone',
    {
      observed: { candidates: [candidateOf({ owner: null })] },
      prerequisites: { bootstrap: { kind: 'notFound', message: '' } },
    },
    'patchVirtualMachine, adopt',
  ],
  [
    'once',
    {
      desired: { bootstrapHashes: { config: 'taken-over', custom: 'taken-over' } },
      observed: { candidates: [candidateOf({ owner: null })] },
      prerequisites: { bootstrap: { kind: 'notFound', message: '' } },
    },
    'adopt',
  ],
  ['moved out of its folder, nothing of it is changed', { vm: moved(true, false) }, 'stop FolderMismatch'],
  ['or out of its pool', { vm: moved(false, true) }, 'stop ResourcePoolMismatch'],
  ['or out of both', { vm: moved(false, false) }, 'stop ResourcePoolAndFolderMismatch'],
  ['where it belongs is not known', { vm: { location: null, powerState: 'poweredOff' } }, 'powerOn'],
  ['that it is made is noted where nothing is to be done', { desired: { creatingSince: 'x' } }, 'patchVirtualMachine'],
  [
    'and that nothing is copied for it any more',
    { desired: { copiesAt: { datacenter: 'd', datastore: 's' } } },
    'patchVirtualMachine',
  ],
  ['and of which disks', { desired: { madeDisks: null } }, 'patchVirtualMachine'],
  ['after all that is to be done', { desired: { creatingSince: 'x' }, vm: { powerState: 'poweredOff' } }, 'powerOn'],
  [
    'VMExists Yes, of the operator before',
    {
      observed: { candidates: [candidateOf({ owner: { namespacedName: 'team/web', uid: null } })] },
      vm: { powerState: 'poweredOff' },
    },
    'adopt',
  ],
  [
    'what cannot be reached cannot be taken over',
    { observed: { candidates: [candidateOf({ owner: null })] }, vm: { connectionState: 'disconnected' } },
    'stop NotConnected',
  ],
  [
    'an owner that could not be written is tried again',
    { observed: { candidates: [candidateOf({ owner: null })] }, memory: { failures: [failureIn('config')] } },
    'requeue VcenterRefused',
  ],
  ['VMExists No: it is made', none, 'createVirtualMachine'],
  [
    'a foreign VM of that name is never touched',
    { ...none, observed: { candidates: [candidateOf({ moId: 'vm-2', owner: null, foundBy: ['name'] })] } },
    'stop NotOwned',
  ],
  [
    'its own create may have made it, and is waited for',
    { ...unowned, memory: { create: { task: 'task-1', sinceMs: beginMs } } },
    'awaitTask',
  ],
  [
    'also where vCenter shows no configuration of it yet',
    { ...unread, memory: { create: { task: 'task-1', sinceMs: beginMs } } },
    'awaitTask',
  ],
  [
    'where it is not known whether vCenter accepted the create, its owner is waited for',
    { ...unowned, memory: { create: { task: null, sinceMs: beginMs }, failures: [failureIn('create')] } },
    'wait Creating',
  ],
  ['so is it where a run before has begun a create', { ...unowned, desired: { creatingSince } }, 'wait Creating'],
  ['and vCenter shows no configuration yet', { ...unread, desired: { creatingSince } }, 'wait Creating'],
  [
    'but not longer than a create takes',
    { ...unowned, desired: { creatingSince }, nowMs: beginMs + 60 * minute },
    'stop NotOwned',
  ],
  [
    'also of this run',
    { ...unowned, memory: { create: { task: null, sinceMs: beginMs } }, nowMs: beginMs + 60 * minute },
    'stop NotOwned',
  ],
  [
    'nor after the create has failed for good',
    { ...unowned, desired: { creatingSince }, memory: { failures: [failureIn('create', false)] } },
    'stop NotOwned',
  ],
  ['a note that is no time says nothing', { ...unowned, desired: { creatingSince: 'x' } }, 'stop NotOwned'],
  [
    'one with an owner is another’s, also while a create is under way',
    {
      ...none,
      observed: { candidates: [candidateOf({ owner: { namespacedName: 'a/b', uid: 'b' }, foundBy: ['name'] })] },
      memory: { create: { task: 'task-1', sinceMs: beginMs } },
    },
    'stop NotOwned',
  ],
  ['one that vCenter shows no configuration of is not judged', unread, 'stop NotConnected'],
  [
    'nor, during a create, the one that the status names',
    { ...none, observed: { candidates: [candidateOf({ owner: null, unreadable: true })] }, desired: { creatingSince } },
    'stop NotConnected',
  ],
  [
    'one that is being made is not adopted',
    { observed: { candidates: [candidateOf({ owner: null, foundBy: ['uid', 'name'] })] }, desired: { creatingSince } },
    'wait Creating',
  ],
  ['two that could be it are an error', { observed: { candidates: both } }, 'stop Ambiguous'],
  [
    'a create that failed is tried again at its time',
    { ...none, memory: { failures: [failureIn('create')] } },
    'requeue VcenterRefused',
  ],
  [
    'and then',
    { ...none, memory: { failures: [failureIn('create')] }, nowMs: failureIn('create').retryAtMs },
    'createVirtualMachine',
  ],
  [
    'one that cannot succeed waits for a change',
    { ...none, memory: { failures: [failureIn('create', false)] } },
    'stop VcenterRefused',
  ],
  [
    'but what is missing is said first',
    {
      ...none,
      prerequisites: { class: { kind: 'notFound', message: '' } },
      memory: { failures: [failureIn('create', false)] },
    },
    'wait WaitingForPrerequisites',
  ],
];

test.each(rows)('CreateOrUpdate: %s', (_why, given, does) => {
  expect(inShort(planCreateOrUpdate(contextOf(given)))).toBe(does);
});

test.each([
  ['Is async mode Yes: submitted, and waited for beside everything else', true, false],
  ['Is async mode No: waited for before anything else', false, true],
])('CreateOrUpdate: %s', (_why, asyncCreate, blocking) => {
  const outcome = planCreateOrUpdate(contextOf({ ...none, settings: { asyncCreate } }));
  expect(outcome.kind === 'execute' ? outcome.steps.at(-1) : null).toMatchObject({
    kind: 'createVirtualMachine',
    blocking,
  });
});

test('noted with what it was made of', () => {
  const outcome = planCreateOrUpdate(contextOf({ desired: { madeDisks: null, creatingSince: 'x' } }));
  expect(outcome).toMatchObject({
    steps: [
      {
        patches: [
          {
            annotations: {
              'drover.dev/creating': null,
              'drover.dev/copies': null,
              'drover.dev/disks': 'disk-0',
            },
          },
        ],
      },
    ],
  });
});
