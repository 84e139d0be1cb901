import { readClusterUid } from '../../runtime/kubernetes/cluster-uid.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { describeClaimed, readClaim } from '../../runtime/temporal/claim.ts';
import type { CommandContext } from './context.ts';
import { CommandError, tableError } from './error.ts';
import { explainError, grpc } from './explain-error.ts';
import type { KubernetesAccess } from './kubernetes-access.ts';
import { answerTimeoutMs, type TemporalAccess } from './temporal-access.ts';

/**
 * Refuses to start anything where kubeconfig and Temporal do not belong together: the run would look for the object in
 * the other cluster, and empty the host of that name there. What a user is not allowed to read refuses nothing, and is
 * said; what gives no answer does, as it may be another's.
 *
 * @throws CommandError refused, naming who has the name; unreachable, where that cannot be read now
 */
export async function refuseOtherCluster(
  { client, config: { cluster }, context, abort }: Pick<TemporalAccess, 'client' | 'config' | 'context' | 'abort'>,
  kubernetes: Pick<KubernetesAccess, 'open'>,
): Promise<void> {
  const limits = { timeoutMs: answerTimeoutMs, clock: context.clock, abort };
  const read = async (): Promise<string> =>
    await readClusterUid(await kubernetes.open(), AbortSignal.any([abort, AbortSignal.timeout(answerTimeoutMs)]));
  const [found, holder] = await Promise.all([
    readClaim(client, 'cluster', cluster, limits).catch(unlessForbidden(context, abort)),
    read().catch(unlessForbidden(context, abort)),
  ]);
  if (found === null || holder === null || found === holder) return;
  throw tableError('ClusterClaimed', `${describeClaimed({ claimed: 'cluster', cluster, holder }, found)}.`);
}

/** Temporal's client wraps what gRPC says. */
const isForbidden = (error: unknown): boolean =>
  isFailure(error, 'KubernetesForbidden') ||
  [error, (error as Error).cause].some(
    (fault) => (fault as { code?: unknown } | undefined)?.code === grpc.permissionDenied,
  );

const unlessForbidden =
  ({ terminal }: Pick<CommandContext, 'terminal'>, abort: AbortSignal) =>
  (error: unknown): null => {
    abort.throwIfAborted();
    const { message, exitCode, advice } = explainError(error);
    if (isForbidden(error)) {
      terminal.remark(`Not checked whether the kubeconfig and Temporal belong together: ${message}`);
      return null;
    }
    throw new CommandError(
      `Nothing was changed, as it is not known which Kubernetes cluster this is: ${message}`,
      exitCode,
      advice,
      error,
    );
  };
