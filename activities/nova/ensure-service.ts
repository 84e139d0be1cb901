import type { HostObservation } from '../../contracts/instance.ts';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { record, type Tools } from './dependencies.ts';
import { findService } from './find-host.ts';
import { serviceState } from './observe-host.ts';
import type { ComputeServiceRecord } from './types.ts';

/** Nova's limit for `disabled_reason`. */
const maxReasonLength = 255;

/**
 * Disables the compute service of a host and says why. Safe to repeat and to run twice at once: Nova's PUT sets a state. A disable that
 * somebody else made is left with their reason; the answer shows whose it is.
 *
 * @param reason begins with `drover:`, so that enabling again can prove ownership; cut at Nova's 255 characters
 * @throws HostNotFound, ServiceConflict, Stopped, InvalidInput
 * @see Compute API, "Update Compute Service", microversion 2.53
 */
export async function ensureServiceDisabled(tools: Tools, { host, reason }: { host: string; reason: string }): Promise<HostObservation['service']> {
  if (!reason.startsWith(disabledReasonPrefix)) throw droverFailure('InvalidInput', `A reason to disable must begin with ${disabledReasonPrefix}, not: ${reason}`);
  const before = await readService(tools, host);
  if (before.status === 'disabled') return serviceState(before);
  return serviceState(await setStatus(tools, before, { status: 'disabled', disabledReason: shorten(reason) }, 'ensureServiceDisabled', reason));
}

/**
 * Enables the compute service of a host, only if it still carries drover's own reason. Safe to repeat and to run twice at once.
 *
 * @returns whether it is enabled now
 * @throws HostNotFound, ServiceConflict, Stopped
 */
export async function ensureServiceEnabled(tools: Tools, { host }: { host: string }): Promise<boolean> {
  const before = await readService(tools, host);
  if (before.status === 'enabled') return true;
  if (before.disabledReason?.startsWith(disabledReasonPrefix) !== true) return false;
  const after = await setStatus(tools, before, { status: 'enabled' }, 'ensureServiceEnabled', `carried ${before.disabledReason}`);
  return after.status === 'enabled';
}

const readService = async ({ nova, scope }: Tools, host: string): Promise<ComputeServiceRecord> => findService(await nova.computeServices(scope.signal), host);

async function setStatus(
  tools: Tools,
  before: ComputeServiceRecord,
  change: { status: 'enabled' | 'disabled'; disabledReason?: string },
  action: string,
  cause: string,
): Promise<ComputeServiceRecord> {
  const { nova, stopGate, scope } = tools;
  await stopGate(scope.signal);
  const { service: after, requestId } = await nova.updateService(before.id, change, scope.signal);
  await record(tools, { action, cause, object: `compute-service/${before.host}`, before: serviceState(before), after: serviceState(after), requestId });
  return after;
}

const shorten = (reason: string): string => (reason.length <= maxReasonLength ? reason : `${reason.slice(0, maxReasonLength - 1)}…`);
