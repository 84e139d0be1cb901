import type { HostObservation } from '../../contracts/eviction/instance.ts';
import { disabledReasonPrefix, maintenanceReasonPrefix } from '../../contracts/ids.ts';
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
 * Disables the compute service of a host and says why. Safe to repeat and to run twice at once: Nova's PUT sets a
 * state. A disable that another user made is left with their reason; the answer shows whose it is.
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
 * Enables the compute service of a host, only if it still carries drover's own reason, and not that of a maintenance or
 * of a failure, which its Hypervisor lifts. Safe to repeat and to run twice at once.
 *
 * @param request.carrying only if it carries exactly that reason, no matter who wrote it: the caller has proof that it
 * is drover's to lift
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
  const isOurs = carrying === undefined ? isOfEviction(disabledReason) : disabledReason === carrying;
  if (!isOurs) return false;
  const after = await changeService(
    tools,
    before,
    { status: 'enabled' },
    { action: 'ensureServiceEnabled', cause: `carried ${disabledReason ?? 'no reason'}` },
  );
  return after.status === 'enabled';
}

const isOfEviction = (reason: string | null): boolean =>
  reason?.startsWith(disabledReasonPrefix) === true && !reason.startsWith(maintenanceReasonPrefix);

const shorten = (reason: string): string =>
  reason.length <= maxReasonLength ? reason : `${reason.slice(0, maxReasonLength - 1)}…`;

/** @throws HostNotFound, HostAttributeMissing */
export const readService = async ({ nova, scope }: Tools, host: string): Promise<ComputeServiceRecord> =>
  findService(await nova.computeServices(scope.signal), host);

/**
 * Changes a compute service and writes that down. Nova refuses to change a service to what it is: where another client
 * has just done the same, there is nothing left to do.
 *
 * @throws ServiceConflict, HostNotFound, EvacuatedGuestsRemain, Stopped
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
 * Makes Nova take a host for dead, so that its servers can be evacuated, or takes that back. Only with proof: servers
 * that are evacuated from a host that still runs run twice. Safe to repeat and to run twice at once.
 *
 * @throws HostNotFenced a proof that proves nothing of the kind; HostUp a person says that it is off, and Nova gets
 * heartbeats from it
 * @throws EvacuatedGuestsRemain nova-compute there was not started since, so that it still has the guests
 * that were evacuated
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
      `The proof (${proof.by} by ${proof.witness || 'no witness'} at ${proof.at || 'no time'}) does not allow ${host} to be forced ${forcedDown ? 'down' : 'up'}`,
    );
  }
  if (forcedDown && proof.by === 'person' && state === 'up')
    throw droverFailure(
      'HostUp',
      `${proof.witness} confirmed that ${host} is off, but nova-compute there still reports to Nova`,
    );
}

/**
 * Takes a host out of Nova: its compute service, its hypervisor, its aggregates and, where nothing is allocated any
 * more, its resource provider. Only the service that is meant: one that has registered since under the same name is
 * left alone. Safe to repeat and to run twice at once. Allocations of servers that were evacuated go with it.
 *
 * nova-compute must not be started again on a machine that still has guests: it would refuse, as a new service that
 * finds servers (docs/compatibility.md#how-nova-answers).
 *
 * @param request.host the compute service's `host`
 * @param request.serviceId as it was registered
 * @throws HostEnabled, HostUp, HostNotEmpty what stands against it; Stopped
 * @throws HostAttributeMissing Nova does not report everything about the host, so that "empty" would be a guess
 * @see Compute API, "Delete Compute Service"
 */
export async function ensureServiceDeleted(
  tools: Tools,
  { host, serviceId }: { host: string; serviceId: string },
): Promise<void> {
  const { nova, scope } = tools;
  const services = await nova.computeServices(scope.signal);
  const service = services.find(({ id }) => id === serviceId);
  if (service === undefined) {
    // Nova does not report the id of a service while its cell is down.
    if (services.some((other) => other.host === host && other.cellDown)) findService(services, host);
    return;
  }
  try {
    judgeDeletion(
      service,
      host,
      service.status === 'disabled' && service.state === 'down' ? await serversOn(tools, service.host) : [],
    );
    const mutation = {
      action: 'ensureServiceDeleted',
      cause: 'its host is decommissioned',
      object: `compute-service/${host}`,
      before: { serviceId, ...serviceState(service) },
      after: null,
    };
    await mutate(tools, mutation, () => nova.deleteService(serviceId, scope.signal));
  } catch (error) {
    // Of two that delete at once, one finds it gone at any of its requests, and Nova may answer it 500.
    const code = failureCode(error);
    if (code !== 'HostNotFound' && code !== 'NovaUnavailable') throw error;
    if ((await nova.computeServices(scope.signal)).some(({ id }) => id === serviceId)) throw error;
  }
}

const serversOn = async ({ nova, scope }: Tools, host: string): Promise<string[]> =>
  (await nova.servers({ host }, scope.signal)).map(({ id }) => id);

/** How many servers a failure names. */
const mostNamed = 5;

/** Pure. @throws HostNotFound, HostEnabled, HostUp, HostNotEmpty */
export function judgeDeletion(
  service: Pick<ComputeServiceRecord, 'host' | 'status' | 'state'>,
  host: string,
  servers: readonly string[],
): void {
  if (service.host !== host)
    throw droverFailure('HostNotFound', `That compute service is ${service.host}’s, not ${host}’s`);
  if (service.status === 'enabled')
    throw droverFailure('HostEnabled', `The compute service of ${host} is enabled, so it is not removed`);
  // It would register again at once.
  if (service.state === 'up')
    throw droverFailure('HostUp', `nova-compute on ${host} is running, so its service is not removed`);
  if (servers.length === 0) return;
  const named = servers.slice(0, mostNamed).join(', ');
  throw droverFailure(
    'HostNotEmpty',
    `${servers.length} ${servers.length === 1 ? 'server is' : 'servers are'} on ${host}: ${named}${servers.length > mostNamed ? ', …' : ''}`,
  );
}
