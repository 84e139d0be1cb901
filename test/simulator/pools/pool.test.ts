import { listBootedVms } from '../../../lab/agents.ts';
import { conditionOf, inPoolWorld, minute, namesOf } from './pool-world.ts';

/**
 * Agent pools as users see them, with everything real but what is outside: their neighbours play what
 * their documents say.
 */

test('from nothing to three, and back', async () => {
  await inPoolWorld({}, async (world) => {
    const { neighbours, deployment } = world;
    await world.scale(3);
    expect(await world.until(() => Promise.resolve(neighbours.nodes().length === 3))).toBe(true);
    expect(await world.vms()).toEqual(namesOf(3));
    await world.pass(minute);
    const pool = await world.pool();
    expect(pool.status).toMatchObject({
      desiredReplicas: 3,
      waitingAgentMachines: 0,
      boundAgents: 3,
      ownedVMs: namesOf(3).map((name) => ({ name, phase: 'Bound', reason: 'AgentBound' })),
    });
    expect(conditionOf(pool, 'Ready')).toBe('True Reconciled');
    expect(deployment.isos.downloads).toBe(1);
    await world.scale(0);
    expect(await world.until(async () => (await world.vms()).length === 0)).toBe(true);
    expect(neighbours.nodes()).toEqual([]);
    expect(await world.agents()).toEqual([]);
    expect(await world.violations()).toEqual([]);
  });
});

test('an Agent that is installed before its pool has seen it has its ISO taken out', async () => {
  const settings = { publishMinMs: minute };
  const neighbours = { discoveryMs: 1_000, installMs: 0 };
  await inPoolWorld({ settings, neighbours }, async (world) => {
    const { neighbours: played, witness } = world;
    await world.scale(2);
    expect(await world.until(() => Promise.resolve(played.nodes().length === 2))).toBe(true);
    const drives = async (): Promise<boolean[]> => (await listBootedVms(witness)).map(({ hasIso }) => hasIso);
    expect(await world.until(async () => (await drives()).every((hasIso) => !hasIso), 5 * minute)).toBe(true);
  });
});
