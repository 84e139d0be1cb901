import { readClusterUid } from '../../runtime/kubernetes/cluster-uid.ts';
import { describeClaimed, readClaim } from '../../runtime/temporal/claim.ts';
import { tableError } from './error.ts';
import type { KubernetesAccess } from './kubernetes-access.ts';
import type { TemporalAccess } from './temporal-access.ts';

const timeoutMs = 5_000;

/**
 * Refuses to start anything where kubeconfig and Temporal do not belong together: the run would look for the object in the other cluster,
 * and empty the host of that name there. What cannot be read (a user need not be allowed to) refuses nothing.
 *
 * @throws CommandError refused, naming who has the name
 */
export async function refuseOtherCluster(temporal: TemporalAccess, kubernetes: KubernetesAccess): Promise<void> {
  const { client, config, context, abort } = temporal;
  const { cluster } = config;
  const limits = { timeoutMs, clock: context.clock, abort };
  const read = async () =>
    await Promise.all([
      readClaim(client, 'cluster', cluster, limits),
      readClusterUid(await kubernetes.open(), AbortSignal.any([abort, AbortSignal.timeout(timeoutMs)])),
    ]);
  const [found, holder] = await read().catch(() => {
    abort.throwIfAborted();
    return [null, null] as const;
  });
  if (found === null || holder === null || found === holder) return;
  throw tableError('ClusterClaimed', `${describeClaimed({ claimed: 'cluster', cluster, holder }, found)}.`);
}
