import type { WorkflowHandle } from '@temporalio/client';
import type { AllowanceProgress } from '../../../contracts/allowance.ts';
import { allowanceId, dataVolumeId } from '../../../contracts/ids.ts';
import { messages } from '../../../contracts/messages.ts';
import { budgets } from '../../budgets/budgets.ts';
import { storageNames } from './storage-classes.ts';
import { conditionOf, home, inVolumeWorld, minute, second, type VolumeWorld } from './volume-world.ts';

/** Clones that wait for a slot of their driver. */

const runOf = ({ deployment: { simulation } }: VolumeWorld, name: string): WorkflowHandle =>
  simulation.client.workflow.getHandle(dataVolumeId(home, name));

const eventsOf = ({ deployment: { simulation } }: VolumeWorld): number[] =>
  simulation
    .histories()
    .filter(({ workflowId }) => workflowId.startsWith('datavolume/'))
    .map(({ history }) => history.events?.length ?? 0);

const named = (count: number): string[] => Array.from({ length: count }, (_, index) => `disk-${index}`);

/** How many say that they are queued. */
const queued = async (world: VolumeWorld, names: readonly string[]): Promise<string[]> => {
  const volumes = await Promise.all(names.map((name) => world.volume(name)));
  return names.filter((_, index) => conditionOf(volumes[index]!, 'Running') === 'False TooManyClones');
};

test('a hundred clones at once are within the budget of one each: to be queued is one activity, however long', async () => {
  await inVolumeWorld({ driver: { latencyMs: 3 * second } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    await Promise.all(named(100).map((name) => world.makeVolume(name, {})));
    for (const name of named(100)) await world.made(name, 10 * minute);
    const events = eventsOf(world);
    expect(events).toHaveLength(100);
    expect(Math.max(...events)).toBeLessThanOrEqual(budgets.volumeCloned.events);
    expect(await world.violations()).toEqual([]);
  });
}, 1_800_000);

test('one in the queue says in its object, in the run and beside its activity what it waits for, and that no more once it is made', async () => {
  await inVolumeWorld({ settings: { concurrentPerDriver: 1 }, driver: { latencyMs: minute } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    const names = named(3);
    for (const name of names) await world.makeVolume(name, {});
    expect(await world.until(async () => (await queued(world, names)).length === 2, 5 * minute)).toBe(true);
    const [waiting = ''] = await queued(world, names);
    const { status } = await world.volume(waiting);
    expect(status?.conditions?.find(({ type }) => type === 'Running')?.message).toMatch(
      /^Waiting for a slot: 1 of 1 clones of CSI driver .* are in progress$/u,
    );
    const run = runOf(world, waiting);
    expect((await run.query(messages.progress)).waiting).toMatchObject({
      reason: 'TooManyClones',
      message: expect.stringMatching(/^a slot of the clones of CSI driver /u),
    });
    const { raw } = await run.describe();
    expect(raw.pendingActivities?.map(({ lastFailure }) => lastFailure?.message)).toEqual([
      expect.stringMatching(/^Waiting for a slot: 1 of 1 clones/u),
    ]);
    for (const name of names) await world.made(name, 20 * minute);
    expect(await queued(world, names)).toEqual([]);
    expect(await world.violations()).toEqual([]);
  });
}, 1_800_000);

test('one that is deleted in the queue leaves it, and the next one has its place', async () => {
  await inVolumeWorld({ settings: { concurrentPerDriver: 1 }, driver: { latencyMs: minute } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    const names = named(3);
    for (const name of names) await world.makeVolume(name, {});
    expect(await world.until(async () => (await queued(world, names)).length === 2, 5 * minute)).toBe(true);
    const [deleted = '', next = ''] = await queued(world, names);
    await world.removeVolume(deleted);
    expect(await world.until(() => world.isGone(deleted), minute)).toBe(true);
    await world.pass(second);
    const ledger = allowanceId({ kind: 'clones', driver: storageNames.driver }, '');
    const { consumers } = (await world.deployment.simulation.client.workflow
      .getHandle(ledger)
      .query(messages.progress)) as unknown as AllowanceProgress;
    expect(consumers.map(({ consumer }) => consumer)).not.toContain(dataVolumeId(home, deleted));
    await world.made(next, 20 * minute);
    expect(await world.violations()).toEqual([]);
  });
}, 1_800_000);

test('the deadline of a phase does not run in the queue', async () => {
  const settings = { concurrentPerDriver: 1, deadlineMs: 2 * minute, onDeadline: 'fail' };
  await inVolumeWorld({ settings, driver: { latencyMs: minute } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    for (const name of named(8)) await world.makeVolume(name, {});
    for (const name of named(8)) await world.made(name, 20 * minute);
    expect(await world.violations()).toEqual([]);
  });
}, 1_800_000);

test('the run that allocates the clones is lost: those in the queue ask again by themselves', async () => {
  await inVolumeWorld({ settings: { concurrentPerDriver: 1 }, driver: { latencyMs: 10 * second } }, async (world) => {
    await world.makeSource('golden', 'bytes');
    const names = named(4);
    for (const name of names) await world.makeVolume(name, {});
    expect(await world.until(async () => (await queued(world, names)).length > 0, 5 * minute)).toBe(true);
    const { simulation } = world.deployment;
    const ledger = simulation.runs().find(({ workflowId }) => workflowId.startsWith('limits/clones'))?.workflowId ?? '';
    await simulation.client.workflow.getHandle(ledger).terminate('test');
    for (const name of names) await world.made(name, 60 * minute);
    expect(await world.violations()).toEqual([]);
  });
}, 1_800_000);
