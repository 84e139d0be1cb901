import { faultNames } from '../../faults/faults.ts';
import type { CleanRun, SimulatedCell, Target } from './cell.ts';
import { activityCells, fineCells, formatCell } from './cell.ts';
import type { Deployment } from '../deployment.ts';
import type { SimulatedResult, SimulateHooks } from './matrix.ts';
import { simulate } from './matrix.ts';
import { poolStories } from '../pools/pool-faults.ts';
import { findScenario, scenarios } from '../scenarios.ts';
import type { WorkflowBundle } from '../simulation.ts';
import { activityFaults, type Story, storyCells, tellStory } from './story-faults.ts';
import { sweepStories } from '../sweeps/sweep-faults.ts';
import { volumeStories } from '../volumes/volume-faults.ts';

/** Whatever has cells: scenarios, which are about objects of one kind, and stories, which are about many. */

interface ToldStory extends Pick<SimulatedNamed, 'name' | 'title'> {
  tell: (
    targets: readonly Target[],
    options: Omit<SimulateHooks, 'onEnd'> & { bundle: WorkflowBundle },
  ) => Promise<SimulatedResult>;
}

/** Its world is its own affair. */
const told = <World extends { deployment: Deployment }>(story: Story<World>): ToldStory => ({
  name: story.name,
  title: story.title,
  tell: (targets, options) => tellStory(story, targets, options),
});

export const stories: readonly ToldStory[] = [
  ...sweepStories.map(told),
  ...poolStories.map(told),
  ...volumeStories.map(told),
];

export interface SimulatedNamed {
  name: string;
  title: string;
}

export const allNamed: readonly SimulatedNamed[] = [...scenarios, ...stories];

const findStory = (name: string): ToldStory | undefined => stories.find((story) => story.name === name);

export const isStory = (name: string): boolean => findStory(name) !== undefined;

/** Runs a scenario, or tells a story, in a simulation of its own. @throws where there is none of that name */
export async function simulateNamed(
  bundle: WorkflowBundle,
  name: string,
  { targets }: Pick<SimulatedCell, 'targets'>,
  hooks: Omit<SimulateHooks, 'onEnd'> = {},
): Promise<SimulatedResult> {
  const story = findStory(name);
  if (story !== undefined) return await story.tell(targets, { bundle, ...hooks });
  return await simulate(bundle, findScenario(name), { targets }, hooks);
}

/** Every fault at every activity call; and the finer ones, at calls of outside systems and with workflow tasks. */
export function cellsOf(name: string, run: CleanRun): { activity: SimulatedCell[]; fine: SimulatedCell[] } {
  if (!isStory(name)) {
    const { without = [], unreached = [] } = findScenario(name);
    const injected = faultNames.filter((fault) => !without.includes(fault));
    const isReached = (cell: SimulatedCell): boolean => !unreached.some((one) => formatCell(cell) === `${name}/${one}`);
    return { activity: activityCells(name, run, injected).filter(isReached), fine: fineCells(name, run) };
  }
  const { call, task } = storyCells(run);
  return {
    activity: activityCells(name, run, activityFaults),
    fine: [...call, ...task].map((target) => ({ scenario: name, targets: [target] })),
  };
}
