import { inventory } from '../../lab/vsphere/handle.ts';
import { failureOf, openSuite, vmFolder, vmPool, type VsphereCounterpart } from './vsphere-context.ts';

const datastore = 'LocalDS_0';

/** What users and judges do and read past drover. */
export function vsphereWitnessContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, test } = openSuite(open);
  const witness = () => context.witness;

  test('the inventory of the lab', async () => {
    expect(await witness().find('vm', '/')).toEqual(['/DC0/vm/DC0_C0_RP0_VM0', '/DC0/vm/DC0_C0_RP0_VM1']);
    expect(await witness().find('folder', inventory.vmFolder)).toEqual([inventory.vmFolder, vmFolder]);
    expect((await witness().find('pool', inventory.resourcePool)).toSorted()).toEqual([inventory.resourcePool, vmPool]);
    expect((await witness().listDatastores()).map(({ name }) => name).toSorted()).toEqual(['LocalDS_0', 'LocalDS_1']);
    expect(await witness().idOf('/DC0/host/DC0_C0')).toMatch(/^domain-c/u);
    expect(await witness().managerId()).toMatch(/^[0-9a-f-]{36}$/u);
    expect(await witness().describeVm(inventory.template)).toMatchObject({
      name: 'DC0_C0_RP0_VM0',
      runtime: { powerState: 'poweredOn' },
    });
    expect(await failureOf(witness().idOf('/DC0/vm/nowhere'))).toBeInstanceOf(Error);
  });

  test('a VM is made, changed, powered, snapshotted, moved and destroyed', async () => {
    const path = `${vmFolder}/made`;
    const id = await witness().createVm(path);
    expect(id).toMatch(/^vm-/u);
    const [listed] = await witness().listVms('team-a');
    expect(listed).toMatchObject({
      id,
      name: 'made',
      powerState: 'poweredOff',
      cpus: 1,
      memoryMiB: 64,
      instanceUuid: expect.stringMatching(/^[0-9a-f-]{36}$/u),
    });
    await witness().changeVm(path, { memoryMiB: 128, extraConfig: { 'app.a': '1' } });
    const [changed] = await witness().listVms('team-a');
    expect(changed).toMatchObject({ memoryMiB: 128, extraConfig: { 'app.a': '1' } });
    expect(changed?.changeVersion).not.toBe(listed?.changeVersion);
    await witness().setPower(path, 'on');
    expect(await witness().describeVm(path)).toMatchObject({
      runtime: { powerState: 'poweredOn' },
      config: { hardware: { numCPU: 1, memoryMB: 128 } },
    });
    expect(await failureOf(witness().setPower(path, 'on'))).toBeInstanceOf(Error);
    await witness().createSnapshot(path, 'before');
    await witness().removeSnapshots(path);
    await witness().createFolder(`${vmFolder}/below`);
    await witness().move(path, `${vmFolder}/below`);
    await witness().rename(`${vmFolder}/below/made`, 'renamed');
    expect(await witness().find('vm', vmFolder)).toEqual([`${vmFolder}/below/renamed`]);
    expect(await witness().idOf(`${vmFolder}/below/renamed`)).toBe(id);
    await witness().destroyVm(`${vmFolder}/below/renamed`);
    expect(await witness().listVms('team-a')).toEqual([]);
    expect(await witness().describeVm(path)).toBeNull();
    await witness().destroy(`${vmFolder}/below`);
    expect(await witness().find('folder', vmFolder)).toEqual([vmFolder]);
  });

  test('a clone has disks of its own; a name is taken once', async () => {
    const clone = { from: inventory.template, to: `${vmFolder}/clone`, pool: vmPool };
    const id = await witness().cloneVm(clone);
    const [vm] = await witness().listVms('team-a');
    expect(vm).toMatchObject({
      id,
      name: 'clone',
      powerState: 'poweredOff',
      disks: [expect.stringMatching(/^\[LocalDS_0\] clone\/.*\.vmdk$/u)],
    });
    expect(await failureOf(witness().cloneVm(clone))).toBeInstanceOf(Error);
    await witness().makeDirectory({ datastore, path: 'volumes' });
    await witness().attachNewDisk(`${vmFolder}/clone`, { datastore, path: 'volumes/one', sizeMiB: 1 });
    expect((await witness().listVms('team-a'))[0]?.disks).toContain('[LocalDS_0] volumes/one.vmdk');
    expect(await witness().listFiles({ datastore, path: 'volumes' })).toContain('one.vmdk');
    await witness().destroyVm(`${vmFolder}/clone`);
    expect(await witness().listFiles({ datastore, path: '' })).not.toContain('clone');
  });

  test('folders of files, disks and copies of files', async () => {
    await witness().makeDirectory({ datastore, path: 'cache/inner' });
    await witness().makeDirectory({ datastore, path: 'cache/inner' });
    await witness().createDisk({ datastore, path: 'cache/disk.vmdk', sizeMiB: 1 });
    await witness().copyFile({ datastore, path: 'cache/disk.vmdk' }, 'cache/copy.vmdk');
    expect(await witness().listFiles({ datastore, path: 'cache' })).toEqual(
      expect.arrayContaining(['copy.vmdk', 'disk.vmdk', 'inner']),
    );
    expect(await witness().listFiles({ datastore, path: 'nowhere' })).toEqual([]);
    expect(await witness().listFiles({ datastore: 'LocalDS_1', path: '' })).not.toContain('cache');
    await witness().removeFiles({ datastore, path: 'cache' });
    await witness().removeFiles({ datastore, path: 'cache' });
    expect(await witness().listFiles({ datastore, path: '' })).not.toContain('cache');
  });

  test('resource pools, modules and libraries', async () => {
    await witness().createPool(`${vmPool}/inner`);
    expect((await witness().describePool(`${vmPool}/inner`)).memoryAllocation).toMatchObject({
      reservation: expect.any(Number),
      limit: expect.any(Number),
    });
    await witness().destroy(`${vmPool}/inner`);
    expect(await witness().find('pool', vmPool)).toEqual([vmPool]);
    const module = await witness().createModule('/DC0/host/DC0_C0');
    expect(await witness().listModules()).toEqual([module]);
    expect(await witness().listModuleMembers(module)).toEqual([]);
    const library = await witness().makeLibrary('images');
    expect(new Set([library.ovf, library.ova, library.iso, library.broken]).size).toBe(4);
    await witness().removeLibraryItem('images', 'broken');
    expect(await failureOf(witness().removeLibraryItem('images', 'broken'))).toBeInstanceOf(Error);
  });

  test('the journal records how long each owner was there, and each module', async () => {
    const path = `${vmFolder}/owned`;
    const id = await witness().createVm(path);
    const owner = (uid: string): Promise<void> => witness().changeVm(path, { extraConfig: { 'drover.uid': uid } });
    await owner('first');
    await owner('second');
    await witness().destroyVm(path);
    const module = await witness().createModule('/DC0/host/DC0_C0');
    const lives = await witness().readJournal();
    const gone = expect.any(Number);
    expect(lives.filter((life) => life.id === id)).toMatchObject([
      { kind: 'VirtualMachine', uid: 'first', goneMs: gone },
      { kind: 'VirtualMachine', uid: 'second', goneMs: gone },
    ]);
    expect(lives.filter((life) => life.id === module)).toMatchObject([
      { kind: 'ClusterModule', uid: '', goneMs: null, userAgent: expect.stringMatching(/^govc/u) },
    ]);
  });
}
