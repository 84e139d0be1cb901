import { volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { dataVolumeId, storageProfileId } from '../../../contracts/ids.ts';
import { mergeObject } from '../../../lab/kubernetes-objects.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import type { Story } from '../matrix/story-faults.ts';
import { storageNames } from './storage-classes.ts';
import { elsewhere, home, inVolumeWorld, minute, never, ofClaim, second, type VolumeWorld } from './volume-world.ts';

/** Volumes that are made, and deleted again, whatever fails on the way. */

/** More than any fault holds a clone up. */
const mostMs = 20 * minute;

/** More than the source has, so that it has to grow. */
const asked = '3Gi';

interface Clone {
  name: string;
  title: string;
  /** Namespace of the source. */
  from: string;
  settings?: object;
  /** It is deleted when it is in that phase. Null: once it has been made. */
  deletedIn?: string;
}

function storyOf({ name, title, from, settings = {}, deletedIn }: Clone): Story<VolumeWorld> {
  return {
    name,
    title,
    roles: new Map([[dataVolumeId(home, 'disk'), 'disk']]),
    inWorld: (options, story) => inVolumeWorld({ settings, ...options }, story),
    async tell(world, end) {
      const complaints: string[] = [];
      const complain = (isWrong: boolean, what: string): void => void (isWrong && complaints.push(what));
      await world.makeSource('golden', 'bytes', {}, from);
      await world.makeVolume('disk', { source: ofClaim('golden', from), size: asked });
      if (deletedIn === undefined) {
        await world.made('disk', mostMs).catch((error: unknown) => complaints.push((error as Error).message));
        if (complaints.length > 0) return complaints;
        complain(world.storage.read(home, 'disk') !== 'bytes', `it holds ${world.storage.read(home, 'disk')}`);
        await world.pass(10 * second);
        complaints.push(...(await world.violations()));
      } else {
        const isOnItsWay = async (): Promise<boolean> => (await world.volume('disk')).status?.phase === deletedIn;
        complain(
          !(await world.until(isOnItsWay, mostMs)),
          `it was never ${deletedIn} but ${world.phases('disk').join(', ')}`,
        );
      }
      await world.removeVolume('disk');
      complain(!(await world.until(() => world.isGone('disk'), mostMs)), 'it does not go');
      end();
      await world.pass(2 * minute);
      const left = world.driver.volumes.map(({ name }) => name);
      complain(left.length !== 1, `volumes ${left.join(', ')} are left`);
      complain(world.driver.snapshots.length > 0, `${world.driver.snapshots.length} snapshots are left`);
      return [...complaints, ...(await world.violations())];
    },
  };
}

interface Told extends Pick<Story<VolumeWorld>, 'name' | 'title'> {
  settings?: object;
  /** How many volumes stay when it is gone. */
  sources: number;
  /** From its DataVolume on until that may be deleted. Returns what went wrong, a sentence each. */
  tell: (world: VolumeWorld) => Promise<string[]>;
}

/** A DataVolume that is no clone, or not at once, and is deleted in the end. */
const toldOf = ({ name, title, settings = {}, sources, tell }: Told): Story<VolumeWorld> => ({
  name,
  title,
  roles: new Map([[dataVolumeId(home, 'disk'), 'disk']]),
  inWorld: (options, story) => inVolumeWorld({ settings, ...options }, story),
  async tell(world, end) {
    const complaints = await tell(world);
    await world.removeVolume('disk');
    const isGone = await world.until(() => world.isGone('disk'), mostMs);
    end();
    await world.pass(2 * minute);
    const left = world.driver.volumes.map((volume) => volume.name);
    return [
      ...complaints,
      ...(isGone ? [] : ['it does not go']),
      ...(left.length === sources ? [] : [`volumes ${left.join(', ')} are left`]),
      ...(world.driver.snapshots.length === 0 ? [] : [`${world.driver.snapshots.length} snapshots are left`]),
      ...(await world.violations()),
    ];
  },
});

const claimOfHome = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };

/**
 * Its owner was a DataVolume of this name that is gone, and Kubernetes' collector leaves it: that version of the kind is
 * not served any more.
 */
async function leavePredecessor({ api }: VolumeWorld): Promise<void> {
  const owner = { apiVersion: 'cdi.kubevirt.io/v1alpha1', kind: 'DataVolume', name: 'disk', controller: true };
  await mergeObject(api, {
    ...claimOfHome,
    metadata: { namespace: home, name: 'disk', ownerReferences: [{ ...owner, uid: 'of-the-one-before' }] },
  });
}

/** What is not so of the volume when it has been made. */
async function judgeMade(world: VolumeWorld, content: string): Promise<string[]> {
  const problem = await world.made('disk', mostMs).then(
    () => null,
    (error: unknown) => (error as Error).message,
  );
  if (problem !== null) return [problem];
  const found = world.storage.read(home, 'disk');
  return [...(found === content ? [] : [`it holds ${found}`]), ...(await world.violations())];
}

