import { findCondition } from '../conditions.ts';
import { type VirtualMachine, virtualMachineDefinition, virtualMachineSchema } from '../crds/virtual-machine.ts';
import { retryHandledAnnotation } from '../eviction/annotations.ts';
import { annotations, virtualMachineId, workflowTypes } from '../ids.ts';
import { virtualMachineConditions } from '../virtual-machine/conditions.ts';
import type { VirtualMachineInput } from '../virtual-machine/lifecycle.ts';
import { virtualMachineFinalizers } from '../virtual-machine/marks.ts';
import { type ActiveMode, apiVersionOf, defineKind, namespaceAndName, namespacedInput } from './kind.ts';

/**
 * A VirtualMachine is reconciled, as a Hypervisor is, by `Lifecycle` for this generation; a deleted one when drover holds no finalizer on it.
 * What happens to its VM in vCenter, its class, its image and its group start a run of their own, whatever this says.
 */
function isReconciled({ metadata, status }: VirtualMachine, mode: ActiveMode): boolean {
  if (metadata.deletionTimestamp !== undefined) {
    const held =
      metadata.finalizers?.some((finalizer) => Object.values<string>(virtualMachineFinalizers).includes(finalizer)) ??
      false;
    // Held on purpose, by a pause or a gate: that is said for this generation, and its end is told.
    return !held || isSaid(status, virtualMachineConditions.lifecycle, metadata.generation, 'False');
  }
  const given = metadata.annotations ?? {};
  if (given[annotations.retry] !== undefined && given[annotations.retry] !== given[retryHandledAnnotation])
    return false;
  const isObserved = mode === 'observe' || !['act', undefined].includes(given[annotations.mode]);
  return isSaid(
    status,
    isObserved ? virtualMachineConditions.observed : virtualMachineConditions.lifecycle,
    metadata.generation,
  );
}

function isSaid(status: VirtualMachine['status'], type: string, generation: number, as?: 'False'): boolean {
  const condition = findCondition(status?.conditions, type);
  return (
    condition !== undefined &&
    condition.observedGeneration === generation &&
    (as === undefined ? condition.status !== 'Unknown' : condition.status === as)
  );
}

/** The subject is `namespace/name`. */
export const virtualMachineKind = defineKind({
  kind: 'VirtualMachine',
  apiVersion: apiVersionOf(virtualMachineDefinition),
  plural: virtualMachineDefinition.plural,
  schema: virtualMachineSchema,
  workflowType: workflowTypes.reconcileVirtualMachine,
  workflowId: (subject, cluster) => virtualMachineId(...namespaceAndName(subject), cluster),
  input: (subject): VirtualMachineInput => namespacedInput(subject),
  host: () => null,
  describe(subject) {
    const [namespace, name] = namespaceAndName(subject);
    return {
      summary: `Drive VM ${subject}`,
      details: [
        `Brings the VM of VirtualMachine **${subject}** to where its spec wants it: made, configured, on or off, or gone.`,
        `What it waits for, and why, is in the conditions: \`kubectl describe vm -n ${namespace} ${name}\`.`,
      ],
    };
  },
  isReconciled,
});
