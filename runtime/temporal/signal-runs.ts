import type { Client } from '@temporalio/client';
import { workflowQueue } from '../../contracts/ids.ts';
import type { RunRow } from '../../contracts/kinds/kind.ts';
import { nodeFailureRun } from '../../contracts/kinds/node-failure.ts';
import { messages, type ObjectChanged } from '../../contracts/messages.ts';
import type { GuestsFailing } from '../../contracts/node-failure/guest-watch.ts';
import { attributeKeys } from './search-attribute-keys.ts';
import { limited, type OwnLimits } from './temporal.ts';

/** Which run a signal is for. */
export interface RunTarget {
  /** What the run is found by: the host of an Eviction, the name of a Hypervisor, `namespace/name` of a VirtualMachine. */
  subject: string;
  /** Name of the object that the run is about; default: the subject. */
  object?: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** Who asked, as far as known; kept in the memo of a run that this starts. */
  startedBy?: string | null;
}

/**
 * Tells the run of a subject that an object which concerns it changed, and starts it if none is open.
 *
 * @returns the run id that got the signal
 */
export const signalWithStart = (
  client: Client,
  row: RunRow,
  { signal, ...target }: RunTarget & { signal: ObjectChanged },
  limits: OwnLimits,
): Promise<string> => signalByName(client, row, target, { name: 'objectChanged', signal }, limits);

/** Tells the run of a host's failure, starting it if none is open, that too many of its guests fail. @returns the run id that got the signal */
export const signalGuestsFailing = (
  client: Client,
  target: RunTarget,
  signal: GuestsFailing,
  limits: OwnLimits,
): Promise<string> => signalByName(client, nodeFailureRun, target, { name: 'guestsFailing', signal }, limits);

/** One call of the server, so that a run which just ends cannot miss it. Runs have no time-outs: they may take days. */
async function signalByName(
  client: Client,
  row: RunRow,
  { subject, object = subject, cluster, startedBy }: RunTarget,
  message: { name: 'objectChanged'; signal: ObjectChanged } | { name: 'guestsFailing'; signal: GuestsFailing },
  { timeoutMs = 5_000, ...limits }: OwnLimits,
): Promise<string> {
  const host = row.host(subject);
  const { summary, details } = row.describe(subject, object);
  const handle = await limited(client, { timeoutMs, ...limits }, () =>
    client.workflow.signalWithStart(row.workflowType, {
      workflowId: row.workflowId(subject, cluster),
      taskQueue: workflowQueue,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [row.input(subject)],
      signal: messages[message.name],
      signalArgs: [message.signal],
      typedSearchAttributes: [
        { key: attributeKeys.kind, value: row.kind },
        { key: attributeKeys.object, value: object },
        ...(host === null ? [] : [{ key: attributeKeys.host, value: host }]),
      ],
      memo: { startedBy: startedBy ?? 'k8s-bridge' },
      staticSummary: summary,
      staticDetails: details.join('\n\n'),
    }),
  );
  return handle.signaledRunId;
}