const others: readonly Story<VolumeWorld>[] = [
  toldOf({
    name: 'cloneSucceeding',
    title: 'A clone of whose name there is the PVC of a DataVolume that is gone, which goes first',
    sources: 1,
    async tell(world) {
      await world.makeSource('golden', 'bytes');
      await world.makeSource('disk', 'old');
      await leavePredecessor(world);
      await world.makeVolume('disk', { source: ofClaim('golden') });
      return await judgeMade(world, 'bytes');
    },
  }),
  toldOf({
    name: 'volumeAdopted',
    title: 'A PVC of a user becomes the DataVolume’s, with what it holds, and goes with it',
    sources: 0,
    async tell(world) {
      await world.makeSource('disk', 'mine');
      const annotations = { [volumeAnnotations.allowClaimAdoption]: 'true' };
      await world.makeVolume('disk', { source: { blank: {} }, size: '1Gi', annotations });
      return await judgeMade(world, 'mine');
    },
  }),
  toldOf({
    name: 'volumeLeft',
    title: 'A DataVolume that is to be imported is left to CDI, and nothing holds it',
    sources: 0,
    async tell(world) {
      await world.makeVolume('disk', { source: { http: { url: 'https://images.test/disk' } }, size: '1Gi' });
      const isLeft = async (): Promise<boolean> =>
        (await world.volume('disk')).metadata.annotations?.[volumeAnnotations.leftTo] === 'cdi';
      return (await world.until(isLeft, mostMs)) ? [] : ['it is not left to CDI'];
    },
  }),
  toldOf({
    name: 'cloneGivenUp',
    title: 'A clone waits for the user of its source, and is given up as the driver refuses to cut it',
    settings: { deadlineMs: 2 * minute, onDeadline: 'fail' },
    sources: 1,
    async tell(world) {
      await world.makeSource('golden', 'bytes');
      await world.use('golden', 'vm');
      world.driver.fail('CreateSnapshot', { code: 'Internal', times: 10_000, description: 'no space' });
      await world.makeVolume('disk', { source: ofClaim('golden') });
      await world.pass(minute);
      await world.endUse('vm');
      const isLetGo = async (): Promise<boolean> => {
        const { status, metadata } = await world.volume('disk');
        return status?.phase === 'Failed' && (metadata.finalizers ?? []).length === 0;
      };
      const isGivenUp = await world.until(isLetGo, mostMs);
      world.driver.heal();
      return isGivenUp ? [] : [`it is ${(await world.volume('disk')).status?.phase}, and held`];
    },
  }),
];

const { plain } = storageNames.classes;

const profileStory: Story<VolumeWorld> = {
  name: 'profile',
  title: 'A StorageClass gets its StorageProfile, which follows what a user says, and goes with it',
  roles: new Map([[storageProfileId(plain), 'profile']]),
  inWorld: (options, story) =>
    inVolumeWorld({ sections: { modes: { Eviction: 'off', StorageProfile: 'act' } }, ...options }, story),
  async tell(world, end) {
    const find = () => world.client.get(resources.StorageProfile, { name: plain }, never);
    const says = async (strategy: string): Promise<string[]> => {
      const isSaid = async (): Promise<boolean> => (await find())?.status?.cloneStrategy === strategy;
      return (await world.until(isSaid, mostMs)) ? [] : [`it does not say ${strategy}`];
    };
    const made = await says('snapshot');
    const spec = { cloneStrategy: 'csi-clone' };
    const profile = { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'StorageProfile', metadata: { name: plain } };
    await mergeObject(world.api, { ...profile, spec });
    const changed = await says('csi-clone');
    const path = resourcePath('storage.k8s.io/v1', 'storageclasses', { name: plain });
    await world.api.request({ method: 'DELETE', path }, never);
    const isGone = await world.until(async () => (await find()) === null, mostMs);
    end();
    await world.pass(2 * minute);
    return [...made, ...changed, ...(isGone ? [] : ['it is left']), ...(await world.violations())];
  },
};

export const cloneStories: readonly Story<VolumeWorld>[] = [
  storyOf({ name: 'clone', title: 'A clone beside its source, which grows, and goes', from: home }),
  storyOf({ name: 'cloneElsewhere', title: 'A clone in another namespace than its source, and goes', from: elsewhere }),
  storyOf({
    name: 'cloneCopied',
    title: 'A clone that is copied by a Job in the namespace of its source, and goes',
    from: elsewhere,
    settings: { strategyOverride: 'copy', copyImage: 'drover:test' },
  }),
  storyOf({
    name: 'cloneDeleted',
    title: 'A clone that is deleted while its volume is on its way',
    from: elsewhere,
    deletedIn: 'NamespaceTransferInProgress',
  }),
];

export const volumeStories: readonly Story<VolumeWorld>[] = [...cloneStories, ...others, profileStory];
