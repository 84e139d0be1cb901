import { isUnknownKind } from '../../../runtime/kubernetes/kubernetes-faults.ts';

/** `unknown`: kube-apiserver serves no such kind. */
export async function unlessUnknown<Found>(get: () => Promise<Found>): Promise<Found | 'unknown'> {
  try {
    return await get();
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
    return 'unknown';
  }
}
