import { planCreateOrUpdate } from './normal.ts';
import {
  beginMs,
  candidateOf,
  contextOf,
  failureIn,
  inShort,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';

const none: Given = { vm: null };
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
  ['SetVCUUID: another vCenter is noted', { desired: { managerId: 'older' } }, 'patchVirtualMachine'],
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
    'two that could be it are an error',
    { observed: { candidates: [candidateOf(), candidateOf({ moId: 'vm-2' })] } },
    'stop Ambiguous',
  ],
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
