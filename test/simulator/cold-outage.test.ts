import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import { messages, unseenChange } from '../../contracts/messages.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { createInstances, getServer } from '../../lab/openstack/seed.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { until } from '../flows/until.ts';
import { hosts } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

const host = 'node-1';
const minuteMs = 60_000;
const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: host });

test.each(['failAfter', 'slow'] as const)(
  'Nova takes a cold migration (%s), and is away for longer than the request is repeated: it is confirmed',
  async (fate) => {
    let isAsked = false;
    const deployment = deploy({
      bundle: await loadWorkflows(),
      seed: 1,
      parts: ['openstack'],
      settings: {},
      bridge: true,
      onCall({ verb, activity }) {
        if (activity?.activity !== 'startColdMigration' || !verb.endsWith('/action migrate')) return 'works';
        isAsked = true;
        clock.after(fate === 'slow' ? 1_000 : 0, () => network.setAway('nova', true));
        return fate;
      },
    });
    const { simulation, kubernetes, openstack } = deployment;
    const { admin } = kubernetes;
    const { clock, network, client } = simulation;
    if (openstack === null) throw new Error('there is no OpenStack');
    const evict = async (): Promise<void> => {
      await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
      await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
      const [guest] = await createInstances(openstack.admin, [{ name: 'guest', host, seconds: 1, state: 'SHUTOFF' }]);
      await applyObject(admin, {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name: host },
        spec: { hypervisor: host, reason: 'test' },
      });
      await until('Nova to be asked', 30 * minuteMs, () => isAsked || 'not yet');
      await clock.sleep(10 * minuteMs);
      network.setAway('nova', false);
      await client.workflow.getHandle(evictionId(host)).signal(messages.objectChanged, unseenChange('spec'));
      await until('the eviction to be over', 60 * minuteMs, async () => {
        const { status } = (await admin.request({ method: 'GET', path }, new AbortController().signal)) as Eviction;
        const found = findCondition(status?.conditions, 'Evicting');
        return found?.status === 'False' || `${found?.reason}: ${found?.message}`;
      });
      expect(await getServer(openstack.admin, guest?.id ?? '')).toMatchObject({ status: 'SHUTOFF' });
    };
    await simulation.run(withClock(clock, evict), 180 * minuteMs);
    deployment.close();
  },
);
