import type {
  ObservedGroupObject,
  ObservedObjects,
  VcenterObservation,
} from '../../contracts/virtual-machine/activities.ts';
import type { ResourceAllocation } from '../../contracts/virtual-machine/config.ts';
import type { VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import type {
  ObservedClass,
  Fetched,
  PlacedAt,
  Placement,
  ObservedPolicy,
  ObservedStorage,
  Prerequisites,
  VirtualMachineObservation,
} from '../../contracts/virtual-machine/observation.ts';

/** What of vCenter is known where it was not observed. */
const unobserved: VcenterObservation = {
  managerId: '',
  cluster: null,
  placement: { kind: 'notReady', message: 'vCenter was not asked yet' },
  candidates: [],
  vm: null,
  stateDigest: null,
  storage: null,
  network: null,
  probe: null,
  isos: {},
};

/** What decisions are made on: what was observed in Kubernetes, and in vCenter. Pure. */
export function composeObservation(
  recorded: VirtualMachineStatus,
  objects: ObservedObjects,
  vcenter: VcenterObservation | null,
): VirtualMachineObservation {
  const found = vcenter ?? unobserved;
  const { placement, vm } = found;
  const cpuMHz = vm?.cpuMHz ?? (placement.kind === 'placed' ? placement.at.cpuMHz : 0);
  return {
    recorded,
    prerequisites: {
      class: inMegahertz(objects.class, cpuMHz),
      image: objects.image,
      resourcePolicy: readPolicyFor(objects.resourcePolicy, found),
      storageClass: joinStorage(objects.storageClass, found.storage),
      ...(objects.instanceStorageClass !== undefined && { instanceStorageClass: objects.instanceStorageClass }),
      bootstrap: objects.bootstrap,
      network: found.network,
      isos: found.isos,
      ...joinLackingIsos(objects.lackingIsos, found.lackingIsos),
    },
    imageCache: objects.imageCache,
    group:
      objects.group === null
        ? null
        : { ...objects.group, placement: joinPlacement(objects.group.placement, placement) },
    placement,
    managerId: found.managerId,
    candidates: found.candidates,
    vm,
    snapshots: objects.snapshots,
    volumes: objects.volumes,
    ...(objects.policies !== undefined && { policies: objects.policies }),
    probe: found.probe,
  };
}

/** A class has CPU in cores, a reservation is in MHz of the hosts where the VM goes. */
function inMegahertz(found: Fetched<ObservedClass> | null, cpuMHz: number): Fetched<ObservedClass> | null {
  if (found?.kind !== 'found') return found;
  const { compute } = found.value;
  return {
    kind: 'found',
    value: { ...found.value, compute: { ...compute, cpuAllocation: scale(compute.cpuAllocation, cpuMHz) } },
  };
}

const scale = ({ reservation, limit }: ResourceAllocation, cpuMHz: number): ResourceAllocation => ({
  reservation: Math.ceil((reservation * cpuMHz) / 1_000),
  limit: limit < 0 ? limit : Math.ceil((limit * cpuMHz) / 1_000),
});

/**
 * Each cluster has modules of its own. While it is not known which one it will be, any will do. What else of it is not
 * made does not concern a VM that is there, or has a place.
 */
function readPolicyFor(
  found: ObservedObjects['resourcePolicy'],
  { cluster, vm, placement }: VcenterObservation,
): Fetched<ObservedPolicy> | null {
  if (found?.kind !== 'found') return found;
  const { unmade, ...policy } = found.value;
  const isConcerned = vm === null && placement.kind === 'notReady';
  const modules = Object.entries(found.value.modules).map(
    ([group, made]) => [group, (cluster === null ? Object.values(made)[0] : made[cluster]) ?? null] as const,
  );
  return {
    kind: 'found',
    value: {
      ...policy,
      modules: Object.fromEntries(modules),
      ...(unmade !== undefined && isConcerned && { unmade }),
    },
  };
}

/** The folder and the like of a group's place are those of its zone; null: it is not placed, or not there. */
function joinPlacement(ofGroup: ObservedGroupObject['placement'], placement: Placement): PlacedAt | null {
  return ofGroup === null || placement.kind !== 'placed' || placement.at.zone !== ofGroup.zone
    ? null
    : { ...placement.at, ...ofGroup, host: ofGroup.host ?? placement.at.host };
}

function joinStorage(
  found: ObservedObjects['storageClass'],
  storage: VcenterObservation['storage'],
): Fetched<ObservedStorage> | null {
  if (found?.kind !== 'found') return found;
  return { kind: 'found', value: { ...found.value, ...(storage ?? { hasDatastore: false, encrypted: false }) } };
}

const joinLackingIsos = (
  ofImages: ObservedObjects['lackingIsos'],
  ofFiles: VcenterObservation['lackingIsos'],
): Pick<Prerequisites, 'lackingIsos'> =>
  ofImages === undefined && ofFiles === undefined ? {} : { lackingIsos: { ...ofImages, ...ofFiles } };
