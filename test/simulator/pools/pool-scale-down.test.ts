import { approvalOf } from '../../../contracts/agent-pool/approvals.ts';
import { agentPoolAnnotations } from '../../../contracts/agent-pool/metadata.ts';
import { agentFixture, applyPool, deletePool, setIsoUrl } from '../../../lab/agents.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { giveAccess, makeNode, removeNode } from './hosted-cluster.ts';
import { heldOf, inPoolWorld, isoUrl, minute, namesOf, never, phasesOf, type PoolWorld } from './pool-world.ts';

/** What goes when Machines go, and what stays. */

const { namespace } = agentFixture;

async function growTo(world: PoolWorld, count: number): Promise<void> {
  await world.scale(count);
  const isThere = await world.until(() => Promise.resolve(world.neighbours.nodes().length === count));
  expect(isThere).toBe(true);
  await world.pass(minute);
}

/** Names of the VMs of Machines, by the order of those. */
const vmsOf = async (world: PoolWorld): Promise<string[]> =>
  ((await world.pool()).status?.ownedVMs ?? [])
    .toSorted((one, other) => (String(one.machineRef?.name) < String(other.machineRef?.name) ? -1 : 1))
    .map(({ name }) => name);

const forced = { metadata: { annotations: { [agentPoolAnnotations.forceDelete]: 'true' } } };

const isEmpty = async (world: PoolWorld): Promise<boolean> => (await world.vms()).length === 0;

const removeAgent = ({ api }: PoolWorld, name: string): Promise<unknown> =>
  openObjects(api).delete(resources.VsphereAgent, { namespace, name }, never);

test('a pool that retains keeps its VMs, whatever goes', async () => {
  await inPoolWorld({ pool: { cleanupPolicy: 'Retain' } }, async (world) => {
    await growTo(world, 2);
    await world.scale(0);
    await world.pass(10 * minute);
    expect(await world.vms()).toEqual(namesOf(2));
    await removeAgent(world, namesOf(1)[0] ?? '');
    await world.pass(minute);
    expect((await world.agents()).map(({ metadata }) => metadata.name)).toEqual(namesOf(2).slice(1));
    await deletePool(world.api);
    expect(await world.until(async () => (await world.agents()).length === 0)).toBe(true);
    expect(await world.vms()).toEqual(namesOf(2));
    expect(await world.violations()).toEqual([]);
  });
});

test('a pool that is deleted keeps VMs while their Machines are there', async () => {
  await inPoolWorld({}, async (world) => {
    await growTo(world, 2);
    await deletePool(world.api);
    await world.pass(10 * minute);
    expect(await world.vms()).toEqual(namesOf(2));
    expect(heldOf(await world.pool())).toEqual(Object.fromEntries(namesOf(2).map((name) => [name, 'MachinePresent'])));
    await world.scale(0);
    expect(await world.until(() => isEmpty(world))).toBe(true);
    await world.pass(minute);
    expect(await world.agents()).toEqual([]);
    await expect(world.pool()).rejects.toThrow('no such pool');
    expect(await world.violations()).toEqual([]);
  });
});

test('a pool that is deleted by force takes its VMs with it', async () => {
  await inPoolWorld({}, async (world) => {
    await growTo(world, 2);
    await deletePool(world.api);
    await world.pass(minute);
    const pool = { namespace, name: agentFixture.pool };
    await openObjects(world.api).patch(resources.VsphereAgentPool, pool, forced, never);
    expect(await world.until(() => isEmpty(world))).toBe(true);
    await world.pass(minute);
    await expect(world.pool()).rejects.toThrow('no such pool');
    const said = world.deployment.kubernetes.objects('events').map((event) => (event as { reason?: string }).reason);
    expect(said.filter((reason) => reason === 'AgentDeleteDeferred')).toHaveLength(2);
    expect(world.deployment.kubernetes.objects('agents')).toHaveLength(2);
  });
});

