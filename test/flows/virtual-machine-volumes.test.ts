import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { claimAnnotations } from '../../contracts/virtual-machine/volumes.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { makeStoringClass, vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import type { VolumePlayer } from '../../lab/vsphere/volume-player.ts';
import { installAttachmentKinds, makeDisk, playVolumes } from '../../lab/vsphere/volume-player.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { claim, volume, volumesOf } from './volume-claim.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * Volumes of claims, by drover's own worker and bridge; the vSphere CSI driver is played by
 * lab/vsphere/volume-player.ts.
 */

let world: VmWorld;
let player: VolumePlayer;

beforeAll(async () => {
  world = await openVmWorld({ prepare: installAttachmentKinds });
  player = playVolumes({ kubernetes: world.api, witness: world.vcenter, namespace });
}, startTimeoutMs);
afterAll(async () => {
  await player?.stop();
  await world?.close();
}, limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const reconciled = /^True Reconciled/u;
const disksOf = async (name: string): Promise<string[]> =>
  ((await world.vcenter.listVms(namespace)).find((vm) => vm.name === name)?.disks ?? []).filter((disk) =>
    disk.includes('] fcd/'),
  );
const filesOf = (): Promise<string[]> =>
  world.vcenter.listFiles({ datastore: inventory.datastores[0].split('/').at(-1) ?? '', path: 'fcd' });
const batchesOf = async (): Promise<object[]> => {
  const path = resourcePath('cns.vmware.com/v1alpha1', 'cnsnodevmbatchattachments', { namespace });
  return ((await world.api.request({ method: 'GET', path }, AbortSignal.timeout(10_000))) as { items: object[] }).items;
};
const gone = (name: string): Promise<unknown> => world.untilReported(name, /^gone/u);

test(
  'a claim is provisioned, its volume attached before the VM starts, shown, and taken off before the VM is destroyed',
  async () => {
    await world.make(claim('data'));
    await world.create('with-data', { volumes: [volume('data', 'data')] });
    await world.untilReported('with-data', reconciled);
    expect(await disksOf('with-data')).toHaveLength(1);
    const [row, ...others] = await volumesOf(world, 'with-data');
    expect(others).toEqual([]);
    expect(row).toMatchObject({ name: 'data', attached: true, requested: '1Gi', limit: '1Gi', controllerType: 'SCSI' });
    const object = await world.read('with-data');
    expect(findCondition(object?.status?.conditions, virtualMachineConditions.volumesVerified)?.status).toBe('True');
    expect(object?.status?.volumes?.filter(({ diskUUID }) => diskUUID === row?.diskUUID)).toHaveLength(1);
    const files = await filesOf();
    await world.remove('with-data');
    await gone('with-data');
    expect(await filesOf()).toEqual(files);
    await until('the attachment to be gone', 10_000, async () => {
      const left = await batchesOf();
      return left.length === 0 ? { left } : `${left.length} are left`;
    });
  },
  limitMs,
);

test(
  'volumes come and go while the VM runs: one that is taken out of the spec is detached, and no other one is touched',
  async () => {
    await world.make(claim('first'));
    await world.make(claim('second'));
    await world.create('changing', { volumes: [volume('first', 'first')] });
    await world.untilReported('changing', reconciled);
    const bootId = (await world.witness('changing'))?.powerState;
    await world.change('changing', { spec: { volumes: [volume('first', 'first'), volume('second', 'second')] } });
    await world.untilReported('changing', reconciled);
    expect((await volumesOf(world, 'changing')).map(({ name, attached }) => [name, attached])).toEqual([
      ['first', true],
      ['second', true],
    ]);
    const [kept] = await volumesOf(world, 'changing');
    await world.change('changing', { spec: { volumes: [volume('first', 'first')] } });
    await world.untilReported('changing', reconciled);
    expect(await volumesOf(world, 'changing')).toEqual([kept]);
    expect(await disksOf('changing')).toHaveLength(1);
    expect((await world.witness('changing'))?.powerState).toBe(bootId);
    await world.remove('changing');
    await gone('changing');
  },
  limitMs,
);

test(
  'a volume that exists already, where the spec places it, with the modes of its application',
  async () => {
    await makeDisk(world.vcenter, 'fcd/shared.vmdk', 64);
    await world.make({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `${namespace}-shared` },
      spec: {
        capacity: { storage: '64Mi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        persistentVolumeReclaimPolicy: 'Retain',
        csi: { driver: 'csi.vsphere.vmware.com', volumeHandle: 'fcd/shared.vmdk' },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: 'shared' },
      },
    });
    await world.make(
      claim('shared', {
        storageClassName: '',
        volumeName: `${namespace}-shared`,
        resources: { requests: { storage: '64Mi' } },
      }),
    );
    await world.create('placed', {
      volumes: [
        volume('shared', 'shared', {
          controllerType: 'SCSI',
          controllerBusNumber: 0,
          unitNumber: 1,
          applicationType: 'OracleRAC',
        }),
      ],
    });
    await world.untilReported('placed', reconciled);
    expect(await volumesOf(world, 'placed')).toMatchObject([
      {
        name: 'shared',
        controllerType: 'SCSI',
        controllerBusNumber: 0,
        unitNumber: 1,
        diskMode: 'IndependentPersistent',
        sharingMode: 'MultiWriter',
      },
    ]);
    await world.remove('placed');
    await gone('placed');
    expect(await filesOf()).toContain('shared.vmdk');
  },
  limitMs,
);

