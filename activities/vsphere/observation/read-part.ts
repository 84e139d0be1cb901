import { errors, mayPass } from '../../../contracts/errors.ts';
import type { Lacking } from '../../../contracts/virtual-machine/observation.ts';
import { withTimeout, type Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';

/** For a login, the calls, and their turn: each call has a time-out of its own. An observation has two minutes. */
const readMs = 30_000;

/**
 * A part of an observation that vCenter has in its REST API, which may fail while vim25 is well. Where it cannot be
 * read, that is what is observed of it.
 *
 * @throws the signal's reason when it is aborted; what is no failure of the table, as a defect
 */
export async function readPart<Value>(
  clock: Clock,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<Value>,
  unread: (lacking: Lacking) => Value,
): Promise<Value> {
  try {
    return await withTimeout(clock, readMs, (overdue) =>
      read(AbortSignal.any([signal, overdue])).catch((error: unknown) =>
        Promise.reject(
          overdue.aborted
            ? droverFailure('VsphereUnavailable', `vCenter did not answer within ${readMs / 1_000} s`)
            : error,
        ),
      ),
    );
  } catch (error) {
    signal.throwIfAborted();
    const code = failureCode(error);
    if (code === null || !isError(error)) throw error;
    return unread({ reason: errors[code].reason, message: error.message, ...(mayPass(code) && { mayPass: true }) });
  }
}