test('a VsphereAgent that a user deletes goes when its Machine has gone, or by force', async () => {
  await inPoolWorld({}, async (world) => {
    await growTo(world, 2);
    const [one, two] = (await vmsOf(world)) as [string, string];
    await removeAgent(world, one);
    await removeAgent(world, two);
    await world.pass(5 * minute);
    expect(await world.vms()).toEqual(namesOf(2));
    await openObjects(world.api).patch(resources.VsphereAgent, { namespace, name: one }, forced, never);
    expect(await world.until(async () => (await world.vms()).length === 1)).toBe(true);
    expect(await world.vms()).toEqual([two]);
    await world.scale(1);
    expect(await world.until(() => isEmpty(world))).toBe(true);
  });
});

test('… and soon after its Machine, which its pool saw being deleted, so that it counts as no absence', async () => {
  await inPoolWorld({ neighbours: { drainMs: 2 * minute } }, async (world) => {
    await growTo(world, 2);
    const [, two] = (await vmsOf(world)) as [string, string];
    await removeAgent(world, two);
    // Longer than what it was told with its deletion is news.
    await world.pass(5 * minute);
    await world.scale(1);
    await world.pass(minute);
    expect(phasesOf(await world.agents())[two]).toBe('Released MachineDeleting');
    expect(await world.until(() => Promise.resolve(world.neighbours.nodes().length === 1))).toBe(true);
    expect(await world.until(async () => (await world.vms()).length === 1, minute)).toBe(true);
    expect(await world.violations()).toEqual([]);
  });
});

test('a VsphereAgent that a user deletes takes its Agent with it, so that no Machine gets that', async () => {
  await inPoolWorld({}, async (world) => {
    await world.scale(2);
    expect(await world.until(async () => (await world.vms()).length === 2)).toBe(true);
    await world.scale(0);
    await world.pass(3 * minute);
    const [one, two] = namesOf(2) as [string, string];
    expect(phasesOf(await world.agents())[one]).toBe('Available AgentAvailable');
    await removeAgent(world, one);
    expect(await world.until(async () => (await world.vms()).length === 1)).toBe(true);
    await world.pass(minute);
    expect(await world.vms()).toEqual([two]);
    expect(world.deployment.kubernetes.objects('agents')).toHaveLength(1);
    expect(await world.violations()).toEqual([]);
  });
});

test('a Machine that went while drover was down: its VM goes when its Node is gone, and not before', async () => {
  await inPoolWorld({ prepare: giveAccess }, async (world) => {
    await growTo(world, 2);
    const [one, two] = (await vmsOf(world)) as [string, string];
    for (const name of [one, two]) await makeNode(world.deployment, name);
    await world.down(5 * minute, () => world.scale(1));
    await world.pass(2 * minute);
    expect(phasesOf(await world.agents())).toEqual({ [one]: 'Bound AgentBound', [two]: 'Released AgentReleased' });
    expect(heldOf(await world.pool())).toEqual({ [two]: 'NodePresent' });
    expect(await world.vms()).toEqual(namesOf(2));
    await removeNode(world.deployment, two);
    expect(await world.until(async () => (await world.vms()).length === 1)).toBe(true);
    expect(await world.vms()).toEqual([one]);
    expect(await world.violations()).toEqual([]);
  });
});

test('while the Nodes cannot be read, none of them counts as gone', async () => {
  await inPoolWorld({}, async (world) => {
    await growTo(world, 2);
    const [, two] = (await vmsOf(world)) as [string, string];
    await world.down(5 * minute, () => world.scale(1));
    await world.pass(5 * minute);
    expect(heldOf(await world.pool())).toEqual({ [two]: 'NodeUnknown' });
    expect(await world.vms()).toEqual(namesOf(2));
    await giveAccess(world.api);
    world.deployment.target.service.kill();
    await world.pass(5 * minute);
    expect(await world.vms()).toEqual(namesOf(2));
    world.deployment.target.service.start();
    expect(await world.until(async () => (await world.vms()).length === 1)).toBe(true);
  });
});

