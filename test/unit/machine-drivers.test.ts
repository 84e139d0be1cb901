import { createMachineDrivers } from '../../activities/machines/drivers/drivers.ts';
import type { MachineDriver, SubmitDetach } from '../../contracts/machine-safety/driver.ts';
import { withClock } from '../../lab/clock.ts';
import { createInstance } from '../../lab/openstack/seed.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeOpenStack } from '../fakes/openstack/fake-openstack.ts';
import type { Managed, VmState } from '../fakes/vsphere/model.ts';
import { createFakeVcenter } from '../fakes/vsphere/vcenter.ts';
import { randomOf } from '../faults/random.ts';
import { createVirtualClock } from '../simulator/clock.ts';
import { createNetwork, type CallFate } from '../simulator/network.ts';

/** What happens to drivers that cannot be made to happen at will at the real counterparts. */

const never = new AbortController().signal;
const startMs = Date.UTC(2026, 0, 31, 12);
const folder = `${inventory.vmFolder}/team-a`;
const marks = { 'mcm.gardener.cloud/cluster': 'shoot-1', 'mcm.gardener.cloud/role': 'node' };

/** @param onCall may change the world, right before the call has its effect */
function openVsphere(onCall: (verb: string) => CallFate = () => 'works') {
  const random = randomOf(1);
  const clock = createVirtualClock(startMs, random);
  const network = createNetwork({ clock, random, onCall: ({ verb }) => onCall(verb) });
  const vcenter = createFakeVcenter({ clock, network, random });
  const { witness, model } = vcenter;
  const drivers = createMachineDrivers({
    openVcenter: (settings) => vcenter.openVim(settings),
    openCloud: () => {
      throw new Error('there is no cloud');
    },
    clock,
  });
  const driver: MachineDriver = drivers.open(
    {
      namespace: 'team',
      name: 'worker',
      provider: 'vSphere',
      region: null,
      providerSpec: { region: 'eu-1', datacenter: inventory.datacenter, folder: 'team-a', tags: marks },
    },
    { vsphereHost: 'vcenter.test', vsphereUsername: 'u', vspherePassword: 'the-password' },
  );
  const stateOf = async (name: string): Promise<VmState> =>
    (model.find({ type: 'VirtualMachine', value: await witness.idOf(`${folder}/${name}`) }) as Managed<VmState>).state;
  return {
    ...vcenter,
    clock,
    network,
    driver,
    stateOf,
    async make(name: string, on = false): Promise<string> {
      await witness.cloneVm({ from: inventory.template, to: `${folder}/${name}` });
      await witness.setAttributes(`${folder}/${name}`, marks);
      if (on) await witness.setPower(`${folder}/${name}`, 'on');
      return `vsphere://eu-1/${(await stateOf(name)).config.uuid}`;
    },
    remove: (providerId: string, machineName: string, submitDetach?: SubmitDetach) =>
      driver.deleteMachine({ providerId, machineName, detachForeignDisks: true }, never, submitDetach),
    names: () => witness.find('vm', folder),
    callsOf: (verb: string) => network.calls.filter((call) => call.verb === verb).length,
    async run<Result>(body: () => Promise<Result>): Promise<Result> {
      await witness.createFolder(folder);
      return await withClock(clock, () => drive(clock, body()));
    },
  };
}

