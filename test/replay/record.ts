/** `npm run record-histories`: runs the scenarios of the fault matrix on a lab, and keeps what their runs wrote, for this release. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLab } from '../../lab/lab.ts';
import type { Lane } from '../faults/lane.ts';
import { withLanes } from '../faults/matrix.ts';
import type { Cell } from '../faults/run-cell.ts';
import { runCell } from '../faults/run-cell.ts';
import type { Scenario } from '../faults/scenario.ts';
import { findScenario, scenarios } from '../faults/scenarios.ts';
import { writeRun } from './corpus.ts';

/** What people do to a run leaves other histories than what runs do by themselves. */
const struck: readonly Cell[] = (['cancel', 'terminate', 'signalTwice', 'changeSpec', 'failAfter', 'timeOut'] as const).map((fault) => ({ scenario: 'happy', step: 'A1/awaitMigration.1', fault }));

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
const dir = mkdtempSync(join(tmpdir(), 'drover-record-'));
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const lab = await startLab({ dir: join(dir, 'lab'), report: print });
let count = 0;
try {
  const tasks: [Scenario, Cell | null][] = [...scenarios.map((scenario): [Scenario, null] => [scenario, null]), ...struck.map((cell): [Scenario, Cell] => [findScenario(cell.scenario), cell])];
  for (const [scenario, cell] of tasks) {
    await withLanes({ lab, scenarios: [scenario], lanes: 1 }, async ([lane]) => {
      if (lane === undefined) return;
      const since = new Date().toISOString();
      const { complaints } = await runCell(lane, scenario, cell);
      if (complaints.length > 0) throw new Error(`${scenario.name}: ${complaints.join('; ')}`);
      const name = cell === null ? scenario.name : `${scenario.name}-${cell.fault}`;
      const kept = await keep(lane, name, since);
      count += kept;
      print(`${name}: ${kept} runs`);
    });
  }
} finally {
  await lab.stop();
  rmSync(dir, { recursive: true, force: true });
}
writeFileSync(new URL(`histories/${version}/count.json`, import.meta.url), `${JSON.stringify({ runs: count })}\n`);
print(`${count} runs recorded for ${version}`);

/** Every run of the lane's namespace since then: the scenario had it for itself. */
async function keep({ client }: Lane, name: string, since: string): Promise<number> {
  let number = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query: `StartTime >= "${since}"` })) {
    number += 1;
    writeRun(version, `${name}-${number}`, workflowId, await client.workflow.getHandle(workflowId, runId).fetchHistory());
  }
  return number;
}
