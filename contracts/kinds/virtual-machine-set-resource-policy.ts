import {
  type VirtualMachineSetResourcePolicy,
  virtualMachineSetResourcePolicyDefinition,
  virtualMachineSetResourcePolicySchema,
} from '../crds/virtual-machine-set-resource-policy.ts';
import { resourcePolicyId, workflowTypes } from '../ids.ts';
import { readRecordedPolicy, readResourcePolicy, resourcePolicyMode } from '../resource-policy/read-resource-policy.ts';
import type { ResourcePolicyInput } from '../resource-policy/resource-policy.ts';
import { type ActiveMode, apiVersionOf, defineKind, namespaceAndName, namespacedInput } from './kind.ts';

/** A VirtualMachineSetResourcePolicy is reconciled by `drover.dev/policy-made` for this generation; a deleted one when drover's finalizer is off. */
function isReconciled(policy: VirtualMachineSetResourcePolicy, mode: ActiveMode): boolean {
  const { deleting, isHeld, generation } = readResourcePolicy(policy);
  const { made, observed } = readRecordedPolicy(policy);
  if (resourcePolicyMode(policy, mode) === 'observe') return made === generation || observed === generation;
  return deleting ? !isHeld : made === generation;
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
