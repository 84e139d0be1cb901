import { loadWorkflows } from './bundle.ts';
import type { SimulatedCell } from './matrix/cell.ts';
import { simulateNamed } from './matrix/stories.ts';
import type { HistoryEvent } from './temporal/sdk.ts';

/** Prints every event of every run of a cell with its moment, and how it ended. */
export async function traceCell({ scenario, targets }: SimulatedCell, print: (line: string) => void): Promise<void> {
  let startMs = 0;
  const { complaints, virtualMs } = await simulateNamed(
    await loadWorkflows(),
    scenario,
    { targets },
    {
      onEvent: ({ workflowId, name, event, atMs }) => {
        startMs ||= atMs;
        print(`${((atMs - startMs) / 1_000).toFixed(3).padStart(9)} s  ${workflowId}  ${name}  ${detailsOf(event)}`);
      },
    },
  );
  print(
    `${(virtualMs / 1_000).toFixed(0)} s of virtual time; ${complaints.length === 0 ? 'passed' : complaints.join('\n')}`,
  );
}

/** Names and failures, which say what the event is about. */
function detailsOf(event: HistoryEvent): string {
  const names = JSON.stringify(event).match(/"(?:name|signalName|message|workflowId)":"[^"]{1,120}"/gu) ?? [];
  return names.join(' ').slice(0, 300);
}