describe('vSphere', () => {
  test('a list of several pages is whole', async () => {
    const world = openVsphere();
    await world.run(async () => {
      const ids = await Promise.all(Array.from({ length: 450 }, (_, index) => world.make(`worker-${index}`)));
      const listed = await world.driver.listMachines(never);
      expect(listed.map(({ providerId }) => providerId).toSorted()).toEqual(ids.toSorted());
      expect(listed[0]?.createdMs).toBeGreaterThanOrEqual(startMs);
      expect(world.callsOf('RetrievePropertiesEx')).toBe(1);
      expect(world.callsOf('ContinueRetrievePropertiesEx')).toBe(2);
    });
  });

  test('a session that ends between two pages is a failure, never a shorter list', async () => {
    const world = openVsphere((verb) => {
      if (verb === 'ContinueRetrievePropertiesEx') void world.control.endSessions();
      return 'works';
    });
    await world.run(async () => {
      await Promise.all(Array.from({ length: 250 }, (_, index) => world.make(`worker-${index}`)));
      await expect(world.driver.listMachines(never)).rejects.toMatchObject({ type: 'VsphereUnavailable' });
    });
  });

  test('a folder that goes between two calls is a failure, never an empty list', async () => {
    const world = openVsphere((verb) => {
      if (verb === 'RetrievePropertiesEx') void world.witness.destroy(folder);
      return 'works';
    });
    await world.run(() =>
      expect(world.driver.listMachines(never)).rejects.toMatchObject({ type: 'VsphereObjectNotFound' }),
    );
  });

  test('a template is never listed, and never deleted', async () => {
    const world = openVsphere();
    await world.run(async () => {
      const id = await world.make('template');
      (await world.stateOf('template')).config.template = true;
      expect(await world.driver.listMachines(never)).toEqual([]);
      await expect(world.remove(id, 'template')).rejects.toMatchObject({ type: 'VirtualMachineNotOwned' });
    });
  });

  test('a VM without a BIOS UUID, and a value of an unknown attribute, are failures', async () => {
    const world = openVsphere();
    await world.run(async () => {
      await world.make('worker-1');
      const state = await world.stateOf('worker-1');
      const { uuid } = state.config;
      state.config.uuid = '';
      await expect(world.driver.listMachines(never)).rejects.toMatchObject({ type: 'AnswerMalformed' });
      state.config.uuid = uuid;
      expect(await world.driver.listMachines(never)).toHaveLength(1);
      state.customValue?.push({ $type: 'CustomFieldStringValue', key: 999, value: 'x' });
      await expect(world.driver.listMachines(never)).rejects.toMatchObject({ type: 'AnswerMalformed' });
    });
  });

  test('1970 is no time at which a VM was made', async () => {
    const world = openVsphere();
    await world.run(async () => {
      await world.make('worker-1');
      (await world.stateOf('worker-1')).config.createDate = '1970-01-01T00:00:00Z';
      expect(await world.driver.listMachines(never)).toMatchObject([{ createdMs: null }]);
    });
  });

  test('of several VMs with one BIOS UUID none is deleted', async () => {
    const world = openVsphere();
    await world.run(async () => {
      const id = await world.make('worker-1');
      await world.make('copy');
      (await world.stateOf('copy')).config.uuid = (await world.stateOf('worker-1')).config.uuid;
      await expect(world.remove(id, 'worker-1')).rejects.toMatchObject({ type: 'VirtualMachineAmbiguous' });
      expect(await world.names()).toHaveLength(2);
    });
  });

  test('a mark that is lost between two changes stops the deletion', async () => {
    const world = openVsphere((verb) => {
      if (verb === 'PowerOffVM_Task')
        void world.witness.setAttributes(`${folder}/worker-1`, { 'mcm.gardener.cloud/role': '' });
      return 'works';
    });
    await world.run(async () => {
      const id = await world.make('worker-1', true);
      await expect(world.remove(id, 'worker-1')).rejects.toMatchObject({ type: 'VirtualMachineNotOwned' });
      expect(await world.names()).toEqual([`${folder}/worker-1`]);
      expect(world.callsOf('Destroy_Task')).toBe(0);
    });
  });

  test('a VM that another client changes meanwhile is read again', async () => {
    let changes = 0;
    const world = openVsphere((verb) => {
      if (verb === 'ReconfigVM_Task' && (changes += 1) === 1)
        void world.witness.changeVm(`${folder}/worker-1`, { memoryMiB: 64 });
      return 'works';
    });
    await world.run(async () => {
      const id = await world.make('worker-1');
      await world.witness.makeDirectory({ datastore: 'LocalDS_0', path: 'volumes' });
      const disk = { datastore: 'LocalDS_0', path: 'volumes/one', sizeMiB: 1 };
      await world.witness.attachNewDisk(`${folder}/worker-1`, disk);
      expect(await world.remove(id, 'worker-1')).toEqual({
        outcome: 'deleted',
        detachedDisks: ['[LocalDS_0] volumes/one.vmdk'],
      });
      expect(changes).toBe(2);
    });
  });

  test('which disks go is said when that is submitted, though the deletion fails afterwards', async () => {
    let destroys = 0;
    const world = openVsphere((verb) => (verb === 'Destroy_Task' && (destroys += 1) === 1 ? 'failBefore' : 'works'));
    await world.run(async () => {
      const id = await world.make('worker-1');
      await world.witness.makeDirectory({ datastore: 'LocalDS_0', path: 'volumes' });
      const disk = { datastore: 'LocalDS_0', path: 'volumes/one', sizeMiB: 1 };
      await world.witness.attachNewDisk(`${folder}/worker-1`, disk);
      const said: string[] = [];
      const submitDetach: SubmitDetach = async (disks, submit) => {
        const taskId = await submit();
        said.push(`${disks.join()} ${taskId}`);
        return taskId;
      };
      await expect(world.remove(id, 'worker-1', submitDetach)).rejects.toMatchObject({ type: 'VsphereUnavailable' });
      expect(said).toEqual([expect.stringMatching(/^\[LocalDS_0\] volumes\/one\.vmdk task-\d+$/u)]);
      expect(await world.remove(id, 'worker-1', submitDetach)).toEqual({ outcome: 'deleted', detachedDisks: [] });
      expect(said).toHaveLength(1);
    });
  });

  test('a VM that is suspended is powered off, and deleted', async () => {
    const world = openVsphere();
    await world.run(async () => {
      const id = await world.make('worker-1', true);
      (await world.stateOf('worker-1')).runtime.powerState = 'suspended';
      expect(await world.remove(id, 'worker-1')).toMatchObject({ outcome: 'deleted' });
    });
  });

  test('a deletion whose answer is lost is a failure, and found done the next time', async () => {
    let calls = 0;
    const world = openVsphere((verb) => (verb === 'Destroy_Task' && (calls += 1) === 1 ? 'failAfter' : 'works'));
    await world.run(async () => {
      const id = await world.make('worker-1');
      await expect(world.remove(id, 'worker-1')).rejects.toMatchObject({ type: 'VsphereUnavailable' });
      await world.clock.sleep(60_000);
      expect(await world.remove(id, 'worker-1')).toEqual({ outcome: 'gone', detachedDisks: [] });
    });
  });

  test('what vCenter does not do is a failure after some tries', async () => {
    const world = openVsphere();
    await world.run(async () => {
      const id = await world.make('worker-1', true);
      await world.control.fail({ method: 'PowerOffVM_Task', fault: 'InvalidState', inTask: true, count: 100 });
      await expect(world.remove(id, 'worker-1')).rejects.toMatchObject({ type: 'VirtualMachineStateRefused' });
      expect(await world.names()).toEqual([`${folder}/worker-1`]);
    });
  });

  test('a VM that is started again each time is left in the end', async () => {
    const world = openVsphere((verb) => {
      if (verb === 'FindAllByUuid')
        for (const { state } of world.model.vms())
          if (state.name === 'worker-1') state.runtime.powerState = 'poweredOn';
      return 'works';
    });
    await world.run(async () => {
      const id = await world.make('worker-1', true);
      await expect(world.remove(id, 'worker-1')).rejects.toMatchObject({ type: 'VirtualMachineConflict' });
      expect(world.callsOf('PowerOffVM_Task')).toBe(8);
    });
  });

  test('an aborted call ends at once', async () => {
    const world = openVsphere(() => 'hang');
    await world.run(async () => {
      const controller = new AbortController();
      const listed = world.driver.listMachines(controller.signal);
      controller.abort(new Error('the worker leaves'));
      await expect(listed).rejects.toThrow('the worker leaves');
    });
  });
});

