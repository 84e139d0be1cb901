import { createNovaClient } from '../../activities/nova/client.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import { changeService, createAggregate } from '../../lab/openstack/hosts.ts';
import { createInstance, deleteInstances, requestInstance, waitForServer } from '../../lab/openstack/seed.ts';
import { failureCode } from '../../runtime/failure.ts';
import { until } from '../flows/until.ts';
import { seed, seedScripted, untilExplained, untilMigration } from './nova-live-migrations.ts';
import type { ContractTest } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;

/** `accepted`, or the row of the error table. */
const outcome = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => 'accepted',
    (error: unknown) => failureCode(error) ?? String(error),
  );

export function describeRaces(test: ContractTest): void {
  test('of several live migrations at once Nova accepts one', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await seed(counterpart, 'popular');
    const outcomes = await Promise.all([1, 2, 3].map(() => outcome(nova.liveMigrate(id, { host: null }, never))));
    expect(outcomes.filter((one) => one === 'accepted')).toHaveLength(1);
    // It finds the server taken before its own check (409), or after it (500).
    for (const one of outcomes) expect(['accepted', 'InstanceBusy', 'NovaUnavailable']).toContain(one);
    await untilMigration(nova, id, 'completed');
    expect(await nova.migrationsOf(id, never)).toHaveLength(1);
  });

  test('of two evacuations at once Nova may accept both', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await createInstance(counterpart.admin, { name: 'twice', host: 'node-2' });
    await counterpart.fleet.crash('node-2');
    await changeService(counterpart.admin, 'node-2', { forced_down: true });
    const outcomes = await Promise.all([1, 2].map(() => outcome(nova.evacuate(id, { host: 'node-3' }, never))));
    for (const one of outcomes) expect(['accepted', 'InstanceBusy']).toContain(one);
    expect(await nova.migrationsOf(id, never)).toHaveLength(outcomes.filter((one) => one === 'accepted').length);
    // One record may stay `accepted` for ever: it goes with the server.
    await deleteInstances(counterpart.admin, [id]);
  });

  test('a live migration to the host that the server is on finds no host', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await seed(counterpart, 'staying');
    const { requestId } = await nova.liveMigrate(id, { host: 'node-1' }, never);
    await untilMigration(nova, id, 'error');
    expect(await untilExplained(nova, id, requestId)).toBe(
      'No valid host was found. There are not enough hosts available.',
    );
  });

  test('a crash in a migration leaves both shares in Placement', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const { id } = await seedScripted(counterpart, 'crashing', ['hang']);
    await nova.liveMigrate(id, { host: 'node-2' }, never);
    await untilMigration(nova, id, 'running');
    await counterpart.fleet.crash('node-1');
    await counterpart.fleet.start('node-1');
    await waitForServer(counterpart.admin, id, 'ACTIVE');
    const consumersOn = async (host: string): Promise<string[]> =>
      Object.keys(
        await placement.providerAllocations(
          (await placement.providerByName(`${host}.lab.drover.dev`, never))?.uuid ?? '',
          never,
        ),
      );
    expect(await consumersOn('node-2')).toEqual([id]);
    const [holder, ...others] = await consumersOn('node-1');
    expect([holder === id, others]).toEqual([false, []]);
  });

  test('a server that is deleted while it waits for a confirmation is confirmed first', async (counterpart) => {
    const { id } = await createInstance(counterpart.admin, { name: 'resized', host: 'node-1', state: 'VERIFY_RESIZE' });
    await deleteInstances(counterpart.admin, [id]);
    const events = counterpart
      .migrationEvents(0)
      .filter(({ instance }) => instance === id)
      .map(({ status }) => status);
    expect(events.slice(-2)).toEqual(['finished', 'confirmed']);
    const placement = createPlacementClient(counterpart.connect());
    expect(await placement.consumerAllocations(id, never)).toEqual({});
  });

  test('a host that is only called down keeps its guests beside the evacuated ones, until its nova-compute starts anew', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await createInstance(counterpart.admin, { name: 'double', host: 'node-4' });
    await changeService(counterpart.admin, 'node-4', { forced_down: true });
    await nova.evacuate(id, { host: null }, never);
    const { targetHost } = await untilMigration(nova, id, 'done');
    const guests = async () => {
      const hosts = await counterpart.fleet.hosts();
      return [hosts['node-4']?.guests, hosts[targetHost ?? '']?.guests];
    };
    expect(await guests()).toEqual([1, 1]);
    await counterpart.fleet.crash('node-4');
    await counterpart.fleet.start('node-4');
    expect(await guests()).toEqual([0, 1]);
    await changeService(counterpart.admin, 'node-4', { forced_down: false });
  });
}

