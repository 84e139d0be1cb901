import type { VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import { virtualMachineAnnotations, virtualMachineLabels } from '../../../contracts/virtual-machine/marks.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import type { VmContext } from '../step.ts';
import { patch, success } from '../step.ts';

export const schemaVersion = 'v1alpha6';
/** Upstream's bit mask; 1: the base. Its others are features that drover does not have. */
export const featureVersion = '1';

/**
 * Puts into the spec what an older release left to vCenter, once per release: then the spec alone says what the VM is. Sources: seed 000
 * "VM Update Workflow", Reconcile schema upgrade; vm-and-machine.md A.1 and 0.
 */
export function planSchemaUpgrade({ desired, settings, vm }: VmContext): Outcome {
  const { build, schema, feature } = desired.upgradedTo;
  const spec = {
    ...(desired.instanceUuid === null && { instanceUUID: vm.instanceUuid }),
    ...(desired.biosUuid === null && { biosUUID: vm.biosUuid }),
    ...(desired.bootstrap.kind === 'CloudInit' &&
      desired.bootstrap.instanceId === null && {
        bootstrap: { cloudInit: { instanceID: desired.biosUuid ?? vm.biosUuid } },
      }),
  };
  const labels: Record<string, string> =
    desired.zone === null && vm.zone !== null ? { [virtualMachineLabels.zone]: vm.zone } : {};
  const isMarked = build === settings.buildVersion && schema === schemaVersion && feature === featureVersion;
  if (isMarked && Object.keys({ ...spec, ...labels }).length === 0) return success;
  return patch('schemaUpgrade', `Bring ${desired.name} to ${schemaVersion}`, {
    labels,
    annotations: upgradeMarks(settings),
    spec,
  });
}

export const upgradeMarks = ({
  buildVersion,
}: Pick<VirtualMachineSettings, 'buildVersion'>): Record<string, string> => ({
  [virtualMachineAnnotations.upgradedToBuildVersion]: buildVersion,
  [virtualMachineAnnotations.upgradedToSchemaVersion]: schemaVersion,
  [virtualMachineAnnotations.upgradedToFeatureVersion]: featureVersion,
});
