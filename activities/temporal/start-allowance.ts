import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { AllowanceRequest, SharedLimit } from '../../contracts/allowance.ts';
import { allowanceId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { inputOf, objectOf, placeOf } from '../../contracts/allowance.ts';

/** Whose wish concerns which limit. */
export interface AllowanceMessage {
  limit: SharedLimit;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  request: AllowanceRequest;
}

/** Tells the run that shares out the limit, starting it if none is open. One call of the server, so that a run which just ends cannot miss it. */
export async function signalWithStartAllowance(
  client: Client,
  { limit, cluster, request }: AllowanceMessage,
): Promise<void> {
  await client.workflow.signalWithStart(workflowTypes.allocateAllowance, {
    ...startOptions(limit, cluster),
    signal: messages.allowanceRequested,
    signalArgs: [request],
  });
}

/** @param more what the input says besides */
export const startOptions = (limit: SharedLimit, cluster: string, more: object = {}) =>
  ({
    workflowId: allowanceId(limit, cluster),
    taskQueue: workflowQueue,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ ...inputOf(limit), cluster, ...more }],
    // Given with the start they cost no event.
    typedSearchAttributes: new TypedSearchAttributes([
      { key: { name: searchAttributes.kind, type: 'KEYWORD' }, value: 'Allowance' },
      { key: { name: searchAttributes.object, type: 'KEYWORD' }, value: objectOf(limit) },
      { key: { name: searchAttributes.phase, type: 'KEYWORD' }, value: 'Observing' },
    ]),
    staticSummary:
      limit.kind === 'migrations'
        ? `Share out the migrations of ${limit.region}`
        : `Share out the ${limit.kind} of vCenter ${limit.vcenter}`,
    staticDetails: (limit.kind === 'migrations'
      ? detailsOfMigrations(limit.region)
      : detailsOfSlots(limit.kind, placeOf(limit))
    ).join('\n\n'),
  }) as const satisfies WorkflowStartOptions;

const detailsOfMigrations = (region: string): string[] => [
  `Decides how many of the migrations that region **${region}** may have at once each eviction may run. It looks at Nova at intervals and ends when nobody needs it.`,
  'To terminate it is safe: the next report of an eviction starts it again, and it grants nothing before it has read what Nova has in progress.',
];

const detailsOfSlots = (what: string, place: string): string[] => [
  `Decides whose turn it is among the ${what} that **${place}** may have at once: who came first goes first. It looks at vCenter at intervals and ends when nobody needs it.`,
  'To terminate it is safe: the next virtual machine that asks starts it again, and nobody has a turn before all that had one is seen. Those that wait ask again by themselves.',
];
