import type { ObservedGroupObject } from '../../../contracts/virtual-machine/activities.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { isUnknownKind } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { type Group, groups } from './schemas.ts';

/**
 * What a VirtualMachineGroup says of a VM. One that cannot be read is as good as none: the VM waits for it either way.
 * @throws the signal's reason when it is aborted
 */
export async function readGroup(
  client: KubernetesObjects,
  key: { namespace: string; name: string },
  vm: string,
  signal: AbortSignal,
): Promise<ObservedGroupObject> {
  try {
    const group = await client.get(groups, key, signal);
    return group === null ? none : judgeGroup(group, vm);
  } catch (error) {
    signal.throwIfAborted();
    if (failureCode(error) === null) throw error;
    return isUnknownKind(error) ? { ...none, unknownKind: true } : none;
  }
}

const none: ObservedGroupObject = { found: false, linked: false, placement: null };

/** Pure. */
export function judgeGroup({ spec, status }: Group, vm: string): ObservedGroupObject {
  const isVm = ({ kind, name }: { kind: string; name: string }): boolean => kind === 'VirtualMachine' && name === vm;
  const { zoneID, pool, node, datastores } = status?.members?.find(isVm)?.placement ?? {};
  const datastore = datastores?.[0]?.id;
  const isPlaced = zoneID !== undefined && pool !== undefined && datastore !== undefined;
  return {
    found: true,
    linked: spec?.bootOrder?.some(({ members = [] }) => members.some(isVm)) ?? false,
    placement: isPlaced ? { zone: zoneID, resourcePool: pool, datastore, host: node ?? null } : null,
  };
}
