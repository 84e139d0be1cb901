import type { GroupObjectFacts, ObjectFacts, VirtualMachineLook, VsphereFacts } from '../../contracts/virtual-machine-activities.ts';
import type { ResourceAllocation } from '../../contracts/virtual-machine-config.ts';
import type { VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import type { DesiredVirtualMachine } from '../../contracts/virtual-machine-lifecycle.ts';
import type { ClassFacts, Fetched, PlacedAt, Placement, StorageFacts, VirtualMachineObservation } from '../../contracts/virtual-machine-observation.ts';

/** What of vCenter is known before it was asked. */
export const noFacts: VsphereFacts = { managerId: '', placement: { is: 'notReady', message: 'vCenter was not asked yet' }, candidates: [], vm: null, storage: null, network: null, isos: {} };

/** What vCenter is asked about the VM of an object. Pure. */
export function lookFor(desired: DesiredVirtualMachine, recorded: VirtualMachineStatus, objects: ObjectFacts): VirtualMachineLook {
  const { namespace, name, uid, instanceUuid, zone, config } = desired;
  const policy = objects.resourcePolicy?.is === 'found' ? objects.resourcePolicy.value : null;
  const ofClass = objects.class?.is === 'found' ? objects.class.value.extraConfig : {};
  return {
    object: { namespace, name, uid },
    vmName: name,
    uniqueId: recorded.uniqueID ?? null,
    instanceUuid,
    // Where its group was placed counts where the VM itself says nothing.
    zone: zone ?? objects.group?.placement?.zone ?? null,
    folder: policy?.folder ?? null,
    resourcePool: policy?.resourcePool ?? null,
    profileId: objects.storageClass?.is === 'found' ? objects.storageClass.value.profileId : null,
    networks: objects.networks,
    isos: objects.isos,
    extraConfigKeys: [...new Set([...Object.keys(ofClass), ...Object.keys(config.extraConfig)])].toSorted(),
  };
}

/** What decisions are made on: what Kubernetes told, and what vCenter did. Pure. */
export function composeObservation(recorded: VirtualMachineStatus, objects: ObjectFacts, facts: VsphereFacts, turn: VirtualMachineObservation['turn']): VirtualMachineObservation {
  const { placement, vm } = facts;
  const cpuMHz = vm?.cpuMHz ?? (placement.is === 'placed' ? placement.at.cpuMHz : 0);
  return {
    recorded,
    prerequisites: {
      class: inMegahertz(objects.class, cpuMHz),
      image: objects.image,
      resourcePolicy: objects.resourcePolicy,
      storageClass: joinStorage(objects.storageClass, facts.storage),
      bootstrap: objects.bootstrap,
      network: facts.network,
      isos: facts.isos,
    },
    imageCache: objects.imageCache,
    group: objects.group === null ? null : { ...objects.group, placement: joinPlacement(objects.group.placement, placement) },
    placement,
    managerId: facts.managerId,
    candidates: facts.candidates,
    vm,
    turn,
    snapshots: objects.snapshots,
    probe: null,
  };
}

/** A class tells CPU in cores, a reservation is in MHz of the hosts where the VM goes. */
function inMegahertz(found: Fetched<ClassFacts> | null, cpuMHz: number): Fetched<ClassFacts> | null {
  if (found?.is !== 'found') return found;
  const { compute } = found.value;
  return { is: 'found', value: { ...found.value, compute: { ...compute, cpuAllocation: scale(compute.cpuAllocation, cpuMHz) } } };
}

const scale = ({ reservation, limit }: ResourceAllocation, cpuMHz: number): ResourceAllocation => ({
  reservation: Math.ceil((reservation * cpuMHz) / 1_000),
  limit: limit < 0 ? limit : Math.ceil((limit * cpuMHz) / 1_000),
});

/** The folder and the like of a group's place are those of its zone; null: it is not placed, or not there. */
function joinPlacement(ofGroup: GroupObjectFacts['placement'], placement: Placement): PlacedAt | null {
  return ofGroup === null || placement.is !== 'placed' || placement.at.zone !== ofGroup.zone ? null : { ...placement.at, ...ofGroup };
}

function joinStorage(found: ObjectFacts['storageClass'], storage: VsphereFacts['storage']): Fetched<StorageFacts> | null {
  if (found?.is !== 'found') return found;
  return { is: 'found', value: { ...found.value, ...(storage ?? { hasDatastore: false, encrypted: false }) } };
}
