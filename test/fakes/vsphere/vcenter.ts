import type { Vim } from '../../../activities/vsphere/client.ts';
import { isA } from '../../../activities/vsphere/wire/kinds.ts';
import type { DatastoreHttp } from '../../../activities/vsphere/datastore-http.ts';
import type { VcenterRest } from '../../../activities/vsphere/rest/client.ts';
import { labVcenter } from '../../../lab/drover.ts';
import type { VcenterControl } from '../../../lab/vsphere/control.ts';
import { inventory as names } from '../../../lab/vsphere/handle.ts';
import { vcenterSettings } from '../../../lab/vsphere/vm-fixture.ts';
import type { VcenterWitness } from '../../../lab/vsphere/witness.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { vsphereConfig } from '../../../runtime/config/vsphere-config.ts';
import { loadVcenters, type VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import type { Network } from '../../simulator/network.ts';
import { openDatastoreHttp } from './datastore-http.ts';
import { openFiles } from './datastores.ts';
import { VsphereFault } from './fault.ts';
import { openFrontDoor } from './front.ts';
import { fileOf, firstDisk } from './hardware.ts';
import { openInventory } from './inventory.ts';
import { openJournal } from './journal.ts';
import { openLibraries } from './library.ts';
import { openMethods } from './methods.ts';
import { createModel, type Model, type Tags } from './model.ts';
import { openPower } from './power.ts';
import { openRest, type RestParts } from './rest.ts';
import { openTasks } from './tasks.ts';
import { openVim } from './vim.ts';
import { openVirtualMachines } from './virtual-machines.ts';
import { openWitness } from './witness.ts';

export interface FakeVcenter {
  /** For drover: over the network, with its faults. @param settings default: {@link FakeVcenter.settings} */
  openVim(settings?: VcenterSettings): Vim;
  openRest(settings?: VcenterSettings): VcenterRest;
  openDatastoreHttp(settings?: VcenterSettings): DatastoreHttp;
  /** What the lab's control port does. */
  control: VcenterControl;
  /** For users and judges: at once and without faults. */
  witness: VcenterWitness;
  /**
   * Of drover's settings, the section `vsphere`, as lab/vsphere/vm-fixture.ts has it. Files that it names
   * are not there.
   */
  section: object;
  /** The same, loaded. */
  settings: VcenterSettings;
  model: Model;
}

export interface FakeVcenterOptions {
  clock: Clock;
  network: Network;
  random: () => number;
  /** As settings call it. Default: the lab's. */
  name?: string;
}

const templates = 2;

/** A vCenter with the inventory of the lab's, in this process. */
export function createFakeVcenter({ clock, network, random, name = labVcenter }: FakeVcenterOptions): FakeVcenter {
  const model = createModel({ clock, random });
  const inventory = openInventory(model);
  const files = openFiles(inventory.allDatastores, () => model.changed());
  const tasks = openTasks(model);
  const tags: Tags = new Map();
  const vms = openVirtualMachines(model, inventory, files, tasks, tags);
  const power = openPower(model, (vm) => vms.noteChange(vm));
  const libraries = openLibraries(model, files, inventory.datastores[0]?.state.name ?? '');
  const parts: RestParts = {
    model,
    inventory,
    files,
    tasks,
    vms,
    power,
    libraries,
    modules: new Map(),
    tags,
    journal: openJournal(model),
  };
  const front = openFrontDoor();
  const methods = openMethods(parts);
  addTemplates(parts);

  const section = vcenterSettings(
    { url: `https://${name}.test`, username: 'drover', passwordFile: '/run/secrets/vcenter', caFile: null },
    name,
  );
  const [loaded] = loadVcenters(vsphereConfig.parse(section), {});
  if (loaded === undefined) throw new Error('the settings have no vCenter');
  const settings = { ...loaded, credential: () => Promise.resolve({ username: 'drover', password: 'simulated' }) };
  const done = (): Promise<void> => Promise.resolve();
  return {
    openVim: (given = settings) => openVim({ settings: given, network, parts, front }, methods),
    openRest: (given = settings) => openRest({ settings: given, network, parts, front }),
    openDatastoreHttp: (given = settings) => openDatastoreHttp({ settings: given, network, parts, front }),
    control: {
      fail: ({ method, inTask = false, ...rule }) => {
        if (inTask) tasks.failNext(method, new VsphereFault(rule.fault, rule.fields ?? {}), rule.count ?? 1);
        else front.fail({ method, ...rule });
        return done();
      },
      inject: (fault) => done().then(() => front.inject(fault)),
      delayTasks: (delaysMs) => done().then(() => tasks.setDelays(delaysMs)),
      deafenGuests: (deaf) => done().then(() => power.deafen(deaf)),
      // Logins are below the ports.
      changePassword: done,
      endSessions: () => Promise.resolve({ ended: front.endSessions() }),
      becomeAnother: (instanceUuid) =>
        done().then(() => {
          model.instanceUuid = instanceUuid;
          front.endSessions();
        }),
      failMigration: (path, afterMs) =>
        done().then(() => {
          tasks.start({
            method: 'MigrateVM_Task',
            name: 'MigrateVm',
            descriptionId: 'VirtualMachine.migrate',
            entity: inventory.at(path),
            isExclusive: true,
            isCancelable: true,
            takesMs: afterMs,
            work: () => {
              throw new VsphereFault('MigrationFault');
            },
          });
          model.changed();
        }),
      moveDisks: (path, datastore) => done().then(() => moveDisks(parts, path, datastore)),
      ignoreChanges: (path, ignored) => done().then(() => vms.ignoreChanges(inventory.at(path), ignored)),
      requests: () => Promise.resolve(front.requests()),
      clearRequests: () => done().then(() => front.clearRequests()),
      reset: () =>
        done().then(() => {
          front.clearFaults();
          tasks.clearFaults();
          tasks.setDelays({});
          power.deafen(false);
        }),
    },
    witness: openWitness(parts),
    section,
    settings,
    model,
  };
}

/** Those that lie beside the VM's own file. */
function moveDisks({ model, inventory, files, vms }: RestParts, path: string, datastore: string): void {
  const vm = model.vm(inventory.at(path));
  const home = vm.state.config.files.vmPathName.replace(/[^/]*$/u, '');
  const target = home.replace(/^\[[^\]]+\]/u, `[${datastore}]`);
  if (files.find(target.slice(0, -1)) === undefined) files.makeDirectory(target.slice(0, -1), true);
  vm.state.config.hardware.device = vm.state.config.hardware.device.map((device) => {
    const before = fileOf(device);
    if (!isA(device, 'VirtualDisk') || !isA(device.backing, 'VirtualDiskFlatVer2BackingInfo')) return device;
    if (before?.startsWith(home) !== true) return device;
    const fileName = target + before.slice(home.length);
    files.write(fileName, files.read(before));
    files.remove(before);
    return { ...device, backing: { ...device.backing, fileName } };
  });
  vms.noteChange(vm);
}

