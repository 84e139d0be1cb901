import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { AllowanceWanted } from '../../contracts/allowance.ts';
import { migrationAllowanceId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';

/** Whose wish concerns which limit. */
export interface AllowanceRequest {
  /** Nova's region. */
  region: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  wanted: AllowanceWanted;
}

/** Tells the run that shares out the region's migrations, starting it if none is open. One call of the server, so that a run which just ends cannot miss it. */
export async function signalWithStartAllowance(client: Client, { region, cluster, wanted }: AllowanceRequest): Promise<void> {
  await client.workflow.signalWithStart(workflowTypes.shareAllowance, {
    workflowId: migrationAllowanceId(region, cluster),
    taskQueue: workflowQueue,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ region, cluster }],
    signal: messages.allowanceWanted,
    signalArgs: [wanted],
    // Given with the start they cost no event.
    typedSearchAttributes: new TypedSearchAttributes([
      { key: { name: searchAttributes.kind, type: 'KEYWORD' }, value: 'Allowance' },
      { key: { name: searchAttributes.object, type: 'KEYWORD' }, value: region },
      { key: { name: searchAttributes.phase, type: 'KEYWORD' }, value: 'Looking' },
    ]),
    staticSummary: `Share out the migrations of ${region}`,
    staticDetails: [
      `Decides how many of the migrations that region **${region}** may have at once each eviction may run. It looks at Nova at intervals and ends when nobody needs it.`,
      'To terminate it is safe: the next report of an eviction starts it again, and it grants nothing before it has read what Nova has in progress.',
    ].join('\n\n'),
  });
}
