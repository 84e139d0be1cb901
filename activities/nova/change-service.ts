import { failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { Tools } from './dependencies.ts';
import { findService } from './find-host.ts';
import { serviceState } from './observe-host.ts';
import type { ComputeServiceRecord, ServiceChange } from './types.ts';

/** @throws HostNotFound, HostAttributeMissing */
export const readService = async ({ nova, scope }: Tools, host: string): Promise<ComputeServiceRecord> =>
  findService(await nova.computeServices(scope.signal), host);

/**
 * Changes a compute service and writes that down. Nova refuses to change a service to what it is: where somebody else has just done the
 * same, there is nothing left to do.
 *
 * @throws ServiceConflict, HostNotFound, EvacuationsUnsettled, Stopped
 * @see Compute API, "Update Compute Service", microversion 2.53
 */
export async function changeService(
  tools: Tools,
  before: ComputeServiceRecord,
  change: ServiceChange,
  { action, cause }: { action: string; cause: string },
): Promise<ComputeServiceRecord> {
  const { nova, scope } = tools;
  const mutation = {
    action,
    cause,
    object: `compute-service/${before.host}`,
    before: serviceState(before),
    after: change,
  };
  try {
    const { service } = await mutate(
      tools,
      mutation,
      () => nova.updateService(before.id, change, scope.signal),
      ({ requestId, service: after }) => ({ requestId, after: serviceState(after) }),
    );
    return service;
  } catch (error) {
    if (failureCode(error) !== 'ServiceConflict') throw error;
    const now = await readService(tools, before.host);
    if (isAs(now, change)) return now;
    throw error;
  }
}

const isAs = (service: ComputeServiceRecord, change: ServiceChange): boolean =>
  'forcedDown' in change ? service.forcedDown === change.forcedDown : service.status === change.status;
