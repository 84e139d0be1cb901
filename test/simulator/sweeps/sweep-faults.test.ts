import { complaintsOf, storyCells, tellStory } from '../matrix/story-faults.ts';
import { sweepStory } from './sweep-faults.ts';

/** A sweep deletes its two orphans, once each, and nothing else, whatever fails, hangs or dies on the way. */

const { complaints: ofClean, run } = await tellStory(sweepStory, []);
const cells = storyCells(run);

test('without a fault the orphans go, what is needed stays, and every part of a sweep has its call', () => {
  expect(ofClean).toEqual([]);
  const kinds = new Set(run.steps.map((step) => step.replace(/\.\d+$/u, '')));
  expect([...kinds].toSorted()).toEqual([
    'overshoot/checkOvershoot',
    'safety/probeApiServers',
    'safety/resetUnknownMachines',
    'sweep/deleteOrphan',
    'sweep/observeSweep',
  ]);
  expect(run.calls).toEqual(
    expect.arrayContaining(['vsphere Destroy_Task.1', 'nova DELETE /servers/{id}.1', 'kubernetes get configmaps.1']),
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
    expect(await complaintsOf(sweepStory, targets)).toEqual([]);
  },
  1_800_000,
);

test('a worker that knows no run goes on with all of them', async () => {
  expect((await tellStory(sweepStory, [], { isEvicted: true })).complaints).toEqual([]);
});
