import { attachmentName } from '../../contracts/virtual-machine/volumes.ts';
import {
  type AttachmentKind,
  attachmentKinds,
  installAttachmentKinds,
  playVolumes,
  type VolumePlayer,
} from '../../lab/vsphere/volume-player.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import { unlessAbsent } from './clear-leftovers.ts';
import { until } from './until.ts';
import { namespace, openVmWorld, type VmWorld } from './virtual-machine-world.ts';
import { claim, volume, volumesOf } from './volume-claim.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * Volumes of claims, by which of the vSphere CSI driver's kinds the cluster serves: it comes with none, with one, or
 * with both.
 */

const reconciled = /^True Reconciled/u;

/** A world whose cluster serves these kinds only, until a test installs more. */
function withKinds(kinds: readonly AttachmentKind[]) {
  let open: { world: VmWorld; player: VolumePlayer } | undefined;
  const world = (): VmWorld => {
    if (open === undefined) throw new Error('the world is not open');
    return open.world;
  };
  beforeAll(async () => {
    const opened = await openVmWorld({ prepare: (api) => serveOnly(api, kinds) });
    open = {
      world: opened,
      player: playVolumes({ kubernetes: opened.api, witness: opened.vcenter, namespace }),
    };
  }, startTimeoutMs);
  afterAll(async () => {
    await open?.player.stop();
    await open?.world.close();
  }, limitMs);
  afterEach(() => checkInvariants(world().observed), limitMs);
  return world;
}

const plurals = { CnsNodeVmAttachment: 'cnsnodevmattachments', CnsNodeVMBatchAttachment: 'cnsnodevmbatchattachments' };

/** A simulation serves both from the start. */
async function serveOnly(api: Kubernetes, kinds: readonly AttachmentKind[]): Promise<void> {
  for (const kind of attachmentKinds.filter((one) => !kinds.includes(one))) {
    const name = `${plurals[kind]}.cns.vmware.com`;
    const path = resourcePath('apiextensions.k8s.io/v1', 'customresourcedefinitions', { name });
    await unlessAbsent(() => api.request({ method: 'DELETE', path }, AbortSignal.timeout(10_000)));
  }
  await installAttachmentKinds(api, kinds);
}

/** Names of the attachments of these kinds that there are. */
async function attachmentsOf({ api }: VmWorld, kinds = attachmentKinds): Promise<string[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const path = resourcePath('cns.vmware.com/v1alpha1', plurals[kind], { namespace });
      const list = await api.request({ method: 'GET', path }, AbortSignal.timeout(10_000));
      return (list as { items: { metadata: { name: string } }[] }).items.map(
        ({ metadata }) => `${kind} ${metadata.name}`,
      );
    }),
  );
  return lists.flat();
}

const disksOf = async ({ vcenter }: VmWorld, name: string): Promise<number | undefined> =>
  (await vcenter.listVms(namespace)).find((vm) => vm.name === name)?.disks.filter((disk) => disk.includes('] fcd/'))
    .length;

async function removeWholly(world: VmWorld, name: string, kinds = attachmentKinds): Promise<void> {
  await world.remove(name);
  await world.untilReported(name, /^gone/u);
  await until('its attachments to be gone', 10_000, async () => {
    const left = await attachmentsOf(world, kinds);
    return left.length === 0 ? { left } : left.join(', ');
  });
}

