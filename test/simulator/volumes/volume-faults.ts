import { dataVolumeId } from '../../../contracts/ids.ts';
import type { Story } from '../matrix/story-faults.ts';
import { elsewhere, home, inVolumeWorld, minute, ofClaim, second, type VolumeWorld } from './volume-world.ts';

/** Clones that are made, and deleted again, whatever fails on the way. */

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

export const volumeStories: readonly Story<VolumeWorld>[] = [
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
