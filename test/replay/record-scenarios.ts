import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countCalls } from '../budgets/cost.ts';
import type { FaultName } from '../faults/faults.ts';
import type { MatrixLab } from '../faults/environment.ts';
import type { LabFixture } from '../faults/fixture.ts';
import { withFixtures } from '../faults/matrix.ts';
import type { Cell } from '../faults/run-cell.ts';
import { runCell } from '../faults/run-cell.ts';
import type { Scenario } from '../faults/scenario.ts';
import { findScenario, scenarios } from '../faults/scenarios.ts';
import type { RecordedRun } from './corpus.ts';

/** A scenario of the fault matrix, clean or with one fault. */
export interface ScenarioRecording {
  name: string;
  scenario: Scenario;
  cell: Cell | null;
}

const clean = (scenario: Scenario): ScenarioRecording => ({ name: scenario.name, scenario, cell: null });
const injected = (scenario: string, step: string, faults: readonly FaultName[]): ScenarioRecording[] =>
  faults.map((fault) => ({
    name: `${scenario}-${fault}`,
    scenario: findScenario(scenario),
    cell: { scenario, step, fault },
  }));

/** What people do to a run leaves other histories than what runs do by themselves. */
export const recordings: readonly ScenarioRecording[] = [
  ...scenarios.map(clean),
  ...injected('happy', 'A1/awaitMigration.1', [
    'cancel',
    'terminate',
    'signalTwice',
    'changeSpec',
    'failAfter',
    'timeOut',
  ]),
  ...injected('made', 'A/submitNewVm.1', ['cancel', 'terminate', 'changeSpec', 'failAfter']),
  ...injected('onboarding', 'A-hypervisor/observeHypervisor.3', [
    'cancel',
    'terminate',
    'signalTwice',
    'changeSpec',
    'failAfter',
    'timeOut',
  ]),
  ...injected('maintenance', 'A-hypervisor/createEviction.1', ['cancel']),
];

/** Every run of the scenario; of one without a fault, with the calls that it made. @throws where it did not end as it should */
export async function recordScenario(
  lab: MatrixLab,
  { scenario, cell }: ScenarioRecording,
): Promise<Omit<RecordedRun, 'name'>[]> {
  const recorded: Omit<RecordedRun, 'name'>[] = [];
  const telling: Scenario = { ...scenario, settings: tellingCalls(scenario.settings) };
  await withFixtures({ lab, scenarios: [telling], parallelism: 1 }, async ([fixture]) => {
    if (fixture !== undefined) recorded.push(...(await recordOn(fixture, telling, cell)));
  });
  return recorded;
}

/** With them a worker logs its calls of other systems. */
export const tellingCalls = (settings: object): object => ({ ...settings, logLevel: 'debug' });

/** The same on a fixture whose worker tells of its calls. */
export async function recordOn(
  fixture: LabFixture,
  scenario: Scenario,
  cell: Cell | null,
): Promise<Omit<RecordedRun, 'name'>[]> {
  const since = new Date().toISOString();
  const { complaints } = await runCell(fixture, scenario, cell);
  if (complaints.length > 0) throw new Error(complaints.join('; '));
  const runs = await readRuns(fixture, since);
  return cell === null ? runs : runs.map(({ workflowId, history }) => ({ workflowId, history }));
}

/** Every run of the fixture's namespace since then: the scenario had it for itself. */
async function readRuns({ client, drover }: LabFixture, since: string): Promise<Omit<RecordedRun, 'name'>[]> {
  const counts = countCalls(readFileSync(join(drover.dir, 'log', 'worker.log'), 'utf8'), 'runId');
  const runs: Omit<RecordedRun, 'name'>[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query: `StartTime >= "${since}"` })) {
    runs.push({
      workflowId,
      history: await client.workflow.getHandle(workflowId, runId).fetchHistory(),
      calls: Object.fromEntries(counts.get(runId) ?? []),
    });
  }
  return runs;
}
