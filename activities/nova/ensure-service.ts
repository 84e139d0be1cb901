import type { HostObservation } from '../../contracts/eviction/instance.ts';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import type { ForcedDownProof, ForcedDownRequest } from '../../contracts/node-failure/fencing.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { Tools } from './dependencies.ts';
import { findService } from './find-host.ts';
import { serviceState } from './observe-host.ts';
import type { ComputeServiceRecord, ServiceChange } from './types.ts';

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
export async function ensureServiceDisabled(
  tools: Tools,
  { host, reason }: { host: string; reason: string },
): Promise<HostObservation['service']> {
  if (!reason.startsWith(disabledReasonPrefix))
    throw droverFailure('InvalidInput', `A reason to disable must begin with ${disabledReasonPrefix}, not: ${reason}`);
  const before = await readService(tools, host);
  if (before.status === 'disabled') return serviceState(before);
  return serviceState(
    await changeService(
      tools,
      before,
      { status: 'disabled', disabledReason: shorten(reason) },
      { action: 'ensureServiceDisabled', cause: reason },
    ),
  );
}

/**
 * Enables the compute service of a host, only if it still carries drover's own reason. Safe to repeat and to run twice at once.
 *
 * @param request.carrying only if it carries exactly that reason, whoever wrote it: the caller has proof that it is drover's to lift
 * @returns whether it is enabled now
 * @throws HostNotFound, ServiceConflict, Stopped
 */
export async function ensureServiceEnabled(
  tools: Tools,
  { host, carrying }: { host: string; carrying?: string | null },
): Promise<boolean> {
  const before = await readService(tools, host);
  if (before.status === 'enabled') return true;
  const { disabledReason } = before;
  const isOurs =
    carrying === undefined ? disabledReason?.startsWith(disabledReasonPrefix) === true : disabledReason === carrying;
  if (!isOurs) return false;
  const after = await changeService(
    tools,
    before,
    { status: 'enabled' },
    { action: 'ensureServiceEnabled', cause: `carried ${disabledReason ?? 'no reason'}` },
  );
  return after.status === 'enabled';
}

const shorten = (reason: string): string =>
  reason.length <= maxReasonLength ? reason : `${reason.slice(0, maxReasonLength - 1)}…`;

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

/** What each direction takes as proof. */
const accepted: Record<'down' | 'up', readonly ForcedDownProof['by'][]> = {
  down: ['power-off', 'person'],
  up: ['restart', 'person'],
};

/**
 * Makes Nova take a host for dead, so that its servers can be evacuated, or takes that back. Only with proof: servers that are evacuated
 * from a host that still runs run twice. Safe to repeat and to run twice at once.
 *
 * @throws HostNotFenced a proof that proves nothing of the kind; HostUp a person says that it is off, and Nova hears from it
 * @throws EvacuationsUnsettled nova-compute there was not started since, so that it still has the guests that were evacuated
 * @throws HostNotFound, ServiceConflict, Stopped
 * @see Compute API, "Update Compute Service", microversion 2.53
 */
export async function ensureForcedDown(tools: Tools, request: ForcedDownRequest): Promise<HostObservation['service']> {
  const before = await readService(tools, request.host);
  judgeProof(before, request);
  if (before.forcedDown === request.forcedDown) return serviceState(before);
  const { incident, by, witness, at } = request.proof;
  const entry = { action: 'ensureForcedDown', cause: `incident ${incident}: ${by}, ${witness} at ${at}` };
  return serviceState(await changeService(tools, before, { forcedDown: request.forcedDown }, entry));
}

/** Pure. @throws HostNotFenced, HostUp */
export function judgeProof(
  { state, host }: Pick<ComputeServiceRecord, 'state' | 'host'>,
  { forcedDown, proof }: Pick<ForcedDownRequest, 'forcedDown' | 'proof'>,
): void {
  const said =
    [proof.incident, proof.witness, proof.at].every((part) => part.trim() !== '') &&
    !Number.isNaN(Date.parse(proof.at));
  if (!said || !accepted[forcedDown ? 'down' : 'up'].includes(proof.by)) {
    throw droverFailure(
      'HostNotFenced',
      `The proof (${proof.by} by ${proof.witness || 'nobody'} at ${proof.at || 'no time'}) does not allow ${host} to be forced ${forcedDown ? 'down' : 'up'}`,
    );
  }
  if (forcedDown && proof.by === 'person' && state === 'up')
    throw droverFailure(
      'HostUp',
      `${proof.witness} confirmed that ${host} is off, but Nova hears from nova-compute there`,
    );
}
