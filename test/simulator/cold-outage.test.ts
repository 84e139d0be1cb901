import { evictionId } from '../../contracts/ids.ts';
import { messages, unseenChange } from '../../contracts/messages.ts';
import { createInstances, getServer } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { host, openEvictionStory } from './eviction-story.ts';

const minuteMs = 60_000;

test.each(['failAfter', 'slow'] as const)(
  'Nova takes a cold migration (%s), and is away for longer than the request is repeated: it is confirmed',
  async (fate) => {
    let isAsked = false;
    const { simulation, openstack, evict, untilReason, run } = await openEvictionStory({
      settings: {},
      onCall({ verb, activity }) {
        if (activity?.activity !== 'startColdMigration' || !verb.endsWith('/action migrate')) return 'works';
        isAsked = true;
        clock.after(fate === 'slow' ? 1_000 : 0, () => network.setAway('nova', true));
        return fate;
      },
    });
    const { clock, network, client } = simulation;
    await run(async () => {
      const [guest] = await createInstances(openstack.admin, [{ name: 'guest', host, seconds: 1, state: 'SHUTOFF' }]);
      await evict();
      await until('Nova to be asked', 30 * minuteMs, () => isAsked || 'not yet');
      await clock.sleep(10 * minuteMs);
      network.setAway('nova', false);
      await client.workflow.getHandle(evictionId(host)).signal(messages.objectChanged, unseenChange('spec'));
      await untilReason('Evicting', 'Succeeded', 60 * minuteMs);
      expect(await getServer(openstack.admin, guest?.id ?? '')).toMatchObject({ status: 'SHUTOFF' });
    }, 180 * minuteMs);
  },
);
