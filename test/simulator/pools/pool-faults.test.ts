import { sample } from '../../faults/sample.ts';
import { isSampleOfDay, pushSeed, sampleSeed } from '../../seed.ts';
import type { Target } from '../matrix/cell.ts';
import { complaintsOf, storyCells, tellStory } from '../matrix/story-faults.ts';
import { poolStory } from './pool-faults.ts';

/** A pool makes two VMs, once each, and destroys them, and nothing else, whatever fails, hangs or dies on the way. */

const { complaints: ofClean, run } = await tellStory(poolStory, []);
const cells = storyCells(run);

/** Of one verb each has about as many; `npm run test:all` takes others besides, another lot each day. */
const ofSort = { push: 10, day: 120 };

const sortOf = (target: Target): string => (target.at === 'call' ? target.call.replace(/\.\d+$/u, '') : '');

const sampleOf = (targets: readonly Target[]): Target[] => {
  const ofPush = sample(targets, ofSort.push, pushSeed, sortOf);
  return isSampleOfDay ? [...new Set([...ofPush, ...sample(targets, ofSort.day, sampleSeed, sortOf)])] : ofPush;
};

test('without a fault two VMs come and go, and every part of the story has its call', () => {
  expect(ofClean).toEqual([]);
  const kinds = new Set(run.steps.map((step) => step.replace(/^\w+\/|\.\d+$/gu, '')));
  expect([...kinds].toSorted()).toEqual([
    'acquireSlot',
    'attachAgentTags',
    'createAgentVm',
    'createVsphereAgents',
    'destroyAgentVm',
    'ejectAgentIso',
    'observeAgentPool',
    'observeSlots',
    'observeVsphereAgent',
    'patchAgentPoolFinalizer',
    'patchVsphereAgentFinalizer',
    'powerOnAgentVm',
    'prepareAgents',
    'publishAgentPool',
    'publishVsphereAgent',
    'refreshIso',
    'releaseVsphereAgents',
  ]);
  expect(run.calls).toEqual(
    expect.arrayContaining(['vsphere CreateVM_Task.1', 'vsphere Destroy_Task.1', 'iso GET ISO.1']),
  );
});

// Every fault at every activity call is for `npm run simulate`.
test.each([
  ['a worker with its workflow task', cells.task],
  ['a call of an outside system', cells.call],
] as const)(
  'whichever it is that fails: %s',
  async (_, targets) => {
    expect(targets.length).toBeGreaterThan(10);
    expect(await complaintsOf(poolStory, sampleOf(targets))).toEqual([]);
  },
  1_800_000,
);

test('a worker that knows no run goes on with all of them', async () => {
  expect((await tellStory(poolStory, [], { isEvicted: true })).complaints).toEqual([]);
});