describe('neither kind at first', () => {
  const world = withKinds([]);

  test(
    'it is said what is missing; what is installed later attaches, and a volume that is attached stays with its kind',
    async () => {
      const { make, create, change, untilReported, witness } = world();
      await make(claim('first'));
      await make(claim('second'));
      await create('early', { volumes: [volume('first', 'first')] });
      await untilReported('early', /serves neither CnsNodeVMBatchAttachment nor CnsNodeVmAttachment/u);
      expect((await witness('early'))?.powerState).toBe('poweredOff');
      // It has nothing that would have to be detached.
      await create('given-up', { volumes: [volume('first', 'first')] });
      await untilReported('given-up', /serves neither/u);
      await world().remove('given-up');
      await untilReported('given-up', /^gone/u);

      await installAttachmentKinds(world().api, ['CnsNodeVmAttachment']);
      const end = await world().command('retry', 'vm', `${namespace}/early`);
      expect(end.code).toBe(0);
      await untilReported('early', reconciled);
      expect(await volumesOf(world(), 'early')).toMatchObject([{ name: 'first', attached: true }]);
      const single = `CnsNodeVmAttachment ${attachmentName('early', 'first')}`;
      expect(await attachmentsOf(world(), ['CnsNodeVmAttachment'])).toEqual([single]);

      await installAttachmentKinds(world().api, ['CnsNodeVMBatchAttachment']);
      await change('early', { spec: { volumes: [volume('first', 'first'), volume('second', 'second')] } });
      await untilReported('early', reconciled);
      expect(await attachmentsOf(world())).toEqual([single, 'CnsNodeVMBatchAttachment early']);
      expect(await volumesOf(world(), 'early')).toMatchObject([
        { name: 'first', attached: true },
        { name: 'second', attached: true },
      ]);
      expect(await disksOf(world(), 'early')).toBe(2);
      await removeWholly(world(), 'early');
    },
    limitMs,
  );
});

describe('CnsNodeVmAttachment only', () => {
  const world = withKinds(['CnsNodeVmAttachment']);
  const kinds = ['CnsNodeVmAttachment'] as const;

  test(
    'volumes come and go by an object each; what it cannot say is refused, and the rest is attached',
    async () => {
      const { make, create, change, untilReported } = world();
      await make(claim('first'));
      await make(claim('second'));
      await create('single', { volumes: [volume('first', 'first'), volume('second', 'second')] });
      await untilReported('single', reconciled);
      expect(await attachmentsOf(world(), kinds)).toHaveLength(2);
      expect(await disksOf(world(), 'single')).toBe(2);
      await change('single', { spec: { volumes: [volume('first', 'first')] } });
      await untilReported('single', reconciled);
      expect(await disksOf(world(), 'single')).toBe(1);
      expect(await attachmentsOf(world(), kinds)).toEqual([`CnsNodeVmAttachment ${attachmentName('single', 'first')}`]);
      const shared = volume('second', 'second', { sharingMode: 'MultiWriter' });
      await change('single', { spec: { volumes: [volume('first', 'first'), shared] } });
      await untilReported(
        'single',
        /asks for sharingMode: the only kind that this cluster serves, CnsNodeVmAttachment, cannot say that/u,
      );
      expect(await volumesOf(world(), 'single')).toMatchObject([
        { name: 'first', attached: true },
        { name: 'second', attached: false },
      ]);
      await removeWholly(world(), 'single', kinds);
    },
    limitMs,
  );
});

describe('CnsNodeVMBatchAttachment only', () => {
  const world = withKinds(['CnsNodeVMBatchAttachment']);
  const kinds = ['CnsNodeVMBatchAttachment'] as const;

  test(
    'all volumes of a VM are in one object, which goes with it',
    async () => {
      const { make, create, change, untilReported } = world();
      await make(claim('first'));
      await make(claim('second'));
      await create('batch', { volumes: [volume('first', 'first')] });
      await untilReported('batch', reconciled);
      await change('batch', { spec: { volumes: [volume('first', 'first'), volume('second', 'second')] } });
      await untilReported('batch', reconciled);
      expect(await attachmentsOf(world(), kinds)).toEqual(['CnsNodeVMBatchAttachment batch']);
      expect(await disksOf(world(), 'batch')).toBe(2);
      await change('batch', { spec: { volumes: [volume('second', 'second')] } });
      await untilReported('batch', reconciled);
      expect(await disksOf(world(), 'batch')).toBe(1);
      await removeWholly(world(), 'batch', kinds);
    },
    limitMs,
  );
});
