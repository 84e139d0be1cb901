import { readFileSync, writeFileSync } from 'node:fs';
import { loadWorkflows } from '../bundle.ts';
import type { CleanRun } from './cell.ts';
import { simulateNamed } from './stories.ts';

/** Where faults can be injected, by scenario. Committed: cells come and go only with a change of it. */
const file = new URL('cells.json', import.meta.url);

export type CleanRuns = Readonly<Record<string, CleanRun>>;

export const readCleanRuns = (): CleanRuns => JSON.parse(readFileSync(file, 'utf8')) as CleanRuns;

/** Runs each scenario without a fault. @throws where one does not end as it should */
export async function observeCleanRun(name: string): Promise<CleanRun> {
  const { complaints, run } = await simulateNamed(await loadWorkflows(), name, { targets: [] });
  if (complaints.length > 0) throw new Error(`${name}, without a fault: ${complaints.join('; ')}`);
  return run;
}

/** Writes what the named scenarios do; the others stay as they are in the file. */
export async function writeCleanRuns(names: readonly string[], print: (line: string) => void): Promise<void> {
  const runs: Record<string, CleanRun> = { ...readCleanRuns() };
  for (const name of names) {
    const run = await observeCleanRun(name);
    runs[name] = run;
    print(
      `${name}: ${run.steps.length} activity calls, ${run.calls.length} calls of outside systems, ${run.tasks} workflow tasks`,
    );
  }
  const sorted = Object.fromEntries(Object.entries(runs).toSorted(([a], [b]) => a.localeCompare(b, 'en')));
  writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`);
}
