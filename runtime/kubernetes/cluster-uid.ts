import { z } from 'zod';
import { droverFailure, failureDetail } from '../failure.ts';
import { checkAnswer, isFailure } from './kubernetes-faults.ts';
import type { Kubernetes } from './kubernetes.ts';
import { resourcePath } from './resource-path.ts';

const schema = z.object({ metadata: z.object({ uid: z.string().min(1) }) });
const name = 'kube-system';

/**
 * Which cluster this is: the uid of its namespace kube-system, which lives as long as the cluster, and comes back with
 * a restored etcd.
 *
 * @throws KubernetesForbidden, KubernetesUnavailable, AnswerMalformed; ObjectNotFound
 */
export async function readClusterUid(
  kubernetes: Pick<Kubernetes, 'request' | 'server'>,
  signal: AbortSignal,
): Promise<string> {
  try {
    const path = resourcePath('v1', 'namespaces', { name });
    const body = await kubernetes.request({ method: 'GET', path }, signal);
    return checkAnswer(schema, body, `the namespace ${name}`).metadata.uid;
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    throw droverFailure(
      'KubernetesForbidden',
      `Namespace ${name} of ${kubernetes.server} may not be read, so that nothing says which cluster this is: ${failureDetail(error)}`,
    );
  }
}
