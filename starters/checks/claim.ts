import type { Client } from '@temporalio/client';
import { claimScheduleId, type Claimed } from '../../contracts/ids.ts';
import { errors } from '../../contracts/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { readClusterUid } from '../../runtime/kubernetes/cluster-uid.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { type Claim, describeClaimed, readClaim } from '../../runtime/temporal/claim.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

interface ClaimSources {
  temporal: Client;
  kubernetes: Pick<Kubernetes, 'request' | 'server'>;
  clock: Clock;
}

/** Whether the name of the settings belongs to this cluster and its region in the Temporal namespace. */
export async function checkClaim(
  { temporal, kubernetes, clock }: ClaimSources,
  { cluster, region }: Omit<Claim, 'clusterUid'>,
  signal: AbortSignal,
): Promise<Finding[]> {
  const limits = { clock, abort: signal };
  const [ofCluster, ofRegion, clusterUid] = await Promise.all([
    readClaim(temporal, 'cluster', cluster, limits),
    readClaim(temporal, 'region', cluster, limits),
    readClusterUid(kubernetes, signal).catch((error: unknown) => {
      if (isFailure(error, 'KubernetesForbidden')) return null;
      throw error;
    }),
  ]);
  return [
    judgeClaim({ claimed: 'cluster', cluster, holder: clusterUid }, ofCluster),
    ...(region === null ? [] : [judgeClaim({ claimed: 'region', cluster, holder: region }, ofRegion)]),
  ];
}

/**
 * @param own.holder what this kubeconfig or credential leads to; null: it may not be read
 * @param found who has the name; null: it is free
 */
export function judgeClaim(
  { claimed, cluster, holder }: { claimed: Claimed; cluster: string; holder: string | null },
  found: string | null,
): Finding {
  const check = `name of the ${claimed}`;
  const id = claimScheduleId(claimed, cluster);
  if (found === null) return ok(check, `free: the first worker takes it (Schedule ${id})`);
  if (holder === null)
    return warn(
      check,
      `belongs to ${found}; whether that is this cluster cannot be seen, as you may not read the namespace kube-system`,
      'Ask for `get` of that namespace, or run `drover doctor` with the kubeconfig of the worker.',
    );
  if (found !== holder)
    return fail(check, describeClaimed({ claimed, cluster, holder }, found), errors.ClusterClaimed.advice);
  return ok(check, `belongs to this one (Schedule ${id})`);
}
