import type { VirtualMachineSetResourcePolicy } from '../crds/virtual-machine-set-resource-policy.ts';
import { policyAnnotations } from '../ids.ts';
import { mebibytesOf, quantityOf } from '../quantity.ts';
import type { DesiredPolicy, RecordedPolicy } from './resource-policy.ts';
import { resourcePolicyFinalizer } from '../virtual-machine/metadata.ts';

type Amount = string | number;

const cores = (amount: Amount | undefined): number | null => (amount === undefined ? null : quantityOf(amount));
const memoryMiB = (amount: Amount | undefined): number | null => (amount === undefined ? null : mebibytesOf(amount));

/** What the object asks for. Pure. */
export function readResourcePolicy({ metadata, spec = {} }: VirtualMachineSetResourcePolicy): DesiredPolicy {
  const { name = '', reservations = {}, limits = {} } = spec.resourcePool ?? {};
  const allocation = {
    reservationCores: cores(reservations.cpu) ?? 0,
    limitCores: cores(limits.cpu),
    reservationMiB: memoryMiB(reservations.memory) ?? 0,
    limitMiB: memoryMiB(limits.memory),
  };
  return {
    uid: metadata.uid,
    generation: metadata.generation,
    deleting: metadata.deletionTimestamp !== undefined,
    isHeld: metadata.finalizers?.includes(resourcePolicyFinalizer) ?? false,
    folder: spec.folder || null,
    resourcePool: name === '' ? null : { name, ...allocation },
    groups: [...new Set(spec.clusterModuleGroups ?? [])],
  };
}

/** What it says that there is. Pure. */
export function readRecordedPolicy({ metadata, status = {} }: VirtualMachineSetResourcePolicy): RecordedPolicy {
  const { [policyAnnotations.made]: made = '', [policyAnnotations.waitsFor]: waitsFor = null } =
    metadata.annotations ?? {};
  const [, word = '', generation] = /^(observed |cancelled )?(\d{1,15})$/u.exec(made) ?? [];
  const saidOf = (prefix: string): number | null =>
    generation === undefined || word !== prefix ? null : Number(generation);
  return {
    modules: (status.clustermodules ?? []).map(({ clusterMoID, groupName, moduleUUID }) => ({
      cluster: clusterMoID,
      group: groupName,
      module: moduleUUID,
    })),
    pools: (status.resourcePools ?? []).map(({ clusterMoID, childResourcePoolMoID }) => ({
      cluster: clusterMoID,
      pool: childResourcePoolMoID,
    })),
    made: saidOf(''),
    observed: saidOf('observed '),
    cancelled: saidOf('cancelled '),
    waitsFor,
  };
}
