import { droverFailure } from '../../../runtime/failure.ts';
import { isA } from '../../vsphere/wire/kinds.ts';
import { folderRef, poolRef } from '../../vsphere/wire/values.ts';
import type { VirtualMachineConfigSpec } from '../../vsphere/wire/vim/types.ts';
import type { Pod } from './pool-places.ts';
import type { PoolVcenter } from './pool-vcenters.ts';

interface Recommendation {
  pod: Pod;
  /** Of the VM, without a place for its files. */
  config: VirtualMachineConfigSpec;
  resourcePool: string;
  folder: string;
  diskBytes: number;
}

/**
 * The datastore of a datastore cluster that a new VM goes to: the one that vCenter recommends; where Storage DRS is
 * off, the one with the most free space. Its id.
 *
 * @throws VsphereResourcesExhausted where there is none; as a call does
 */
export async function recommendDatastore(
  { gateway }: Pick<PoolVcenter, 'gateway'>,
  { pod, config, resourcePool, folder, diskBytes }: Recommendation,
  signal: AbortSignal,
): Promise<string> {
  if (!pod.recommends) return mostFree(gateway.vcenter, pod, diskBytes);
  const disks = (config.deviceChange ?? []).flatMap(({ device }) => (isA(device, 'VirtualDisk') ? [device] : []));
  const { recommendations = [] } = await gateway.call(
    'RecommendDatastores',
    await gateway.manager('storageResourceManager', signal),
    {
      storageSpec: {
        type: 'create',
        podSelectionSpec: {
          storagePod: pod.ref,
          initialVmConfig: disks.map(({ key, backing }) => ({
            storagePod: pod.ref,
            disk: [{ diskId: key, ...(backing !== undefined && { diskBackingInfo: backing }) }],
          })),
        },
        configSpec: config,
        resourcePool: poolRef(resourcePool),
        folder: folderRef(folder),
      },
    },
    signal,
  );
  // The best comes first.
  for (const { action = [] } of recommendations)
    for (const one of action) if (isA(one, 'StoragePlacementAction')) return one.destination.value;
  throw droverFailure(
    'VsphereResourcesExhausted',
    `vCenter ${gateway.vcenter} recommends no datastore of ${pod.name} for a disk of ${gib(diskBytes)} GiB`,
  );
}

/** Pure. @throws VsphereResourcesExhausted */
export function mostFree(vcenter: string, { name, members }: Pod, diskBytes: number): string {
  const [best] = members
    .filter(({ isUsable }) => isUsable)
    .toSorted((a, b) => b.freeBytes - a.freeBytes || (a.id < b.id ? -1 : 1));
  if (best !== undefined && best.freeBytes >= diskBytes) return best.id;
  throw droverFailure(
    'VsphereResourcesExhausted',
    best === undefined
      ? `No datastore of ${name} at vCenter ${vcenter} can be used: it has ${members.length}`
      : `No datastore of ${name} at vCenter ${vcenter} has ${gib(diskBytes)} GiB: ${best.name} has the most, ${gib(best.freeBytes)} GiB`,
  );
}

const gib = (bytes: number): number => Math.floor(bytes / 1_024 ** 3);