test('several Machines that went while drover was down: their VMs wait for an approval', async () => {
  await inPoolWorld({ prepare: giveAccess }, async (world) => {
    await growTo(world, 4);
    const [one, two, three, four] = (await vmsOf(world)) as [string, string, string, string];
    await world.down(5 * minute, () => world.scale(1));
    await world.pass(5 * minute);
    expect(heldOf(await world.pool())).toEqual(
      Object.fromEntries([two, three, four].map((name) => [name, 'ApprovalRequired'])),
    );
    expect(await world.vms()).toEqual(namesOf(4));
    const approved = (await world.agents())
      .filter(({ metadata }) => [two, three].includes(metadata.name))
      .map(({ metadata }) => approvalOf(metadata));
    await applyPool(world.api, { annotations: { [agentPoolAnnotations.approvedDeletions]: approved.join(', ') } });
    expect(await world.until(async () => (await world.vms()).length < 4)).toBe(true);
    await world.pass(5 * minute);
    expect(await world.vms()).toContain(one);
    expect(await world.vms()).not.toContain(two);
    expect(await world.vms()).not.toContain(three);
  });
});

test('VMs that are not taken go after a while, where a user wants that, and never while something waits', async () => {
  const surplus = { settings: { deleteSurplus: true, surplusMs: 10 * minute } };
  await inPoolWorld(surplus, async (world) => {
    await world.scale(2);
    expect(await world.until(async () => (await world.vms()).length === 2)).toBe(true);
    await world.scale(0);
    await world.pass(8 * minute);
    expect(phasesOf(await world.agents())).toEqual(
      Object.fromEntries(namesOf(2).map((name) => [name, 'Available AgentAvailable'])),
    );
    await world.pass(8 * minute);
    expect(await world.vms()).toEqual([]);
    expect(await world.agents()).toEqual([]);
  });
});

/** There is a URL, and nothing behind it. */
const prepare = (api: Kubernetes): Promise<void> => setIsoUrl(api, isoUrl('a', 'none'));

test('a VsphereAgent goes whose VM was never made, when its AgentMachine went', async () => {
  await inPoolWorld({ prepare, settings: { surplusMs: 10 * minute } }, async (world) => {
    await world.scale(2);
    await world.pass(20 * minute);
    expect(phasesOf(await world.agents())).toEqual(
      Object.fromEntries(namesOf(2).map((name) => [name, 'Provisioning VMCreatePending'])),
    );
    await world.scale(1);
    await world.pass(5 * minute);
    expect(await world.agents()).toHaveLength(2);
    await world.scale(0);
    await world.pass(2 * minute);
    expect(await world.agents()).toEqual([]);
    expect(await world.vms()).toEqual([]);
    const events = world.deployment.kubernetes.objects('events') as unknown as Record<string, unknown>[];
    const warnings = events.filter(({ type }) => type === 'Warning').map(({ reason }) => reason);
    expect(warnings).toEqual(['ISORefreshFailed']);
    expect(await world.violations()).toEqual([]);
  });
});

test('… and stays with Retain', async () => {
  const options = { prepare, settings: { surplusMs: minute }, pool: { cleanupPolicy: 'Retain' as const } };
  await inPoolWorld(options, async (world) => {
    await world.scale(1);
    await world.pass(5 * minute);
    await world.scale(0);
    await world.pass(20 * minute);
    expect(await world.agents()).toHaveLength(1);
  });
});

test('VMs that are not taken stay otherwise, and serve who comes next', async () => {
  await inPoolWorld({}, async (world) => {
    await world.scale(2);
    expect(await world.until(async () => (await world.vms()).length === 2)).toBe(true);
    await world.scale(0);
    await world.pass(60 * minute);
    expect(await world.vms()).toEqual(namesOf(2));
    await world.scale(2);
    expect(await world.until(() => Promise.resolve(world.neighbours.nodes().length === 2), 5 * minute)).toBe(true);
    expect(await world.vms()).toEqual(namesOf(2));
  });
});
