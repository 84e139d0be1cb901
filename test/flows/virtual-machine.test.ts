import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineId, workflowTypes } from '../../contracts/ids.ts';
import { apiVersionOf } from '../../contracts/kinds/object.ts';
import { virtualMachineClass } from '../../contracts/kinds/resources.ts';
import { virtualMachineFinalizers } from '../../contracts/virtual-machine/metadata.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import type { RecordedRequest } from '../../lab/vsphere/control.ts';
import type { WitnessedVm } from '../../lab/vsphere/vm-fixture.ts';
import { vmClass, vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * A VirtualMachine from the first to the last: drover's own worker and bridge; govc is the witness of what
 * the vCenter has.
 */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld();
  world.observed.planted.push({ name: 'the user data', value: userData.split('\n')[1] ?? '' });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const reconciled = /^True Reconciled/u;
const userData = `#cloud-config\n# canary-${randomUUID()}`;

const clonesOf = async (name: string): Promise<RecordedRequest[]> =>
  (await world.control.requests()).filter(
    ({ method, body }) => method === 'CloneVM_Task' && body.includes(`<name>${name}</name>`),
  );

const untilCloning = (name: string): Promise<unknown> =>
  until('the clone to be under way', 30_000, async () => ((await clonesOf(name)).length > 0 ? {} : 'not yet'));

/** Another user's VM in the folder of the namespace. */
async function makeForeign(name: string): Promise<WitnessedVm | null> {
  const pool = `${inventory.resourcePool}/${namespace}`;
  await world.vcenter.cloneVm({ from: inventory.template, to: `${inventory.vmFolder}/${namespace}/${name}`, pool });
  return await world.witness(name);
}

test(
  'made, resized, switched off and on, and deleted',
  async () => {
    await world.create('web');
    await world.untilReported('web', reconciled);
    const made = await world.witness('web');
    const object = await world.read('web');
    expect(made).toMatchObject({
      powerState: 'poweredOn',
      cpus: 1,
      memoryMiB: 1_024,
      instanceUuid: object?.metadata.uid,
      metadata: { 'vmservice.namespacedName': `${namespace}/web`, 'drover.uid': object?.metadata.uid },
    });
    expect(object?.metadata.finalizers).toContain(virtualMachineFinalizers.current);
    expect(object?.status).toMatchObject({
      powerState: 'PoweredOn',
      instanceUUID: object?.metadata.uid,
      zone: vmFixture.zone,
    });
    for (const type of ['VirtualMachineClassReady', 'VirtualMachineCreated'])
      expect(findCondition(object?.status?.conditions, type)).toMatchObject({ status: 'True' });

    await world.change('web', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('web', reconciled);
    expect(await world.witness('web')).toMatchObject({ powerState: 'poweredOff' });

    await world.change('web', { spec: { className: vmFixture.classes.large } });
    await world.untilReported('web', reconciled);
    expect(await world.witness('web')).toMatchObject({ cpus: 2, memoryMiB: 2_048 });

    await world.change('web', { spec: { powerState: 'PoweredOn' } });
    await world.untilReported('web', reconciled);
    expect(await world.witness('web')).toMatchObject({ powerState: 'poweredOn' });

    await world.remove('web');
    await world.untilReported('web', /^gone$/u);
    expect(await world.witness('web')).toBeNull();
    const lives = (await world.vcenter.readJournal()).filter(({ uid }) => uid === object?.metadata.uid);
    expect(lives).toEqual([
      expect.objectContaining({
        kind: 'VirtualMachine',
        id: expect.stringMatching(/^vm-\d+$/u),
        goneMs: expect.any(Number),
      }),
    ]);
  },
  limitMs,
);

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
    expect(await clonesOf('profiled')).toEqual([]);
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
  'a worker that is killed while the VM is made: one VM',
  () =>
    world.whileSlow({ CloneVm: 6_000 }, async () => {
      await world.create('killed');
      await untilCloning('killed');
      await world.drover.kill('worker');
      await world.drover.restart('worker');
      await world.untilReported('killed', reconciled, 60_000);
      expect(await clonesOf('killed')).toHaveLength(1);
    }),
  limitMs,
);

test(
  'deleted while it is being made: nothing is left',
  () =>
    world.whileSlow({ CloneVm: 9_000 }, async () => {
      await world.create('unwanted');
      await untilCloning('unwanted');
      await world.remove('unwanted');
      await world.untilReported('unwanted', /^gone$/u, 60_000);
      expect(
        (await world.control.requests())
          .filter(({ method }) => method === 'CancelTask' || method === 'Destroy_Task')
          .map(({ method }) => method),
      ).toEqual(expect.arrayContaining(['CancelTask', 'Destroy_Task']));
      expect(await world.witness('unwanted')).toBeNull();
    }),
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
  'a bridge that is killed and started again starts runs for what has changed meanwhile, and for nothing else',
  async () => {
    const names = ['kept-1', 'kept-2', 'kept-3', 'moved'];
    const className = 'its-own';
    await world.make(vmClass(namespace, className, 1, '1Gi'));
    for (const name of names) await world.create(name, name === 'moved' ? { className } : {});
    for (const name of names) await world.untilReported(name, reconciled);
    const runsOf = async (name: string): Promise<number> =>
      (await world.client.workflow.count(`WorkflowId = '${virtualMachineId(namespace, name)}'`)).count;
    await until('the runs to have ended', 30_000, async () => {
      const { count } = await world.client.workflow.count(
        `WorkflowType = '${workflowTypes.reconcileVirtualMachine}' AND ExecutionStatus = 'Running'`,
      );
      return count === 0 ? {} : `${count} are open`;
    });
    const before = await Promise.all(names.map(runsOf));
    await world.drover.kill('bridge');
    await world.change('kept-1', { metadata: { labels: { note: 'of-no-concern' } } });
    const path = resourcePath(apiVersionOf(virtualMachineClass), virtualMachineClass.plural, {
      namespace,
      name: className,
    });
    const body = { spec: { hardware: { cpus: 2 } } };
    await world.api.request({ method: 'PATCH', patchType: 'merge', path, body }, AbortSignal.timeout(10_000));
    await world.drover.restart('bridge');
    const moved = names.length - 1;
    await until('the run of the changed class', 60_000, async () =>
      (await runsOf('moved')) > (before[moved] ?? 0) ? {} : 'not yet',
    );
    // What is reconciled is compared at once, so that whatever was started for the others is there when one more
    // VM is made.
    await world.create('later');
    await world.untilReported('later', reconciled);
    const started = (await Promise.all(names.map(runsOf))).map((count, index) => count - (before[index] ?? 0));
    expect(started).toEqual([0, 0, 0, 1]);
    for (const name of [...names, 'later']) await world.remove(name);
    for (const name of [...names, 'later']) await world.untilReported(name, /^gone$/u);
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
    const [clone = { body: '' }] = await clonesOf('dressed');
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

test(
  'what drover’s own account may read of a Secret is in the VM, and its metrics show the watch',
  async () => {
    await world.make({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'user-data' },
      stringData: { key: userData },
    });
    await world.create('cloudy', { bootstrap: { cloudInit: { rawCloudConfig: { name: 'user-data', key: 'key' } } } });
    await world.untilReported('cloudy', reconciled);
    const vm = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/cloudy`);
    const packed = vm?.config.extraConfig.find(({ key }) => key === 'guestinfo.userdata')?.value ?? '';
    expect(gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')).toBe(userData);

    const page = await (await fetch(world.drover.metricsUrls.worker)).text();
    expect(page).toMatch(/drover_vcenter_watch_changes_total\{vcenter="lab",outcome="signalled"\} \d+/u);
    expect(page).toContain('drover_vcenter_watch_last_contact_timestamp_seconds{vcenter="lab"}');
    await world.remove('cloudy');
    await world.untilReported('cloudy', /^gone$/u);
  },
  limitMs,
);
