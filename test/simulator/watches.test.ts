import { vcenterWatchId } from '../../contracts/ids.ts';
import { withClock } from '../../lab/clock.ts';
import { settings } from '../faults/virtual-machine-scenarios.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

test('a watch over a vCenter that a user has terminated is begun again', async () => {
  const deployment = deploy({ bundle: await loadWorkflows(), seed: 1, parts: ['vsphere'], settings, bridge: false });
  const { simulation } = deployment;
  const watch = simulation.client.workflow.getHandle(vcenterWatchId('lab'));
  const statusOf = async (): Promise<string> => (await watch.describe()).status.name;
  const end = async (): Promise<void> => {
    await simulation.clock.sleep(10_000);
    expect(await statusOf()).toBe('RUNNING');
    await watch.terminate('test');
    expect(await statusOf()).toBe('TERMINATED');
    await simulation.clock.sleep(300_000);
    expect(await statusOf()).toBe('RUNNING');
  };
  await simulation.run(withClock(simulation.clock, end), 600_000);
  deployment.close();
});
