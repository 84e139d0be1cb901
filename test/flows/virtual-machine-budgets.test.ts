import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { budgetOf } from '../budgets/budget-of.ts';
import { budgets } from '../budgets/budgets.ts';
import { costOf, countCalls, excesses } from '../budgets/cost.ts';
import type { LabFixture } from '../faults/fixture.ts';
import { withFixtures } from '../faults/matrix.ts';
import { findScenario } from '../faults/scenarios.ts';
import { runCell } from '../faults/run-cell.ts';
import type { Scenario } from '../faults/scenario.ts';
import { openMatrixLab } from './matrix-sample.ts';
import { startTimeoutMs } from './vsphere-world.ts';

const names = ['changed', 'settled', 'deleted'] as const;
let matrix: Awaited<ReturnType<typeof openMatrixLab>>;

beforeAll(async () => {
  matrix = await openMatrixLab(names);
}, startTimeoutMs);
afterAll(() => matrix?.close(), 60_000);

interface Run {
  workflowId: string;
  budget: ReturnType<typeof budgetOf>;
  cost: Parameters<typeof excesses>[0];
}

/** What each run of the scenario costs; the worker logs its calls of other systems. */
async function measure(fixture: LabFixture, scenario: Scenario): Promise<Run[]> {
  const since = new Date().toISOString();
  const { complaints } = await runCell(fixture, scenario, null);
  expect(complaints).toEqual([]);
  const counts = countCalls(readFileSync(join(fixture.drover.dir, 'log', 'worker.log'), 'utf8'), 'runId');
  const runs: Run[] = [];
  for await (const { workflowId, runId } of fixture.client.workflow.list({ query: `StartTime >= "${since}"` })) {
    const history = await fixture.client.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowId, budget: budgetOf(history), cost: costOf(history, counts.get(runId) ?? new Map()) });
  }
  return runs;
}

test('what the runs of a VM cost is in their budgets', async () => {
  const settings = { ...findScenario('made').settings, logLevel: 'debug' };
  const measured = names.map((name) => ({ ...findScenario(name), settings }));
  const costs: Run[] = [];
  await withFixtures({ lab: matrix.lab, scenarios: measured, parallelism: 1 }, async ([fixture]) => {
    for (const scenario of measured) if (fixture !== undefined) costs.push(...(await measure(fixture, scenario)));
  });
  for (const { workflowId, budget, cost } of costs)
    expect({
      workflowId,
      budget,
      excesses: budget === null ? ['it has none'] : excesses(cost, budgets[budget]),
    }).toEqual({ workflowId, budget, excesses: [] });
  // One that is made where another has just gone may be signalled of that besides.
  expect(costs.map(({ budget }) => budget)).toEqual(
    expect.arrayContaining(['slots', 'vmCreate', 'vmDelete', 'vmObservation', 'vmLargeUpdate', 'vmUpdate']),
  );
}, 600_000);
