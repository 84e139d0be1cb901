import type { Client } from '@temporalio/client';
import { agentPoolId, workflowTypes } from '../../contracts/ids.ts';
import { agentFixture } from '../../lab/agents.ts';
import { mapConcurrently } from '../load/concurrency.ts';

/** Events of the runs of VsphereAgents, all of them together. */
export interface AgentRuns {
  runs: number;
  /** Of runs that make VMs. */
  onEvents: number;
  /** Of runs that take an ISO out of a drive. */
  ejectEvents: number;
}

const ejects = 'ejectAgentIso';

/** The runs that have ended, of those that were started since then. @param sinceMs unix ms */
export async function readAgentRuns(client: Client, sinceMs: number): Promise<AgentRuns> {
  const since = new Date(sinceMs).toISOString();
  const found: { workflowId: string; runId: string }[] = [];
  for await (const { workflowId, runId } of client.workflow.list({
    query: `WorkflowType = "${workflowTypes.reconcileAgent}" AND StartTime >= "${since}"`,
  }))
    found.push({ workflowId, runId });
  const sum: AgentRuns = { runs: found.length, onEvents: 0, ejectEvents: 0 };
  await mapConcurrently(found, 8, async ({ workflowId, runId }) => {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const all = events ?? [];
    (globalThis as any).dumped ??= 0;
    if (((globalThis as any).dumped += 1) <= 100) {
      const { appendFileSync } = await import('node:fs');
      appendFileSync(
        '/tmp/w/agents-hist.txt',
        `${workflowId} ${runId}\n` +
          all
            .map(
              (e: any) =>
                `${e.eventId} ${new Date(Number(e.eventTime.seconds) * 1000 + e.eventTime.nanos / 1e6).toISOString()} ${e.eventType} ` +
                Object.entries(e).find(([k, v]) => k.endsWith('Attributes') && v)?.[0] +
                ' ' +
                (e.activityTaskScheduledEventAttributes?.activityType?.name ?? '') +
                (e.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? '') +
                (e.workflowExecutionSignaledEventAttributes
                  ? e.workflowExecutionSignaledEventAttributes.signalName +
                    ' ' +
                    Buffer.from(e.workflowExecutionSignaledEventAttributes.input?.payloads?.[0]?.data ?? '')
                      .toString()
                      .slice(0, 300)
                  : ''),
            )
            .join('\n') +
          '\n\n',
      );
    }
    const isEject = all.some((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === ejects);
    sum[isEject ? 'ejectEvents' : 'onEvents'] += all.length;
  });
  return sum;
}

/** Events of all runs of the pool so far. */
export async function countPoolEvents(client: Client): Promise<number> {
  const workflowId = agentPoolId(agentFixture.namespace, agentFixture.pool);
  let events = 0;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` }))
    // What is listed of an open run says nothing of its length.
    events += (await client.workflow.getHandle(workflowId, runId).describe()).historyLength;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    const { appendFileSync } = await import('node:fs');
    const { events: all } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    appendFileSync(
      '/tmp/w/pool-hist.txt',
      `${workflowId} ${runId}\n` +
        (all ?? [])
          .map(
            (e: any) =>
              `${e.eventId} ${new Date(Number(e.eventTime.seconds) * 1000 + e.eventTime.nanos / 1e6).toISOString()} ` +
              Object.entries(e).find(([k, v]) => k.endsWith('Attributes') && v)?.[0] +
              ' ' +
              (e.activityTaskScheduledEventAttributes?.activityType?.name ?? '') +
              (e.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? '') +
              (e.workflowExecutionSignaledEventAttributes
                ? e.workflowExecutionSignaledEventAttributes.signalName +
                  ' ' +
                  Buffer.from(e.workflowExecutionSignaledEventAttributes.input?.payloads?.[0]?.data ?? '')
                    .toString()
                    .slice(0, 300)
                : ''),
          )
          .join('\n') +
        '\n\n',
    );
  }
  return events;
}
