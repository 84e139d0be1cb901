import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { evictionFinalizer } from '../../../contracts/ids.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Tools } from './dependencies.ts';

/** Takes drover's finalizer off the Eviction that was read. Well where it is off, or the Eviction gone. @throws ObjectConflict */
export async function releaseEviction(
  { client, scope }: Pick<Tools, 'client' | 'scope'>,
  metadata: Eviction['metadata'],
): Promise<void> {
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(evictionFinalizer)) return;
  try {
    await client.patchEvictionMetadata(
      metadata,
      { finalizers: finalizers.filter((finalizer) => finalizer !== evictionFinalizer) },
      scope.signal,
    );
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
}
