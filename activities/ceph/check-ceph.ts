import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import type { RbdPoolObservation } from '../../contracts/rbd-pool.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Asked, type Finding, failed, failedBy, passed, skipped, timed } from '../../runtime/host-check.ts';
import type { CephClient, CephHealth, CephHealthCheck, CephPool, CephSettings } from './types.ts';

/**
 * Checks what Ceph says of itself: it is healthy, and has the pools that hypervisors need. Where its health cannot be
 * read the pools are not asked for, as that would take as long again. A check that fails is a finding, never a failure.
 * What concerns the whole cluster is no failure of the host's.
 *
 * @param host name of the hypervisor; a warning that names it is about it
 * @throws only the signal's reason when it is aborted
 */
export async function checkCeph(
  client: CephClient,
  host: string,
  { pools, toleratedChecks }: Pick<CephSettings, 'pools' | 'toleratedChecks'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<HostCheck[]> {
  const healthFromMs = clock.monotonicMs();
  let health: HostCheck[];
  try {
    health = timed(clock, healthFromMs, [judgeHealth(host, toleratedChecks, await client.health(signal))]);
  } catch (error) {
    const skippedChecks = pools.map((name) => skipped(askedPool(name), 'Ceph was not reached'));
    return [
      ...timed(clock, healthFromMs, [beyondHost(failedBy(askedHealth(toleratedChecks), error, signal))]),
      ...skippedChecks,
    ];
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
        pools.map((name) => beyondHost(failedBy(askedPool(name), error, signal))),
      ),
    ];
  }
}

const mostNamed = 5;

const askedHealth = (tolerated: readonly string[]): Asked => ({
  name: 'CephHealthy',
  expectation:
    tolerated.length === 0
      ? 'Ceph is HEALTH_OK'
      : `Ceph is HEALTH_OK, or HEALTH_WARN with no more than ${tolerated.join(', ')}`,
});

const beyondHost = (finding: Finding): Finding => ({ ...finding, beyondHost: true });

/** Whether the cluster is healthy enough to put guests on. Only what names the host is the host's. Pure. */
export function judgeHealth(host: string, tolerated: readonly string[], { status, checks }: CephHealth): Finding {
  const asked = askedHealth(tolerated);
  if (status === 'HEALTH_OK') return passed(asked, status);
  const counting = checks.filter(({ muted }) => !muted);
  const unwanted = counting.filter(({ type, severity }) => severity !== 'HEALTH_WARN' || !tolerated.includes(type));
  // An error is none that a setting takes back; a warning without a check is not tolerated.
  const isTolerated = status === 'HEALTH_WARN' && counting.length > 0 && unwanted.length === 0;
  if (isTolerated) return passed(asked, describeHealth(status, counting));
  const its = unwanted.filter((check) => isAbout(host, check));
  if (its.length > 0) return failed(asked, 'CephUnhealthy', describeHealth(status, its));
  return beyondHost(
    failed(asked, 'CephUnhealthy', describeHealth(status, unwanted.length === 0 ? counting : unwanted)),
  );
}

/** Ceph names hosts as CRUSH has them, which is by their short name: `osd.3 (root=default,host=node-1) is down`. */
function isAbout(host: string, { message, details }: CephHealthCheck): boolean {
  const short = shortName(host);
  return [message, ...details].some((text) => text.split(/[^\w.-]+/u).some((word) => shortName(word) === short));
}

const shortName = (name: string): string => (name.split('.', 1)[0] ?? '').toLowerCase();

const askedPool = (name: string): Asked => ({
  name: `CephPool.${name}`,
  expectation: `pool ${name} exists and is for rbd`,
});

/** Whether the pools are there and meant for block devices. Pure. */
export const judgePools = (names: readonly string[], pools: readonly CephPool[]): Finding[] =>
  names.map((name): Finding => {
    const asked = askedPool(name);
    const found = pools.find((pool) => pool.name === name);
    if (found === undefined)
      return beyondHost(
        failed(
          asked,
          'CephPoolMissing',
          `no such pool; ${pools.length === 0 ? 'there is none at all' : `there are ${shortened(pools.map((pool) => pool.name).toSorted())}`}`,
        ),
      );
    const observed =
      found.applications.length === 0 ? 'it is for no application' : `it is for ${shortened(found.applications)}`;
    return found.applications.includes('rbd')
      ? passed(asked, observed)
      : beyondHost(failed(asked, 'CephPoolNotRbd', observed));
  });

export const askedReach = (host: string, pool: string): Asked => ({
  name: `CephPoolReached.${pool}`,
  expectation: `${host} lists pool ${pool}`,
});

/** Whether a hypervisor reaches a pool, by what its libvirt did. Pure. */
export function judgeReach(host: string, observed: RbdPoolObservation): Finding {
  const asked = askedReach(host, observed.pool);
  if (observed.outcome === 'failed')
    return { ...asked, outcome: 'failed', observed: observed.message, code: observed.code };
  return passed(asked, observed.images === 1 ? '1 image' : `${observed.images} images`);
}

const describeHealth = (status: string, checks: readonly CephHealthCheck[]): string =>
  checks.length === 0 ? status : `${status}: ${shortened(checks.map(({ type, message }) => `${type} (${message})`))}`;
const shortened = (all: readonly string[]): string =>
  [...all.slice(0, mostNamed), ...(all.length > mostNamed ? [`and ${all.length - mostNamed} more`] : [])].join(', ');
