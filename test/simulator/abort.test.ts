import { evictionId } from '../../contracts/ids.ts';
import type { CancelEviction } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

const host = 'node-1';
const abort: CancelEviction = { abort: true, reEnable: false, by: 'test' };

/** Whether a cancel overtakes the start of the child differs from seed to seed. */
test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a move that has been asked for and has not begun is aborted: seed %i',
  async (seed) => {
    const stopping = Promise.withResolvers<void>();
    const deployment = deploy({
      bundle: await loadWorkflows(),
      seed,
      parts: ['openstack'],
      settings: quickSettings,
      bridge: true,
      onEvent({ workflowId, name }) {
        if (name !== 'StartChildWorkflowExecutionInitiated') return;
        const handle = deployment.simulation.client.workflow.getHandle(workflowId);
        const update = handle.executeUpdate(messages.cancelEviction, { args: [abort] });
        update.then(() => stopping.resolve(), stopping.reject);
      },
    });
    const { simulation, kubernetes, openstack } = deployment;
    const { admin } = kubernetes;
    const evict = async (): Promise<void> => {
      if (openstack === null) throw new Error('there is no OpenStack');
      await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
      await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
      // Until a user aborts it.
      await openstack.fleet.change(host, { migrate: 'slow' });
      await createInstances(openstack.admin, [{ name: 'guest', host }]);
      const spec = { hypervisor: host, reason: 'test' };
      await applyObject(admin, { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: host }, spec });
      await stopping.promise;
      await simulation.clock.sleep(20_000);
    };
    await simulation.run(withClock(simulation.clock, evict), 120_000);
    expect(simulation.runs()[0]).toMatchObject({ workflowId: evictionId(host), status: 'CANCELED' });
    expect(simulation.openRuns()).toEqual([]);
    deployment.close();
  },
);
