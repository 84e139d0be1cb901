import type { Client } from '@temporalio/client';
import { observedRunOf } from './observed-run.ts';
import type { ObservedRun } from './snapshot.ts';

/** A run, and its history as text. */
interface ReadRun {
  run: ObservedRun;
  text: string;
}

/** Histories of closed runs do not change. By run id. */
const closedRuns = new Map<string, ReadRun>();

/** Runs that were started since then. */
export async function readRuns(client: Client, sinceMs: number): Promise<ReadRun[]> {
  const found: ReadRun[] = [];
  const query = `StartTime >= "${new Date(sinceMs).toISOString()}"`;
  for await (const { workflowId, runId, type, status, startTime, closeTime } of client.workflow.list({ query })) {
    const kept = closedRuns.get(runId);
    if (kept !== undefined) {
      found.push(kept);
      continue;
    }
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const described = {
      workflowId,
      runId,
      type,
      status: status.name,
      startedAtMs: startTime.getTime(),
      closedAtMs: closeTime?.getTime() ?? null,
    };
    const run = {
      run: observedRunOf(described, history),
      text: (history.events ?? []).map((event) => textOf(event)).join('\n'),
    };
    if (closeTime !== undefined) closedRuns.set(runId, run);
    found.push(run);
  }
  return found;
}

/** An event that is written does not change, and a simulation looks at it again after each thing that happens. */
const texts = new WeakMap<object, string>();

/**
 * An event of a history as text, bytes included. A replacer would come too late for that, as Buffers turn
 * themselves into lists of numbers.
 */
export function textOf(event: object): string {
  const known = texts.get(event) ?? JSON.stringify(readable(event));
  texts.set(event, known);
  return known;
}

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  const fields: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) fields[name] = readable(item);
  return fields;
}
