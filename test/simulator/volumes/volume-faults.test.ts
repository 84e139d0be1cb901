import { sample } from '../../faults/sample.ts';
import { isSampleOfDay, pushSeed, sampleSeed } from '../../seed.ts';
import type { Target } from '../matrix/cell.ts';
import { complaintsOf, storyCells, tellStory } from '../matrix/story-faults.ts';
import { cloneStories } from './volume-faults.ts';

/**
 * A clone is made and goes, with the bytes of its source and nothing besides, whatever fails, hangs or dies on the way.
 */

/** Of one activity or verb each has about as many; `npm run test:all` takes others besides, another lot each day. */
const ofSort = { push: 6, day: 60 };

const sortOf = (target: Target): string =>
  target.at === 'task' ? '' : (target.at === 'activity' ? target.step : target.call).replace(/\.\d+$/u, '');

const sampleOf = (targets: readonly Target[]): Target[] => {
  const ofPush = sample(targets, ofSort.push, pushSeed, sortOf);
  return isSampleOfDay ? [...new Set([...ofPush, ...sample(targets, ofSort.day, sampleSeed, sortOf)])] : ofPush;
};

const activities: Readonly<Record<string, readonly string[]>> = {
  clone: ['completeDataVolume', 'ensureClaim', 'ensureSourceSnapshot', 'expandClaim', 'observeDataVolume'],
  cloneElsewhere: ['transferClaim'],
  cloneCopied: ['ensureCopyJob', 'transferClaim'],
  cloneDeleted: ['removeTemporary', 'transferClaim'],
};

describe.each(cloneStories.map((story) => [story.name, story] as const))('%s', (name, story) => {
  test('whatever fails: an activity, a worker with its workflow task, a call of an outside system', async () => {
    const { complaints, run } = await tellStory(story, []);
    expect(complaints).toEqual([]);
    const kinds = new Set(run.steps.map((step) => step.replace(/^\w+\/|\.\d+$/gu, '')));
    expect([...kinds]).toEqual(expect.arrayContaining([...(activities[name] ?? [])]));
    const cells = storyCells(run);
    const found: string[] = [];
    for (const targets of [cells.activity, cells.task, cells.call]) {
      expect(targets.length).toBeGreaterThan(5);
      found.push(...(await complaintsOf(story, sampleOf(targets))));
    }
    expect(found).toEqual([]);
  }, 1_800_000);

  test('a worker that knows no run goes on with all of them', async () => {
    expect((await tellStory(story, [], { isEvicted: true })).complaints).toEqual([]);
  });
});
