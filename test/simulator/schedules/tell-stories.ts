import { randomOf } from '../../faults/random.ts';
import { formatCell, pairCells } from '../matrix/cell.ts';
import { readCleanRuns } from '../matrix/clean-runs.ts';
import type { WorkflowBundle } from '../simulation.ts';
import { cellsOf, simulateNamed, stories } from '../matrix/stories.ts';

/** So many times each story is told beside a batch of schedules. */
const times = 2;

/**
 * Tells each story with two faults at once, whichever they are by the seed.
 * @returns what went wrong, by the cell that shows it again
 */
export async function tellStories(
  bundle: WorkflowBundle,
  seed: number,
): Promise<{ cell: string; complaints: string[] }[]> {
  const random = randomOf(seed);
  const listed = readCleanRuns();
  const told: { cell: string; complaints: string[] }[] = [];
  for (const { name } of stories) {
    const { activity, fine } = cellsOf(name, listed[name] ?? { steps: [], calls: [], tasks: 0 });
    for (const cell of pairCells([...activity, ...fine], times, random)) {
      const { complaints } = await simulateNamed(bundle, name, cell);
      told.push({ cell: formatCell(cell), complaints });
    }
  }
  return told;
}
