import { agentPoolAnnotations, neighbours as names } from '../../../contracts/agent-pool/metadata.ts';
import { annotations as droverAnnotations } from '../../../contracts/ids.ts';
import { findCondition } from '../../../contracts/conditions.ts';
import type { ClusterMachine } from '../../../contracts/crds/cluster-machine.ts';
import { agentFixture, applyPool } from '../../../lab/agents.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import { inPoolWorld, minute, never, type PoolWorld } from './pool-world.ts';

/** VMs of another template, while they are Nodes. */

const { controlPlaneNamespace, namespace } = agentFixture;

const larger = { template: { memoryMiB: 2_048 } };
const replaceAll = { ...larger, annotations: { [agentPoolAnnotations.replaceDrifted]: 'all' } };

const machinesOf = ({ api }: PoolWorld): Promise<ClusterMachine[]> =>
  openObjects(api).list(neighbourResources.ClusterMachine, { namespace: controlPlaneNamespace }, never);

const goingOf = (machines: readonly ClusterMachine[]): string[] =>
  machines.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : [metadata.name]));

async function driftOf(world: PoolWorld): Promise<string> {
  const said = findCondition((await world.pool()).status?.conditions, 'TemplateDrifted');
  return `${said?.status} ${said?.reason}: ${said?.message}`;
}

async function growTo(world: PoolWorld, count: number): Promise<void> {
  await world.scale(count);
  expect(await world.until(() => Promise.resolve(world.neighbours.nodes().length === count))).toBe(true);
  await world.pass(minute);
}

/** The digest of each VM that is there. */
const digestsOf = async (world: PoolWorld): Promise<string[]> =>
  (await world.agents()).map(({ metadata }) => metadata.annotations?.[agentPoolAnnotations.templateDigest] ?? '');

const agentsAvailable = async ({ api }: PoolWorld): Promise<number> =>
  (await openObjects(api).list(neighbourResources.Agent, { namespace }, never)).filter(
    ({ metadata, status }) =>
      metadata.labels?.[names.agentMachineRef] === undefined &&
      status?.conditions?.some(({ type, status: said }) => type === 'Validated' && said === 'True') === true,
  ).length;

test('three Nodes of another template are replaced one after another, each with a VM that stands ready', async () => {
  // Cluster API drains longer than it takes to install a Node: there are never fewer.
  const played = { recreates: true, drainMs: 3 * minute };
  await inPoolWorld({ neighbours: played }, async (world) => {
    await growTo(world, 3);
    const [before] = await digestsOf(world);
    const first = (await machinesOf(world)).map(({ metadata }) => metadata.name);
    await applyPool(world.api, replaceAll);

    const deleted: string[] = [];
    const said = new Set<string>();
    let [fewest, most, together] = [3, 0, 0];
    const isDone = async (): Promise<boolean> => {
      const going = goingOf(await machinesOf(world));
      for (const name of going.filter((one) => !deleted.includes(one))) {
        deleted.push(name);
        // It is taken by the new Machine at once, or still to be.
        const isReady = (await agentsAvailable(world)) > 0 || (await machinesOf(world)).length === 4;
        expect(isReady).toBe(true);
      }
      together = Math.max(together, going.length);
      fewest = Math.min(fewest, world.neighbours.nodes().length);
      most = Math.max(most, (await world.vms()).length);
      said.add((await driftOf(world)).replace(/ (?:is|are) replaced.*$/u, ''));
      const digests = await digestsOf(world);
      return digests.length === 3 && !digests.includes(before ?? '') && going.length === 0;
    };
    expect(await world.until(isDone, 60 * minute)).toBe(true);
    expect(deleted.toSorted()).toEqual(first.toSorted());
    expect({ fewest, most, together }).toEqual({ fewest: 3, most: 4, together: 1 });
    for (const replaced of [0, 1, 2]) expect([...said]).toContain(`True Replacing: ${replaced} of 3`);

    await world.pass(15 * minute);
    expect(await world.vms()).toHaveLength(3);
    expect(world.neighbours.nodes()).toHaveLength(3);
    expect(await driftOf(world)).toMatch(/^False NoDrift/u);
    expect(goingOf(await machinesOf(world))).toEqual([]);
    expect(await world.violations()).toEqual([]);
  });
});

test('two at once: as many stand ready, and as many Nodes are away while others are installed', async () => {
  const played = { recreates: true };
  await inPoolWorld({ neighbours: played, settings: { driftedAtOnce: 2 } }, async (world) => {
    await growTo(world, 3);
    await applyPool(world.api, replaceAll);
    let [fewest, most, together] = [3, 0, 0];
    const isDone = async (): Promise<boolean> => {
      together = Math.max(together, goingOf(await machinesOf(world)).length);
      fewest = Math.min(fewest, world.neighbours.nodes().length);
      most = Math.max(most, (await world.vms()).length);
      return (await driftOf(world)).startsWith('False NoDrift') && world.neighbours.nodes().length === 3;
    };
    expect(await world.until(async () => (await driftOf(world)).startsWith('True'))).toBe(true);
    expect(await world.until(isDone, 60 * minute)).toBe(true);
    expect({ fewest, most }).toEqual({ fewest: 1, most: 5 });
    expect(together).toBeLessThanOrEqual(2);
    await world.pass(15 * minute);
    expect(await world.vms()).toHaveLength(3);
    expect(await world.violations()).toEqual([]);
  });
});

test('no other Machine is made: no second one is deleted until a user says so', async () => {
  await inPoolWorld({}, async (world) => {
    await growTo(world, 3);
    await applyPool(world.api, replaceAll);
    expect(await world.until(async () => (await machinesOf(world)).length === 2)).toBe(true);
    await world.pass(20 * minute);
    expect(await machinesOf(world)).toHaveLength(2);
    expect(await driftOf(world)).toContain('2 of 3 AgentMachines are there');
    expect(await world.vms()).toHaveLength(3);

    const key = { namespace, name: agentFixture.pool };
    const { spec } = (await openObjects(world.api).get(resources.VsphereAgentPool, key, never)) ?? {};
    const iso = { ...spec?.iso, checkInterval: '7h' };
    await openObjects(world.api).patch(resources.VsphereAgentPool, key, { spec: { iso } }, never);
    await world.pass(20 * minute);
    expect(await machinesOf(world)).toHaveLength(2);

    const annotate = (annotations: Record<string, string | null>): Promise<unknown> =>
      openObjects(world.api).patch(resources.VsphereAgentPool, key, { metadata: { annotations } }, never);
    await annotate({ [droverAnnotations.retry]: 'fewer' });
    expect(await world.until(async () => (await machinesOf(world)).length === 1)).toBe(true);
    await world.pass(20 * minute);
    expect(await machinesOf(world)).toHaveLength(1);

    // What stands ready, and is not needed any more, goes.
    await annotate({ [agentPoolAnnotations.replaceDrifted]: null });
    expect(await world.until(async () => (await world.vms()).length === 1)).toBe(true);
    expect(world.neighbours.nodes()).toHaveLength(1);
  });
});
