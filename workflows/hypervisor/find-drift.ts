import { ApplicationFailure } from '@temporalio/workflow';
import type { DriftFindings, DriftInput } from '../../contracts/hypervisor/drift.ts';
import { hypervisorRegion } from '../lib/hypervisor-activities.ts';

/**
 * Compares the hosts of a region once with what their Hypervisors say, and signals the runs of those that differ. A
 * Schedule starts it every so often, so that a service that is enabled in maintenance is noticed; each is a run of one
 * step, and a reconciled host costs none.
 */
export async function findDrift(input: DriftInput): Promise<DriftFindings> {
  const { region } = Object(input) as Partial<DriftInput>;
  if (typeof region !== 'string' || region === '')
    throw ApplicationFailure.create({
      type: 'InvalidInput',
      message: 'Expected {"region": "RegionOne"}',
      nonRetryable: true,
    });
  return await hypervisorRegion(region, 'Compare Nova and Placement with what the Hypervisors say').findDrift();
}