/** As vcsim names and makes them. */
function addTemplates({ inventory, vms, power }: RestParts): void {
  for (let number = 0; number < templates; number += 1) {
    const vm = vms.create(
      inventory.at(names.vmFolder),
      {
        name: `DC0_C0_RP0_VM${number}`,
        memoryMB: 32,
        files: { vmPathName: `[${inventory.datastores[0]?.state.name ?? ''}]` },
        deviceChange: [
          {
            operation: 'add',
            device: { $type: 'ParaVirtualSCSIController', key: -1, busNumber: 0, sharedBus: 'noSharing' },
          },
          firstDisk(10 * 1_024 ** 2),
          {
            operation: 'add',
            device: {
              $type: 'VirtualCdrom',
              key: -3,
              controllerKey: 200,
              unitNumber: 0,
              backing: { $type: 'VirtualCdromIsoBackingInfo', fileName: '' },
              connectable: { startConnected: false, allowGuestControl: true, connected: false },
            },
          },
          {
            operation: 'add',
            device: {
              $type: 'VirtualE1000',
              key: -4,
              backing: { $type: 'VirtualEthernetCardNetworkBackingInfo', deviceName: 'VM Network' },
              connectable: { startConnected: true, allowGuestControl: true, connected: false },
            },
          },
        ],
      },
      { pool: inventory.at(names.resourcePool) },
    );
    power.set(vm, 'poweredOn');
  }
}
