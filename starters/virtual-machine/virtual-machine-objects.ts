import type { VirtualMachine, VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineKind } from '../../contracts/kinds/virtual-machine.ts';
import type { DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import { readVirtualMachine } from '../../contracts/virtual-machine/read-virtual-machine.ts';
import { virtualMachineLabels } from '../../contracts/virtual-machine/metadata.ts';
import { volumeOf } from '../../contracts/virtual-machine/volumes.ts';
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
    volumes: describeVolumes(desired, status),
    group: desired.group,
  };
}

/** Those that the spec names, and those that are still being detached. */
function describeVolumes(
  { volumes }: DesiredVirtualMachine,
  { volumes: rows = [] }: VirtualMachineStatus,
): VirtualMachineObject['volumes'] {
  const managed = rows.filter(({ type }) => type !== 'Classic');
  const wanted = volumes.map(({ name, claim }) => {
    const row = managed.find((one) => one.name === name);
    return { name, claim, problem: row?.attached === true ? null : (row?.error ?? 'not attached') };
  });
  const leaving = managed.filter(({ name }) => !volumes.some((volume) => volume.name === name));
  return [
    ...wanted,
    ...leaving.map(({ name, error }) => ({ name: volumeOf(name), claim: null, problem: error ?? 'being detached' })),
  ];
}
