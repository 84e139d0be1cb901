import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { OutsideSystem } from '../../runtime/outside-calls.ts';

/**
 * The histories that earlier releases wrote: what a new release must still be able to go on with. One folder per release, one
 * compressed JSON file per run, as `temporal workflow show --output json` prints it.
 */
const histories = fileURLToPath(new URL('histories/', import.meta.url));

export interface RecordedRun {
  /** `0.1.0/happy-1.json.gz` */
  file: string;
  workflowId: string;
  history: History;
  /** Requests to each system, where somebody has counted them. */
  calls?: Calls;
}

type Calls = Readonly<Partial<Record<OutsideSystem, number>>>;

/** Every recorded run of every release. */
export function readCorpus(): RecordedRun[] {
  const releases = readdirSync(histories, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return releases.flatMap(({ name: release }) =>
    filesOf(release).map((name) => {
      const { history, ...run } = JSON.parse(gunzipSync(readFileSync(join(histories, release, name))).toString('utf8')) as { workflowId: string; history: unknown; calls?: Calls };
      return { file: `${release}/${name}`, ...run, history: historyFromJSON(history) };
    }),
  );
}

const filesOf = (release: string): string[] =>
  readdirSync(join(histories, release))
    .filter((file) => file.endsWith('.json.gz'))
    .toSorted();

/** Puts the runs of a recording in the place of those that were recorded under its name before, and counts anew. */
export function writeRuns(release: string, recording: string, runs: readonly Omit<RecordedRun, 'file'>[]): void {
  const folder = join(histories, release);
  mkdirSync(folder, { recursive: true });
  const earlier = new RegExp(`^${recording}-\\d+\\.json\\.gz$`, 'u');
  for (const file of filesOf(release)) if (earlier.test(file)) rmSync(join(folder, file));
  for (const [index, { history, ...run }] of runs.entries()) {
    const text = JSON.stringify({ ...run, history: JSON.parse(historyToJSON(history), anonymous) as unknown });
    writeFileSync(join(folder, `${recording}-${index + 1}.json.gz`), gzipSync(text, { level: 9 }));
  }
  writeFileSync(join(folder, 'count.json'), `${JSON.stringify({ runs: filesOf(release).length })}\n`);
}

/** Without the names of the machine, the processes and the folders that it was recorded on. */
function anonymous(key: string, value: unknown): unknown {
  if (key === 'identity' || key === 'binaryChecksum') return 'drover';
  // A worker's own queue is called by process and machine.
  if (key === 'name' && typeof value === 'string' && /^\d+@/u.test(value)) return 'drover';
  return key === 'stackTrace' ? '' : value;
}

/** Goes through the runs with these workflows. `failures`: those that would not go on as they were, and why. */
export async function replay(runs: readonly RecordedRun[], workflowBundle: WorkflowBundleOption): Promise<{ replayed: number; failures: string[] }> {
  const failures: string[] = [];
  let replayed = 0;
  for (const { file, workflowId, history } of runs) {
    for await (const { error } of Worker.runReplayHistories({ workflowBundle }, [{ workflowId, history }])) {
      replayed += 1;
      if (error !== undefined) failures.push(`${file} (${workflowId}): ${error.message}`);
    }
  }
  return { replayed, failures };
}
