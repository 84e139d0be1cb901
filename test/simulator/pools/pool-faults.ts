import { agentPoolAnnotations, agentVmKeys } from '../../../contracts/agent-pool/metadata.ts';
import { agentPoolId, vsphereAgentId } from '../../../contracts/ids.ts';
import { agentFixture, applyPool, deletePool, readPool, vmFolder } from '../../../lab/agents.ts';
import type { Story } from '../matrix/story-faults.ts';
import { inPoolWorld, minute, namesOf, never, type PoolWorld } from './pool-world.ts';

/** Pools whose VMs come and go, whatever fails on the way. */

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

const isoFiles = ({ witness }: PoolWorld): Promise<string[]> =>
  witness.listFiles({ datastore: agentFixture.isoDatastore, path: 'agent-forge' });

/** The VM is off, and says that it is that pool's: of a VsphereAgent that there is not. */
async function makeMarkedVm({ witness }: PoolWorld, name: string, poolUid: string): Promise<void> {
  const path = `${vmFolder}/${name}`;
  await witness.createVm(path);
  await witness.changeVm(path, {
    extraConfig: {
      [agentVmKeys.agent]: `${namespace}/${name}`,
      [agentVmKeys.agentUid]: `uid-of-${name}`,
      [agentVmKeys.pool]: `${namespace}/${pool}`,
      [agentVmKeys.poolUid]: poolUid,
    },
  });
}

/** What its VMs do is as in `pool`. */
const ofPool = new Map([[agentPoolId(namespace, pool), 'pool']]);

export const poolReplacedStory: Story<PoolWorld> = {
  name: 'poolReplaced',
  title: 'a Node of another template is replaced: its Machine is deleted when a VM stands ready, and its VM goes',
  roles: ofPool,
  inWorld: (options, story) => {
    const neighbours = { installMs: 10_000, drainMs: 3 * minute, recreates: true };
    return inPoolWorld({ settings: { discoveryMs: 30 * minute, pinSelectors: true }, neighbours, ...options }, story);
  },
  async tell(world, end) {
    const { neighbours } = world;
    const complaints: string[] = [];
    const complain = (isWrong: boolean, what: string): void => void (isWrong && complaints.push(what));
    await world.scale(1);
    await world.until(() => Promise.resolve(neighbours.nodes().length === 1), mostMs);
    await applyPool(world.api, {
      template: { memoryMiB: 2_048 },
      annotations: { [agentPoolAnnotations.replaceDrifted]: 'all' },
    });
    let most = 0;
    const isReplaced = await world.until(async () => {
      const vms = await world.vms();
      most = Math.max(most, vms.length);
      return vms.length === 1 && !vms.includes(first) && neighbours.nodes().join() === vms.join();
    }, 2 * mostMs);
    end();
    await world.pass(2 * minute);
    complain(!isReplaced, `there are VMs ${(await world.vms()).join(', ')}, Nodes ${neighbours.nodes().join(', ')}`);
    complain(most !== 2, `there were ${most} VMs at once`);
    complain((await world.vms()).length !== 1, `VMs ${(await world.vms()).join(', ')} are there in the end`);
    return [...complaints, ...(await world.violations())];
  },
};

export const poolDeletedStory: Story<PoolWorld> = {
  name: 'poolDeleted',
  title:
    'a pool is deleted with a VM that no Machine has taken, and one that no VsphereAgent has: all goes, and its ISO',
  roles: ofPool,
  inWorld: (options, story) => inPoolWorld({ settings: { discoveryMs: 30 * minute }, ...options }, story),
  async tell(world, end) {
    await world.witness.createFolder(vmFolder);
    await makeMarkedVm(world, 'stray', (await world.pool()).metadata.uid);
    await makeMarkedVm(world, 'other', 'uid-of-another-pool');
    // It goes when it is half an hour old.
    await world.until(async () => !(await world.vms()).includes('stray'), 30 * minute + mostMs);
    await world.scale(1);
    await world.until(async () => (await world.vms()).includes(first), mostMs);
    await world.scale(0);
    await deletePool(world.api);
    const isLeft = async (): Promise<boolean> => (await readPool(world.api, never)) !== null;
    await world.until(async () => !(await isLeft()), mostMs);
    end();
    await world.pass(2 * minute);
    const left = [
      ...(await world.agents()).map(({ metadata }) => `VsphereAgent ${metadata.name}`),
      ...(await isoFiles(world)).map((file) => `ISO ${file}`),
      ...((await isLeft()) ? ['the pool'] : []),
    ];
    const vms = await world.vms();
    return [
      ...(left.length === 0 ? [] : [`${left.join(', ')} is left`]),
      ...(vms.join() === 'other' ? [] : [`there are VMs ${vms.join(', ')} in the end`]),
      ...(await world.violations()),
    ];
  },
};

export const poolStories: readonly Story<PoolWorld>[] = [poolStory, poolReplacedStory, poolDeletedStory];
