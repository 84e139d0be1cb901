import { imageCacheName } from '../../activities/kubernetes/virtual-machine/read-objects.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import {
  fillImageCache,
  installImageCaches,
  installKind,
  makeCachedFiles,
  makeCachedImage,
} from '../../lab/vsphere/image-cache.ts';
import { vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** Fast deploy and groups by default: on where their parts exist, and never in the way where they do nothing. */

let world: VmWorld;
const reconciled = /^True Reconciled/u;
const item = 'item-auto';
/** Longer than anything else here takes, also where the machine is busy. */
const imageCacheMs = 60_000;

beforeAll(async () => {
  world = await openVmWorld({ settings: { virtualMachine: { imageCacheMs } } });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const conditionsOf = async (name: string): Promise<string> => {
  const { conditions = [] } = (await world.read(name))?.status ?? {};
  return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).join('\n');
};

test(
  'where the cluster serves neither caches nor groups, a VM is made without either, and says so of its group',
  async () => {
    await world.create('plain', { groupName: 'g' });
    await world.untilReported('plain', reconciled);
    expect(await world.witness('plain')).toMatchObject({ powerState: 'poweredOn' });
    expect(await conditionsOf('plain')).toContain('GroupLinked False NotFound');
  },
  limitMs,
);

test(
  'where nothing caches its image, it is waited for a while, once for each image',
  async () => {
    await installImageCaches(world.api);
    await world.create('first');
    await world.untilReported('first', /WaitingForImageCache.* on it is made without it/u);
    expect(await world.witness('first')).toBeNull();
    await world.untilReported('first', reconciled, 2 * imageCacheMs);
    await until('no trace of the cache', 60_000, async () => {
      const { labels = {}, annotations = {} } = (await world.read('first'))?.metadata ?? {};
      const left = ['vmicache.vmoperator.vmware.com/name', 'drover.dev/image-cache-asked'].filter(
        (key) => key in labels || key in annotations,
      );
      return left.length === 0 || left.join();
    });
    await world.create('second');
    await world.untilReported('second', reconciled, imageCacheMs / 2);
  },
  limitMs,
);

test(
  'where its image is cached, it is made of copies',
  async () => {
    await makeCachedImage(world.api, { namespace, name: 'fast', providerItemID: item }, 1);
    const files = await makeCachedFiles(world.vcenter, 'cache', 1);
    await fillImageCache(world.api, { name: imageCacheName(item), providerID: item }, files);
    await world.create('copied', { image: { kind: 'VirtualMachineImage', name: 'fast' } });
    await world.untilReported('copied', reconciled);
    const uid = (await world.read('copied'))?.metadata.uid ?? '';
    const vm = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/copied`);
    expect(vm?.config.files.vmPathName).toContain(`] ${uid}/`);
  },
  limitMs,
);

test(
  'where there are groups, a member waits for its own, and a user can take it out',
  async () => {
    await installKind(world.api, 'VirtualMachineGroup', 'virtualmachinegroups');
    await world.create('member', { groupName: 'g' });
    await world.untilReported('member', /WaitingForGroup/u);
    await world.change('member', {
      metadata: {
        labels: { 'topology.kubernetes.io/zone': vmFixture.zone },
        annotations: { 'drover.dev/retry': 'now' },
      },
    });
    await world.untilReported('member', reconciled);
    expect(await conditionsOf('member')).toContain('GroupLinked False NotFound');
  },
  limitMs,
);
