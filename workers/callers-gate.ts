import type { Kind } from '../contracts/kinds/table.ts';
import { Context } from '@temporalio/activity';
import { workflowTypes } from '../contracts/ids.ts';
import type { StopGate } from '../runtime/stop.ts';

/** The kinds whose runs share verbs. */
type Sharing = Extract<Kind, 'Eviction' | 'Hypervisor'>;

/** The kind that a run serves; what it changes is held by the stop of that kind. */
export function kindOfRun(workflowType: string): Sharing {
  const ofHypervisors: readonly string[] = [workflowTypes.reconcileHypervisor, workflowTypes.handleNodeFailure];
  return ofHypervisors.includes(workflowType) ? 'Hypervisor' : 'Eviction';
}

/**
 * The gate of verbs that runs of several kinds share, such as those on a compute service: `drover stop --kind` holds
 * them where a run of that kind asks, and not where another does.
 */
export const createCallersGate =
  (
    gates: Readonly<Record<Sharing, StopGate>>,
    workflowType = (): string => Context.current().info.workflowType ?? '',
  ): StopGate =>
  (signal) =>
    gates[kindOfRun(workflowType())](signal);
