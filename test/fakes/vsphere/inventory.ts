import { AbsentError } from '../../../lab/absent-error.ts';
import { inventory as names } from '../../../lab/vsphere/handle.ts';
import { VsphereFault } from './fault.ts';
import { addDatastore, type DatastoreState } from './datastores.ts';
import { addStoragePod, type StoragePods } from './storage-pods.ts';
import type { EntityState, FolderState, Managed, Model, PoolState, Ref } from './model.ts';

const hosts = 3;
const cpuMhz = 2_294;

interface DatacenterState extends EntityState {
  vmFolder: Ref;
  hostFolder: Ref;
  datastoreFolder: Ref;
  networkFolder: Ref;
  datastore: Ref[];
}

interface ClusterState extends EntityState {
  resourcePool: Ref;
  host: Ref[];
}

export interface HostState extends EntityState {
  summary: { hardware: { cpuMhz: number } };
  runtime: { connectionState: string; inMaintenanceMode: boolean };
}

export interface Inventory {
  root: Managed<FolderState>;
  datacenter: Managed<DatacenterState>;
  cluster: Managed<ClusterState>;
  hosts: readonly Managed<HostState>[];
  /** Those in no datastore cluster. */
  datastores: readonly Managed<DatastoreState>[];
  allDatastores: readonly Managed<DatastoreState>[];
  pod: StoragePods['pod'];
  /** Null: there is none. */
  findByPath(path: string): Ref | null;
  /** @throws NotFound */
  at(path: string): Ref;
  findChild(parent: Ref, name: string): Ref | null;
  /** The path of an object of the inventory. */
  pathOf(ref: Ref): string;
  createFolder(parent: Ref, name: string): Ref;
  createPool(parent: Ref, name: string, allocation: PoolState['config']): Ref;
  /** A folder with all that is in it, or a resource pool, whose VMs go to its parent. */
  destroy(ref: Ref): void;
  rename(ref: Ref, name: string): void;
  move(ref: Ref, folder: Ref): void;
}

/** vCenter writes these so in names. */
const asPart = (name: string): string => name.replaceAll('%', '%25').replaceAll('/', '%2f').replaceAll('\\', '%5c');

