import { ApplicationFailure } from '@temporalio/common';

import type { Fetched } from '../../../contracts/virtual-machine/observation.ts';
import { failureCode, failureDetail } from '../../../runtime/failure.ts';
import { type KubernetesFaultDetails, isUnknownKind } from '../../../runtime/kubernetes/kubernetes-faults.ts';

/**
 * A read whose failure belongs to what is read, and is no failure of its reader.
 *
 * @param what as a person calls it: `VirtualMachineClass small`
 * @throws the signal's reason when it is aborted
 */
export async function fetchObject<Found, Value>(
  what: string,
  signal: AbortSignal,
  get: () => Promise<Found | null>,
  read: (found: Found) => Fetched<Value>,
): Promise<Fetched<Value>> {
  try {
    const found = await get();
    return found === null ? { kind: 'notFound', message: `There is no ${what}` } : read(found);
  } catch (error) {
    signal.throwIfAborted();
    return unfetched(what, error);
  }
}

/** What a refusal says of the object. Anything but a failure of the table is a defect, and thrown. */
function unfetched(what: string, error: unknown): Exclude<Fetched<never>, { kind: 'found' }> {
  const code = failureCode(error);
  if (code === null || !(error instanceof ApplicationFailure)) throw error;
  const message = `${what}: ${failureDetail(error)}`;
  const { httpStatus } = (error.details?.[0] ?? {}) as Partial<KubernetesFaultDetails>;
  if (isUnknownKind(error))
    return {
      kind: 'notFound',
      message: `There is no ${what}: this cluster does not know that kind`,
      unknownKind: true,
    };
  if (code === 'ObjectNotFound') return { kind: 'notFound', message };
  if (code === 'KubernetesForbidden') return { kind: 'forbidden', message };
  if (code === 'AnswerMalformed' || code === 'InvalidObject' || code === 'ObjectRefused')
    return { kind: 'invalid', message };
  return { kind: httpStatus === 500 ? 'internalError' : 'failed', message };
}
