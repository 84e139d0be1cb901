import { imageCacheName } from '../../activities/kubernetes/virtual-machine/read-objects.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import type { CachedLocation } from '../../lab/vsphere/image-cache.ts';
import { fillImageCache, installImageCaches, makeCachedFiles, makeCachedImage } from '../../lab/vsphere/image-cache.ts';
import type { DescribedDevice, DescribedVm } from '../../lab/vsphere/witness.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** VirtualMachines that are made of cached files, by drover's own worker and bridge. The test itself caches them. */

let world: VmWorld;
let locations: CachedLocation[];

const promotion = virtualMachineConditions.diskPromotionSynced;
const reconciled = /^True Reconciled/u;
const item = 'item-fast';
const cache = { name: imageCacheName(item), providerID: item };
const image = { image: { kind: 'VirtualMachineImage', name: 'fast' } };
const fastDeploy = (how: 'direct' | 'linked'): Record<string, string> => ({ 'vmoperator.vmware.com/fast-deploy': how });

beforeAll(async () => {
  world = await openVmWorld({ settings: { virtualMachine: { fastDeploy: 'direct' } }, prepare: installImageCaches });
  await makeCachedImage(world.api, { namespace, name: 'fast', providerItemID: item }, 2);
  locations = await makeCachedFiles(world.vcenter, 'cache', 2);
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const fillCache = (files: readonly CachedLocation[]): Promise<void> => fillImageCache(world.api, cache, files);

const uidOf = async (name: string): Promise<string> => (await world.read(name))?.metadata.uid ?? '';

/** Folders and what they hold, on both datastores: `<uid>/disk-0.vmdk`. */
async function filesOf(folder: string): Promise<string[]> {
  const all = await Promise.all(
    inventory.datastores.map((path) =>
      world.vcenter.listFiles({ datastore: path.slice(path.lastIndexOf('/') + 1), path: folder }),
    ),
  );
  return all.flat();
}

async function configOf(name: string): Promise<DescribedVm['config'] & { disks: DescribedDevice[] }> {
  const vm = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/${name}`);
  if (vm === null) throw new Error(`there is no ${name}`);
  return { ...vm.config, disks: vm.config.hardware.device.filter(({ capacityInKB }) => capacityInKB !== undefined) };
}
const callsFor = async (uid: string): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { method, body } of await world.control.requests())
    if (method.endsWith('_Task') && body.includes(uid)) counts[method] = (counts[method] ?? 0) + 1;
  return counts;
};
const home = (uid: string): RegExp => new RegExp(String.raw`^\[LocalDS_\d\] ${uid}/`, 'u');

test(
  'direct: it waits until its image is cached, has its own copies of the disks, and is on; deleted, nothing is left',
  async () => {
    await world.create('copied', image);
    await world.untilReported('copied', /Waiting for the cached files|WaitingForImageCache/u);
    const wanted = JSON.parse(
      await world.kubectl('get', 'virtualmachineimagecache', cache.name, '-n', 'drover-system', '-o', 'json'),
    ) as { spec: { locations: object[] } };
    expect(
      locations.map(({ datacenterID, datastoreID, profileID }) => ({ datacenterID, datastoreID, profileID })),
    ).toEqual(expect.arrayContaining(wanted.spec.locations));
    expect(await world.witness('copied')).toBeNull();

    await fillCache(locations);
    await world.untilReported('copied', reconciled);
    const uid = await uidOf('copied');
    expect(await world.witness('copied')).toMatchObject({
      powerState: 'poweredOn',
      instanceUuid: uid,
      metadata: { 'vmservice.namespacedName': `${namespace}/copied`, 'drover.uid': uid },
    });
    const { files, disks, guestId, firmware, extraConfig } = await configOf('copied');
    expect(files.vmPathName).toMatch(home(uid));
    expect(disks.map(({ backing }) => backing?.fileName)).toEqual([
      expect.stringMatching(/disk-0\.vmdk$/u),
      expect.stringMatching(/disk-1\.vmdk$/u),
    ]);
    for (const { backing } of disks)
      expect([home(uid).test(backing?.fileName ?? ''), backing?.parent]).toEqual([true, undefined]);
    expect([guestId, firmware]).toEqual(['otherGuest64', 'efi']);
    expect(extraConfig).toEqual(
      expect.arrayContaining([expect.objectContaining({ key: 'nvram', value: 'copied.nvram' })]),
    );
    expect(await callsFor(uid)).toMatchObject({
      CopyVirtualDisk_Task: 2,
      MoveVirtualDisk_Task: 2,
      CopyDatastoreFile_Task: 1,
      CreateVM_Task: 1,
    });
    expect(await filesOf(uid)).toEqual(expect.not.arrayContaining([expect.stringContaining('.part.')]));
    expect((await world.read('copied'))?.metadata.annotations).not.toHaveProperty(['drover.dev/copies']);

    await world.remove('copied');
    await world.untilReported('copied', /^gone/u);
    expect(await world.witness('copied')).toBeNull();
    expect((await filesOf('cache')).filter((name) => name.endsWith('.vmdk') && !name.includes('flat'))).toHaveLength(4);
  },
  limitMs,
);

test(
  'linked: its disks are children of the cached ones, which stay when it is deleted',
  async () => {
    await world.create('linked', { ...image, promoteDisksMode: 'Disabled' }, fastDeploy('linked'));
    await world.untilReported('linked', reconciled);
    const uid = await uidOf('linked');
    const { disks, extraConfig } = await configOf('linked');
    expect(disks.map(({ backing }) => [home(uid).test(backing?.fileName ?? ''), backing?.parent?.fileName])).toEqual([
      [true, expect.stringMatching(/ cache\/cached-0\.vmdk$/u)],
      [true, expect.stringMatching(/ cache\/cached-1\.vmdk$/u)],
    ]);
    expect(extraConfig).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'vmprov.keepDisks', value: 'cached-0.vmdk,cached-1.vmdk' }),
      ]),
    );
    expect(await callsFor(uid)).toMatchObject({ CreateVM_Task: 1 });
    expect(await callsFor(uid)).not.toHaveProperty('CopyVirtualDisk_Task');
    await world.remove('linked');
    await world.untilReported('linked', /^gone/u);
    expect((await filesOf('cache')).filter((name) => name.endsWith('.vmdk') && !name.includes('flat'))).toHaveLength(4);
  },
  limitMs,
);

test(
  'promoted: its linked disks become whole ones while it is on, once; the cached ones stay',
  async () => {
    await world.create('promoted', image, fastDeploy('linked'));
    await world.untilReported('promoted', reconciled);
    const uid = await uidOf('promoted');
    const { disks } = await configOf('promoted');
    expect(disks.map(({ backing }) => [home(uid).test(backing?.fileName ?? ''), backing?.parent])).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
    expect(findCondition((await world.read('promoted'))?.status?.conditions, promotion)).toMatchObject({
      status: 'True',
    });
    const id = (await world.read('promoted'))?.status?.uniqueID ?? '';
    const promotions = (await world.control.requests()).filter(
      ({ method, body }) => method === 'PromoteDisks_Task' && body.includes(`>${id}<`),
    );
    expect(promotions).toHaveLength(1);
    await world.remove('promoted');
    await world.untilReported('promoted', /^gone/u);
    expect((await filesOf('cache')).filter((name) => name.endsWith('.vmdk') && !name.includes('flat'))).toHaveLength(4);
  },
  limitMs,
);

const untilCopying = async (name: string): Promise<string> => {
  await until(
    `${name} to be copied`,
    30_000,
    async () => ((await callsFor(await uidOf(name)))['CopyVirtualDisk_Task'] ?? 0) > 0 || 'not yet',
  );
  return uidOf(name);
};

test(
  'a worker that is killed while a disk is copied: one VM, with whole disks',
  () =>
    world.whileSlow({ CopyVirtualDisk: 4_000 }, async () => {
      await world.create('killed', image);
      const uid = await untilCopying('killed');
      await world.drover.kill('worker');
      await world.drover.restart('worker');
      await world.untilReported('killed', reconciled, 90_000);
      expect(await callsFor(uid)).toMatchObject({ CreateVM_Task: 1, MoveVirtualDisk_Task: 2 });
      expect(await world.witness('killed')).toMatchObject({ powerState: 'poweredOn', instanceUuid: uid });
    }),
  limitMs,
);

test(
  'deleted while a disk is copied: no VM, and no copy is left',
  () =>
    world.whileSlow({ CopyVirtualDisk: 4_000 }, async () => {
      await world.create('unwanted', image);
      const uid = await untilCopying('unwanted');
      await world.remove('unwanted');
      await world.untilReported('unwanted', /^gone/u, 90_000);
      expect(await world.witness('unwanted')).toBeNull();
      // Asked once more where the copy was still being written.
      expect((await callsFor(uid))['DeleteDatastoreFile_Task']).toBeGreaterThan(0);
      expect(await filesOf(uid)).toEqual([]);
    }),
  limitMs,
);

test.each(['direct', 'linked'] as const)(
  '%s: a VM that vCenter fails to make of files that are there leaves none of them when its object goes',
  async (how) => {
    const name = `failed-${how}`;
    await world.control.fail({ method: 'CreateVM_Task', fault: 'NoDiskSpace', inTask: true, count: 1_000 });
    await world.create(name, image, fastDeploy(how));
    await world.untilReported(name, /NoDiskSpace/u);
    const uid = await uidOf(name);
    expect(await filesOf(uid)).not.toEqual([]);
    expect(await world.witness(name)).toBeNull();
    await world.remove(name);
    await world.untilReported(name, /^gone/u);
    expect(await filesOf(uid)).toEqual([]);
    await world.control.reset();
  },
  limitMs,
);

test(
  'a file that is not there any more is named, and tried again',
  async () => {
    const without = locations.map((location) => ({
      ...location,
      files: location.files.map((file) => ({ ...file, id: file.id.replace('cached-1', 'lost') })),
    }));
    await fillCache(without);
    await world.create('lost', image);
    // vCenter names the file that is not there; govmomi's simulator the one that it would become.
    await world.untilReported('lost', /FileNotFound \(file (?:\[LocalDS_\d\] cache\/lost\.vmdk|\S*disk-1\.part)/u);
    await fillCache(locations);
    await world.untilReported('lost', reconciled, 60_000);
  },
  limitMs,
);
