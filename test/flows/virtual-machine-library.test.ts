import { imageCacheName } from '../../activities/kubernetes/virtual-machine/read-objects.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachineImage } from '../../contracts/crds/virtual-machine-image.ts';
import { labels, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import type { Library } from '../../lab/vsphere/library.ts';
import { makeImage } from '../../lab/vsphere/vm-fixture.ts';
import { checkInvariants } from '../invariants.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * VirtualMachines that need vCenter's REST, by drover's own worker and bridge: of a content library, and in
 * a cluster module.
 */

let world: VmWorld;
let library: Library;

beforeAll(async () => {
  world = await openVmWorld();
  library = await world.vcenter.makeLibrary('images');
  await makeImage(world.api, { namespace, name: 'tiny', type: 'OVF', providerItemID: library.ovf });
  await makeImage(world.api, { namespace, name: 'install', type: 'ISO', providerItemID: library.iso });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

let attempts = 0;
beforeEach(async () => {
  attempts += 1;
  // Faults that did not come, and requests that are counted.
  await world.control.reset();
});
/** What is made stays: another attempt takes another name. */
const named = (name: string): string => `${name}-${attempts}`;

const reconciled = /^True Reconciled/u;
const deploysOf = async (name: string): Promise<number> =>
  (await world.control.requests()).filter(
    ({ method, body }) =>
      method === 'POST /com/vmware/vcenter/ovf/library-item deploy' && body.includes(`"name":"${name}"`),
  ).length;
/** As a user starts it. */
const sync = (input: object): Promise<unknown> =>
  world.client.workflow.execute(workflowTypes.syncContentLibrary, {
    taskQueue: workflowQueue(''),
    workflowId: 'content-library/images',
    args: [input],
  });
const imagesOf = async (kind: string, ...args: string[]): Promise<Pick<VirtualMachineImage, 'metadata' | 'status'>[]> =>
  (JSON.parse(await world.kubectl('get', kind, '-o', 'json', ...args)) as { items: VirtualMachineImage[] }).items;

const image = (name: string): object => ({ image: { kind: 'VirtualMachineImage', name } });

test(
  'made of an OVF whose answer is lost: one VM, with its metadata, in the size of its class, and on; deleted, it is gone',
  async () => {
    const name = named('deployed');
    await world.control.inject({
      method: 'POST /com/vmware/vcenter/ovf/library-item deploy',
      after: true,
      does: 'cut',
    });
    await world.create(name, image('tiny'));
    await world.untilReported(name, reconciled);
    const { metadata, status } = (await world.read(name)) ?? {};
    expect(await world.witness(name)).toMatchObject({
      powerState: 'poweredOn',
      cpus: 1,
      memoryMiB: 1_024,
      instanceUuid: metadata?.uid,
      metadata: { 'vmservice.namespacedName': `${namespace}/${name}`, 'drover.uid': metadata?.uid },
    });
    expect(status).toMatchObject({
      powerState: 'PoweredOn',
      instanceUUID: metadata?.uid,
      hardware: { cpu: { total: 1 } },
    });
    expect(await deploysOf(name)).toBe(1);
    await world.remove(name);
    await world.untilReported(name, /^gone/u);
    expect(await world.witness(name)).toBeNull();
  },
  limitMs,
);

test(
  'made of an ISO: an empty disk, and the ISO of the library in its drive',
  async () => {
    const name = named('installed');
    await world.create(name, {
      ...image('install'),
      guestID: 'otherGuest64',
      hardware: { cdrom: [{ name: 'cdrom1', ...image('install') }] },
      advanced: { bootDiskCapacity: '1Gi' },
    });
    await world.untilReported(name, reconciled);
    const installed = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/${name}`);
    expect(installed?.config.hardware.device.map(({ backing }) => backing?.fileName)).toContainEqual(
      expect.stringMatching(/^\[LocalDS_0\] contentlib-[^/]+\/[^/]+\/install\.iso$/u),
    );
    expect(await world.witness(name)).toMatchObject({ powerState: 'poweredOn', memoryMiB: 1_024 });
    expect(await deploysOf(name)).toBe(0);
  },
  limitMs,
);

test(
  'put into the cluster module of its group, once',
  async () => {
    const [name, policy] = [named('member'), named('apart')];
    const cluster = '/DC0/host/DC0_C0';
    const moduleUUID = await world.vcenter.createModule(cluster);
    const clusterMoID = await world.vcenter.idOf(cluster);
    await world.make({
      apiVersion: 'vmoperator.vmware.com/v1alpha6',
      kind: 'VirtualMachineSetResourcePolicy',
      metadata: { namespace, name: policy },
      spec: { clusterModuleGroups: ['web'] },
    });
    await world.kubectl(
      'patch',
      'virtualmachinesetresourcepolicy',
      policy,
      '-n',
      namespace,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status: { clustermodules: [{ clusterMoID, groupName: 'web', moduleUUID }] } }),
    );
    await world.create(
      name,
      { reserved: { resourcePolicyName: policy } },
      { [virtualMachineAnnotations.clusterModuleGroup]: 'web' },
    );
    await world.untilReported(name, reconciled);
    const object = await world.read(name);
    expect(object?.metadata.annotations).toMatchObject({ [virtualMachineAnnotations.clusterModuleUuid]: moduleUUID });
    expect(await world.vcenter.listModuleMembers(moduleUUID)).toContain(object?.status?.uniqueID ?? 'no id');
    expect(
      (await world.control.requests()).filter(
        ({ method }) => method === 'POST /vcenter/cluster/modules/vm/*/members add',
      ),
    ).toHaveLength(1);
  },
  limitMs,
);

test(
  'the images of a library follow it: made, changed and removed; another user’s stays; a VM is made of one',
  async () => {
    const library = await world.vcenter.makeLibrary(named('followed'));
    const of = { library: library.name };
    const theirs = imageCacheName(library.iso);
    await world.make({
      apiVersion: 'vmoperator.vmware.com/v1alpha6',
      kind: 'VirtualMachineImage',
      metadata: { namespace, name: theirs },
      spec: {},
    });
    const made = [library.ovf, library.ova, library.broken].map(imageCacheName);
    const nothing = { made: [], changed: [], removed: [], foreign: [theirs], unchanged: 0 };
    expect(await sync({ ...of, namespace })).toEqual({ ...nothing, made: expect.arrayContaining(made) });
    expect(await sync({ ...of, namespace })).toEqual({ ...nothing, unchanged: 3 });
    const labelled = await imagesOf('virtualmachineimage', '-n', namespace, '-l', labels.contentLibrary);
    const one = labelled.find(({ metadata }) => made.includes(metadata.name));
    const ofLibrary = `${labels.contentLibrary}=${one?.metadata.labels?.[labels.contentLibrary]}`;
    const images = await imagesOf('virtualmachineimage', '-n', namespace, '-l', ofLibrary);
    expect(
      Object.fromEntries(
        images.map(({ metadata: { name }, status }) => [
          name,
          [status?.name, status?.type, status?.providerItemID, findCondition(status?.conditions, 'Ready')?.status],
        ]),
      ),
    ).toEqual(
      Object.fromEntries(
        [
          ['tiny', library.ovf],
          ['packed', library.ova],
          ['broken', library.broken],
        ].map(([shown = '', item = '']) => [imageCacheName(item), [shown, 'OVF', item, 'True']]),
      ),
    );

    const name = named('synced');
    await world.create(name, image(imageCacheName(library.ova)));
    await world.untilReported(name, reconciled);
    expect(await world.witness(name)).toMatchObject({ powerState: 'poweredOn' });

    await world.vcenter.removeLibraryItem(library.name, 'broken');
    expect(await sync({ ...of, namespace })).toEqual({
      ...nothing,
      removed: [imageCacheName(library.broken)],
      unchanged: 2,
    });
    expect(await imagesOf('virtualmachineimage', '-n', namespace, '-l', ofLibrary)).toHaveLength(2);
    expect(await imagesOf('virtualmachineimage', '-n', namespace)).toEqual(
      expect.arrayContaining([expect.objectContaining({ metadata: expect.objectContaining({ name: theirs }) })]),
    );

    // Those of the cluster are others.
    expect(await sync(of)).toMatchObject({ removed: [], foreign: [], unchanged: 0 });
    expect(await imagesOf('clustervirtualmachineimage', '-l', ofLibrary)).toHaveLength(3);
  },
  limitMs,
);

test(
  'a library that is not there, and input that is wrong, is said so',
  async () => {
    const failure = (input: object): Promise<unknown> =>
      sync(input).then(
        () => 'no failure',
        (error: unknown) => error,
      );
    expect(await failure({ library: 'none' })).toMatchObject({
      cause: { cause: { type: 'VsphereObjectNotFound', message: expect.stringContaining('no content library none') } },
    });
    expect(await failure({ namespace: 'Team' })).toMatchObject({
      cause: { cause: { type: 'InvalidInput', message: expect.stringContaining('library: give the name') } },
    });
  },
  limitMs,
);
