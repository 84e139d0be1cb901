import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';

import { orphanSweepId } from '../../contracts/ids.ts';
import { machineKind } from '../../contracts/kinds/machine.ts';
import type { SweepInput, SweepRequest, SweepRequestResult } from '../../contracts/machine-safety/sweep.ts';
import { initialAttributes } from '../lib/attributes.ts';
import { invalidInput } from '../lib/failures.ts';
import { ownCluster } from '../lib/own-cluster.ts';

/**
 * Starts the sweep of a namespace, unless one is open: that one observes again by itself. A Schedule starts it, whose
 * own runs have other ids than that of the sweep, which is its lock.
 */
export async function requestSweep(input: SweepRequest): Promise<SweepRequestResult> {
  const { namespace, cluster = ownCluster() } = Object(input) as Partial<SweepRequest>;
  if (typeof namespace !== 'string' || namespace === '' || typeof cluster !== 'string')
    throw invalidInput('Expected {"namespace": "shoot--garden--one"}. Nothing was started.');
  const workflowId = orphanSweepId(namespace, cluster);
  const { summary, details } = machineKind.describe(namespace);
  try {
    await startChild<(sweep: SweepInput) => Promise<unknown>>(machineKind.workflowType, {
      workflowId,
      args: [{ namespace }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      typedSearchAttributes: initialAttributes({ kind: machineKind.kind, object: namespace }),
      memo: { startedBy: 'its Schedule' },
      staticSummary: summary,
      staticDetails: details.join('\n\n'),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { outcome: 'alreadyRunning', workflowId, message: `Run ${workflowId} is open already, and goes on` };
  }
  return { outcome: 'started', workflowId, message: `Run ${workflowId} was started` };
}
