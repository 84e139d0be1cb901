import type { ForcedDownProof } from '../../contracts/node-failure/fencing.ts';
import type { MigrationEnd } from '../../contracts/eviction/migrate-instance.ts';
import { changeService, createAggregate, findService } from '../../lab/openstack/hosts.ts';
import { createInstance, deleteInstances, waitForServer } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { started } from './nova-activity-context.ts';
import {
  aggregatesOf,
  asTemporalWould,
  deadlineMs,
  host,
  type HypervisorActivities,
  isoNow,
  never,
  newHost,
  openHypervisorActivities,
  unknownId,
} from './nova-hypervisor-context.ts';
import type { ContractTest, OpenStackCounterpart } from './openstack.ts';

const proofOf = (by: ForcedDownProof['by']): ForcedDownProof => ({
  incident: 'incident-1',
  by,
  witness: 'the test',
  at: isoNow(),
});

const providerTraits = async ({ admin }: OpenStackCounterpart, id: string): Promise<string[]> =>
  (await admin.placement<{ traits: string[] }>('GET', `/resource_providers/${id}/traits`)).traits;

const ended = (drover: HypervisorActivities, instanceId: string, migrationId: number): Promise<MigrationEnd> =>
  drover.awaitEvacuation({
    instanceId,
    sourceHost: host,
    migrationId,
    deadlineMs: 60_000,
    poll: { minMs: 100, maxMs: 1_000 },
  });

/**
 * Hosts that come, are isolated, disabled, fenced, evacuated and go.
 *
 * @param test on a counterpart to which a host may be added for good
 */
