import { budgetOf } from '../budgets/budget-of.ts';
import { budgets } from '../budgets/budgets.ts';
import { costOf, countsOf, excesses } from '../budgets/cost.ts';
import { withFixtures } from '../faults/matrix.ts';
import { findScenario } from '../faults/scenarios.ts';
import { recordOn, tellingCalls } from '../replay/record-scenarios.ts';
import { openMatrixLab } from './matrix-sample.ts';
import { startTimeoutMs } from './vsphere-world.ts';

const names = ['changed', 'settled', 'deleted'] as const;
let matrix: Awaited<ReturnType<typeof openMatrixLab>>;

beforeAll(async () => {
  matrix = await openMatrixLab(names);
}, startTimeoutMs);
afterAll(() => matrix?.close(), 60_000);

test('what the runs of a VM cost is in their budgets', async () => {
  const settings = tellingCalls(findScenario('made').settings);
  const told = names.map((name) => ({ ...findScenario(name), settings }));
  const runs: Awaited<ReturnType<typeof recordOn>> = [];
  await withFixtures({ lab: matrix.lab, scenarios: told, parallelism: 1 }, async ([fixture]) => {
    for (const scenario of told) if (fixture !== undefined) runs.push(...(await recordOn(fixture, scenario, null)));
  });
  const costs = runs.map(({ workflowId, history, calls = {} }) => ({
    workflowId,
    budget: budgetOf(history),
    cost: costOf(history, countsOf(calls)),
  }));
  for (const { workflowId, budget, cost } of costs)
    expect({
      workflowId,
      budget,
      excesses: budget === null ? ['it has none'] : excesses(cost, budgets[budget]),
    }).toEqual({ workflowId, budget, excesses: [] });
  // One that is made where another has just gone may be told of that besides.
  expect(costs.map(({ budget }) => budget)).toEqual(
    expect.arrayContaining(['turns', 'vmCreate', 'vmDelete', 'vmGlance', 'vmLargeUpdate', 'vmUpdate']),
  );
}, 600_000);
