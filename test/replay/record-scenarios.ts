import type { FaultName } from '../faults/faults.ts';
import type { OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import type { SimulatedCell } from '../simulator/matrix/cell.ts';
import { simulate } from '../simulator/matrix/matrix.ts';
import type { Network } from '../simulator/network.ts';
import { findScenario, scenarios } from '../simulator/scenarios.ts';
import type { WorkflowBundle } from '../simulator/simulation.ts';
import type { RecordedRun } from './corpus.ts';

/** A scenario of the fault matrix, clean or with one fault. */
export interface ScenarioRecording extends SimulatedCell {
  name: string;
}

const clean = (scenario: string): ScenarioRecording => ({ name: scenario, scenario, targets: [] });
const injected = (scenario: string, step: string, faults: readonly FaultName[]): ScenarioRecording[] =>
  faults.map((fault) => ({ name: `${scenario}-${fault}`, scenario, targets: [{ at: 'activity', step, fault }] }));

/** Runs that users act on have other histories than runs that are left alone. */
export const recordings: readonly ScenarioRecording[] = [
  ...scenarios.map(({ name }) => clean(name)),
  ...injected('unjudged', 'A-failure/observeNodeFailure.5', ['cancel']),
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

/**
 * Every run of the scenario, in a simulation; of one without a fault, with the calls that it made.
 *
 * @throws where it did not end as it should
 */
export async function recordScenario(
  bundle: WorkflowBundle,
  { scenario, targets }: ScenarioRecording,
): Promise<Omit<RecordedRun, 'name'>[]> {
  const recorded: Omit<RecordedRun, 'name'>[] = [];
  const { complaints } = await simulate(
    bundle,
    findScenario(scenario),
    { targets },
    {
      onEnd(simulation) {
        const counts = countCalls(simulation.network);
        for (const { workflowId, runId, history } of simulation.histories()) {
          const calls = Object.fromEntries(counts.get(runId) ?? []);
          recorded.push({ workflowId, history, ...(targets.length === 0 && { calls }) });
        }
      },
    },
  );
  if (complaints.length > 0) throw new Error(complaints.join('; '));
  return recorded;
}

/** Requests of activities, by the run that they work for. */
export function countCalls({ calls }: Network): Map<string, Map<OutsideSystem, number>> {
  const counts = new Map<string, Map<OutsideSystem, number>>();
  for (const { system, activity } of calls) {
    if (activity === null || system === 'temporal') continue;
    const ofRun = counts.get(activity.runId) ?? new Map<OutsideSystem, number>();
    counts.set(activity.runId, ofRun.set(system, (ofRun.get(system) ?? 0) + 1));
  }
  return counts;
}
