import type { PolicyEvaluation } from '../../../contracts/crds/policy-evaluation.ts';
import { apiVersionOf } from '../../../contracts/kinds/object.ts';
import { policyEvaluation } from '../../../contracts/kinds/resources.ts';
import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import {
  evaluationName,
  type ObservedEvaluation,
  type ObservedPolicies,
} from '../../../contracts/virtual-machine/policies.ts';
import { failureDetail } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources } from '../../../runtime/kubernetes/resources.ts';
import { unlessUnknown } from '../lib/unless-unknown.ts';

/**
 * The evaluation of a VM's policies, by its name. Undefined: none are evaluated. One that may not be read, or is not as
 * documented, is said.
 */
export async function readPolicies(
  client: KubernetesObjects,
  { namespace, name, uid, policies }: DesiredVirtualMachine,
  signal: AbortSignal,
): Promise<ObservedPolicies | undefined> {
  if (policies === undefined) return undefined;
  try {
    const key = { namespace, name: evaluationName(name) };
    const found = await unlessUnknown(() => client.get(neighbourResources.PolicyEvaluation, key, signal));
    if (found === 'unknown') return { served: false, problem: null, evaluation: null };
    return { served: true, problem: null, evaluation: found === null ? null : readEvaluation(found, uid) };
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden') && !isFailure(error, 'AnswerMalformed')) throw error;
    const problem = `PolicyEvaluation ${namespace}/${evaluationName(name)} cannot be read: ${failureDetail(error)}`;
    return { served: true, problem, evaluation: null };
  }
}

/** @param owner uid of the VirtualMachine */
export function readEvaluation(
  { metadata, spec = {}, status = {} }: PolicyEvaluation,
  owner: string,
): ObservedEvaluation {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    uid: metadata.uid,
    own: metadata.ownerReferences?.some((one) => one.uid === owner && one.controller === true) ?? false,
    deleting: metadata.deletionTimestamp !== undefined,
    spec,
    isCurrent: status.observedGeneration === metadata.generation,
    ready: ready === undefined ? null : { isTrue: ready.status === 'True', message: ready.message ?? '' },
    results: (status.policies ?? []).map(
      ({ apiVersion = apiVersionOf(policyEvaluation), kind, name, observedGeneration: generation = 0, tags = [] }) => ({
        apiVersion,
        kind,
        name,
        generation,
        tags,
      }),
    ),
  };
}