const tags = { 'kubernetes.io-cluster-shoot-1': '1', 'kubernetes.io-role-node': '1' };

function openCloud(onCall: (verb: string) => CallFate = () => 'works') {
  const random = randomOf(1);
  const clock = createVirtualClock(startMs, random);
  const network = createNetwork({ clock, random, onCall: ({ verb }) => onCall(verb) });
  const fake = createFakeOpenStack({ clock, random, network });
  const { authUrl, credential } = fake.settings();
  if (!('id' in credential)) throw new Error('the lab has an application credential');
  const driver = createMachineDrivers({
    openVcenter: () => {
      throw new Error('there is no vCenter');
    },
    openCloud: (settings) => fake.openSession(settings),
    clock,
  }).open(
    {
      namespace: 'team',
      name: 'worker',
      provider: 'OpenStack',
      region: 'RegionOne',
      providerSpec: { spec: { tags } },
    },
    { authURL: authUrl, applicationCredentialID: credential.id, applicationCredentialSecret: credential.secret },
  );
  return {
    fake,
    clock,
    network,
    driver,
    make: async (name: string) => (await createInstance(fake.admin, { name, metadata: tags })).id,
    remove: (id: string, machineName: string) =>
      driver.deleteMachine(
        { providerId: `openstack:///RegionOne/${id}`, machineName, detachForeignDisks: true },
        never,
      ),
    run: <Result>(body: () => Promise<Result>): Promise<Result> => withClock(clock, () => drive(clock, body())),
  };
}

