import { evictionId } from '../../contracts/ids.ts';
import type { CancelEviction } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { host, openEvictionStory } from './eviction-story.ts';

const abort: CancelEviction = { abort: true, reEnable: false, by: 'test' };

/** Whether a cancel overtakes the start of the child differs from seed to seed. */
test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a move that has been asked for and has not begun is aborted: seed %i',
  async (seed) => {
    const stopping = Promise.withResolvers<void>();
    const { simulation, openstack, evict, run } = await openEvictionStory({
      seed,
      onEvent({ workflowId, name }) {
        if (name !== 'StartChildWorkflowExecutionInitiated') return;
        const handle = simulation.client.workflow.getHandle(workflowId);
        const update = handle.executeUpdate(messages.cancelEviction, { args: [abort] });
        update.then(() => stopping.resolve(), stopping.reject);
      },
    });
    await run(async () => {
      // Until a user aborts it.
      await openstack.fleet.change(host, { migrate: 'slow' });
      await createInstances(openstack.admin, [{ name: 'guest', host }]);
      await evict();
      await stopping.promise;
      await simulation.clock.sleep(20_000);
    }, 120_000);
    expect(simulation.runs()[0]).toMatchObject({ workflowId: evictionId(host), status: 'CANCELED' });
    expect(simulation.openRuns()).toEqual([]);
  },
);
