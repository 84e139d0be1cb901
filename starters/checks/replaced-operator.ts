import type { Mode } from '../../contracts/kinds/kind.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { formatDuration } from '../render/duration.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

/** The leader election of openstack-hypervisor-operator (docs/compatibility.md#names-on-nodes). */
const replacedLease = '4c28796a.cloud.sap';

const check = 'replaced operator';

/** A `coordination.k8s.io/v1` Lease, as far as needed to decide whether it is held. */
export interface HeldLease {
  metadata: { name: string; namespace?: string };
  spec?: { holderIdentity?: string | null; renewTime?: string | null; leaseDurationSeconds?: number | null };
}

/**
 * Whether the operator that drover replaces still runs: two that move the same instances are worse than either.
 *
 * @param nowMs by kube-apiserver's clock, which the renewal times are of nearest
 */
export async function checkReplacedOperator(
  kubernetes: Kubernetes,
  mode: Mode,
  nowMs: number,
  signal: AbortSignal,
): Promise<Finding> {
  const query = { fieldSelector: `metadata.name=${replacedLease}` };
  try {
    const { items = [] } = (await kubernetes.request(
      { method: 'GET', path: resourcePath('coordination.k8s.io/v1', 'leases'), query },
      signal,
    )) as { items?: HeldLease[] };
    return judgeReplacedOperator(items, mode, nowMs);
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return warn(
      check,
      'whether it runs cannot be seen: Leases may not be listed',
      `Check it yourself: kubectl get leases -A | grep ${replacedLease}`,
    );
  }
}

export function judgeReplacedOperator(leases: readonly HeldLease[], mode: Mode, nowMs: number): Finding {
  const held = leases.find((lease) => isHeld(lease, nowMs));
  if (held === undefined) return ok(check, 'does not run');
  const { renewTime, holderIdentity } = held.spec ?? {};
  const who = `${holderIdentity ?? ''} holds Lease ${held.metadata.namespace ?? ''}/${replacedLease}, renewed ${formatDuration(nowMs - Date.parse(renewTime ?? ''))} ago`;
  if (mode === 'act')
    return fail(
      check,
      `it runs beside drover, which acts: ${who}`,
      'Stop that operator, or let drover only observe (modes.Eviction: observe).',
    );
  return mode === 'observe'
    ? ok(check, `it runs, and drover only observes: ${who}`)
    : warn(check, `it runs, and drover is off: ${who}`, 'Nothing to do until drover is switched on.');
}

/** Its holder renews it every few seconds; twice its duration without a renewal, its holder is gone. */
function isHeld({ spec }: HeldLease, nowMs: number): boolean {
  const { holderIdentity, renewTime, leaseDurationSeconds } = spec ?? {};
  if ((holderIdentity ?? '') === '' || renewTime === null || renewTime === undefined) return false;
  return nowMs - Date.parse(renewTime) < 2_000 * (leaseDurationSeconds ?? 15);
}
