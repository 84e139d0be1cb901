import { diskKeyOf, type VolumeStatus } from '../../../../contracts/virtual-machine/volumes.ts';
import type { VmContext } from '../context.ts';

/**
 * A row of `status.volumes`: what the attachment says, what the claim asks for, and what vCenter shows of
 * the disk. Pure.
 *
 * @param attachment null: nothing is known yet
 * @param claim null: of no interest, as it is being detached
 */
export function rowOf(
  { observed, vm }: Pick<VmContext, 'observed' | 'vm'>,
  name: string,
  attachment: { attached: boolean; diskUuid: string | null; error: string | null } | null,
  claim: string | null,
): VolumeStatus {
  const { attached = false, diskUuid = null, error = null } = attachment ?? {};
  const fetched = claim === null ? undefined : observed.volumes?.claims[claim];
  const { requested = null, limit = null } = fetched?.kind === 'found' ? fetched.value : {};
  const disk = diskUuid === null ? undefined : vm.disksByUuid[diskKeyOf(diskUuid)];
  return {
    ...disk,
    name,
    type: 'Managed',
    attached,
    ...(diskUuid !== null && { diskUUID: diskUuid }),
    ...(error !== null && { error }),
    ...(requested !== null && { requested }),
    ...((limit ?? requested) !== null && { limit: limit ?? requested ?? undefined }),
  };
}
