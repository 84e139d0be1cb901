import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineKind } from '../../contracts/kinds/virtual-machine.ts';
import { readVirtualMachine } from '../../contracts/virtual-machine/read-virtual-machine.ts';
import { virtualMachineLabels } from '../../contracts/virtual-machine/metadata.ts';
import { typed } from '../../runtime/kubernetes/resources.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

/** VirtualMachines as people are shown them. */
export const shownVirtualMachines = typed(virtualMachineKind, virtualMachineSchema.transform(describeVirtualMachine));

function describeVirtualMachine(object: VirtualMachine): VirtualMachineObject {
  const { metadata, status = {} } = object;
  const desired = readVirtualMachine(object);
  return {
    namespace: desired.namespace,
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    resourceVersion: metadata.resourceVersion,
    createdAt: metadata.creationTimestamp,
    deleting: desired.deleting,
    paused: desired.paused,
    pausedBy: metadata.labels?.[virtualMachineLabels.paused] ?? null,
    observed: desired.mode === 'observe',
    powerOnChecks: desired.powerOnChecks,
    deleteChecks: desired.deleteChecks,
    conditions: status.conditions ?? [],
    wantedPowerState: desired.powerState,
    powerState: status.powerState ?? null,
    vmId: status.uniqueID ?? null,
    instanceUuid: status.instanceUUID ?? desired.instanceUuid,
    node: status.nodeName ?? null,
    zone: status.zone ?? desired.zone,
    ip: status.network?.primaryIP4 ?? status.network?.primaryIP6 ?? null,
    guest: status.guest?.guestFullName ?? status.guest?.guestID ?? null,
    hardwareVersion: status.hardwareVersion ?? null,
    class: desired.className,
    image: desired.image?.name ?? null,
    storageClass: desired.storageClass,
    group: desired.group,
  };
}
