import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { AllowanceWanted, SharedLimit } from '../../contracts/allowance.ts';
import { allowanceId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { inputOf, objectOf, placeOf } from '../../contracts/shared-limit.ts';

/** Whose wish concerns which limit. */
export interface AllowanceRequest {
  shared: SharedLimit;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  wanted: AllowanceWanted;
}

/** Tells the run that shares out the limit, starting it if none is open. One call of the server, so that a run which just ends cannot miss it. */
export async function signalWithStartAllowance(
  client: Client,
  { shared, cluster, wanted }: AllowanceRequest,
): Promise<void> {
  await client.workflow.signalWithStart(workflowTypes.shareAllowance, {
    ...startOptions(shared, cluster),
    signal: messages.allowanceWanted,
    signalArgs: [wanted],
  });
}

/** @param more what the input says besides */
export const startOptions = (shared: SharedLimit, cluster: string, more: object = {}) =>
  ({
    workflowId: allowanceId(shared, cluster),
    taskQueue: workflowQueue,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ ...inputOf(shared), cluster, ...more }],
    // Given with the start they cost no event.
    typedSearchAttributes: new TypedSearchAttributes([
      { key: { name: searchAttributes.kind, type: 'KEYWORD' }, value: 'Allowance' },
      { key: { name: searchAttributes.object, type: 'KEYWORD' }, value: objectOf(shared) },
      { key: { name: searchAttributes.phase, type: 'KEYWORD' }, value: 'Looking' },
    ]),
    staticSummary:
      shared.of === 'migrations'
        ? `Share out the migrations of ${shared.region}`
        : `Share out the ${shared.of} of vCenter ${shared.vcenter}`,
    staticDetails: (shared.of === 'migrations'
      ? detailsOfMigrations(shared.region)
      : detailsOfTurns(shared.of, placeOf(shared))
    ).join('\n\n'),
  }) as const satisfies WorkflowStartOptions;

const detailsOfMigrations = (region: string): string[] => [
  `Decides how many of the migrations that region **${region}** may have at once each eviction may run. It looks at Nova at intervals and ends when nobody needs it.`,
  'To terminate it is safe: the next report of an eviction starts it again, and it grants nothing before it has read what Nova has in progress.',
];

const detailsOfTurns = (what: string, place: string): string[] => [
  `Decides whose turn it is among the ${what} that **${place}** may have at once: who came first goes first. It looks at vCenter at intervals and ends when nobody needs it.`,
  'To terminate it is safe: the next virtual machine that asks starts it again, and nobody has a turn before all that had one is seen. Those that wait ask again by themselves.',
];