describe('OpenStack', () => {
  test('a list of several pages is whole', async () => {
    const { fake, driver, network, make, run } = openCloud();
    await run(async () => {
      const server = fake.model.servers.get(await make('worker'));
      if (server === undefined) throw new Error('the server was not made');
      const ids = Array.from(
        { length: 1_100 },
        (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      );
      for (const id of ids) fake.model.servers.set(id, { ...server, id, name: `worker-${id}` });
      const listed = await driver.listMachines(never);
      expect(listed).toHaveLength(1_101);
      expect(listed).toContainEqual({
        providerId: `openstack:///RegionOne/${ids[0]}`,
        machineName: `worker-${ids[0]}`,
        createdMs: expect.any(Number),
      });
      expect(network.calls.filter(({ verb }) => verb === 'GET /servers/detail')).toHaveLength(2);
    });
  });

  test('a server of another project is not listed, and stays', async () => {
    const { fake, driver, make, remove, run } = openCloud();
    await run(async () => {
      const id = await make('worker-1');
      const server = fake.model.servers.get(id);
      if (server === undefined) throw new Error('the server was not made');
      fake.model.servers.set(id, { ...server, projectId: 'another-project' });
      expect(await driver.listMachines(never)).toEqual([]);
      await expect(remove(id, 'worker-1')).rejects.toMatchObject({ type: 'VirtualMachineNotOwned' });
      expect(fake.model.servers.get(id)?.isDeleted).toBe(false);
    });
  });

  test('a page that does not come is a failure, never a shorter list', async () => {
    const { driver, make, run } = openCloud((verb) => (verb === 'GET /servers/detail' ? 'failAfter' : 'works'));
    await run(async () => {
      await make('worker-1');
      await expect(driver.listMachines(never)).rejects.toMatchObject({ type: 'NovaUnavailable' });
    });
  });

  test('a deletion whose answer is lost is a failure, and found done the next time', async () => {
    let calls = 0;
    const { clock, make, remove, run } = openCloud((verb) =>
      verb === 'DELETE /servers/{id}' && (calls += 1) === 1 ? 'failAfter' : 'works',
    );
    await run(async () => {
      const id = await make('worker-1');
      await expect(remove(id, 'worker-1')).rejects.toMatchObject({ type: 'NovaUnavailable' });
      await clock.sleep(60_000);
      expect(await remove(id, 'worker-1')).toEqual({ outcome: 'gone', detachedDisks: [] });
    });
  });

  test('a server that does not go is asked to go again, and in the end said to be there', async () => {
    const { fake, clock, network, make, remove, run } = openCloud();
    await run(async () => {
      const id = await make('worker-1');
      for (const host of fake.model.hosts.values()) host.profile = { ...host.profile, destroySeconds: 3_600 };
      const sinceMs = clock.now();
      await expect(remove(id, 'worker-1')).rejects.toMatchObject({ type: 'InstanceBusy' });
      expect(clock.now() - sinceMs).toBeGreaterThanOrEqual(300_000);
      expect(network.calls.filter(({ verb }) => verb === 'DELETE /servers/{id}').length).toBeGreaterThan(20);
    });
  });
});
