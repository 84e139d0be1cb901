import type { Client } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { evictionId } from '../../contracts/ids.ts';
import type { ObjectChanged } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';

/** A signal that reached a run, as in the run's history. */
export interface Signalled extends ObjectChanged {
  runId: string;
  /** Of the WorkflowExecutionSignaled event, by Temporal's clock. */
  atMs: number;
}

/** The signals of the runs of a host, oldest first: of its evictions, or of another workflow id. */
export async function readSignals(client: Client, host: string, workflowId = evictionId(host)): Promise<Signalled[]> {
  const all: Signalled[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { workflowExecutionSignaledEventAttributes: signal, eventTime } of events ?? []) {
      if (signal?.signalName !== messages.objectChanged.name) continue;
      const [payload] = signal.input?.payloads ?? [];
      const content = client.options.loadedDataConverter.payloadConverter.fromPayload<ObjectChanged>(payload!);
      all.push({ ...content, runId, atMs: tsToMs(eventTime) });
    }
  }
  return all.sort((a, b) => a.atMs - b.atMs);
}

/** The most signals within any `windowMs`. */
export function mostSignalsWithin(signals: readonly Pick<Signalled, 'atMs'>[], windowMs: number): number {
  return Math.max(
    0,
    ...signals.map(({ atMs }) => signals.filter((other) => other.atMs >= atMs && other.atMs < atMs + windowMs).length),
  );
}
