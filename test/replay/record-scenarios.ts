import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countCalls } from '../budgets/cost.ts';
import type { FaultName } from '../faults/faults.ts';
import type { MatrixLab } from '../faults/ground.ts';
import type { Lane } from '../faults/lane.ts';
import { withLanes } from '../faults/matrix.ts';
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
const struck = (scenario: string, step: string, faults: readonly FaultName[]): ScenarioRecording[] =>
  faults.map((fault) => ({ name: `${scenario}-${fault}`, scenario: findScenario(scenario), cell: { scenario, step, fault } }));

/** What people do to a run leaves other histories than what runs do by themselves. */
export const recordings: readonly ScenarioRecording[] = [
  ...scenarios.map(clean),
  ...struck('happy', 'A1/awaitMigration.1', ['cancel', 'terminate', 'signalTwice', 'changeSpec', 'failAfter', 'timeOut']),
  ...struck('made', 'A/submitNewVm.1', ['cancel', 'terminate', 'changeSpec', 'failAfter']),
  ...struck('onboarding', 'A-hypervisor/observeHypervisor.3', ['cancel', 'terminate', 'signalTwice', 'changeSpec', 'failAfter', 'timeOut']),
  ...struck('maintenance', 'A-hypervisor/createEviction.1', ['cancel']),
];

/** Every run of the scenario; of one without a fault, with the calls that it made. @throws where it did not end as it should */
export async function recordScenario(lab: MatrixLab, { scenario, cell }: ScenarioRecording): Promise<Omit<RecordedRun, 'file'>[]> {
  const recorded: Omit<RecordedRun, 'file'>[] = [];
  const telling: Scenario = { ...scenario, settings: tellingCalls(scenario.settings) };
  await withLanes({ lab, scenarios: [telling], lanes: 1 }, async ([lane]) => {
    if (lane !== undefined) recorded.push(...(await recordOn(lane, telling, cell)));
  });
  return recorded;
}

/** With them a worker logs its calls of other systems. */
export const tellingCalls = (settings: object): object => ({ ...settings, logLevel: 'debug' });

/** The same on a lane whose worker tells of its calls. */
export async function recordOn(lane: Lane, scenario: Scenario, cell: Cell | null): Promise<Omit<RecordedRun, 'file'>[]> {
  const since = new Date().toISOString();
  const { complaints } = await runCell(lane, scenario, cell);
  if (complaints.length > 0) throw new Error(complaints.join('; '));
  const runs = await readRuns(lane, since);
  return cell === null ? runs : runs.map(({ workflowId, history }) => ({ workflowId, history }));
}

/** Every run of the lane's namespace since then: the scenario had it for itself. */
async function readRuns({ client, drover }: Lane, since: string): Promise<Omit<RecordedRun, 'file'>[]> {
  const counts = countCalls(readFileSync(join(drover.dir, 'log', 'worker.log'), 'utf8'), 'runId');
  const runs: Omit<RecordedRun, 'file'>[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query: `StartTime >= "${since}"` })) {
    runs.push({ workflowId, history: await client.workflow.getHandle(workflowId, runId).fetchHistory(), calls: Object.fromEntries(counts.get(runId) ?? []) });
  }
  return runs;
}
