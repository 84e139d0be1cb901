import type { VirtualMachineStatus } from '../crds/virtual-machine.ts';
import type { ObjectFacts, VirtualMachineLook } from './activities.ts';
import type { DesiredVirtualMachine } from './lifecycle.ts';

/** What vCenter is asked about the VM of an object. Pure. */
export function lookFor(
  desired: DesiredVirtualMachine,
  recorded: VirtualMachineStatus,
  objects: ObjectFacts,
): VirtualMachineLook {
  const { namespace, name, uid, instanceUuid, zone, config } = desired;
  const policy = objects.resourcePolicy?.kind === 'found' ? objects.resourcePolicy.value : null;
  const ofClass = objects.class?.kind === 'found' ? objects.class.value.extraConfig : {};
  return {
    object: { namespace, name, uid },
    vmName: name,
    uniqueId: recorded.uniqueID ?? null,
    mayBeMade: recorded.uniqueID !== undefined || desired.creatingSince !== null,
    instanceUuid,
    // Where its group was placed counts where the VM itself says nothing.
    zone: zone ?? objects.group?.placement?.zone ?? null,
    folder: policy?.folder ?? null,
    resourcePool: policy?.resourcePool ?? null,
    modules: policy?.modules[desired.clusterModule ?? ''] ?? {},
    profileId: objects.storageClass?.kind === 'found' ? objects.storageClass.value.profileId : null,
    networks: objects.networks,
    isos: objects.isos,
    extraConfigKeys: [...new Set([...Object.keys(ofClass), ...Object.keys(config.extraConfig)])].toSorted(),
  };
}
