import { agentPoolId, vsphereAgentId } from '../../../contracts/ids.ts';
import { agentFixture, applyPool } from '../../../lab/agents.ts';
import type { Story } from '../matrix/story-faults.ts';
import { inPoolWorld, minute, namesOf, type PoolWorld } from './pool-world.ts';

/** A pool from nothing to two and back. */

const { namespace, pool } = agentFixture;
const count = 2;
const [first, second] = namesOf(count) as [string, string];

/** More than any fault holds a pool up, and less than the deadline of discovery: then others would be made. */
const mostMs = 20 * minute;

const isGone = async (world: PoolWorld): Promise<boolean> =>
  (await world.agents()).length === 0 && (await world.vms()).length === 0;

export const poolStory: Story<PoolWorld> = {
  name: 'pool',
  title: 'a NodePool is scaled from nothing to two Nodes and back: two VMs are made, become Nodes, and go',
  roles: new Map([
    [agentPoolId(namespace, pool), 'pool'],
    [vsphereAgentId(namespace, first), 'first'],
    [vsphereAgentId(namespace, second), 'second'],
  ]),
  inWorld: (options, story) => {
    // Machines are drained for longer than any fault keeps the pool from seeing it: what it cannot see waits
    // for a user.
    const neighbours = { installMs: 10_000, drainMs: 3 * minute };
    return inPoolWorld({ settings: { discoveryMs: 30 * minute }, neighbours, pool: null, ...options }, story);
  },
  async tell(world, end) {
    const { neighbours, deployment } = world;
    const complaints: string[] = [];
    const complain = (isWrong: boolean, what: string): void => void (isWrong && complaints.push(what));
    // With a tag, a VM is made and powered on one after the other.
    await applyPool(world.api, { vsphere: { vmTags: [await world.witness.createTag('agents')] } });
    await world.scale(count);
    await world.until(() => Promise.resolve(neighbours.nodes().length === count), mostMs);
    await world.pass(20_000);
    const made = await world.vms();
    complain(made.join() !== namesOf(count).join(), `VMs ${made.join(', ')} were made`);
    await world.scale(0);
    await world.until(() => isGone(world), mostMs);
    end();
    await world.pass(2 * minute);
    const left = [...(await world.vms()), ...(await world.agents()).map(({ metadata }) => metadata.name)];
    complain(left.length > 0, `${left.join(', ')} are left`);
    complain(neighbours.nodes().length > 0, 'Nodes are left');
    const { plannedActions = [] } = (await world.pool()).status ?? {};
    for (const { type } of plannedActions) complain(type !== 'Noop', `${type} is planned in the end`);
    // Of a worker that died, or got no answer, one may be left.
    complain(deployment.isos.files > 1, `${deployment.isos.files} downloads are left`);
    return [...complaints, ...(await world.violations())];
  },
};
