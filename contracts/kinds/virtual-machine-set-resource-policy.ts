import type { VirtualMachineSetResourcePolicy } from '../crds/virtual-machine-set-resource-policy.ts';
import { annotations, resourcePolicyId, workflowTypes } from '../ids.ts';
import { readRecordedPolicy, readResourcePolicy } from '../resource-policy/read-resource-policy.ts';
import { resourcePolicyFinalizer } from '../virtual-machine/metadata.ts';
import { type ActiveMode, defineKind, type Watch } from './kind.ts';
import { namespaceAndName, textOf } from './object.ts';
import { modeOf, pendingRetry } from './requests.ts';
import { virtualMachine } from './resources.ts';

/**
 * A VirtualMachineSetResourcePolicy is reconciled when no user asks for a retry, and `drover.dev/policy-made` has this
 * generation: as made, as cancelled, or, where drover only observes, as observed. A deleted one is reconciled when
 * drover's finalizer is off.
 */
function isReconciled(policy: VirtualMachineSetResourcePolicy, mode: ActiveMode): boolean {
  const { deleting, isHeld, generation } = readResourcePolicy(policy);
  const { made, observed, cancelled } = readRecordedPolicy(policy);
  if (pendingRetry(policy) !== null) return false;
  const isObserved = modeOf(policy, mode) === 'observe';
  if (cancelled === generation || (isObserved && observed === generation)) return true;
  return deleting && !isObserved ? !isHeld : made === generation;
}

const vmoperator = 'vmoperator.vmware.com';

/** The VirtualMachines in a policy: a deleted one waits for the last of them to go. An object may hold anything. */
const users: Watch = {
  resource: virtualMachine,
  concerns: 'deleting',
  predicate: {},
  mapFunction({ metadata: { namespace = '' }, spec }) {
    const { reserved } = (spec ?? {}) as { reserved?: { resourcePolicyName?: unknown } | null };
    const name = textOf(reserved?.resourcePolicyName);
    return name === null ? null : `${namespace}/${name}`;
  },
};

export const resourcePolicyKind = defineKind({
  group: vmoperator,
  version: 'v1alpha6',
  kind: 'VirtualMachineSetResourcePolicy',
  plural: 'virtualmachinesetresourcepolicies',
  namespaced: true,
  mode: {
    default: 'off',
    needs: { kind: 'VirtualMachine', why: 'they are made for VirtualMachines, in their vCenter' },
  },
  workflowType: workflowTypes.reconcileSetResourcePolicy,
  workflowId: (subject, cluster) => resourcePolicyId(...namespaceAndName(subject), cluster),
  input: ['namespace', 'name'],
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
  finalizer: resourcePolicyFinalizer,
  predicate: { generation: true, annotation: (key) => key === annotations.mode, finalizers: true },
  isReconciled,
  dependsOn: () => [users],
  role: 'virtual-machines',
  access: [
    {
      group: vmoperator,
      resources: ['virtualmachinesetresourcepolicies'],
      verbs: ['get', 'list', 'patch'],
      why: 'patch: its finalizer, and what there is. list: what is shared with another one stays.',
    },
    {
      group: vmoperator,
      resources: ['virtualmachinesetresourcepolicies/status'],
      verbs: ['patch'],
      why: 'Which resource pools and modules there are.',
    },
    {
      group: vmoperator,
      resources: ['virtualmachines'],
      verbs: ['list'],
      why: 'Which of them use a policy that is being deleted.',
    },
  ],
});
