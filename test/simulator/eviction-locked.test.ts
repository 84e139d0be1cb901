import { findCondition } from '../../contracts/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { act, createInstances, getServer } from '../../lab/openstack/seed.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { until } from '../flows/until.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { simulatedCommand } from './command.ts';
import { deploy } from './deployment.ts';

const host = 'node-1';
const minuteMs = 60_000;
const { signal } = new AbortController();

async function world() {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: quickSettings,
    bridge: true,
  });
  const { simulation, kubernetes, openstack } = deployment;
  const { admin } = kubernetes;
  if (openstack === null) throw new Error('there is no OpenStack');
  const read = () => openObjects(admin).get(resources.Eviction, { name: host }, signal);
  const conditionOf = async (type: string) => findCondition((await read())?.status?.conditions, type);
  const untilReason = (reason: string): Promise<unknown> =>
    until(`the reason ${reason}`, 10 * minuteMs, async () => {
      const found = await conditionOf('Evicting');
      return found?.reason === reason || `${found?.reason}: ${found?.message}`;
    });
  /** @returns the id of the server `b` */
  const begin = async (): Promise<string> => {
    await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
    await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
    for (const name of hosts) await openstack.fleet.change(name, {});
    const [, later] = await createInstances(openstack.admin, [
      { name: 'a', host, seconds: 30 },
      { name: 'b', host, seconds: 30 },
    ]);
    return later?.id ?? '';
  };
  const evict = (cause: string): Promise<unknown> =>
    applyObject(admin, {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: { name: host, annotations: { [annotations.cause]: cause, [annotations.parallelism]: '1' } },
      spec: { hypervisor: host, reason: 'test' },
    });
  const run = async (body: () => Promise<void>): Promise<void> => {
    await simulation.run(withClock(simulation.clock, body), 60 * minuteMs);
    deployment.close();
  };
  return {
    deployment,
    clock: simulation.clock,
    nova: openstack.admin,
    read,
    conditionOf,
    untilReason,
    begin,
    evict,
    run,
  };
}

test.each(['admin', 'termination'])(
  'a server that is locked after the preflight is moved when a user accepts that, and not before: %s',
  async (cause) => {
    const { deployment, clock, nova, conditionOf, untilReason, begin, evict, run } = await world();
    await run(async () => {
      const locked = await begin();
      await evict(cause);
      await clock.sleep(10_000);
      await act(nova, locked, { lock: null });
      await untilReason('Failed');
      expect(await getServer(nova, locked)).toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
      expect(await conditionOf('PreflightChecksSucceeded')).toMatchObject({
        message: expect.stringContaining(`1 obstacle: b: it is locked: unlock it [InstanceLocked/${locked}].`),
      });
      // The run that has ended lingers.
      await clock.sleep(minuteMs);
      expect(await simulatedCommand(deployment, ['accept', host, `InstanceLocked/${locked}`])).toMatchObject({
        code: 0,
      });
      await untilReason('Succeeded');
      expect(await getServer(nova, locked)).not.toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
    });
  },
);

test('a server that was locked is moved when a user has unlocked it and has it tried again', async () => {
  const { deployment, nova, read, conditionOf, untilReason, begin, evict, run } = await world();
  await run(async () => {
    const locked = await begin();
    await act(nova, locked, { lock: null });
    await evict('termination');
    await until('b to be blocked', minuteMs, async () => {
      const found = (await read())?.status;
      return JSON.stringify(found).includes(`InstanceLocked/${locked}`) || JSON.stringify(found);
    });
    await act(nova, locked, { unlock: null });
    expect(await simulatedCommand(deployment, ['retry', host, 'b'])).toMatchObject({ code: 0 });
    await untilReason('Succeeded');
    expect(await getServer(nova, locked)).not.toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
    expect(await conditionOf('PreflightChecksSucceeded')).toMatchObject({ status: 'True' });
  });
});
