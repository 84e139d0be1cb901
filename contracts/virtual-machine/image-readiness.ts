import { objectReasons } from './conditions.ts';
import type { Fetched, Lacking, ObservedImage } from './observation.ts';

export const readReasons = { ...objectReasons, failed: objectReasons.getError } as const;

const imageKinds = ['VirtualMachineImage', 'ClusterVirtualMachineImage'];
const providerKinds = ['ContentLibraryItem', 'ClusterContentLibraryItem', 'VirtualMachine'];

/**
 * Why an image that is named cannot be used. Null: it can. Pure.
 *
 * @param fetched null: it was not read
 */
export function lackOfImage(
  image: { kind: string; name: string },
  fetched: Fetched<ObservedImage> | null,
): Lacking | null {
  if (!imageKinds.includes(image.kind))
    return { reason: 'UnknownKind', message: `${image.kind} is no kind of image; ${imageKinds.join(' and ')} are` };
  if (fetched === null) return { reason: 'Unknown', message: `${image.kind} ${image.name} was not read` };
  if (fetched.kind !== 'found') {
    const isUnanswered = fetched.kind === 'failed' || fetched.kind === 'internalError';
    return {
      reason: readReasons[fetched.kind],
      message: fetched.message,
      ...(isUnanswered && { mayPass: true as const }),
    };
  }
  const { ready, providerKind, providerItemId } = fetched.value;
  if (providerKind !== null && !providerKinds.includes(providerKind))
    return {
      reason: 'NotSupported',
      message: `${image.name} comes from a ${providerKind}; drover makes VMs from ${providerKinds.join(', ')}`,
    };
  if (ready === null || ready.status === 'Unknown')
    return { reason: 'Unknown', message: `${image.name} has no condition Ready` };
  if (ready.status === 'False')
    return { reason: ready.reason === '' ? 'NotReady' : ready.reason, message: ready.message };
  return providerItemId === null
    ? { reason: 'NotReady', message: `${image.name} does not say which item it is` }
    : null;
}
