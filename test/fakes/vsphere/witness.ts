import { diskUuid } from '../../../activities/vsphere/observation/devices.ts';
import { isA } from '../../../activities/vsphere/wire/kinds.ts';
import { inventory as names } from '../../../lab/vsphere/handle.ts';
import type { DescribedDevice, DescribedVm, VcenterWitness } from '../../../lab/vsphere/witness.ts';
import { filePath } from './datastores.ts';
import { fileOf } from './hardware.ts';
import { unlimited } from './inventory.ts';
import { copyFile } from './methods.ts';
import type { EntityState, Managed, PoolState, Ref, VmState } from './model.ts';
import { createModule, type RestParts } from './rest.ts';

const types = { vm: 'VirtualMachine', folder: 'Folder', pool: 'ResourcePool' } as const;
const firstMemoryMiB = 64;

/** Another client of the simulated vCenter: at once, and without faults. */
export function openWitness(parts: RestParts): VcenterWitness {
  const { model, inventory, files, tasks, vms, power, libraries, modules, tags, journal } = parts;
  const vmAt = (path: string): Managed<VmState> => model.vm(inventory.at(path));
  const split = (path: string): { parent: Ref; name: string } => {
    const at = path.lastIndexOf('/');
    return { parent: inventory.at(path.slice(0, at)), name: path.slice(at + 1) };
  };
  const isBelow = (path: string, below: string): boolean => path === below || path.startsWith(`${below}/`);
  const allOf = (type: string, below: string): string[] =>
    [...model.objects.values()]
      .filter(({ ref }) => ref.type === type)
      .map(({ ref }) => inventory.pathOf(ref))
      .filter((path) => isBelow(path, below === '/' ? '' : below));
  const now = <Result>(action: () => Result): Promise<Result> => {
    try {
      return Promise.resolve(action());
    } catch (error) {
      return Promise.reject(error);
    }
  };
  const fileAt = ({ datastore, path }: { datastore: string; path: string }): string =>
    filePath(datastore.split('/').at(-1) ?? '', path);
  const withSuffix = (path: string): string => (path.endsWith('.vmdk') ? path : `${path}.vmdk`);
  const pool = names.resourcePool;

  return {
    managerId: () => now(() => model.instanceUuid),
    idOf: (path) => now(() => inventory.at(path).value),

    listVms: (folder) =>
      now(() =>
        allOf(types.vm, folder === undefined ? names.vmFolder : `${names.vmFolder}/${folder}`).map((path) => {
          const {
            ref,
            state: { name, runtime, config },
          } = vmAt(path);
          return {
            id: ref.value,
            name,
            powerState: runtime.powerState,
            cpus: config.hardware.numCPU,
            memoryMiB: config.hardware.memoryMB,
            instanceUuid: config.instanceUuid,
            biosUuid: config.uuid,
            macAddresses: config.hardware.device.flatMap((device) =>
              isA(device, 'VirtualEthernetCard') ? [device.macAddress ?? ''] : [],
            ),
            isos: config.hardware.device.flatMap((device) => {
              const file = isA(device, 'VirtualCdrom') ? fileOf(device) : null;
              return file?.endsWith('.iso') === true ? [file] : [];
            }),
            changeVersion: config.changeVersion,
            extraConfig: Object.fromEntries(config.extraConfig.map(({ key, value }) => [key, String(value)])),
            disks: config.hardware.device
              .filter((device) => isA(device, 'VirtualDisk'))
              .map((disk) => fileOf(disk) ?? ''),
          };
        }),
      ),
    find: (kind, below) => now(() => allOf(types[kind], below)),
    describeVm: (path) => now(() => (inventory.findByPath(path) === null ? null : describe(vmAt(path)))),
    createVm: (path) =>
      now(() => {
        const { parent, name } = split(path);
        const card = {
          operation: 'add',
          device: {
            $type: 'VirtualE1000',
            key: -1,
            backing: { $type: 'VirtualEthernetCardNetworkBackingInfo', deviceName: 'VM Network' },
          },
        } as const;
        return vms.create(
          parent,
          {
            name,
            memoryMB: firstMemoryMiB,
            files: { vmPathName: filePath(inventory.datastores[0]?.state.name ?? '', '') },
            deviceChange: [card],
          },
          { pool: inventory.at(pool) },
        ).value;
      }),
    cloneVm: ({ from, to, pool: target = pool }) =>
      now(() => {
        const { parent, name } = split(to);
        return vms.clone(inventory.at(from), parent, name, {
          location: { pool: inventory.at(target), datastore: inventory.datastores[0]!.ref },
          template: false,
          powerOn: false,
        }).value;
      }),
    changeVm: (path, { memoryMiB, extraConfig = {} }) =>
      now(() =>
        vms.reconfigure(inventory.at(path), {
          ...(memoryMiB !== undefined && { memoryMB: memoryMiB }),
          extraConfig: Object.entries(extraConfig).map(([key, value]) => ({ $type: 'OptionValue', key, value })),
        }),
      ),
    setPower: (path, state) => now(() => power.set(inventory.at(path), state === 'on' ? 'poweredOn' : 'poweredOff')),
    attachNewDisk: (path, { sizeMiB, ...at }) =>
      now(() => {
        const vm = vmAt(path);
        const controller = vm.state.config.hardware.device.find((device) => isA(device, 'VirtualSCSIController'));
        const added =
          controller === undefined
            ? [
                {
                  operation: 'add',
                  device: {
                    $type: 'ParaVirtualSCSIController' as const,
                    key: -1,
                    busNumber: 0,
                    sharedBus: 'noSharing',
                  },
                },
              ]
            : [];
        const backing = {
          $type: 'VirtualDiskFlatVer2BackingInfo' as const,
          fileName: withSuffix(fileAt(at)),
          diskMode: 'persistent',
        };
        vms.reconfigure(vm.ref, {
          deviceChange: [
            ...added,
            {
              operation: 'add',
              fileOperation: 'create',
              device: {
                $type: 'VirtualDisk',
                key: -2,
                controllerKey: controller?.key ?? -1,
                capacityInKB: sizeMiB * 1_024,
                backing,
              },
            },
          ],
        });
      }),
    attachDisk: (path, { controllerKey, unitNumber, diskMode = 'persistent', sharing, ...at }) =>
      now(() => {
        const { ref, state } = vmAt(path);
        const controller = state.config.hardware.device.find((device) => isA(device, 'VirtualSCSIController'));
        const fileName = withSuffix(fileAt(at));
        vms.reconfigure(ref, {
          deviceChange: [
            {
              operation: 'add',
              device: {
                $type: 'VirtualDisk',
                key: -2,
                controllerKey: controllerKey ?? controller?.key ?? 0,
                ...(unitNumber !== undefined && { unitNumber }),
                capacityInKB: 0,
                backing: {
                  $type: 'VirtualDiskFlatVer2BackingInfo' as const,
                  fileName,
                  diskMode,
                  ...(sharing !== undefined && { sharing }),
                },
              },
            },
          ],
        });
        const disk = vmAt(path).state.config.hardware.device.find((device) => fileOf(device) === fileName);
        return (disk === undefined ? null : diskUuid(disk)) ?? '';
      }),
    detachDisk: (path, at) =>
      now(() => {
        const { ref, state } = vmAt(path);
        const disk = state.config.hardware.device.find((device) => fileOf(device) === withSuffix(fileAt(at)));
        if (disk !== undefined) vms.reconfigure(ref, { deviceChange: [{ operation: 'remove', device: disk }] });
      }),
    setAttributes: (path, attributes) =>
      now(() => {
        const vm = vmAt(path);
        const { field } = model.customFields;
        for (const [name, value] of Object.entries(attributes)) {
          if (!field.some((one) => one.name === name)) field.push({ $type: 'CustomFieldDef', key: model.next(), name });
          const { key } = field.find((one) => one.name === name)!;
          const others = (vm.state.customValue ?? []).filter((one) => one.key !== key);
          const $type = 'CustomFieldStringValue';
          vm.state.customValue = value === '' ? others : [...others, { $type, key, value }];
        }
        model.changed();
      }),
    createSnapshot: (path, name) =>
      now(() => {
        const vm = vmAt(path);
        const snapshot = { type: 'VirtualMachineSnapshot', value: `snapshot-${model.next()}` };
        vm.state.snapshot = {
          $type: 'VirtualMachineSnapshotInfo',
          currentSnapshot: snapshot,
          rootSnapshotList: [
            ...(vm.state.snapshot?.rootSnapshotList ?? []),
            { $type: 'VirtualMachineSnapshotTree', snapshot, name },
          ],
        };
        vm.state.rootSnapshot = [...vm.state.rootSnapshot, snapshot];
        vms.noteChange(vm);
      }),
    removeSnapshots: (path) =>
      now(() => {
        const vm = vmAt(path);
        vm.state.snapshot = undefined;
        vm.state.rootSnapshot = [];
        vms.noteChange(vm);
      }),
    destroyVm: (path) =>
      now(() => {
        const vm = vmAt(path);
        if (vm.state.runtime.powerState !== 'poweredOff') power.set(vm.ref, 'poweredOff');
        vms.destroy(vm.ref);
      }),

    createFolder: (path) => now(() => void inventory.createFolder(split(path).parent, split(path).name)),
    createPool: (path) =>
      now(
        () =>
          void inventory.createPool(split(path).parent, split(path).name, {
            cpuAllocation: unlimited(),
            memoryAllocation: unlimited(),
          }),
      ),
    describePool: (path) => now(() => model.get<PoolState>(inventory.at(path)).state.config),
    destroy: (path) => now(() => inventory.destroy(inventory.at(path))),
    rename: (path, name) => now(() => inventory.rename(inventory.at(path), name)),
    move: (path, folder) => now(() => inventory.move(inventory.at(path), inventory.at(folder))),

    createModule: (cluster) => now(() => createModule(parts, inventory.at(cluster).value, 'govc/simulated')),
    listModules: () => now(() => [...modules.keys()]),
    listModuleMembers: (module) => now(() => [...(modules.get(module)?.vms ?? [])]),

    createTag: (name) =>
      now(() => {
        const id = `urn:vmomi:InventoryServiceTag:${model.uuid()}:GLOBAL`;
        tags.set(id, { name, vms: new Set() });
        return id;
      }),
    listTags: (path) =>
      now(() =>
        [...tags.values()].flatMap(({ name, vms: tagged }) => (tagged.has(inventory.at(path).value) ? [name] : [])),
      ),

    setStorageDrs: (isOn) =>
      now(() => void (inventory.pod.state.podStorageDrsEntry.storageDrsConfig.podConfig.enabled = isOn)),
    listDatastores: () =>
      now(() =>
        inventory.datastores
          .map(({ ref, state }) => ({ id: ref.value, name: state.name, freeBytes: state.summary.freeSpace }))
          .toSorted((one, other) => other.freeBytes - one.freeBytes),
      ),
    makeDirectory: (at) =>
      now(() => void (files.find(fileAt(at)) === undefined && files.makeDirectory(fileAt(at), true))),
    listFiles: ({ datastore, path }) => now(() => files.list(datastore.split('/').at(-1) ?? '', path)),
    createDisk: ({ sizeMiB, ...at }) =>
      now(() =>
        files.write(fileAt(at), { kind: 'disk', capacityKiB: sizeMiB * 1_024, uuid: model.uuid(), parent: undefined }),
      ),
    copyFile: (from, to) =>
      now(() => copyFile(parts, fileAt(from), fileAt({ datastore: from.datastore, path: to }), true)),
    removeFiles: (at) => now(() => void (files.find(fileAt(at)) !== undefined && files.remove(fileAt(at)))),

    makeLibrary: (name) => now(() => libraries.make(name)),
    removeLibraryItem: (library, item) => now(() => libraries.remove(library, item)),

    readTasks: () => now(() => tasks.witness()),
    readJournal: () => now(() => journal.lives()),
  };
}

function describe({ ref, state }: Managed<VmState & EntityState>): DescribedVm {
  const { name, runtime, guest, config } = state;
  const { managedBy, vAppConfig, tools, ...rest } = structuredClone(config);
  return {
    id: ref.value,
    name,
    runtime: { powerState: runtime.powerState, host: { value: runtime.host.value } },
    guest: {
      ...(guest.hostName !== undefined && { hostName: guest.hostName }),
      ...(guest.ipAddress !== undefined && { ipAddress: guest.ipAddress }),
    },
    config: {
      ...rest,
      ...(managedBy !== undefined && { managedBy }),
      ...(vAppConfig !== undefined && { vAppConfig: vAppConfig as NonNullable<DescribedVm['config']['vAppConfig']> }),
      tools: tools.pendingCustomization === undefined ? {} : { pendingCustomization: tools.pendingCustomization },
      bootOptions: rest.bootOptions as NonNullable<DescribedVm['config']['bootOptions']>,
      hardware: { ...rest.hardware, device: rest.hardware.device as DescribedDevice[] },
      extraConfig: rest.extraConfig.map(({ key, value }) => ({ key, value: String(value) })),
    },
  };
}