/** The inventory of the lab's vCenter (lab/vsphere/handle.ts) but for its VMs. */
export function openInventory(model: Model): Inventory {
  const folder = (name: string, parent: Ref | undefined, kind: string): Managed<FolderState> =>
    model.add<FolderState>('Folder', `group-${kind}`, { name, parent, childEntity: [] });
  const put = (parent: Managed<FolderState>, ref: Ref): void => void parent.state.childEntity.push(ref);

  const root = folder('Datacenters', undefined, 'd');
  const datacenter = model.add<Partial<DatacenterState> & EntityState>('Datacenter', 'datacenter-', {
    name: names.datacenter,
    parent: root.ref,
  }) as Managed<DatacenterState>;
  put(root, datacenter.ref);
  const top = (name: string, kind: string): Managed<FolderState> => folder(name, datacenter.ref, kind);
  const folders = {
    vm: top('vm', 'v'),
    host: top('host', 'h'),
    datastore: top('datastore', 's'),
    network: top('network', 'n'),
  };
  Object.assign(datacenter.state, {
    vmFolder: folders.vm.ref,
    hostFolder: folders.host.ref,
    datastoreFolder: folders.datastore.ref,
    networkFolder: folders.network.ref,
  });

  const cluster = model.add<Partial<ClusterState> & EntityState>('ClusterComputeResource', 'domain-c', {
    name: 'DC0_C0',
    parent: folders.host.ref,
    host: [],
  }) as Managed<ClusterState>;
  put(folders.host, cluster.ref);
  const addPool = (name: string, parent: Ref, config: PoolState['config']): Managed<PoolState> => {
    const pool: Managed<PoolState> = model.add<PoolState>('ResourcePool', 'resgroup-', {
      name,
      parent,
      owner: cluster.ref,
      resourcePool: [],
      config,
      get vm() {
        return model
          .vms()
          .filter(({ state }) => state.resourcePool.value === pool.ref.value)
          .map(({ ref }) => ref);
      },
    });
    return pool;
  };
  cluster.state.resourcePool = addPool('Resources', cluster.ref, {
    cpuAllocation: unlimited(),
    memoryAllocation: unlimited(),
  }).ref;
  const added = Array.from({ length: hosts }, (_, index) => {
    const host = model.add<HostState>('HostSystem', 'host-', {
      name: `DC0_C0_H${index}`,
      parent: cluster.ref,
      summary: { hardware: { cpuMhz } },
      runtime: { connectionState: 'connected', inMaintenanceMode: false },
    });
    cluster.state.host.push(host.ref);
    return host;
  });
  const addNetwork = (type: string, prefix: string, state: EntityState & Record<string, unknown>): Managed => {
    const network = model.add(type, prefix, state);
    put(folders.network, network.ref);
    return network;
  };
  addNetwork('Network', 'network-', { name: 'VM Network', parent: folders.network.ref });
  const dvs = addNetwork('VmwareDistributedVirtualSwitch', 'dvs-', {
    name: 'DVS0',
    parent: folders.network.ref,
    uuid: model.uuid(),
  });
  const port = model.next();
  addNetwork('DistributedVirtualPortgroup', 'dvportgroup-', {
    name: 'DC0_DVPG0',
    parent: folders.network.ref,
    key: `dvportgroup-${port}`,
    config: { distributedVirtualSwitch: dvs.ref },
  });
  const datastores = names.datastores.map((path) => {
    const datastore = addDatastore(model, {
      name: path.slice(path.lastIndexOf('/') + 1),
      parent: folders.datastore.ref,
      hosts: added.map(({ ref }) => ref),
    });
    put(folders.datastore, datastore.ref);
    return datastore;
  });
  const { pod, datastores: podDatastores } = addStoragePod(
    model,
    folders.datastore,
    added.map(({ ref }) => ref),
  );
  datacenter.state.datastore = [...datastores, ...podDatastores].map(({ ref }) => ref);

  const nameOf = (ref: Ref): string => model.get<EntityState>(ref).state.name;
  const childrenOf = (ref: Ref): Ref[] => {
    const { state } = model.get<Partial<FolderState & DatacenterState & ClusterState & PoolState>>(ref);
    if (ref.type === 'Folder' || ref.type === 'StoragePod') return state.childEntity ?? [];
    if (ref.type === 'Datacenter') return Object.values(folders).map((one) => one.ref);
    if (ref.type === 'ClusterComputeResource')
      return [
        ...(state.resourcePool === undefined ? [] : [state.resourcePool as unknown as Ref]),
        ...(state.host ?? []),
      ];
    return ref.type === 'ResourcePool' ? [...(state.resourcePool ?? []), ...(state.vm ?? [])] : [];
  };
  const findChild = (parent: Ref, name: string): Ref | null =>
    childrenOf(parent).find((ref) => nameOf(ref) === name) ?? null;
  const findByPath = (path: string): Ref | null => {
    let at: Ref | null = root.ref;
    for (const part of path.split('/').filter((one) => one !== '')) {
      at = childrenOf(at).find((ref) => asPart(nameOf(ref)) === part || nameOf(ref) === part) ?? null;
      if (at === null) return null;
    }
    return at;
  };
  const claimName = (parent: Ref, name: string): void => {
    const taken = findChild(parent, name);
    if (taken !== null) throw new VsphereFault('DuplicateName', { name, object: taken });
  };
  const listOf = (ref: Ref): Ref[] | null => {
    const { parent } = model.get<EntityState>(ref).state;
    if (parent?.type === 'Folder') return model.get<FolderState>(parent).state.childEntity;
    return parent?.type === 'ResourcePool' ? model.get<PoolState>(parent).state.resourcePool : null;
  };
  const takeOut = (ref: Ref): void => {
    const list = listOf(ref);
    const index = list?.findIndex(({ value }) => value === ref.value) ?? -1;
    if (index >= 0) list?.splice(index, 1);
  };
  const destroy = (ref: Ref): void => {
    const { state } = model.get<EntityState>(ref);
    if (ref.type === 'Folder')
      for (const child of model.get<FolderState>(ref).state.childEntity.slice()) destroy(child);
    if (ref.type === 'ResourcePool') {
      const pool = model.get<PoolState>(ref).state;
      if (state.parent?.type !== 'ResourcePool') throw new VsphereFault('InvalidArgument', { invalidProperty: 'self' });
      for (const child of pool.resourcePool.slice()) destroy(child);
      for (const vm of pool.vm) model.vm(vm).state.resourcePool = state.parent;
    }
    if (ref.type === 'VirtualMachine' && model.vm(ref).state.runtime.powerState === 'poweredOn') {
      throw new VsphereFault('InvalidPowerState', { requestedState: 'poweredOff', existingState: 'poweredOn' });
    }
    takeOut(ref);
    model.remove(ref);
    model.changed();
  };
  return {
    root,
    datacenter,
    cluster,
    hosts: added,
    datastores,
    allDatastores: [...datastores, ...podDatastores],
    pod,
    findByPath,
    at(path) {
      const found = findByPath(path);
      if (found === null) throw new AbsentError(`vCenter has no ${path}`);
      return found;
    },
    findChild,
    pathOf(ref) {
      const parts: string[] = [];
      for (let at: Ref | undefined = ref; at !== undefined && at.value !== root.ref.value;) {
        const { name, parent }: EntityState = model.get<EntityState>(at).state;
        parts.unshift(asPart(name));
        at = parent;
      }
      return `/${parts.join('/')}`;
    },
    createFolder(parent, name) {
      claimName(parent, name);
      const made = folder(name, parent, 'v');
      model.get<FolderState>(parent).state.childEntity.push(made.ref);
      model.changed();
      return made.ref;
    },
    createPool(parent, name, allocation) {
      claimName(parent, name);
      const made = addPool(name, parent, allocation);
      model.get<PoolState>(parent).state.resourcePool.push(made.ref);
      model.changed();
      return made.ref;
    },
    destroy,
    rename(ref, name) {
      const entity = model.get<EntityState>(ref);
      const { parent } = entity.state;
      if (parent !== undefined) claimName(parent, name);
      entity.state.name = name;
      model.changed();
    },
    move(ref, target) {
      const entity = model.get<EntityState>(ref);
      claimName(target, entity.state.name);
      takeOut(ref);
      entity.state.parent = target;
      model.get<FolderState>(target).state.childEntity.push(ref);
      model.changed();
    },
  };
}

/** Of a pool that nothing is said of. */
export const unlimited = (): PoolState['config']['cpuAllocation'] => ({
  $type: 'ResourceAllocationInfo',
  reservation: 0,
  expandableReservation: true,
  limit: -1,
  shares: { $type: 'SharesInfo', shares: 4_000, level: 'normal' },
});
