import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations, virtualMachineFinalizers } from '../../contracts/virtual-machine/metadata.ts';
import type { Check } from './objects.ts';
import { nameOf, objectsOf } from './objects.ts';
import type { OwnedVm } from './snapshot.ts';

/**
 * 13: a VirtualMachine has one VM at most, and exactly one, as its spec asks for it, where it says that it is
 * reconciled: while nothing is in progress, as before that others may just have changed it.
 */
export const oneVmPerObject: Check = (world) => {
  const byUid = Map.groupBy(world.vms, ({ uid }) => uid ?? '');
  const doubled = [...byUid]
    .filter(([, those]) => those.length > 1)
    .map(
      ([uid, those]) =>
        `VirtualMachine ${nameIn(those)} (${uid}) has ${those.length} VMs: ${those.map(({ id }) => id).join(', ')}`,
    );
  const amiss = objectsOf(world, 'VirtualMachine').flatMap((object) => {
    const { metadata, spec, status } = object;
    const lifecycle = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
    const isOver =
      metadata.deletionTimestamp === undefined &&
      lifecycle?.status === 'True' &&
      lifecycle.observedGeneration === metadata.generation;
    if (!isOver || !world.isQuiet) return [];
    const [vm] = byUid.get(metadata.uid) ?? [];
    if (vm === undefined) return [`${nameOf(object)} is ${lifecycle.reason}, and no VM has its metadata`];
    const wanted = spec?.powerState ?? 'PoweredOn';
    const claim = `${nameOf(object)} is ${lifecycle.reason}, and`;
    const isNoted = wanted === 'PoweredOn' && metadata.annotations?.[virtualMachineAnnotations.creating] !== undefined;
    return [
      ...(vm.powerState.toLowerCase() === wanted.toLowerCase()
        ? []
        : [`${claim} ${vm.id} is ${vm.powerState} instead of ${wanted}`]),
      ...(spec?.advanced?.extraConfig ?? []).flatMap(({ key, value = '' }) =>
        (vm.extraConfig[key] ?? '') === value ? [] : [`${claim} ${vm.id} has not ${key}=${value}`],
      ),
      ...(isNoted ? [`${claim} still notes that ${vm.id} is being made`] : []),
    ];
  });
  return [...doubled, ...amiss];
};

const nameIn = ([vm]: readonly OwnedVm[]): string => vm?.namespacedName ?? '';

/** 14: a VM of drover's has its object, which is held: it is let go only after its VM is gone. */
export const vmsAreHeld: Check = (world) =>
  world.vms.flatMap(({ id, namespacedName, uid }) => {
    const object = objectsOf(world, 'VirtualMachine').find(({ metadata }) => metadata.uid === uid);
    if (object === undefined)
      return [`VM ${id} belongs to VirtualMachine ${namespacedName ?? ''} (${uid ?? 'no uid'}), which is no more`];
    const isHeld = (object.metadata.finalizers ?? []).includes(virtualMachineFinalizers.current);
    return isHeld ? [] : [`${nameOf(object)} has VM ${id}, and no finalizer holds it`];
  });

/** 15: what others have in the vCenter stays as it is. */
export const strangersStay: Check = ({ strangers }) =>
  strangers.flatMap(({ what, before, after }) =>
    before === after ? [] : [`${what} is not drover’s, was ${before} and is ${after ?? 'gone'}`],
  );
