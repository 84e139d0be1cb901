import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineFinalizers } from '../../contracts/virtual-machine/metadata.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import type { WitnessedVm } from '../../lab/vsphere/vm-fixture.ts';
import { vmClass, vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { checkInvariants } from '../invariants.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { clonesOf, namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** What a VirtualMachine waits for, and says so: what is missing, what vCenter refuses, and what is another's. */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld();
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const reconciled = /^True Reconciled/u;

/** Another user's VM in the folder of the namespace. */
async function makeForeign(name: string): Promise<WitnessedVm | null> {
  const pool = `${inventory.resourcePool}/${namespace}`;
  await world.vcenter.cloneVm({ from: inventory.template, to: `${inventory.vmFolder}/${namespace}/${name}`, pool });
  return await world.witness(name);
}

test(
  'what is missing is named, and the VM is made as soon as it is there',
  async () => {
    await world.create('early', { className: 'later' });
    await world.untilReported('early', /WaitingForPrerequisites: .*later/u);
    expect(await world.witness('early')).toBeNull();
    await world.change('early', { spec: { className: vmFixture.classes.small } });
    await world.untilReported('early', reconciled);
    expect(await world.witness('early')).toMatchObject({ cpus: 1 });
    await world.remove('early');
    await world.untilReported('early', /^gone$/u);
  },
  limitMs,
);

test(
  'a storage policy that vCenter does not have is named before anything is asked of it',
  async () => {
    const lost = '00000000-0000-4000-8000-000000000000';
    const storageClass = (storagePolicyID: string): object => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'lost' },
      provisioner: 'csi.vsphere.vmware.com',
      parameters: { storagePolicyID },
    });
    await world.make(storageClass(lost));
    await world.create('profiled', { storageClass: 'lost' });
    await world.untilReported(
      'profiled',
      new RegExp(
        `WaitingForPrerequisites: .*StoragePolicyNotFound.*no storage policy ${lost}.*StorageClass lost again`,
        'u',
      ),
    );
    expect(await clonesOf(world, 'profiled')).toEqual([]);
    // Its parameters are for good.
    await world.kubectl('delete', 'storageclass', 'lost');
    await world.make(storageClass(vmFixture.profileId));
    await world.untilReported('profiled', reconciled);
    await world.remove('profiled');
    await world.untilReported('profiled', /^gone$/u);
  },
  limitMs,
);

test(
  'missing capacity of vCenter is reported, and the create is retried until there is room',
  async () => {
    await world.control.fail({
      method: 'PowerOnVM_Task',
      fault: 'InsufficientMemoryResourcesFault',
      inTask: true,
      fields: { unreserved: 1, requested: 2 },
    });
    await world.create('crowded');
    await world.untilReported('crowded', /another try: .*InsufficientMemoryResourcesFault.*Make room/u);
    expect(await world.witness('crowded')).toMatchObject({ powerState: 'poweredOff' });
    await world.untilReported('crowded', reconciled);
    expect(await world.witness('crowded')).toMatchObject({ powerState: 'poweredOn' });
    await world.remove('crowded');
    await world.untilReported('crowded', /^gone$/u);
  },
  limitMs,
);

test(
  'deleted while vCenter is away: when it is back the VM goes, and another’s disk stays',
  async () => {
    await world.create('cut-off');
    await world.untilReported('cut-off', reconciled);
    const volumes = { datastore: 'LocalDS_0', path: 'volumes-of-cut-off' };
    await world.vcenter.makeDirectory(volumes);
    await world.vcenter.attachNewDisk(`${inventory.vmFolder}/${namespace}/cut-off`, {
      ...volumes,
      path: `${volumes.path}/data`,
      sizeMiB: 1,
    });
    await world.control.inject({ does: 'cut', count: 1_000_000 });
    await world.remove('cut-off');
    await world.untilReported('cut-off', /^Unknown Failed/u, 120_000);
    expect((await world.read('cut-off'))?.metadata.finalizers).toContain(virtualMachineFinalizers.current);
    await world.control.reset();
    expect(await world.witness('cut-off')).not.toBeNull();
    await world.untilReported('cut-off', /^gone$/u, 120_000);
    expect(await world.witness('cut-off')).toBeNull();
    expect(await world.vcenter.listFiles(volumes)).toContain('data.vmdk');
  },
  limitMs,
);

