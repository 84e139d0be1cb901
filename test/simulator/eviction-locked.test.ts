import { annotations } from '../../contracts/ids.ts';
import { act, createInstances, getServer } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { type EvictionStory, host, openEvictionStory } from './eviction-story.ts';

const minuteMs = 60_000;
const mostMs = 60 * minuteMs;

/** @returns the id of the second of two servers, which are moved one after the other */
async function createTwo({ openstack }: EvictionStory): Promise<string> {
  const [, later] = await createInstances(openstack.admin, [
    { name: 'a', host, seconds: 30 },
    { name: 'b', host, seconds: 30 },
  ]);
  return later?.id ?? '';
}

const evictAs = ({ evict }: EvictionStory, cause: string): Promise<unknown> =>
  evict({ annotations: { [annotations.cause]: cause, [annotations.parallelism]: '1' } });

test.each(['admin', 'termination'])(
  'a server that is locked after the preflight is moved when a user accepts that, and not before: %s',
  async (cause) => {
    const story = await openEvictionStory();
    const { simulation, openstack, conditionOf, untilReason, drover, run } = story;
    const { admin: nova } = openstack;
    const { clock } = simulation;
    await run(async () => {
      const locked = await createTwo(story);
      await evictAs(story, cause);
      await clock.sleep(10_000);
      await act(nova, locked, { lock: null });
      await untilReason('Evicting', 'Failed');
      expect(await getServer(nova, locked)).toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
      expect(await conditionOf('PreflightChecksSucceeded')).toMatchObject({
        message: expect.stringContaining(`1 obstacle: b: it is locked: unlock it [InstanceLocked/${locked}].`),
      });
      // The run that has ended lingers.
      await clock.sleep(minuteMs);
      expect(await drover('accept', host, `InstanceLocked/${locked}`)).toMatchObject({ code: 0 });
      await untilReason('Evicting', 'Succeeded');
      expect(await getServer(nova, locked)).not.toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
    }, mostMs);
  },
);

test('a server that was locked is moved when a user has unlocked it and has it tried again', async () => {
  const story = await openEvictionStory();
  const { openstack, read, conditionOf, untilReason, drover, run } = story;
  const { admin: nova } = openstack;
  await run(async () => {
    const locked = await createTwo(story);
    await act(nova, locked, { lock: null });
    await evictAs(story, 'termination');
    await until('b to be blocked', minuteMs, async () => {
      const found = (await read())?.status;
      return JSON.stringify(found).includes(`InstanceLocked/${locked}`) || JSON.stringify(found);
    });
    await act(nova, locked, { unlock: null });
    expect(await drover('retry', host, 'b')).toMatchObject({ code: 0 });
    await untilReason('Evicting', 'Succeeded');
    expect(await getServer(nova, locked)).not.toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
    expect(await conditionOf('PreflightChecksSucceeded')).toMatchObject({ status: 'True' });
  }, mostMs);
});
