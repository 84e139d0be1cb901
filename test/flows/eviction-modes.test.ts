import { workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { checkInvariants } from '../invariants.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/** Modes `off`, `observe` and `act` (docs/rules.md#modes), and `drover stop` (docs/rules.md#a-users-stop). */

let world: World;

beforeAll(async () => {
  world = await openWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);

/** One after the other: each changes shared settings. */
test(
  'observe by annotation: a plan, and not one change',
  async () => {
    const host = await world.freshHost('node-1');
    const servers = await world.seedMany(host, 2);
    const fromMs = labClock().now();
    await world.createEviction(host, { annotations: { 'drover.dev/mode': 'observe' } });
    const observed = await world.untilReason(host, 'Observed', { type: 'Observed' });
    expect(observed.status?.conditions).toEqual([
      expect.objectContaining({
        type: 'Observed',
        status: 'True',
        message: expect.stringContaining(
          `Observed only: ${host} would be disabled and 2 servers moved, 1 at a time; no obstacle stands in the way`,
        ),
      }),
    ]);
    expect(await world.untilClosed(host)).toMatchObject({ status: 'COMPLETED' });
    expect(await world.getEviction(host)).not.toHaveProperty('metadata.finalizers');
    expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);
    await checkInvariants(world, [host]);
  },
  limitMs,
);

test(
  'drover stop holds every change, visibly, and --lift goes on',
  async () => {
    const host = await world.freshHost('node-2');
    const servers = await world.seedMany(host, 2);
    expect(await world.command('stop', '--reason', 'storage is on fire')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Everything was stopped by flow-test at .*: storage is on fire\n$/u),
    });
    expect(await world.command('stop', '--show')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('storage is on fire'),
    });
    const fromMs = labClock().now();
    await world.createEviction(host);
    const held = await world.untilReason(host, 'Running', { says: /storage is on fire/u });
    expect(held.status?.conditions?.[0]).toMatchObject({
      status: 'True',
      message: expect.stringContaining('storage is on fire'),
    });
    // Two resyncs are time enough to do what must not be done.
    await world.untilResynced(2);
    expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);
    expect(await world.progress(host)).toMatchObject({ waitingFor: expect.stringContaining('storage is on fire') });

    expect(await world.command('stop', '--lift')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Lifted: Everything was stopped by flow-test/u),
    });
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    expect(await world.serversOn(host)).toEqual([]);
    await checkInvariants(world, [host]);
  },
  limitMs,
);

test(
  'a host that has failed is refused with a clear sentence',
  async () => {
    const host = await world.freshHost('node-3');
    const servers = await world.seedMany(host, 1);
    const fromMs = labClock().now();
    const sentence =
      'A dead host cannot be emptied by live migration. Fence it and evacuate, or choose another cause if nova-compute is up.';
    expect(await world.command('evict', host, '--reason', 'dead', '--cause', 'node-failure')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(sentence),
    });
    expect(await world.getEviction(host)).toBeNull();

    await world.createEviction(host, { annotations: { 'drover.dev/eviction-cause': 'node-failure' } });
    const refused = await world.untilReason(host, 'CauseNotSupported');
    expect(refused.status?.conditions).toEqual([
      expect.objectContaining({
        type: 'Evicting',
        status: 'False',
        message: `${host} is said to have failed. ${sentence}`,
      }),
    ]);
    expect(await world.untilClosed(host)).toMatchObject({ status: 'FAILED' });
    expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);

    // Another cause, and it goes on.
    await world.annotate(host, { 'drover.dev/eviction-cause': 'admin' });
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    await checkInvariants(world, [host]);
  },
  limitMs,
);

test(
  'off: nothing starts; observe by setting: a plan; act: it goes on by itself',
  async () => {
    const host = await world.freshHost('node-4');
    const servers = await world.seedMany(host, 2);
    const fromMs = labClock().now();
    const inMode = (mode: string): Promise<void> =>
      world.replaceDrover({ settings: { ...quickSettings, modes: { Eviction: mode } } });
    await inMode('off');
    await world.createEviction(host);
    await world.untilResynced(2);
    const startedMs = await world.describeRun(host).then(
      ({ startTime }) => startTime.getTime(),
      () => 0,
    );
    // One of an earlier test at most.
    expect(startedMs).toBeLessThan(fromMs);
    expect((await world.getEviction(host))?.status?.conditions).toBeUndefined();
    // By hand it is refused, with the reason.
    const byHand = world.client.workflow.execute(workflowTypes.evictHypervisor, {
      workflowId: 'off-by-hand',
      taskQueue: workflowQueue(''),
      args: [{ hypervisor: 'node-5', reason: 'by hand' }],
    });
    await expect(byHand).rejects.toMatchObject({
      cause: { message: expect.stringContaining('Evictions are switched off; node-5 is left as it is') },
    });
    expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);

    await inMode('observe');
    const observed = await world.untilReason(host, 'Observed', { type: 'Observed' });
    expect(observed.status?.conditions?.map(({ type }) => type)).not.toContain('PreflightChecksSucceeded');
    await world.untilClosed(host);
    expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);

    await inMode('act');
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    expect(await world.serversOn(host)).toEqual([]);
    await checkInvariants(world, [host]);
  },
  limitMs,
);
