import { apiServerSafetyId, orphanSweepId, overshootSafetyId } from '../../../contracts/ids.ts';
import { machineFixture } from '../../../lab/machines.ts';
import type { Story } from '../matrix/story-faults.ts';
import { inSweepWorld, periodMs, type SweepWorld } from './sweep-world.ts';

/** One sweep: two orphans, of which vSphere has one and Nova the other, beside five that Machines have. */

const { namespace } = machineFixture;
const needed = ['needed-1', 'needed-2', 'needed-3', 'needed-4', 'needed-5'];

/** More than any fault holds the orphans up. */
const mostPeriods = 20;

const left = async (world: SweepWorld): Promise<string[]> =>
  [...(await world.vms()), ...(await world.servers())].toSorted();

export const sweepStory: Story<SweepWorld> = {
  name: 'sweep',
  title: 'a sweep deletes two orphans, one of vSphere and one of Nova, beside five VMs that Machines have',
  roles: new Map([
    [orphanSweepId(namespace), 'sweep'],
    [apiServerSafetyId(namespace), 'safety'],
    [overshootSafetyId(namespace), 'overshoot'],
  ]),
  inWorld: (options, story) => inSweepWorld({ sweep: { ageMs: 0 }, ...options }, story),
  async tell(world, end) {
    for (const name of needed.slice(0, 3)) await world.makeVm(name);
    for (const name of needed.slice(3)) await world.makeServer(name);
    await world.makeVm('lost-1', { machine: null });
    await world.makeServer('lost-2', { machine: null });
    for (let periods = 0; periods < mostPeriods && (await left(world)).length > needed.length; periods += 1)
      await world.pass(periodMs);
    end();
    await world.pass(2 * periodMs);
    const there = await left(world);
    return [
      ...(there.join() === needed.join() ? [] : [`there are ${there.join(', ')} in the end`]),
      ...(await world.violations()),
    ];
  },
};