/** A nova-compute that has died counts as up for a while: what needs its answer waits. */
export function describeSilentHosts(test: ContractTest): void {
  test('disabling the service of a silent host takes effect without an answer, and shows in Placement when it is back', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const id = (await nova.computeServices(never)).find(({ host }) => host === 'node-2')?.id ?? '';
    const provider = (await placement.providerByName('node-2.lab.drover.dev', never))?.uuid ?? '';
    await counterpart.fleet.crash('node-2');
    await expect(nova.updateService(id, { status: 'disabled', disabledReason: 'test' }, never)).rejects.toMatchObject({
      type: 'NovaUnavailable',
      message: expect.stringMatching(/no answer within 12 s/u),
    });
    expect((await nova.computeServices(never)).find(({ host }) => host === 'node-2')).toMatchObject({
      status: 'disabled',
      disabledReason: 'test',
    });
    expect(await placement.providerTraits(provider, never)).not.toContain('COMPUTE_STATUS_DISABLED');
    await counterpart.fleet.start('node-2');
    await until('Placement to leave the host out', deadlineMs, async () =>
      (await placement.providerTraits(provider, never)).includes('COMPUTE_STATUS_DISABLED') ? true : 'no trait',
    );
  });

  test('the console of a server on a silent host does not come', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await createInstance(counterpart.admin, { name: 'silent', host: 'node-3' });
    await counterpart.fleet.crash('node-3');
    await expect(nova.consoleOutput(id, 10, never)).rejects.toMatchObject({ type: 'NovaUnavailable' });
    await counterpart.fleet.start('node-3');
  });

  test('a server that is asked for on a silent host, or deleted there, waits for it', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const doomed = await createInstance(counterpart.admin, { name: 'doomed', host: 'node-5' });
    await counterpart.fleet.crash('node-5');
    const wanted = await requestInstance(counterpart.admin, { name: 'wanted', host: 'node-5' });
    await nova.deleteServer(doomed.id, never);
    expect(await nova.server(doomed.id, never)).toMatchObject({ status: 'ACTIVE', taskState: 'deleting' });
    await counterpart.fleet.start('node-5');
    await until('the one to be gone', deadlineMs, async () =>
      (await nova.server(doomed.id, never)) === null ? true : 'still there',
    );
    expect(await waitForServer(counterpart.admin, wanted, 'ACTIVE')).toMatchObject({
      'OS-EXT-SRV-ATTR:host': 'node-5',
    });
  });
}

/** @param test on a counterpart to which a host may be added for good */
export function describeDeletionRaces(test: ContractTest): void {
  test('of two deletions of a service one succeeds; a nova-compute that is still there does not come back by itself', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const known = (await counterpart.fleet.hosts())['node-7'];
    if (known === undefined) await counterpart.fleet.change('node-7', {});
    const idOf = async (): Promise<string> =>
      (await nova.computeServices(never)).find(({ host }) => host === 'node-7')?.id ?? '';
    await createAggregate(counterpart.admin, { name: 'shared', hosts: ['node-7'] });
    const id = await idOf();
    const outcomes = await Promise.all([1, 2].map(() => outcome(nova.deleteService(id, never))));
    expect(outcomes).toContain('accepted');
    for (const one of outcomes) expect(['accepted', 'NovaUnavailable', 'HostNotFound']).toContain(one);
    expect(await idOf()).toBe('');
    await counterpart.fleet.crash('node-7');
    await counterpart.fleet.start('node-7');
    expect(await idOf()).not.toBe(id);
  });
}
