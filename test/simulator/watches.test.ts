import { driftScheduleId, sweepScheduleId, vcenterWatchId } from '../../contracts/ids.ts';
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

test('a Schedule that a user has deleted is made again, and one that is there is left as it is', async () => {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: { modes: { Hypervisor: 'act', Machine: 'observe' }, machines: { namespaces: ['shoot', 'paused'] } },
    bridge: false,
  });
  const { simulation } = deployment;
  const { schedule } = simulation.client;
  const pausedId = sweepScheduleId('paused');
  const deleted = [driftScheduleId('RegionOne'), sweepScheduleId('shoot')];
  const scheduleIds = async (): Promise<string[]> => {
    const ids = [];
    for await (const { scheduleId } of schedule.list()) ids.push(scheduleId);
    return ids.toSorted();
  };
  const interfere = async (): Promise<void> => {
    await simulation.clock.sleep(10_000);
    await schedule.getHandle(pausedId).pause('not today');
    for (const id of deleted) await schedule.getHandle(id).delete();
    expect(await scheduleIds()).toEqual([pausedId]);
    await simulation.clock.sleep(300_000);
    expect(await scheduleIds()).toEqual([...deleted, pausedId].toSorted());
    const { state, info } = await schedule.getHandle(pausedId).describe();
    expect([state.paused, state.note, info.lastUpdatedAt]).toEqual([true, 'not today', undefined]);
  };
  await simulation.run(withClock(simulation.clock, interfere), 600_000);
  deployment.close();
});
