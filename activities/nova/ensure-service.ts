import type { HostObservation } from '../../contracts/eviction/instance.ts';
import { disabledReasonPrefix } from '../../contracts/ids.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { changeService, readService } from './change-service.ts';
import type { Tools } from './dependencies.ts';
import { serviceState } from './observe-host.ts';

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
