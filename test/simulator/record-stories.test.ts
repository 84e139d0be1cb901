import { readCleanRuns } from './clean-runs.ts';
import { formatCell } from './cell.ts';
import { seriesOfStory, storyRun } from './record-stories.ts';
import { cellsOf, stories } from './stories.ts';

test('each story has a series of evidence', () => {
  for (const { name } of stories) expect(seriesOfStory(name)).toMatch(/^matrix-/u);
});

test('a letter for each cell at an activity call, and counts of the others', () => {
  const run = { steps: ['sweep/observeSweep.1'], calls: ['nova GET /servers.1'], tasks: 2 };
  const { activity, fine } = cellsOf('sweep', run);
  const cells = [...activity, ...fine];
  const [first] = cells;
  const complaints = new Map(cells.map((cell) => [formatCell(cell), cell === first ? ['invariant 22'] : []]));
  const told = {
    name: 'sweep',
    title: 't',
    cleanSteps: 1,
    cleanSeconds: 1,
    cells,
    seconds: 8,
    command: 'c',
    startedMs: 0,
  };
  expect(storyRun({ ...told, complaints })).toMatchObject({
    series: 'matrix-machines',
    counts: { passed: 7, failed: 1, 'activity calls': 3, 'outside calls': 2, 'kills with a task': 2 },
    failures: [{ what: 'sweep/sweep/observeSweep.1/failBefore', complaints: ['invariant 22'] }],
    details: { scenarios: [{ steps: { 'sweep/observeSweep.1': 'Fppp' }, meanCellSeconds: 1 }] },
  });
  // What did not run has not passed.
  expect(storyRun({ ...told, complaints: new Map() }).counts).toMatchObject({ passed: 0, failed: 8 });
});

test('the cells that are listed are of every story', () => {
  for (const { name } of stories) expect(Object.keys(readCleanRuns())).toContain(name);
});
