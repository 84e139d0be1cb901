import {
  type VirtualMachineSetResourcePolicy,
  virtualMachineSetResourcePolicyDefinition,
  virtualMachineSetResourcePolicySchema,
} from '../crds/virtual-machine-set-resource-policy.ts';
import { resourcePolicyId, workflowTypes } from '../ids.ts';
import {
  policyRetry,
  readRecordedPolicy,
  readResourcePolicy,
  resourcePolicyMode,
} from '../resource-policy/read-resource-policy.ts';
import type { ResourcePolicyInput } from '../resource-policy/resource-policy.ts';
import { type ActiveMode, apiVersionOf, defineKind, namespaceAndName, namespacedInput } from './kind.ts';

/**
 * A VirtualMachineSetResourcePolicy is reconciled when no user asks for a retry, and `drover.dev/policy-made` has this generation: as made,
 * as cancelled, or, where drover only observes, as observed. A deleted one is reconciled when drover's finalizer is off.
 */
function isReconciled(policy: VirtualMachineSetResourcePolicy, mode: ActiveMode): boolean {
  const { deleting, isHeld, generation } = readResourcePolicy(policy);
  const { made, observed, cancelled } = readRecordedPolicy(policy);
  if (policyRetry(policy) !== null) return false;
  const isObserved = resourcePolicyMode(policy, mode) === 'observe';
  if (cancelled === generation || (isObserved && observed === generation)) return true;
  return deleting && !isObserved ? !isHeld : made === generation;
}

/** The subject is `namespace/name`. */
export const resourcePolicyKind = defineKind({
  kind: 'VirtualMachineSetResourcePolicy',
  apiVersion: apiVersionOf(virtualMachineSetResourcePolicyDefinition),
  plural: virtualMachineSetResourcePolicyDefinition.plural,
  schema: virtualMachineSetResourcePolicySchema,
  workflowType: workflowTypes.reconcileSetResourcePolicy,
  workflowId: (subject, cluster) => resourcePolicyId(...namespaceAndName(subject), cluster),
  input: (subject): ResourcePolicyInput => namespacedInput(subject),
  host: () => null,
  describe(subject) {
    const [namespace, name] = namespaceAndName(subject);
    return {
      summary: `Make policy ${subject}`,
      details: [
        `Makes what VirtualMachineSetResourcePolicy **${subject}** names in vCenter: a folder, resource pools and cluster modules. They go with it.`,
        `What it waits for is in its Events: \`kubectl describe virtualmachinesetresourcepolicy -n ${namespace} ${name}\`.`,
      ],
    };
  },
  isReconciled,
});
