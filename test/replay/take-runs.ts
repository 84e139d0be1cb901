import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Deployment } from '../simulator/deployment.ts';
import type { RecordedRun } from './corpus.ts';
import { countCalls } from './record-scenarios.ts';
import { sameCommands } from './same-commands.ts';

/** One run of each kind that there was in a simulation: others with the same commands show no more. */
export function takeRuns({ simulation }: Pick<Deployment, 'simulation'>): Omit<RecordedRun, 'name'>[] {
  const counts = countCalls(simulation.network);
  const runs = simulation.histories().map(({ workflowId, runId, history }) => ({
    workflowId,
    history,
    calls: Object.fromEntries(counts.get(runId) ?? []),
  }));
  const kinds = Map.groupBy(runs, ({ history }) => sameCommands(JSON.parse(historyToJSON(history)) as object));
  return [...kinds.values()].flatMap(([first]) => first ?? []);
}
