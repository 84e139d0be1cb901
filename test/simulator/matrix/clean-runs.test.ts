import { loadWorkflows } from '../bundle.ts';
import type { CleanRun } from './cell.ts';
import { readCleanRuns } from './clean-runs.ts';
import { beyondPart, noteTypes } from './part-of.ts';
import { allNamed, simulateNamed } from './stories.ts';

const listed = readCleanRuns();

test('every scenario has its cells, and every cell its scenario', () => {
  const names = allNamed.map(({ name }) => name).toSorted();
  expect({ names, or: 'npm run simulate -- --write-cells' }).toEqual({
    names: Object.keys(listed).toSorted(),
    or: 'npm run simulate -- --write-cells',
  });
});

// A replay takes no time of the simulation: the run is the one that is listed.
test.each(allNamed.map(({ name }) => [name] as const))(
  '%s: replayed before each workflow task it does the same again, and what cells.json lists',
  async (name) => {
    const types = new Set<string>();
    const hooks = { isEvicted: true, onEvent: noteTypes(types) };
    const { complaints, run } = await simulateNamed(await loadWorkflows(), name, { targets: [] }, hooks);
    expect(complaints).toEqual([]);
    expect(beyondPart(name, run, types)).toEqual([]);
    expect(
      differences(listed[name], run).map((line) => `${line}: npm run simulate -- --write-cells --scenario ${name}`),
    ).toEqual([]);
  },
);

/** What the list of cells does not say of a run, or says too much. */
function differences(before: CleanRun | undefined, now: CleanRun): string[] {
  const { steps, calls, tasks } = before ?? { steps: [], calls: [], tasks: 0 };
  return [
    ...compare(steps, now.steps),
    ...compare(calls, now.calls),
    ...compare([`${tasks} workflow tasks`], [`${now.tasks} workflow tasks`]),
  ];
}

const compare = (before: readonly string[], now: readonly string[]): string[] => [
  ...now.filter((one) => !before.includes(one)).map((one) => `${one} is new`),
  ...before.filter((one) => !now.includes(one)).map((one) => `${one} does not come any more`),
];
