import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import type { Clock } from '../../runtime/clock.ts';
import { failedBy, skipped, timed } from '../../runtime/host-check.ts';
import { askedHealth, askedPool, judgeHealth, judgePools } from './judge.ts';
import type { CephClient, CephSettings } from './types.ts';

/**
 * Checks what Ceph says of itself: it is healthy, and has the pools that hypervisors need. Where its health cannot be read the pools are
 * not asked for, as that would take as long again. A check that fails is a finding, never a failure.
 *
 * @throws only the signal's reason when it is aborted
 */
export async function checkCeph(
  client: CephClient,
  { pools, toleratedChecks }: Pick<CephSettings, 'pools' | 'toleratedChecks'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<HostCheck[]> {
  const healthFromMs = clock.monotonicMs();
  let health: HostCheck[];
  try {
    health = timed(clock, healthFromMs, [judgeHealth(toleratedChecks, await client.health(signal))]);
  } catch (error) {
    const unseen = pools.map((name) => skipped(askedPool(name), 'Ceph was not reached'));
    return [...timed(clock, healthFromMs, [failedBy(askedHealth(toleratedChecks), error, signal)]), ...unseen];
  }
  const poolsFromMs = clock.monotonicMs();
  try {
    return [...health, ...timed(clock, poolsFromMs, judgePools(pools, await client.pools(signal)))];
  } catch (error) {
    return [
      ...health,
      ...timed(
        clock,
        poolsFromMs,
        pools.map((name) => failedBy(askedPool(name), error, signal)),
      ),
    ];
  }
}