test(
  'hardware as the class and the spec say, before the first start, and what waits for the next power cycle',
  async () => {
    const plain = vmClass(namespace, 'gpu', 2, '1Gi') as { spec: { hardware: object } };
    await world.make({
      ...plain,
      spec: {
        hardware: { ...plain.spec.hardware, devices: { vgpuDevices: [{ profileName: 'grid_a' }] } },
        reservedProfileID: 'reserved-7',
      },
    });
    await world.create('dressed', {
      className: 'gpu',
      advanced: { preferHtEnabled: true, hugePages1GEnabled: true, defaultVolumeProvisioningMode: 'ThickEagerZero' },
      bootOptions: { bootOrder: [{ type: 'Network', name: 'eth0' }, { type: 'Disk' }] },
      hardware: { scsiControllers: [{ busNumber: 1, type: 'LsiLogic' }] },
    });
    await world.untilReported('dressed', reconciled);
    const [clone = { body: '' }] = await clonesOf(world, 'dressed');
    expect(clone.body).toContain('<vgpu>grid_a</vgpu>');
    expect(clone.body).toContain('<eagerlyScrub>true</eagerlyScrub>');
    const path = `${inventory.vmFolder}/${namespace}/dressed`;
    const keys = async (): Promise<Record<string, unknown>> =>
      Object.fromEntries(
        ((await world.vcenter.describeVm(path))?.config.extraConfig ?? []).map(({ key, value }) => [key, value]),
      );
    expect(await keys()).toMatchObject({
      'numa.vcpu.preferHT': 'TRUE',
      'sched.mem.lpage.enable1GPage': 'TRUE',
      'resourcepool.vmResourceProfileId': 'reserved-7',
      'pciPassthru.64bitMMIOSizeGB': '512',
    });
    const changes = (await world.control.requests()).filter(
      ({ method, body }) => method === 'ReconfigVM_Task' && body.includes('<bootOrder'),
    );
    expect(changes.at(-1)?.body).toMatch(/BootableEthernetDevice.*BootableDiskDevice/u);
    const made = await world.read('dressed');
    expect(made?.status?.hardware?.controllers).toContainEqual(expect.objectContaining({ type: 'SCSI', busNumber: 1 }));
    const synced = async (type: string) => findCondition((await world.read('dressed'))?.status?.conditions, type);
    for (const type of [
      'VirtualMachineComputeConfigSynced',
      'VirtualMachineExtraConfigSynced',
      'VirtualMachineHardwareControllersVerified',
    ])
      expect(await synced(type)).toMatchObject({ status: 'True' });

    await world.change('dressed', { spec: { advanced: { vmxSwapEnabled: false, hugePages1GEnabled: false } } });
    await world.untilReported('dressed', reconciled);
    expect(await synced('VirtualMachineExtraConfigSynced')).toMatchObject({ reason: 'PowerOffRequired' });
    expect(await keys()).toMatchObject({
      'sched.swap.vmxSwapEnabled': 'FALSE',
      'sched.mem.lpage.enable1GPage': 'TRUE',
      'vmx.reboot.powerCycle': 'TRUE',
    });
    await world.change('dressed', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('dressed', reconciled);
    expect(await synced('VirtualMachineExtraConfigSynced')).toMatchObject({ status: 'True' });
    const after = await keys();
    expect(after).toMatchObject({ 'sched.mem.lpage.enable1GPage': 'FALSE' });
    expect(after['vmx.reboot.powerCycle'] ?? '').toBe('');
    await world.remove('dressed');
    await world.untilReported('dressed', /^gone$/u);
  },
  limitMs,
);

test(
  'another’s VM of that name is not touched, and the object says so',
  async () => {
    const before = await makeForeign('taken');
    await world.create('taken');
    await world.untilReported('taken', /^False NotOwned/u);
    await world.remove('taken');
    await world.untilReported('taken', /^gone$/u);
    expect(await world.witness('taken')).toEqual(before);
  },
  limitMs,
);
