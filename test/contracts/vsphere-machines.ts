import { createMachineDrivers } from '../../activities/machines/drivers/drivers.ts';
import type { MachineDriver } from '../../contracts/machine-safety/driver.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { failureOf, namespace, never, openSuite, vmFolder, type VsphereCounterpart } from './vsphere-context.ts';

const datastore = 'LocalDS_0';
const marks = { 'mcm.gardener.cloud/cluster': 'shoot-1', 'mcm.gardener.cloud/role': 'node' };

/** The driver of machines at vSphere: which VMs are a class’s, and how one is deleted. */
export function vsphereMachinesContract(open: () => Promise<VsphereCounterpart>): void {
  let secret: Record<string, string>;
  const { context, test, each } = openSuite(open, async (opened) => {
    const { url, ca, credential } = opened.settings();
    const { username, password } = await credential(never);
    secret = {
      vsphereHost: url.replace(/^https:\/\//u, ''),
      vsphereUsername: username,
      vspherePassword: password,
      ...(ca !== null && { vsphereCACert: ca }),
    };
  });
  afterEach(async () => {
    for (const path of await context.witness.find('vm', vmFolder)) await context.witness.destroyVm(path);
  });

  const driver = (spec: object = {}): MachineDriver =>
    createMachineDrivers({
      openVcenter: (settings) => context.connect(settings),
      openCloud: () => {
        throw new Error('there is no cloud');
      },
      clock: context.clock,
    }).open(
      {
        namespace: 'team',
        name: 'worker',
        provider: 'vSphere',
        region: null,
        providerSpec: { region: 'eu-1', datacenter: inventory.datacenter, folder: namespace, tags: marks, ...spec },
      },
      secret,
    );
  const at = (name: string): string => `${vmFolder}/${name}`;
  const make = async (name: string, attributes: Record<string, string> = marks): Promise<string> => {
    await context.witness.cloneVm({ from: inventory.template, to: at(name) });
    await context.witness.setAttributes(at(name), attributes);
    return await providerIdOf(name);
  };
  const providerIdOf = async (name: string): Promise<string> =>
    `vsphere://eu-1/${(await context.witness.describeVm(at(name)))?.config.uuid}`;
  const remove = (providerId: string, machineName: string, detachForeignDisks = true, spec: object = {}) =>
    driver(spec).deleteMachine({ providerId, machineName, detachForeignDisks }, never);
  const names = (): Promise<string[]> => context.witness.find('vm', vmFolder);

  test('without VMs the list is empty', async () => {
    expect(await driver().listMachines(never)).toEqual([]);
  });

  test('the VMs of the folder that have both marks, in either form, are listed; all others are not', async () => {
    const one = await make('one');
    const older = await make('older', { 'kubernetes.io/cluster/shoot-1': '1', 'kubernetes.io/role/node': '1' });
    await make('unmarked', {});
    await make('cluster-only', { 'mcm.gardener.cloud/cluster': 'shoot-1' });
    await make('other-cluster', { ...marks, 'mcm.gardener.cloud/cluster': 'shoot-2' });
    await make('cleared');
    await context.witness.setAttributes(at('cleared'), { 'mcm.gardener.cloud/role': '' });
    await context.witness.createFolder(at('below'));
    await make('elsewhere');
    await context.witness.move(at('elsewhere'), at('below'));
    const listed = await driver().listMachines(never);
    expect(listed.toSorted((a, b) => a.machineName.localeCompare(b.machineName))).toEqual([
      { providerId: older, machineName: 'older', createdMs: expect.anything() },
      { providerId: one, machineName: 'one', createdMs: expect.anything() },
    ]);
    await context.witness.destroyVm(at('below/elsewhere'));
    await context.witness.destroy(at('below'));
  });

  test('they are read in one call, whatever there is besides', async () => {
    const ids = [await make('one'), await make('two')];
    await make('unmarked', {});
    const opened = driver();
    await context.control.clearRequests();
    expect((await opened.listMachines(never)).map(({ providerId }) => providerId).toSorted()).toEqual(ids.toSorted());
    expect(await context.requests('RetrievePropertiesEx')).toHaveLength(1);
  });

  test('a running VM is deleted; deleted again, it is gone', async () => {
    const id = await make('running');
    await context.witness.setPower(at('running'), 'on');
    expect(await remove(id, 'running')).toEqual({ outcome: 'deleted', detachedDisks: [] });
    expect(await names()).toEqual([]);
    expect(await remove(id, 'running')).toEqual({ outcome: 'gone', detachedDisks: [] });
  });

  test('two deletions at once end well', async () => {
    const id = await make('twice');
    await context.witness.setPower(at('twice'), 'on');
    const outcomes = (await Promise.all([remove(id, 'twice'), remove(id, 'twice')])).map(({ outcome }) => outcome);
    expect(outcomes).toContain('deleted');
    expect(await names()).toEqual([]);
  });

  test('a disk that was not made with the VM is detached first, and stays', async () => {
    const id = await make('with-disk');
    await context.witness.makeDirectory({ datastore, path: 'volumes' });
    await context.witness.attachNewDisk(at('with-disk'), { datastore, path: 'volumes/kept', sizeMiB: 1 });
    expect(await remove(id, 'with-disk')).toEqual({
      outcome: 'deleted',
      detachedDisks: [`[${datastore}] volumes/kept.vmdk`],
    });
    expect(await context.witness.listFiles({ datastore, path: 'volumes' })).toContain('kept.vmdk');
    expect(await context.witness.listFiles({ datastore, path: '' })).not.toContain('with-disk');
  });

  test('not asked to, it detaches nothing: the disk goes with the VM', async () => {
    const id = await make('with-disk');
    await context.witness.makeDirectory({ datastore, path: 'volumes' });
    await context.witness.attachNewDisk(at('with-disk'), { datastore, path: 'volumes/lost', sizeMiB: 1 });
    expect(await remove(id, 'with-disk', false)).toEqual({ outcome: 'deleted', detachedDisks: [] });
    expect(await context.witness.listFiles({ datastore, path: 'volumes' })).not.toContain('lost.vmdk');
  });

  each<[string, (path: string) => Promise<void>, string?]>([
    ['was renamed', (path) => context.witness.rename(path, 'renamed'), 'renamed'],
    ['has lost a mark', (path) => context.witness.setAttributes(path, { 'mcm.gardener.cloud/role': '' })],
    [
      'has another cluster’s mark too',
      (path) => context.witness.setAttributes(path, { 'kubernetes.io/cluster/shoot-2': '1' }),
    ],
    [
      'is in another folder',
      async (path) => {
        await context.witness.createFolder(at('apart'));
        await context.witness.move(path, at('apart'));
      },
      'apart/kept',
    ],
  ])('a VM that %s stays', async (_, change, stays = 'kept') => {
    const id = await make('kept');
    await change(at('kept'));
    expect(await failureOf(remove(id, 'kept'))).toMatchObject({ type: 'VirtualMachineNotOwned' });
    expect(await names()).toEqual([at(stays)]);
    await context.witness.destroyVm(at(stays));
    if (stays.includes('/')) await context.witness.destroy(at('apart'));
  });

  each([
    ['another provider’s id', 'openstack:///eu-1/4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11', 'InvalidObject'],
    ['no id', '', 'InvalidObject'],
  ])('%s is refused', async (_, id, type) => {
    expect(await failureOf(remove(id, 'any'))).toMatchObject({ type });
  });

  test('a folder that is not there is a failure, and no empty list', async () => {
    expect(await failureOf(driver({ folder: 'nowhere' }).listMachines(never))).toMatchObject({
      type: 'VsphereObjectNotFound',
    });
    expect(await failureOf(driver({ datacenter: 'nowhere' }).listMachines(never))).toMatchObject({
      type: 'VsphereObjectNotFound',
    });
  });

  test('a vCenter that does not answer is a failure, and no empty list', async () => {
    await make('one');
    await context.control.fail({ method: 'RetrievePropertiesEx', fault: 'HostCommunication' });
    expect(await failureOf(driver().listMachines(never))).toMatchObject({ type: 'VsphereUnavailable' });
  });
}
