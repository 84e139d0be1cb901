import { annotations, evictionId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { host, openEvictionStory } from './eviction-story.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const never = new AbortController().signal;

test('a bad edit does not end an eviction that continues as a new run, and lifts no pause', async () => {
  const { simulation, openstack, evict, annotate, conditionOf, untilReason, run } = await openEvictionStory();
  const { client, clock } = simulation;
  const handle = client.workflow.getHandle(evictionId(host));
  await run(async () => {
    await createInstances(
      openstack.admin,
      ['first', 'second'].map((name) => ({ name, host, seconds: 5 })),
    );
    await evict({ annotations: { [annotations.parallelism]: '1' } });
    await clock.sleep(4_000);
    await handle.executeUpdate(messages.pause, { args: [{ by: 'test' }] });
    const { runId } = await handle.describe();
    await clock.sleep(dayMs + 60 * minuteMs);
    await annotate({ [annotations.deadline]: 'tomorrow' });
    await clock.sleep(minuteMs);

    expect((await handle.describe()).runId).not.toBe(runId);
    expect(await conditionOf('Evicting')).toMatchObject({
      status: 'True',
      reason: 'Running',
      message: expect.stringContaining('Paused by test'),
    });
    await annotate({ [annotations.deadline]: '' });
    await handle.executeUpdate(messages.resume, { args: [{ by: 'test' }] });
    await untilReason('Evicting', 'Succeeded');
  }, 3 * dayMs);
});

test('what a move that was the last one to be waited for ended with is said before the run continues as new', async () => {
  const { simulation, admin, openstack, evict, untilReason, run } = await openEvictionStory({ longHistory: 40 });
  const handle = simulation.client.workflow.getHandle(evictionId(host));
  await run(async () => {
    await openstack.fleet.change(host, { migrate: 'fail' });
    await createInstances(openstack.admin, [{ name: 'guest', host, seconds: 120 }]);
    await evict();
    await simulation.clock.sleep(minuteMs);
    const { runId } = await handle.describe();
    await untilReason('Evicting', 'Failed', 60 * minuteMs);
    expect((await handle.describe()).runId).not.toBe(runId);
    await until('the Event of the server', minuteMs, async () => {
      const path = '/apis/events.k8s.io/v1/namespaces/default/events';
      const found = (await admin.request({ method: 'GET', path }, never)) as { items: { reason: string }[] };
      const reasons = found.items.map(({ reason }) => reason);
      return reasons.includes('InstanceNotMigratable') || reasons.join(', ');
    });
  }, dayMs);
});