test(
  'what the driver refuses, and a claim that is not there, are said in the object; the VM does not start without them, and can be deleted',
  async () => {
    await world.create('lacking', { volumes: [volume('data', 'nowhere')] });
    await world.untilReported('lacking', /WaitingForVolumes: .*There is no PersistentVolumeClaim nowhere/u);
    expect((await world.witness('lacking'))?.powerState).toBe('poweredOff');
    player.refuse('nowhere', 'the datastore is full');
    await world.make(claim('nowhere'));
    await world.untilReported('lacking', /the vSphere CSI driver says: the datastore is full/u);
    expect(await volumesOf(world, 'lacking')).toMatchObject([{ attached: false, error: 'the datastore is full' }]);
    player.refuse('nowhere', null);
    await world.untilReported('lacking', reconciled);
    // Away, it detaches nothing: drover waits for a time, and then does it itself.
    player.pause(true);
    const files = await filesOf();
    await world.remove('lacking');
    await gone('lacking');
    player.pause(false);
    expect(await filesOf()).toEqual(files);
  },
  limitMs,
);

test(
  'a class with instance storage: its claims are bound for a host, the VM is made there, and they go with it',
  async () => {
    await makeStoringClass(world.api, namespace);
    const { class: className } = vmFixture.instanceStorage;
    player.pause(true);
    await world.create('storing', { className });
    await world.untilReported('storing', /WaitingForInstanceStorage: .*to be bound on host /u);
    expect(await world.witness('storing')).toBeNull();
    player.pause(false);
    await world.untilReported('storing', reconciled);
    const object = await world.read('storing');
    const { annotations = {} } = object?.metadata ?? {};
    const described = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/storing`);
    expect(described?.runtime.host?.value).toBe(annotations[virtualMachineAnnotations.instanceStorageHost]);
    expect(annotations[virtualMachineAnnotations.instanceStorageBound]).toBe('true');
    expect(await disksOf('storing')).toHaveLength(2);
    expect(await volumesOf(world, 'storing')).toMatchObject([
      { attached: true, requested: '1Gi' },
      { attached: true, requested: '2Gi' },
    ]);
    const claims = resourcePath('v1', 'persistentvolumeclaims', { namespace });
    const claimsOf = async () => {
      const answer = await world.api.request({ method: 'GET', path: claims }, AbortSignal.timeout(10_000));
      const { items } = answer as {
        items: {
          metadata: { name: string; annotations?: Record<string, string>; ownerReferences?: { uid: string }[] };
        }[];
      };
      return items.filter(({ metadata }) => metadata.name.startsWith('instance-pvc-'));
    };
    const owned = (await claimsOf()).filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === object?.metadata.uid),
    );
    expect(owned.map(({ metadata }) => metadata.annotations?.[claimAnnotations.selectedNode])).toEqual([
      annotations[virtualMachineAnnotations.instanceStorageNode],
      annotations[virtualMachineAnnotations.instanceStorageNode],
    ]);
    await world.remove('storing');
    await gone('storing');
    await until('its claims to be collected', 30_000, async () => {
      const left = (await claimsOf()).filter(({ metadata }) =>
        metadata.ownerReferences?.some(({ uid }) => uid === object?.metadata.uid),
      );
      return left.length === 0 ? { left } : `${left.length} are left`;
    });
  },
  limitMs,
);

test(
  'a claim that waits for its first consumer gets the zone of the VM',
  async () => {
    await world.make({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'late' },
      provisioner: 'csi.vsphere.vmware.com',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await world.make(claim('late', { storageClassName: 'late' }));
    await world.create('consumer', { volumes: [volume('late', 'late')] });
    await world.untilReported('consumer', reconciled);
    const [row] = await volumesOf(world, 'consumer');
    expect(row).toMatchObject({ name: 'late', attached: true });
    await world.remove('consumer');
    await gone('consumer');
  },
  limitMs,
);
