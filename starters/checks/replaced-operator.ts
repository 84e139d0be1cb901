import type { Mode } from '../../contracts/kinds/kind.ts';
import type { Kind } from '../../contracts/kinds/table.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { formatDuration } from '../render/duration.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

/** An operator that drover replaces, by the Lease of its leader election. */
export interface ReplacedOperator {
  check: string;
  lease: string;
  /** The kind that it looks after. */
  kind: Kind;
}

export const replacedOperators = {
  /** openstack-hypervisor-operator (docs/compatibility.md#names-on-nodes). */
  hypervisors: { check: 'replaced operator', lease: '4c28796a.cloud.sap', kind: 'Eviction' },
  /** agent-forge-operator, which makes VMs for the same pools (docs/agent-pools.md). */
  agentPools: {
    check: 'agent-forge-operator',
    lease: 'agent-forge-operator.containeroo.ch',
    kind: 'VsphereAgentPool',
  },
  /** CDI's controller, which clones for the same DataVolumes (docs/data-volumes.md). */
  dataVolumes: { check: 'controller of CDI', lease: 'cdi-controller-leader-election-helper', kind: 'DataVolume' },
} as const satisfies Record<string, ReplacedOperator>;

/** A `coordination.k8s.io/v1` Lease, as far as needed to decide whether it is held. */
export interface HeldLease {
  metadata: { name: string; namespace?: string };
  spec?: { holderIdentity?: string | null; renewTime?: string | null; leaseDurationSeconds?: number | null };
}

/**
 * Whether an operator that drover replaces still runs: two that move the same instances, make VMs for one demand, or
 * clone one volume, are worse than either.
 *
 * @param nowMs by kube-apiserver's clock, which the renewal times are of nearest
 */
export async function checkReplacedOperator(
  kubernetes: Kubernetes,
  replaced: ReplacedOperator,
  mode: Mode,
  nowMs: number,
  signal: AbortSignal,
): Promise<Finding> {
  const query = { fieldSelector: `metadata.name=${replaced.lease}` };
  try {
    const { items = [] } = (await kubernetes.request(
      { method: 'GET', path: resourcePath('coordination.k8s.io/v1', 'leases'), query },
      signal,
    )) as { items?: HeldLease[] };
    return judgeReplacedOperator(items, replaced, mode, nowMs);
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return warn(
      replaced.check,
      'whether it runs cannot be seen: Leases may not be listed',
      `Check it yourself: kubectl get leases -A | grep ${replaced.lease}`,
    );
  }
}

export function judgeReplacedOperator(
  leases: readonly HeldLease[],
  { check, lease: name, kind }: ReplacedOperator,
  mode: Mode,
  nowMs: number,
): Finding {
  const held = leases.find((lease) => isHeld(lease, nowMs));
  if (held === undefined) return ok(check, 'does not run');
  const { renewTime, holderIdentity } = held.spec ?? {};
  const who = `${holderIdentity ?? ''} holds Lease ${held.metadata.namespace ?? ''}/${name}, renewed ${formatDuration(nowMs - Date.parse(renewTime ?? ''))} ago`;
  if (mode === 'act')
    return fail(
      check,
      `it runs beside drover, which acts: ${who}`,
      `Stop that operator, or let drover only observe (modes.${kind}: observe).`,
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
