import { apiServerSafetyId, orphanSweepId, overshootSafetyId } from '../../../contracts/ids.ts';
import { notManagedAnnotation } from '../../../contracts/machine-safety/unmanaged-nodes.ts';
import { type ApproveSweep, asSignal, type DeleteLeftover, messages } from '../../../contracts/messages.ts';
import { machineFixture, openstackMarks } from '../../../lab/machines.ts';
import type { Story } from '../matrix/story-faults.ts';
import { inSweepWorld, periodMs, type SweepWorld } from './sweep-world.ts';

/** Sweeps of two orphans, of which vSphere has one and Nova the other, beside those that Machines have. */

const { namespace } = machineFixture;
const needed = ['needed-1', 'needed-2', 'needed-3', 'needed-4', 'needed-5'];

/** More than any fault holds the orphans up. */
const mostPeriods = 20;

const left = async (world: SweepWorld): Promise<string[]> =>
  [...(await world.vms()), ...(await world.servers())].toSorted();

export const sweepStory: Story<SweepWorld> = {
  name: 'sweep',
  title: 'a sweep deletes two orphans, one of vSphere and one of Nova, beside five VMs that Machines have',
  roles: new Map([
    [orphanSweepId(namespace), 'sweep'],
    [apiServerSafetyId(namespace), 'safety'],
    [overshootSafetyId(namespace), 'overshoot'],
  ]),
  inWorld: (options, story) => inSweepWorld({ sweep: { ageMs: 0 }, ...options }, story),
  async tell(world, end) {
    for (const name of needed.slice(0, 3)) await world.makeVm(name);
    for (const name of needed.slice(3)) await world.makeServer(name);
    await world.makeVm('lost-1', { machine: null });
    await world.makeServer('lost-2', { machine: null });
    for (let periods = 0; periods < mostPeriods && (await left(world)).length > needed.length; periods += 1)
      await world.pass(periodMs);
    end();
    await world.pass(2 * periodMs);
    const there = await left(world);
    return [
      ...(there.join() === needed.join() ? [] : [`there are ${there.join(', ')} in the end`]),
      ...(await world.violations()),
    ];
  },
};

const { signal: never } = new AbortController();

const makeNode = ({ deployment }: SweepWorld, name: string): Promise<unknown> =>
  deployment.target.admin.request(
    { method: 'POST', path: '/api/v1/nodes', body: { apiVersion: 'v1', kind: 'Node', metadata: { name } } },
    never,
  );

const isMarked = ({ deployment }: SweepWorld, name: string): boolean =>
  Object.hasOwn(deployment.target.object('nodes', { name })?.metadata.annotations ?? {}, notManagedAnnotation);

export const sweepAskedStory: Story<SweepWorld> = {
  name: 'sweepAsked',
  title: 'a sweep that waits for a user: it deletes a volume that was left over, and four orphans, when it is told to',
  roles: new Map([[orphanSweepId(namespace), 'sweep']]),
  inWorld: (options, story) => {
    const settings = { sweep: { ageMs: 0, approveAbove: 1 }, creationTimeoutMs: periodMs, hasTarget: true };
    return inSweepWorld({ ...settings, ...options }, story);
  },
  async tell(world, end) {
    const { openstack, simulation } = world.deployment;
    if (openstack === null) throw new Error('a world of Machines has an OpenStack');
    const handle = simulation.client.workflow.getHandle(orphanSweepId(namespace));
    await world.makeVm('needed-1', { machine: { node: 'managed' } });
    await world.makeServer('needed-2');
    for (const name of ['managed', 'stray']) await makeNode(world, name);
    const metadata = openstackMarks();
    const id = openstack.addVolume({ name: 'lost', metadata, serverId: null });
    openstack.addVolume({ name: 'used', metadata, serverId: 'needed-2' });
    openstack.addVolume({ name: 'other', metadata: {}, serverId: null });
    // Where one class cannot be listed, those of the other one wait all the same.
    for (const name of ['lost-1', 'lost-2']) await world.makeVm(name, { machine: null });
    for (const name of ['lost-3', 'lost-4']) await world.makeServer(name, { machine: null });
    const volumes = (): string[] => [...(openstack.model.volumes?.values() ?? [])].map(({ name }) => name).toSorted();
    const machineClass = machineFixture.classes.openstack;
    /** A user who has no answer asks again; there is no run between two sweeps. */
    const insist = async (ask: () => Promise<unknown>, isSo: () => Promise<boolean>): Promise<void> => {
      for (let periods = 0; periods < mostPeriods && !(await isSo()); periods += 1) {
        await ask().catch(() => undefined);
        await world.pass(periodMs);
      }
    };
    await world.pass(2 * periodMs);
    const asked: DeleteLeftover = { machineClass, kind: 'volume', id, by: 'jane', at: '' };
    const approval: ApproveSweep = { by: 'jane' };
    await insist(
      () => handle.signal(asSignal(messages.deleteLeftover), asked),
      async () => !volumes().includes('lost'),
    );
    const before = await left(world);
    await insist(
      () => handle.signal(asSignal(messages.approve), approval),
      async () => (await left(world)).length === 2,
    );
    end();
    await world.pass(2 * periodMs);
    const [there, marked] = [await left(world), ['managed', 'stray'].filter((name) => isMarked(world, name))];
    return [
      ...(before.length === 6 ? [] : [`there are ${before.join(', ')} before it is approved`]),
      ...(there.join() === 'needed-1,needed-2' ? [] : [`there are ${there.join(', ')} in the end`]),
      ...(volumes().join() === 'other,used' ? [] : [`there are volumes ${volumes().join(', ')} in the end`]),
      ...(marked.join() === 'stray' ? [] : [`Nodes ${marked.join(', ')} are marked`]),
      ...(await world.violations()),
    ];
  },
};

export const sweepStories: readonly Story<SweepWorld>[] = [sweepStory, sweepAskedStory];
