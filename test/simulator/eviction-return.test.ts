import { annotations, evictionId } from '../../contracts/ids.ts';
import { messages, unseenChange } from '../../contracts/messages.ts';
import { applyObject, mergeStatus } from '../../lab/kubernetes-objects.ts';
import { findService } from '../../lab/openstack/hosts.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { liftStops, setStop } from '../../runtime/stop.ts';
import { host, openEvictionStory } from './eviction-story.ts';

const minuteMs = 60_000;
const systemNamespace = 'drover-system';
const { signal } = new AbortController();

/** An eviction that waits for its Node. */
async function rollingUpdate() {
  const opened = await openEvictionStory({ settings: {} });
  const { simulation, admin, openstack, evict } = opened;
  const setNode = async (bootID: string): Promise<void> => {
    const lastTransitionTime = new Date(simulation.clock.now()).toISOString();
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: host } };
    await applyObject(admin, node);
    const ready = { type: 'Ready', status: 'True', reason: 'Test', message: 'test', lastTransitionTime };
    await mergeStatus(admin, { ...node, status: { conditions: [ready], nodeInfo: { bootID } } });
  };
  const untilReason = (reason: string): Promise<unknown> =>
    opened.untilReason('HypervisorReEnabled', reason, 30 * minuteMs);
  return {
    ...opened,
    setNode,
    untilReason,
    service: () => findService(openstack.admin, host),
    run: (story: () => Promise<void>): Promise<void> =>
      opened.run(async () => {
        await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
        await createInstances(openstack.admin, [{ name: 'guest', host, seconds: 1 }]);
        await setNode('before');
        await evict({ annotations: { [annotations.cause]: 'rolling-update' } });
        await untilReason('WaitingForNode');
        await story();
      }, 120 * minuteMs),
  };
}

test('kube-apiserver is away while a Node is awaited, and the Eviction was to be read: the host is enabled again', async () => {
  const { simulation, setNode, untilReason, service, run } = await rollingUpdate();
  const { clock, network, client } = simulation;
  await run(async () => {
    expect(await client.workflow.getHandle(evictionId(host)).executeUpdate(messages.retryNow, { args: [{}] })).toBe(
      'What the run waits to try again, it tries now.',
    );
    network.setAway('kubernetes', true);
    await client.workflow.getHandle(evictionId(host)).signal(messages.objectChanged, unseenChange('spec'));
    await clock.sleep(10 * minuteMs);
    await setNode('after');
    network.setAway('kubernetes', false);
    await untilReason('Succeeded');
    expect(await service()).toMatchObject({ status: 'enabled' });
  });
});

describe('a host that is to be left disabled after all', () => {
  const changes: [annotation: string, value: string][] = [
    [annotations.reEnable, 'false'],
    [annotations.mode, 'observe'],
  ];
  test.each(changes)('is awaited no more: %s is %s', async (annotation, value) => {
    const { simulation, setNode, untilReason, annotate, service, run } = await rollingUpdate();
    await run(async () => {
      await annotate({ [annotation]: value });
      await untilReason('LeftDisabled');
      await setNode('after');
      await simulation.clock.sleep(10 * minuteMs);
      expect(await service()).toMatchObject({ status: 'disabled' });
    });
  });

  test('is left so when `drover stop` is lifted', async () => {
    const { simulation, admin, setNode, untilReason, annotate, service, run } = await rollingUpdate();
    const { clock } = simulation;
    await run(async () => {
      const stop = { of: 'kind', name: 'Eviction' } as const;
      const at = new Date(clock.now()).toISOString();
      await setStop(admin, systemNamespace, { ...stop, by: 'jane', reason: 'test', at }, signal);
      await setNode('after');
      await untilReason('Stopped');
      await annotate({ [annotations.reEnable]: 'false' });
      await untilReason('LeftDisabled');
      await liftStops(admin, systemNamespace, stop, signal);
      await clock.sleep(10 * minuteMs);
      expect(await service()).toMatchObject({ status: 'disabled' });
    });
  });
});
