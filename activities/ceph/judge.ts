import type { RbdPoolSeen } from '../../contracts/rbd-pool.ts';
import { failed, passed, type Asked, type Finding } from '../../runtime/host-check.ts';
import type { CephHealth, CephHealthCheck, CephPool } from './types.ts';

const mostNamed = 5;

export const askedHealth = (tolerated: readonly string[]): Asked => ({
  name: 'CephHealthy',
  expectation:
    tolerated.length === 0
      ? 'Ceph is HEALTH_OK'
      : `Ceph is HEALTH_OK, or HEALTH_WARN with no more than ${tolerated.join(', ')}`,
});

/** Whether the cluster is healthy enough to put guests on. Pure. */
export function judgeHealth(tolerated: readonly string[], { status, checks }: CephHealth): Finding {
  const asked = askedHealth(tolerated);
  if (status === 'HEALTH_OK') return passed(asked, status);
  const counting = checks.filter(({ muted }) => !muted);
  const unwanted = counting.filter(({ type, severity }) => severity !== 'HEALTH_WARN' || !tolerated.includes(type));
  // An error is none that a setting takes back; a warning without a check is one that nobody tolerated.
  const isTolerated = status === 'HEALTH_WARN' && counting.length > 0 && unwanted.length === 0;
  if (isTolerated) return passed(asked, told(status, counting));
  return failed(asked, 'CephUnhealthy', told(status, unwanted.length === 0 ? counting : unwanted));
}

export const askedPool = (name: string): Asked => ({
  name: `CephPool.${name}`,
  expectation: `pool ${name} exists and is for rbd`,
});

/** Whether the pools are there and meant for block devices. Pure. */
export const judgePools = (names: readonly string[], pools: readonly CephPool[]): Finding[] =>
  names.map((name): Finding => {
    const asked = askedPool(name);
    const found = pools.find((pool) => pool.name === name);
    if (found === undefined)
      return failed(
        asked,
        'CephPoolMissing',
        `no such pool; ${pools.length === 0 ? 'there is none at all' : `there are ${shortened(pools.map((pool) => pool.name).toSorted())}`}`,
      );
    const seen =
      found.applications.length === 0 ? 'it is for no application' : `it is for ${shortened(found.applications)}`;
    return found.applications.includes('rbd') ? passed(asked, seen) : failed(asked, 'CephPoolNotRbd', seen);
  });

export const askedReach = (host: string, pool: string): Asked => ({
  name: `CephPoolReached.${pool}`,
  expectation: `${host} lists pool ${pool}`,
});

/** Whether a hypervisor reaches a pool, by what its libvirt did. Pure. */
export function judgeReach(host: string, seen: RbdPoolSeen): Finding {
  const asked = askedReach(host, seen.pool);
  if (seen.outcome === 'failed') return { ...asked, outcome: 'failed', seen: seen.message, code: seen.code };
  return passed(asked, seen.images === 1 ? '1 image' : `${seen.images} images`);
}

const told = (status: string, checks: readonly CephHealthCheck[]): string =>
  checks.length === 0 ? status : `${status}: ${shortened(checks.map(({ type, message }) => `${type} (${message})`))}`;
const shortened = (all: readonly string[]): string =>
  [...all.slice(0, mostNamed), ...(all.length > mostNamed ? [`and ${all.length - mostNamed} more`] : [])].join(', ');
