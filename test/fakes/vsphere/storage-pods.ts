import { isA } from '../../../activities/vsphere/wire/kinds.ts';
import type { StoragePlacementSpec } from '../../../activities/vsphere/wire/vim/types.ts';
import { inventory as names } from '../../../lab/vsphere/handle.ts';
import { addDatastore, type DatastoreState } from './datastores.ts';
import { invalidArgument } from './fault.ts';
import type { FolderState, Managed, Model, Ref } from './model.ts';

export interface StoragePodState extends FolderState {
  podStorageDrsEntry: { storageDrsConfig: { podConfig: { enabled: boolean } } };
}

export interface StoragePods {
  pod: Managed<StoragePodState>;
  datastores: readonly Managed<DatastoreState>[];
}

/**
 * The datastore cluster of the lab’s vCenter (lab/vsphere/handle.ts). Its ids and addresses are its own: those of all
 * else are the same with it and without it.
 */
export function addStoragePod(model: Model, parent: Managed<FolderState>, hosts: readonly Ref[]): StoragePods {
  const ref: Ref = { type: 'StoragePod', value: 'group-p1' };
  const state: StoragePodState = {
    name: names.storagePod.slice(names.storagePod.lastIndexOf('/') + 1),
    parent: parent.ref,
    childEntity: [],
    podStorageDrsEntry: { storageDrsConfig: { podConfig: { enabled: true } } },
  };
  model.addOnce(ref, state);
  parent.state.childEntity.push(ref);
  const datastores = names.podDatastores.map((name, index) =>
    addDatastore(model, { name, parent: ref, hosts, own: `p${index + 1}` }),
  );
  for (const datastore of datastores) state.childEntity.push(datastore.ref);
  return { pod: { ref, state }, datastores };
}

/** Every datastore of the pod, the one with the most free space first. @throws InvalidArgument */
export function recommendDatastores(
  model: Model,
  { podSelectionSpec: { initialVmConfig = [] }, configSpec, resourcePool }: StoragePlacementSpec,
): object {
  if (resourcePool === undefined) throw invalidArgument('resourcePool');
  if (configSpec === undefined) throw invalidArgument('configSpec');
  const keys = (configSpec.deviceChange ?? []).map(({ device }) => device.key);
  const recommendations = initialVmConfig.flatMap(({ storagePod, disk = [] }) => {
    const { state } = model.get<StoragePodState>(storagePod);
    if (!state.podStorageDrsEntry.storageDrsConfig.podConfig.enabled || state.childEntity.length === 0)
      throw invalidArgument('podSelectionSpec.storagePod');
    if (disk.some(({ diskId }) => !keys.includes(diskId)))
      throw invalidArgument('podSelectionSpec.initialVmConfig.disk.fileBacking');
    const bytes = (configSpec.deviceChange ?? []).reduce(
      (sum, { device }) => sum + (isA(device, 'VirtualDisk') ? device.capacityInKB * 1_024 : 0),
      0,
    );
    return state.childEntity
      .map((ref) => model.get<DatastoreState>(ref))
      .filter((one) => one.state.summary.accessible && one.state.summary.freeSpace >= bytes)
      .toSorted((a, b) => b.state.summary.freeSpace - a.state.summary.freeSpace)
      .map(({ ref }) => ({
        $type: 'ClusterRecommendation',
        action: [{ $type: 'StoragePlacementAction', destination: { ...ref } }],
      }));
  });
  return { $type: 'StoragePlacementResult', ...(recommendations.length > 0 && { recommendations }) };
}
