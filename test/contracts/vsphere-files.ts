import type { FileOperation, FilePlace } from '../../contracts/virtual-machine/cached-files.ts';
import type { CreateSource } from '../../contracts/virtual-machine/mutations.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { makeCachedFiles } from '../../lab/vsphere/image-cache.ts';
import { until } from '../flows/until.ts';
import {
  describeVms,
  failureOf,
  makeVm,
  openSuite,
  settle,
  uidOf,
  type NewVm,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** How VMs are made of files that are there: by copies of them, or linked to them. */
export function vsphereFilesContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, activities, test, each } = openSuite(open, async (opened) => {
    await makeCachedFiles(opened.witness, 'cache', 2);
  });

  const datastore = 'LocalDS_0';
  const cached = ['cached-0', 'cached-1'].map((name) => `[${datastore}] cache/${name}.vmdk`);
  const nvram = `[${datastore}] cache/image.nvram`;
  const hardware = { guestId: 'otherGuest64', firmware: 'efi', version: null, disks: [] };
  const sourceOf = (mode: 'direct' | 'linked'): CreateSource => ({
    kind: 'cachedDisks',
    itemId: 'item',
    mode,
    disks: cached,
    nvram,
    hardware,
  });
  const newVm = (name: string, mode: 'direct' | 'linked'): NewVm => context.newVm(name, { source: sourceOf(mode) });
  const placeOf = (name: string): FilePlace => ({
    datacenter: context.ids.datacenter,
    datastore: context.ids.datastore,
    folder: uidOf(name),
  });
  const execute = async (name: string, operation: FileOperation): Promise<void> =>
    settle(
      activities,
      await activities.submitFileOperation({ ...context.newVm(name), place: placeOf(name), operation }),
    );
  /** Extents of disks left out: only some servers list them. */
  const filesOf = async (folder: string): Promise<string[]> =>
    (await context.witness.listFiles({ datastore, path: folder }))
      .filter((file) => !file.endsWith('-flat.vmdk'))
      .toSorted();
  const copyAll = async (name: string): Promise<void> => {
    for (const [index, from] of cached.entries()) {
      await execute(name, { kind: 'copyDisk', from, to: `disk-${index}.vmdk` });
      await execute(name, { kind: 'keepDisk', to: `disk-${index}.vmdk` });
    }
    await execute(name, { kind: 'copyOther', from: nvram, to: `${name}.nvram` });
  };

  test('a VM of copies has disks of its own; destroyed, none is left; those in the cache stay', async () => {
    await copyAll('copied');
    expect(await filesOf(uidOf('copied'))).toEqual(['copied.nvram', 'disk-0.vmdk', 'disk-1.vmdk']);
    const subject = await makeVm(activities, newVm('copied', 'direct'));
    const [vm] = await describeVms(context, 'copied');
    expect(vm?.config).toMatchObject({
      instanceUuid: uidOf('copied'),
      guestId: 'otherGuest64',
      firmware: 'efi',
      files: { vmPathName: `[${datastore}] ${uidOf('copied')}/copied.vmx` },
    });
    const disks = vm?.config.hardware.device.filter(({ capacityInKB }) => capacityInKB !== undefined);
    expect(disks?.map(({ backing }) => [backing?.fileName, backing?.parent?.fileName])).toEqual(
      [0, 1].map((index) => [`[${datastore}] ${uidOf('copied')}/disk-${index}.vmdk`, undefined]),
    );
    await settle(activities, await activities.submitDestroy(subject));
    expect(await filesOf('')).not.toContain(uidOf('copied'));
    expect(await filesOf('cache')).toEqual(['cached-0.vmdk', 'cached-1.vmdk', 'image.nvram']);
  });

  test('a VM of linked disks: destroyed, what they are linked to stays', async () => {
    await execute('linked', { kind: 'copyOther', from: nvram, to: 'linked.nvram' });
    const subject = await makeVm(activities, newVm('linked', 'linked'));
    const [vm] = await describeVms(context, 'linked');
    const disks = vm?.config.hardware.device.filter(({ capacityInKB }) => capacityInKB !== undefined);
    expect(disks?.map(({ backing }) => backing?.parent?.fileName)).toEqual(cached);
    await settle(activities, await activities.submitDestroy(subject));
    expect(await filesOf('cache')).toEqual(['cached-0.vmdk', 'cached-1.vmdk', 'image.nvram']);
    expect(await filesOf('')).not.toContain(uidOf('linked'));
  });

  test('linked disks are promoted to whole ones, once', async () => {
    await execute('promoted', { kind: 'copyOther', from: nvram, to: 'promoted.nvram' });
    const subject = await makeVm(activities, newVm('promoted', 'linked'));
    const disks = async () =>
      (await describeVms(context, 'promoted'))[0]?.config.hardware.device.filter(
        ({ capacityInKB }) => capacityInKB !== undefined,
      ) ?? [];
    const keys = (await disks()).map(({ key }) => key);
    const parents = async () => (await disks()).map(({ backing }) => backing?.parent?.fileName);
    expect(await parents()).toEqual(cached);
    const [first] = keys;
    await settle(activities, await activities.submitPromotion({ ...subject, keys: [first ?? 0] }));
    expect(await parents()).toEqual([undefined, cached[1]]);
    await settle(activities, await activities.submitPromotion({ ...subject, keys }));
    expect(await parents()).toEqual([undefined, undefined]);
    expect(await activities.submitPromotion({ ...subject, keys })).toBeNull();
    expect(await context.requests('PromoteDisks_Task')).toHaveLength(2);
    expect(
      await failureOf(activities.submitPromotion({ ...subject, keys, owner: { ...subject.owner, uid: 'another' } })),
    ).toMatchObject({ type: 'VirtualMachineNotOwned' });
    await settle(activities, await activities.submitDestroy(subject));
    expect(await filesOf('cache')).toEqual(['cached-0.vmdk', 'cached-1.vmdk', 'image.nvram']);
  });

  test('each is done once: a disk has its name when all of it is there, and is not copied again', async () => {
    const copy: FileOperation = { kind: 'copyDisk', from: cached[0] ?? '', to: 'disk-0.vmdk' };
    await execute('once', copy);
    expect(await filesOf(uidOf('once'))).toEqual(['disk-0.part.vmdk']);
    // Over what an attempt before has left.
    await execute('once', copy);
    await execute('once', { kind: 'keepDisk', to: 'disk-0.vmdk' });
    await context.control.clearRequests();
    await execute('once', copy);
    await execute('once', { kind: 'keepDisk', to: 'disk-0.vmdk' });
    expect((await context.control.requests()).filter(({ method }) => method.endsWith('_Task'))).toEqual([]);
    expect(await filesOf(uidOf('once'))).toEqual(['disk-0.vmdk']);
  });

  test('a folder that a VM has files in stays', async () => {
    await copyAll('registered');
    const subject = await makeVm(activities, newVm('registered', 'direct'));
    expect(await failureOf(execute('registered', { kind: 'removeFolder' }))).toMatchObject({
      type: 'VirtualMachineNotOwned',
      message: expect.stringContaining(`registered (${subject.vmId}) has files in [${datastore}]`),
    });
    expect(await filesOf(uidOf('registered'))).toContain('disk-0.vmdk');
  });

  test('so does one with files that were not copied: of a VM that is not registered', async () => {
    const files = ['disk-0.vmdk', 'unregistered.vmx'];
    await execute('unregistered', { kind: 'copyDisk', from: cached[0] ?? '', to: 'disk-0.vmdk' });
    await execute('unregistered', { kind: 'keepDisk', to: 'disk-0.vmdk' });
    await execute('unregistered', { kind: 'copyOther', from: nvram, to: 'unregistered.vmx' });
    expect(await failureOf(execute('unregistered', { kind: 'removeFolder' }))).toMatchObject({
      type: 'VirtualMachineNotOwned',
      message: expect.stringContaining('such as unregistered.vmx'),
    });
    expect(await filesOf(uidOf('unregistered'))).toEqual(files);
  });

  test('a folder goes with all that is in it; one that is not there is well', async () => {
    await execute('removed', { kind: 'copyDisk', from: cached[0] ?? '', to: 'disk-0.vmdk' });
    await execute('removed', { kind: 'removeFolder' });
    expect(await filesOf('')).not.toContain(uidOf('removed'));
    await execute('removed', { kind: 'removeFolder' });
    await execute('never-made', { kind: 'removeFolder' });
  });

  each<readonly [what: string, operation: FileOperation]>([
    ['a disk that is not there', { kind: 'copyDisk', from: `[${datastore}] cache/lost.vmdk`, to: 'disk-0.vmdk' }],
    ['a file that is not there', { kind: 'copyOther', from: `[${datastore}] cache/lost.nvram`, to: 'web.nvram' }],
    ['a copy that was not made', { kind: 'keepDisk', to: 'disk-7.vmdk' }],
  ])('%s is said so', async (_what, operation) => {
    expect(await failureOf(execute('lost', operation))).toMatchObject({
      type: 'VsphereObjectNotFound',
      message: expect.stringContaining('FileNotFound'),
    });
  });

  test('a lost answer to a copy: it is made once more over what is there', async () => {
    const copy: FileOperation = { kind: 'copyDisk', from: cached[0] ?? '', to: 'disk-0.vmdk' };
    await context.control.inject({ method: 'CopyVirtualDisk_Task', after: true, does: 'cut' });
    expect(await failureOf(execute('lost-copy', copy))).toMatchObject({
      type: 'VsphereUnavailable',
      nonRetryable: false,
    });
    // A real vCenter has the file locked until then.
    await until(
      'the first copy to end',
      10_000,
      async () => (await context.witness.readTasks()).every(({ endMs }) => endMs !== null) || 'not yet',
    );
    await execute('lost-copy', copy);
    await execute('lost-copy', { kind: 'keepDisk', to: 'disk-0.vmdk' });
    expect(await filesOf(uidOf('lost-copy'))).toEqual(['disk-0.vmdk']);
  });

  test('no VM is made of disks that are not there', async () => {
    await execute('diskless', { kind: 'copyOther', from: nvram, to: 'diskless.nvram' });
    expect(await failureOf(makeVm(activities, newVm('diskless', 'direct')))).toMatchObject({ nonRetryable: true });
    expect(await context.witness.find('vm', inventory.vmFolder)).toEqual(
      expect.not.arrayContaining([expect.stringContaining('diskless')]),
    );
  });
}
