import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/**
 * The histories that earlier releases wrote: what a new release must still be able to go on with. One folder per release, one
 * compressed JSON file per run, as `temporal workflow show --output json` prints it.
 */
const histories = fileURLToPath(new URL('histories/', import.meta.url));

export interface RecordedRun {
  /** `0.1.0/happy-A.json.gz` */
  file: string;
  workflowId: string;
  history: History;
}

/** Every recorded run of every release. */
export function readCorpus(): RecordedRun[] {
  const releases = readdirSync(histories, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return releases.flatMap(({ name: release }) =>
    readdirSync(join(histories, release))
      .filter((file) => file.endsWith('.json.gz'))
      .toSorted()
      .map((name) => {
        const { workflowId, history } = JSON.parse(gunzipSync(readFileSync(join(histories, release, name))).toString('utf8')) as { workflowId: string; history: unknown };
        return { file: `${release}/${name}`, workflowId, history: historyFromJSON(history) };
      }),
  );
}

export function writeRun(release: string, name: string, workflowId: string, history: History): void {
  const file = join(histories, release, `${name}.json.gz`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, gzipSync(JSON.stringify({ workflowId, history: JSON.parse(historyToJSON(history), anonymous) as unknown }), { level: 9 }));
}

/** Without the names of the machine, the processes and the folders that it was recorded on. */
function anonymous(key: string, value: unknown): unknown {
  if (key === 'identity' || key === 'binaryChecksum') return 'drover';
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
