import type { RbdPoolSeen } from '../../contracts/rbd-pool.ts';
import type { Clock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { LibvirtConnection, RbdPool } from './types.ts';
import { checkPrefix, ownUuid } from './xml.ts';

/**
 * Has libvirt list the images of a pool, which shows that the hypervisor reaches Ceph. The pool in libvirt is drover's own and is removed
 * again; a worker that dies leaves it to the next look. One look at a time per host and pool: of two, the later may find it removed.
 *
 * @throws only the signal's reason when it is aborted
 */
export async function seeRbdPool(
  libvirt: LibvirtConnection,
  { cephPool, monitors, auth }: Pick<RbdPool, 'cephPool' | 'monitors' | 'auth'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<RbdPoolSeen> {
  const startedMs = clock.monotonicMs();
  const name = `${checkPrefix}${cephPool}`;
  const seen = { pool: cephPool, durationMs: 0 };
  const durationMs = (): number => Math.round(clock.monotonicMs() - startedMs);
  try {
    const pool = await libvirt.defineRbdPool({ name, uuid: ownUuid(name), cephPool, monitors, auth }, signal);
    try {
      await libvirt.startPool(pool, signal);
      await libvirt.refreshPool(pool, signal);
      const { length: images } = await libvirt.poolVolumes(pool, signal);
      return { ...seen, durationMs: durationMs(), outcome: 'listed', images };
    } finally {
      // Also when the signal was aborted: nothing is left behind.
      await libvirt.removePool(pool, new AbortController().signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    const code = failureCode(error);
    if (code === null) throw error;
    return { ...seen, durationMs: durationMs(), outcome: 'failed', code, message: (error as Error).message };
  }
}
