import type { ObservationRequest } from '../../contracts/virtual-machine/activities.ts';
import { virtualMachineStatus } from '../../contracts/crds/virtual-machine-status.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { findOwn } from '../../workflows/virtual-machine/plan/find-own.ts';
import { until } from '../flows/until.ts';
import {
  observedVmOf,
  makeVm,
  never,
  openSuite,
  settle,
  uidOf,
  vmFolder,
  type VsphereContext,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** What drover reads of a vCenter to decide about a VM. */
export function vsphereObserveContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, gateway, activities, test } = openSuite(open);

  const observe = (name: string, change?: Parameters<VsphereContext['observationRequest']>[1]) =>
    activities.observeVirtualMachineInVcenter(context.observationRequest(name, change));
  const create = (name: string, folder = vmFolder): Promise<string> => context.witness.createVm(`${folder}/${name}`);

  test('before there is a VM: where it goes, its networks, and that there is none', async () => {
    const observed = await observe('none', {
      networks: [
        { name: 'eth0', network: 'VM Network' },
        { name: 'eth1', network: 'backend' },
        { name: 'eth2', network: 'nowhere' },
        { name: 'eth3', network: null },
      ],
    });
    expect(observed.managerId).toBe(await context.witness.managerId());
    expect(observed).toMatchObject({
      placement: {
        kind: 'placed',
        at: {
          zone: 'zone-a',
          datacenter: context.ids.datacenter,
          folder: context.ids.folder,
          resourcePool: context.ids.pool,
          datastore: expect.stringMatching(/^datastore-/u),
          host: null,
        },
      },
      candidates: [],
      vm: null,
      storage: { hasDatastore: true, encrypted: false },
      network: {
        interfaces: [
          { name: 'eth0', backing: 'standard:VM Network', message: '' },
          { name: 'eth1', backing: expect.stringMatching(/^distributed:/u), message: '' },
          {
            name: 'eth2',
            backing: null,
            message:
              'there is no network /DC0/network/nowhere: create it in vCenter, or name its path in vsphere.vcenters.lab.networks',
          },
          {
            name: 'eth3',
            backing: null,
            message:
              'it names no network: name one in spec.network.interfaces, or set in vsphere.vcenters.lab.networks.default the path of one for all that name none',
          },
        ],
      },
    });
    expect(observed.placement.kind === 'placed' && observed.placement.at.cpuMHz).toBeGreaterThan(1_000);
  });

  test('what keeps it from being placed is stated with what to do', async () => {
    const placementOf = async (change: Parameters<VsphereContext['observationRequest']>[1]) =>
      (await observe('unplaced', change)).placement;
    expect(await placementOf({ zone: 'zone-b' })).toEqual({
      kind: 'zoneMismatch',
      message: expect.stringContaining('vsphere.vcenters.lab.zones does not have: it has zone-a'),
    });
    expect(await placementOf({ profileId: 'another' })).toEqual({
      kind: 'error',
      message: expect.stringContaining('vsphere.vcenters.lab.storagePolicies'),
    });
    expect(await placementOf({ folder: 'policy' })).toEqual({
      kind: 'notReady',
      message: expect.stringContaining('folder /DC0/vm/team-a/policy of zone zone-a'),
    });
    expect(await placementOf({ object: { namespace: 'team-z', name: 'x', uid: 'u' } })).toEqual({
      kind: 'notReady',
      message: expect.stringContaining('/DC0/vm/team-z'),
    });
  });

  test('with instance storage it goes to a host that has room for it, and is made there', async () => {
    const wanted = { profileId: 'profile-local', bytes: 1, host: null, avoid: null, isBound: false };
    const placementOf = async (change: Partial<NonNullable<ObservationRequest['instanceStorage']>>) =>
      (await observe('storing', { instanceStorage: { ...wanted, ...change } })).placement;
    const first = await placementOf({});
    if (first.kind !== 'placed' || first.at.host === null) throw new Error('it is not placed on a host');
    const { host } = first.at;
    expect(first.at.node).toMatch(/^\S+$/u);
    const other = await placementOf({ avoid: host });
    expect(other).toMatchObject({
      kind: 'placed',
      at: { host: expect.not.stringMatching(new RegExp(`^${host}$`, 'u')) },
    });
    if (other.kind !== 'placed') return;
    expect(await placementOf({ host: other.at.host })).toEqual(other);
    expect(await placementOf({ bytes: Number.MAX_SAFE_INTEGER })).toMatchObject({ kind: 'notReady' });
    await makeVm(activities, context.newVm('storing', { at: other.at }));
    expect((await context.witness.describeVm(`${vmFolder}/storing`))?.runtime.host?.value).toBe(other.at.host);
  });

  test('a storage policy that vCenter does not have is known before a VM is made', async () => {
    const storageOf = async (profileId: string, name = 'profiled') => (await observe(name, { profileId })).storage;
    const missing = '00000000-0000-4000-8000-000000000000';
    const vsan = 'aa6d5a82-1c88-45da-85d3-3d74b91a5bad';
    expect(await storageOf(missing)).toEqual({ hasDatastore: false, encrypted: false, unknownProfile: true });
    expect(await storageOf(vsan)).toEqual({ hasDatastore: false, encrypted: false });
    expect(await storageOf(vsan.toUpperCase())).toEqual({ hasDatastore: false, encrypted: false });
    // No id of SPBM: vCenter is not told of it.
    expect(await storageOf('profile-1')).toEqual({ hasDatastore: true, encrypted: false });
    await makeVm(activities, context.newVm('unprofiled'));
    expect(await storageOf(missing, 'unprofiled')).toEqual({ hasDatastore: false, encrypted: false });
  });

  test('a policy’s folder and pool are taken once they are there', async () => {
    await context.witness.createFolder('/DC0/vm/team-a/children');
    await context.witness.createPool('/DC0/host/DC0_C0/Resources/team-a/children');
    const { placement } = await observe('child', { folder: 'children', resourcePool: 'children' });
    const folder = await gateway.findByPath('/DC0/vm/team-a/children', never);
    const resourcePool = await gateway.findByPath('/DC0/host/DC0_C0/Resources/team-a/children', never);
    expect(placement).toMatchObject({
      kind: 'placed',
      at: { folder: folder?.value, resourcePool: resourcePool?.value },
    });
    if (placement.kind !== 'placed') return;
    await makeVm(activities, context.newVm('child', { at: placement.at }));
    expect(await observedVmOf(context, activities, 'child')).toMatchObject({
      folder: folder?.value,
      resourcePool: resourcePool?.value,
      location: { folder: true, resourcePool: true },
      zone: 'zone-a',
    });
  });

  test('of the policy’s datastores the one with the most room that the hosts reach', async () => {
    const datastoreIn = async () => {
      const { placement } = await observe('roomy');
      return placement.kind === 'placed' ? placement.at.datastore : placement.message;
    };
    const free = async () => (await context.witness.listDatastores()).map(({ id }) => id);
    const [roomiest = ''] = await free();
    expect(await datastoreIn()).toBe(roomiest);
    const name = roomiest === context.ids.datastore ? 'LocalDS_0' : 'LocalDS_1';
    await create('filler');
    await context.witness.makeDirectory({ datastore: name, path: 'big' });
    await context.witness.attachNewDisk(`${vmFolder}/filler`, {
      datastore: name,
      path: 'big/one',
      sizeMiB: 100 * 1_024,
    });
    const [now = ''] = await free();
    expect(now).not.toBe(roomiest);
    expect(await datastoreIn()).toBe(now);
  });

  test('all that a run needs is read in a handful of calls', async () => {
    const subject = await makeVm(activities, context.newVm('cheap'));
    await settle(activities, await activities.submitPower({ ...subject, operation: 'powerOn' }));
    const networks = [{ name: 'eth0', network: 'VM Network' }];
    await observe('cheap', { networks, uniqueId: subject.vmId });
    await context.control.clearRequests();
    await observe('cheap', { networks, uniqueId: subject.vmId });
    expect((await context.control.requests()).map(({ method }) => method).toSorted()).toEqual([
      'FindAllByUuid',
      'QueryEvents',
      'RetrievePropertiesEx',
      'RetrievePropertiesEx',
    ]);
    expect((await context.control.requests()).map(({ body }) => body).join('\n')).not.toContain('<all>true');
  });

  test('a folder that was replaced is found anew', async () => {
    const second = context.activities(gateway);
    const object = { namespace: 'moved', name: 'x', uid: 'u' };
    await context.witness.createFolder('/DC0/vm/moved');
    await context.witness.createPool('/DC0/host/DC0_C0/Resources/moved');
    const before = (await second.observeVirtualMachineInVcenter(context.observationRequest('x', { object }))).placement;
    await context.witness.destroy('/DC0/vm/moved');
    await context.witness.createFolder('/DC0/vm/moved');
    const after = (await second.observeVirtualMachineInVcenter(context.observationRequest('x', { object }))).placement;
    expect(before.kind).toBe('placed');
    expect(after).toMatchObject({
      kind: 'placed',
      at: { folder: (await gateway.findByPath('/DC0/vm/moved', never))?.value },
    });
    expect(after).not.toEqual(before);
  });

  describe('whose a VM is', () => {
    const decide = async (name: string, change?: Parameters<VsphereContext['observationRequest']>[1]) => {
      const { candidates, vm } = await observe(name, change);
      return {
        candidates,
        vm: vm?.moId ?? null,
        own: findOwn({ namespace: 'team-a', name, uid: uidOf(name) }, candidates),
      };
    };

    test('the one with the owner, by all that it can be found by', async () => {
      const { vmId } = await makeVm(activities, context.newVm('owned'));
      const { candidates, vm, own } = await decide('owned', { uniqueId: vmId, instanceUuid: uidOf('owned') });
      expect(candidates).toEqual([
        {
          moId: vmId,
          name: 'owned',
          foundBy: ['uniqueId', 'instanceUuid', 'uid', 'owner', 'name'],
          isRecorded: true,
          createdMs: expect.any(Number),
          instanceUuid: uidOf('owned'),
          owner: { namespacedName: 'team-a/owned', uid: uidOf('owned') },
          inFolder: true,
        },
      ]);
      expect(own).toEqual({ kind: 'own', moId: vmId, owner: 'drover', copies: [] });
      expect(vm).toBe(vmId);
    });

    test('renamed, with another instance UUID and one folder down, the owner decides', async () => {
      const { vmId } = await makeVm(
        activities,
        context.newVm('wanderer', { instanceUuid: '5c0ffee0-0000-4000-8000-000000000001' }),
      );
      await context.witness.createFolder('/DC0/vm/team-a/deeper');
      await context.witness.move(`${vmFolder}/wanderer`, `${vmFolder}/deeper`);
      await context.witness.rename(`${vmFolder}/deeper/wanderer`, 'another-name');
      expect(await decide('wanderer')).toMatchObject({
        vm: vmId,
        candidates: [{ foundBy: ['owner'], inFolder: true }],
        own: { kind: 'own' },
      });
    });

    test('one of its name only is foreign, and so is one of its UUID outside of the folder', async () => {
      await create('stranger');
      expect(await decide('stranger')).toMatchObject({
        vm: null,
        candidates: [{ foundBy: ['name'], owner: null }],
        own: { kind: 'foreign' },
      });
      const uniqueId = await create('outside', inventory.vmFolder);
      expect(await decide('outside', { uniqueId })).toMatchObject({
        vm: null,
        candidates: [{ foundBy: ['uniqueId'], inFolder: false }],
        own: { kind: 'foreign' },
      });
    });

    test('one without an owner in the folder is there to be adopted', async () => {
      const uniqueId = await create('orphan');
      const { instanceUuid = '' } =
        (await context.witness.listVms('team-a')).find(({ name }) => name === 'orphan') ?? {};
      const adopted = { vm: uniqueId, own: { kind: 'own', owner: 'none' } };
      expect(await decide('orphan', { instanceUuid })).toMatchObject(adopted);
      expect(await decide('orphan', { uniqueId, recordedUuid: instanceUuid })).toMatchObject(adopted);
      // Ids are given anew in another vCenter.
      expect(await decide('orphan', { uniqueId, recordedUuid: uidOf('another') })).toMatchObject({ vm: null });
      expect(await decide('orphan', { uniqueId })).toMatchObject({ vm: null, own: { kind: 'foreign' } });
    });

    test('of two with the owner, the one with its UUID is it, and the other a copy; one that is gone is none', async () => {
      const subject = await makeVm(activities, context.newVm('twin'));
      await context.witness.cloneVm({ from: `${vmFolder}/twin`, to: `${vmFolder}/twin-copy` });
      await context.witness.changeVm(`${vmFolder}/twin-copy`, {
        extraConfig: { 'vmservice.namespacedName': 'team-a/twin', 'drover.uid': uidOf('twin') },
      });
      // Its own is found by its UUID; the other one stands in a list that is read now and then.
      expect(
        await until('the twin to be noticed', 30_000, async () =>
          (await decide('twin')).candidates.length < 2 ? 'not yet' : await decide('twin'),
        ),
      ).toMatchObject({ vm: subject.vmId, own: { kind: 'own', copies: [{ name: 'twin-copy' }] } });
      await context.witness.destroyVm(`${vmFolder}/twin-copy`);
      await settle(activities, await activities.submitDestroy(subject));
      expect(await decide('twin', { uniqueId: subject.vmId })).toEqual({
        candidates: [],
        vm: null,
        own: { kind: 'none' },
      });
    });
  });

  test('the observation of a VM that runs, and what the status shows of it', async () => {
    const networks = [{ name: 'eth0', network: 'VM Network' }];
    const { network } = await observe('shown', { networks });
    const backing = network?.interfaces[0]?.backing ?? '';
    const subject = await makeVm(
      activities,
      context.newVm('shown', {
        config: {
          numCPUs: 2,
          memoryMB: 512,
          deviceChange: [
            {
              operation: 'add',
              device: 'networkCard',
              card: { key: null, type: 'VMXNet3', backing, macAddress: null },
            },
          ],
        },
      }),
    );
    await settle(activities, await activities.submitPower({ ...subject, operation: 'powerOn' }));
    await context.witness.changeVm(`${vmFolder}/shown`, {
      extraConfig: {
        'SET.guest.toolsRunningStatus': 'guestToolsRunning',
        'SET.guest.ipAddress': '192.0.2.7',
        'SET.guest.hostName': 'shown.example',
        'guestinfo.userdata': 'c2VjcmV0',
        'app.asked': '1',
        'app.other': '2',
      },
    });
    const observed = await observedVmOf(context, activities, 'shown', {
      networks,
      extraConfigKeys: ['app.asked', 'guestinfo.userdata'],
    });
    expect(observed).toMatchObject({
      connectionState: 'connected',
      powerState: 'poweredOn',
      resourcePool: context.ids.pool,
      folder: context.ids.folder,
      location: { resourcePool: true, folder: true },
      zone: 'zone-a',
      hostName: expect.stringMatching(/^DC0_C0_H\d$/u),
      task: null,
      guest: { toolsRunning: true, known: true, primaryIp4: '192.0.2.7', primaryIp6: null, hostName: 'shown.example' },
      config: { numCPUs: 2, memoryMB: 512, networkCards: [{ type: 'VMXNet3', backing }] },
      shown: {
        hardware: { cpu: { total: 2 }, memory: { total: '512Mi' } },
        volumes: [{ type: 'Classic', attached: true, controllerType: 'SCSI', controllerBusNumber: 0, unitNumber: 0 }],
        network: { interfaces: [{ name: 'eth0', ip: { addresses: [{ address: '192.0.2.7' }] } }] },
      },
    });
    // Bootstrap data is returned to no caller.
    expect(observed.config?.extraConfig).toEqual({
      'vmservice.namespacedName': 'team-a/shown',
      'drover.uid': uidOf('shown'),
      'app.asked': '1',
    });
    expect(JSON.stringify(observed)).not.toContain('c2VjcmV0');
    expect(observed.config?.disks[0]?.name).toBe(observed.shown.volumes?.[0]?.name);
    expect(virtualMachineStatus.safeParse(observed.shown).error).toBeUndefined();
  });
}
