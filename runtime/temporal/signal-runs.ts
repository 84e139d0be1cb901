import type { Client } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { workflowQueue } from '../../contracts/ids.ts';
import { inputOf, type RunRow } from '../../contracts/kinds/kind.ts';
import { messages, type ObjectChanged } from '../../contracts/messages.ts';
import { digestMemo } from '../../contracts/runs.ts';
import { attributeKeys } from './search-attribute-keys.ts';
import { limited, type OwnLimits } from './temporal.ts';

/** Which run a signal is for. */
export interface RunTarget {
  /**
   * What the run is found by: the host of an Eviction, the name of a Hypervisor, `namespace/name` of a VirtualMachine.
   */
  subject: string;
  /** Name of the object that the run is about; default: the subject. */
  object?: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** Who asked, as far as known; kept in the memo of a run that this starts. */
  startedBy?: string | null;
  /**
   * What the run will observe, as far as known: a run that observes the same need not write it. Kept as `startedBy` is.
   */
  digest?: string | null;
}

/**
 * Signals the run of a subject, and starts it if none is open: one call of the server, so that a run which just ends
 * cannot miss it. Runs have no time-outs: they may take days.
 *
 * @returns the run id that got the signal
 */
export async function signalWithStart<Argument = ObjectChanged>(
  client: Client,
  row: RunRow,
  {
    subject,
    object = subject,
    cluster,
    startedBy,
    digest = null,
    message = messages.objectChanged as SignalDefinition<[Argument]>,
    signal,
  }: RunTarget & { message?: SignalDefinition<[Argument]>; signal: Argument },
  { timeoutMs = 5_000, ...limits }: OwnLimits,
): Promise<string> {
  const host = row.host?.(subject);
  const { summary, details } = row.describe(subject, object);
  const handle = await limited(client, { timeoutMs, ...limits }, () =>
    client.workflow.signalWithStart(row.workflowType, {
      workflowId: row.workflowId(subject, cluster),
      taskQueue: workflowQueue(cluster),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [inputOf(row, subject)],
      signal: message,
      signalArgs: [signal],
      typedSearchAttributes: [
        { key: attributeKeys.kind, value: row.kind },
        { key: attributeKeys.object, value: object },
        ...(host === undefined ? [] : [{ key: attributeKeys.host, value: host }]),
      ],
      memo: { startedBy: startedBy ?? 'k8s-bridge', ...(digest !== null && { [digestMemo]: digest }) },
      staticSummary: summary,
      staticDetails: details.join('\n\n'),
    }),
  );
  return handle.signaledRunId;
}
