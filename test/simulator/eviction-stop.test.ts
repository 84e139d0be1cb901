import { applyObject } from '../../lab/kubernetes-objects.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { liftStops, setStop, type StopScope } from '../../runtime/stop.ts';
import { until } from '../flows/until.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { openEvictionStory } from './eviction-story.ts';
import type { ActivityFate } from './simulation.ts';

const minuteMs = 60_000;
const systemNamespace = 'drover-system';
const stop: StopScope = { of: 'kind', name: 'Eviction' };
const { signal } = new AbortController();

test('a report that is late is not written over the one that says what stops the eviction', async () => {
  let isFirst = true;
  const { simulation, admin, openstack, evict, conditionOf, run } = await openEvictionStory({
    async onActivity({ activity }): Promise<ActivityFate> {
      if (activity !== 'publishEviction' || !isFirst) return 'works';
      isFirst = false;
      await simulation.clock.sleep(2_000);
      return 'works';
    },
  });
  const [host] = hosts;
  await run(async () => {
    await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
    await createInstances(openstack.admin, [{ name: 'guest', host }]);
    const at = new Date(simulation.clock.now()).toISOString();
    await setStop(admin, systemNamespace, { ...stop, by: 'jane', reason: 'a test', at }, signal);
    await evict({ hypervisor: host });
    await simulation.clock.sleep(minuteMs);
    expect(isFirst).toBe(false);
    expect(await conditionOf('Evicting', host)).toMatchObject({ message: expect.stringContaining('Stopped: ') });
  }, 10 * minuteMs);
});

test('evictions that wait for a stop to be lifted leave their queue to others', async () => {
  const atOnce = 2;
  const waiting = hosts.slice(0, atOnce + 1);
  const [deleted, ...lasting] = waiting;
  const later = hosts[atOnce + 1] ?? '';
  const { simulation, admin, openstack, evict, read, conditionOf, run } = await openEvictionStory({
    settings: { ...quickSettings, worker: { concurrency: { kubernetes: atOnce } } },
  });
  const { clock } = simulation;
  const untilSays = (name: string, words: string): Promise<unknown> =>
    until(`${name} to say ${words}`, minuteMs, async () => {
      const found = await conditionOf('Evicting', name);
      const said = `${found?.reason}: ${found?.message}`;
      return said.includes(words) || said;
    });

  await run(async () => {
    await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
    await createInstances(
      openstack.admin,
      waiting.map((host) => ({ name: `guest-${host}`, host, seconds: 1 })),
    );
    const at = new Date(clock.now()).toISOString();
    await setStop(admin, systemNamespace, { ...stop, by: 'jane', reason: 'test', at }, signal);
    for (const name of waiting) await evict({ hypervisor: name });
    for (const name of waiting) await untilSays(name, 'Stopped: ');
    await clock.sleep(10 * minuteMs);

    await evict({ hypervisor: later });
    await untilSays(later, 'Stopped: ');
    const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: deleted ?? '' });
    await admin.request({ method: 'DELETE', path }, signal);
    await until('the Eviction to go', minuteMs, async () => (await read(deleted ?? '')) === null || 'it is there');

    await liftStops(admin, systemNamespace, stop, signal);
    for (const name of [...lasting, later]) await untilSays(name, 'Succeeded');
  }, 120 * minuteMs);
});