export function describeHypervisorActivities(test: ContractTest): void {
  test('a host that is added registers, and has the same id in Nova and in Placement', async (counterpart) => {
    const { drover, placement } = openHypervisorActivities(counterpart);
    if (!Object.hasOwn(await counterpart.fleet.hosts(), host))
      expect(await drover.findRegistration({ hypervisor: host })).toBeNull();
    const found = await newHost(counterpart, drover);
    const { id: serviceId } = await findService(counterpart.admin, host);
    expect(found).toMatchObject({
      host,
      serviceId,
      service: { status: 'enabled', state: 'up', forcedDown: false },
      hypervisor: { hostname: `${host}.lab.drover.dev`, type: 'QEMU', version: '9.2.0', servers: 0 },
    });
    expect(await placement.providerByUuid(found.hypervisor.id, never)).toMatchObject({
      name: `${host}.lab.drover.dev`,
    });
    expect(await drover.findRegistration({ hypervisor: `${host}.lab.drover.dev` })).toEqual(found);
    // H12: parts of a name are other hosts' too.
    for (const name of ['node', 'node-', 'node-90', 'ode-9'])
      expect(await drover.findRegistration({ hypervisor: name })).toBeNull();
    await createInstance(counterpart.admin, { name: 'counted', host });
    expect((await drover.findRegistration({ hypervisor: host }))?.hypervisor?.servers).toBe(1);
  });

  test('traits: made, put there, taken away; those of the hardware and of others stay, while another client writes or not', async (counterpart) => {
    const { drover } = openHypervisorActivities(counterpart);
    const { hypervisor } = await newHost(counterpart, drover);
    const { id: providerId } = hypervisor;
    const before = await providerTraits(counterpart, providerId);
    await drover.ensureTraits({ providerId, wanted: ['CUSTOM_FOREIGN'], owned: [] });
    await Promise.all([
      drover.ensureTraits({ providerId, wanted: ['CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU'], owned: [] }),
      drover.ensureTraits({ providerId, wanted: ['CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU'], owned: [] }),
      drover.ensureTraits({ providerId, wanted: ['CUSTOM_DROVER_GPU'], owned: [] }),
      // nova-compute writes the provider itself.
      changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: 'CHG-1' }),
    ]);
    await until('nova-compute to show that it is disabled', deadlineMs, async () =>
      (await providerTraits(counterpart, providerId)).includes('COMPUTE_STATUS_DISABLED') ? true : 'not yet',
    );
    const all = [
      ...before,
      'COMPUTE_STATUS_DISABLED',
      'CUSTOM_DROVER_FAST',
      'CUSTOM_DROVER_GPU',
      'CUSTOM_FOREIGN',
    ].toSorted();
    expect((await providerTraits(counterpart, providerId)).toSorted()).toEqual(all);
    const left = await drover.ensureTraits({
      providerId,
      wanted: ['CUSTOM_DROVER_GPU'],
      owned: ['CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU'],
    });
    expect(left).toEqual(all.filter((trait) => trait !== 'CUSTOM_DROVER_FAST'));
    expect((await providerTraits(counterpart, providerId)).toSorted()).toEqual(left);
    await expect(
      drover.ensureTraits({ providerId: unknownId, wanted: ['CUSTOM_DROVER_GPU'], owned: [] }),
    ).rejects.toMatchObject({ type: 'HostNotFound' });
  });

  test('aggregates: isolated with the test aggregate and back, in Nova and in Placement', async (counterpart) => {
    const { drover, placement } = openHypervisorActivities(counterpart);
    const { hypervisor } = await newHost(counterpart, drover);
    for (const name of ['tests', 'fast']) await createAggregate(counterpart.admin, { name, hosts: ['node-1'] });
    await createAggregate(counterpart.admin, { name: 'az-a', availabilityZone: 'a' });
    await createAggregate(counterpart.admin, { name: 'az-b', availabilityZone: 'b' });

    const isolated = await drover.ensureInAggregates({ host, names: ['az-a', 'tests'] });
    expect(isolated).toEqual([
      { name: 'az-a', uuid: expect.any(String), metadata: { availability_zone: 'a' } },
      { name: 'tests', uuid: expect.any(String), metadata: {} },
    ]);
    expect(await placement.providerAggregates(hypervisor.id, never)).toEqual(
      expect.arrayContaining(isolated.map(({ uuid }) => uuid)),
    );

    await Promise.all([
      drover.ensureInAggregates({ host, names: ['az-a', 'fast'] }),
      drover.ensureInAggregates({ host, names: ['az-a', 'fast'] }),
    ]);
    expect(await aggregatesOf(counterpart, host)).toEqual(['az-a', 'fast']);
    expect(await aggregatesOf(counterpart, 'node-1')).toEqual(['fast', 'tests']);

    await expect(drover.ensureInAggregates({ host, names: ['gold', 'fast', 'silver'] })).rejects.toMatchObject({
      type: 'AggregateNotFound',
      message: expect.stringContaining('gold, silver'),
    });
    await expect(drover.ensureInAggregates({ host, names: ['az-b', 'tests'] })).rejects.toMatchObject({
      type: 'AggregateRefused',
      message: expect.stringMatching(/already in availability zone/u),
    });
    // What could be added was, and nothing was taken away.
    expect(await aggregatesOf(counterpart, host)).toEqual(['az-a', 'fast', 'tests']);
    await expect(drover.ensureInAggregates({ host: 'node-77', names: ['fast'] })).rejects.toMatchObject({
      type: 'HostNotFound',
    });
    expect(await drover.ensureInAggregates({ host, names: [] })).toEqual([]);
    expect(await aggregatesOf(counterpart, host)).toEqual([]);
  });

  test('disabled by two at once; what another user disabled is theirs, unless the caller has proof', async (counterpart) => {
    const { drover } = openHypervisorActivities(counterpart);
    await newHost(counterpart, drover);
    const reason = 'drover: eviction node-1: kernel';
    const states = await Promise.all([1, 2, 3].map(() => drover.ensureServiceDisabled({ host, reason })));
    for (const state of states) expect(state).toMatchObject({ status: 'disabled', disabledReason: reason });
    expect(await Promise.all([drover.ensureServiceEnabled({ host }), drover.ensureServiceEnabled({ host })])).toEqual([
      true,
      true,
    ]);
    expect(await findService(counterpart.admin, host)).toMatchObject({ status: 'enabled' });

    // Its Hypervisor lifts that, with the checks that a host needs before it is in service.
    for (const held of ['drover: maintenance manual', 'drover: maintenance ha: node failure of node-1']) {
      await changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: held });
      expect(await drover.ensureServiceEnabled({ host })).toBe(false);
      expect(await drover.ensureServiceEnabled({ host, carrying: held })).toBe(true);
    }

    await changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: 'CHG-1' });
    expect(await drover.ensureServiceDisabled({ host, reason })).toMatchObject({ disabledReason: 'CHG-1' });
    expect(await drover.ensureServiceEnabled({ host })).toBe(false);
    expect(await drover.ensureServiceEnabled({ host, carrying: 'CHG-2' })).toBe(false);
    expect(await drover.ensureServiceEnabled({ host, carrying: 'CHG-1' })).toBe(true);
  });

  test('a dead host: forced down with proof, its servers started elsewhere as they were, and forced up only once it has dropped them', async (counterpart) => {
    const { drover, audited } = openHypervisorActivities(counterpart);
    await newHost(counterpart, drover);
    const [running, stopped] = [
      await createInstance(counterpart.admin, { name: 'running', host }),
      await createInstance(counterpart.admin, { name: 'stopped', host, state: 'SHUTOFF' }),
    ];
    const request = (instanceId: string) => ({
      instanceId,
      sourceHost: host,
      targetHost: null,
      incident: 'incident-1',
    });

    await expect(drover.startEvacuation(request(running.id))).rejects.toMatchObject({ type: 'HostNotFenced' });
    await expect(drover.ensureForcedDown({ host, forcedDown: true, proof: proofOf('person') })).rejects.toMatchObject({
      type: 'HostUp',
    });
    await counterpart.fleet.crash(host);
    const down = await Promise.all(
      [1, 2].map(() => drover.ensureForcedDown({ host, forcedDown: true, proof: proofOf('power-off') })),
    );
    for (const state of down) expect(state).toMatchObject({ forcedDown: true, state: 'down', status: 'enabled' });

    const ids = (await Promise.all([1, 2].map(() => drover.startEvacuation(request(running.id))))).map(
      (start) => started(start).id,
    );
    expect(new Set(ids).size).toBe(1);
    expect(await ended(drover, running.id, ids[0] ?? 0)).toMatchObject({
      status: 'done',
      stuck: null,
      message: null,
      observation: { instance: { status: 'ACTIVE', host: expect.stringMatching(/^node-[1-68]$/u) } },
    });
    const { id: named } = started(await drover.startEvacuation({ ...request(stopped.id), targetHost: 'node-2' }));
    expect(await ended(drover, stopped.id, named)).toMatchObject({
      status: 'done',
      targetHost: 'node-2',
      observation: { instance: { status: 'SHUTOFF', host: 'node-2' } },
    });
    expect(await drover.startEvacuation(request(running.id))).toMatchObject({
      outcome: 'changed',
      observation: { migration: null },
    });

    await expect(drover.ensureForcedDown({ host, forcedDown: false, proof: proofOf('restart') })).rejects.toMatchObject(
      { type: 'EvacuatedGuestsRemain' },
    );
    await counterpart.fleet.start(host);
    const up = await until('nova-compute to have dropped the guests', deadlineMs, () =>
      drover.ensureForcedDown({ host, forcedDown: false, proof: proofOf('restart') }),
    );
    expect(up).toMatchObject({ forcedDown: false });
    // Of two at once, both may have done it: Nova takes both.
    const causes = audited.filter(({ action }) => action === 'ensureForcedDown').map(({ cause }) => cause);
    expect(causes.at(0)).toMatch(/^incident incident-1: power-off, the test at /u);
    expect(causes.at(-1)).toMatch(/^incident incident-1: restart, the test at /u);
  });

  test('an evacuation that finds no host ends in error with Nova’s reason, and can be asked for again', async (counterpart) => {
    const { drover } = openHypervisorActivities(counterpart);
    const { hypervisor } = await newHost(counterpart, drover);
    await drover.ensureTraits({ providerId: hypervisor.id, wanted: ['CUSTOM_LAB'], owned: [] });
    const { id } = await createInstance(counterpart.admin, { name: 'picky', host, flavor: 'lab.trait' });
    await counterpart.fleet.crash(host);
    await drover.ensureForcedDown({ host, forcedDown: true, proof: proofOf('power-off') });
    const request = { instanceId: id, sourceHost: host, targetHost: null, incident: 'incident-2' };
    const { id: first } = started(await drover.startEvacuation(request));
    expect(await ended(drover, id, first)).toMatchObject({
      status: 'error',
      message: expect.stringMatching(/No valid host/u),
      observation: { instance: { status: 'ERROR', host } },
    });
    const { id: second } = started(await drover.startEvacuation(request));
    expect(second).toBeGreaterThan(first);
    expect(await ended(drover, id, second)).toMatchObject({ status: 'error' });
    await deleteInstances(counterpart.admin, [id]);
  });

  test('a host leaves Nova and Placement only when it is disabled, down and empty; one that registered since is another', async (counterpart) => {
    const { drover, placement } = openHypervisorActivities(counterpart);
    const { serviceId, hypervisor } = await newHost(counterpart, drover);
    await createAggregate(counterpart.admin, { name: 'fast', hosts: [host, 'node-1'] });
    const { id: server } = await createInstance(counterpart.admin, { name: 'last', host });
    const deletion = { host, serviceId };

    await expect(drover.ensureServiceDeleted(deletion)).rejects.toMatchObject({ type: 'HostEnabled' });
    await drover.ensureServiceDisabled({ host, reason: 'drover: maintenance termination' });
    await expect(drover.ensureServiceDeleted(deletion)).rejects.toMatchObject({ type: 'HostUp' });
    await expect(drover.ensureProviderGone({ providerId: hypervisor.id })).rejects.toMatchObject({
      type: 'ProviderInUse',
      message: expect.stringContaining(server),
    });
    await counterpart.fleet.crash(host);
    await until('Nova to see it down', deadlineMs, async () =>
      (await findService(counterpart.admin, host)).state === 'down' ? true : 'up',
    );
    await expect(drover.ensureServiceDeleted(deletion)).rejects.toMatchObject({
      type: 'HostNotEmpty',
      message: expect.stringContaining(server),
    });
    // Its nova-compute must be there to delete it.
    await counterpart.fleet.start(host);
    await waitForServer(counterpart.admin, server, 'ACTIVE');
    await deleteInstances(counterpart.admin, [server]);
    await counterpart.fleet.crash(host);
    await until('Nova to see it down', deadlineMs, async () =>
      (await findService(counterpart.admin, host)).state === 'down' ? true : 'up',
    );

    // Nova answers 500 to one of two.
    await Promise.all([1, 2].map(() => asTemporalWould(() => drover.ensureServiceDeleted(deletion))));
    expect(await drover.findRegistration({ hypervisor: host })).toBeNull();
    expect(await aggregatesOf(counterpart, host)).toEqual([]);
    await drover.ensureProviderGone({ providerId: hypervisor.id });
    expect(await placement.providerByUuid(hypervisor.id, never)).toBeNull();
    await drover.ensureServiceDeleted(deletion);

    const again = await newHost(counterpart, drover);
    expect(again.serviceId).not.toBe(serviceId);
    await drover.ensureServiceDeleted(deletion);
    expect(await drover.findRegistration({ hypervisor: host })).toMatchObject({ serviceId: again.serviceId });
  });
}
