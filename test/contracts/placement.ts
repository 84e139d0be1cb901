import { createNovaClient } from '../../activities/nova/client.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import type { PlacementClient } from '../../activities/placement/types.ts';
import { createInstance } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { seedScripted, untilMigration } from './nova-live-migrations.ts';
import type { ContractTest } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;
const unknownId = '00000000-0000-4000-8000-000000000000';
const tiny = { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 };

const providerOf = async (placement: PlacementClient, host: string): Promise<string> =>
  (await placement.providerByName(`${host}.lab.drover.dev`, never))?.uuid ?? '';

/** What drover takes for granted of Placement. */
export function describePlacement(test: ContractTest): void {
  describeProviders(test);
  describeChanges(test);
  describeMoves(test);
}

function describeProviders(test: ContractTest): void {
  test('a host has traits, inventory, usage and consumers', async ({ connect, admin }) => {
    const placement = createPlacementClient(connect());
    const server = await createInstance(admin, { name: 'placed', host: 'node-5' });
    const uuid = await providerOf(placement, 'node-5');
    expect(await placement.providerTraits(uuid, never)).toContain('COMPUTE_NODE');
    expect(await placement.providerAggregates(uuid, never)).toEqual([]);
    expect(await placement.providerAllocations(uuid, never)).toEqual({ [server.id]: tiny });
    expect(await placement.consumerAllocations(server.id, never)).toEqual({ [uuid]: tiny });
    expect(await placement.consumer(server.id, never)).toEqual({
      generation: 1,
      allocations: { [uuid]: tiny },
      projectId: expect.any(String),
      userId: expect.any(String),
    });
    expect(await placement.usages(uuid, never)).toEqual(tiny);
    expect(await placement.inventories(uuid, never)).toMatchObject({
      MEMORY_MB: { total: 262_144, reserved: 0, allocationRatio: 1, minUnit: 1, maxUnit: 262_144, stepSize: 1 },
      VCPU: { total: 64, allocationRatio: 4, maxUnit: 64 },
      DISK_GB: { total: 4_000 },
    });
  });

  test('an unknown id has no provider, no allocations and no consumer', async ({ connect }) => {
    const placement = createPlacementClient(connect());
    expect(await placement.providerByUuid(unknownId, never)).toBeNull();
    expect(await placement.providerByName('unknownId', never)).toBeNull();
    expect(await placement.consumerAllocations(unknownId, never)).toEqual({});
    expect(await placement.consumer(unknownId, never)).toBeNull();
    for (const ask of [
      'providerAllocations',
      'allocationsWithGeneration',
      'providerTraits',
      'inventories',
      'usages',
      'providerAggregates',
    ] as const) {
      await expect(placement[ask](unknownId, never)).rejects.toMatchObject({
        type: 'HostNotFound',
        message: expect.stringMatching(/answered 404 .*No resource provider/u),
      });
    }
    await expect(placement.deleteProvider(unknownId, never)).rejects.toMatchObject({ type: 'HostNotFound' });
  });

  test('the answer on allocations has the generation that each change of traits raises', async ({ connect, admin }) => {
    const placement = createPlacementClient(connect());
    const server = await createInstance(admin, { name: 'placed', host: 'node-5' });
    const uuid = await providerOf(placement, 'node-5');
    const before = await placement.traitsWithGeneration(uuid, never);
    expect(await placement.allocationsWithGeneration(uuid, never)).toEqual({
      generation: before.generation,
      allocations: { [server.id]: tiny },
    });
    await placement.createTrait('CUSTOM_DROVER_RAISED', never);
    await placement.replaceTraits(uuid, { ...before, traits: [...before.traits, 'CUSTOM_DROVER_RAISED'] }, never);
    const raised = await placement.allocationsWithGeneration(uuid, never);
    expect(raised.generation).toBeGreaterThan(before.generation);
    await placement.replaceTraits(uuid, { ...before, generation: raised.generation }, never);
    expect((await placement.allocationsWithGeneration(uuid, never)).generation).toBeGreaterThan(raised.generation);
  });

  test('candidates are the hosts with room, traits and aggregates', async ({ connect, admin }) => {
    const placement = createPlacementClient(connect());
    await createInstance(admin, { name: 'placed', host: 'node-5' });
    const uuid = await providerOf(placement, 'node-5');
    const fits = await placement.allocationCandidates(
      { resources: tiny, required: ['COMPUTE_NODE'], forbidden: ['COMPUTE_STATUS_DISABLED'] },
      never,
    );
    expect(fits.candidates).toHaveLength(6);
    expect(fits.candidates).toContainEqual({ allocations: { [uuid]: tiny } });
    expect(fits.providers[uuid]).toMatchObject({
      resources: { MEMORY_MB: { capacity: 262_144, used: 512 }, VCPU: { capacity: 256, used: 1 } },
      traits: expect.arrayContaining(['COMPUTE_NODE']),
      rootUuid: uuid,
      parentUuid: null,
    });
    expect(
      (await placement.allocationCandidates({ resources: { MEMORY_MB: 512 }, limit: 2 }, never)).candidates,
    ).toHaveLength(2);
    expect(
      (await placement.allocationCandidates({ resources: { MEMORY_MB: 200_000 }, inTree: uuid }, never)).candidates,
    ).toHaveLength(1);
    expect((await placement.allocationCandidates({ resources: { MEMORY_MB: 300_000 } }, never)).candidates).toEqual([]);
    expect((await placement.allocationCandidates({ resources: { VGPU: 1 } }, never)).candidates).toEqual([]);
    expect(
      (await placement.allocationCandidates({ resources: tiny, memberOf: [[unknownId]] }, never)).candidates,
    ).toEqual([]);
    expect(await placement.resourceProviders({ resources: { MEMORY_MB: 512 }, inTree: uuid }, never)).toHaveLength(1);
    const unknown = placement.allocationCandidates({ resources: { VCPU: 1 }, required: ['NO_SUCH_TRAIT'] }, never);
    await expect(unknown).rejects.toMatchObject({
      type: 'RequestRefused',
      message: expect.stringMatching(/answered 400 .*NO_SUCH_TRAIT/u),
    });
  });
}

function describeChanges(test: ContractTest): void {
  test('traits are made, and given to a provider in the generation that was read', async ({ connect }) => {
    const placement = createPlacementClient(connect());
    const uuid = await providerOf(placement, 'node-6');
    const before = await placement.traitsWithGeneration(uuid, never);
    await placement.createTrait('CUSTOM_CONTRACT', never);
    await placement.createTrait('CUSTOM_CONTRACT', never);
    expect(await placement.existingTraits(['CUSTOM_CONTRACT', 'CUSTOM_NEVER_MADE', 'COMPUTE_NODE'], never)).toEqual(
      expect.arrayContaining(['COMPUTE_NODE', 'CUSTOM_CONTRACT']),
    );
    await expect(placement.createTrait('LOWER_case', never)).rejects.toMatchObject({
      type: 'RequestRefused',
      message: expect.stringMatching(/answered 400 /u),
    });
    const traits = [...before.traits, 'CUSTOM_CONTRACT'];
    await placement.replaceTraits(uuid, { generation: before.generation, traits }, never);
    const after = await placement.traitsWithGeneration(uuid, never);
    expect(after).toEqual({ generation: before.generation + 1, traits: traits.toSorted() });
    const stale = placement.replaceTraits(uuid, { generation: before.generation, traits: before.traits }, never);
    await expect(stale).rejects.toMatchObject({
      type: 'ProviderConflict',
      message: expect.stringMatching(/answered 409 .*generation already changed/u),
    });
    const unmade = placement.replaceTraits(
      uuid,
      { generation: after.generation, traits: [...traits, 'CUSTOM_NEVER_MADE'] },
      never,
    );
    await expect(unmade).rejects.toMatchObject({
      type: 'RequestRefused',
      message: expect.stringMatching(/answered 400 .*CUSTOM_NEVER_MADE/u),
    });
    expect(
      (await placement.resourceProviders({ required: ['CUSTOM_CONTRACT'] }, never)).map((provider) => provider.uuid),
    ).toEqual([uuid]);
    await placement.replaceTraits(uuid, { generation: after.generation, traits: before.traits }, never);
  });

  test('of those who have read the same of a consumer, one alone can write it', async ({ connect, admin }) => {
    const placement = createPlacementClient(connect());
    const server = await createInstance(admin, { name: 'written', host: 'node-5' });
    const before = await placement.consumer(server.id, never);
    if (before === null) throw new Error('the server has no allocations');
    await placement.rewriteConsumer(server.id, before, never);
    expect(await placement.consumer(server.id, never)).toEqual({ ...before, generation: before.generation + 1 });
    await expect(placement.rewriteConsumer(server.id, before, never)).rejects.toMatchObject({
      type: 'ConsumerConflict',
      message: expect.stringMatching(/answered 409 .*consumer generation conflict/u),
    });
  });

  test('more than a provider holds is refused', async ({ connect, admin }) => {
    const placement = createPlacementClient(connect());
    const server = await createInstance(admin, { name: 'greedy', host: 'node-5' });
    const before = await placement.consumer(server.id, never);
    const uuid = await providerOf(placement, 'node-5');
    if (before === null) throw new Error('the server has no allocations');
    const greedy = placement.rewriteConsumer(
      server.id,
      { ...before, allocations: { [uuid]: { ...tiny, MEMORY_MB: 300_000 } } },
      never,
    );
    await expect(greedy).rejects.toMatchObject({
      type: 'RequestRefused',
      message: expect.stringMatching(/answered 409 .*Unable to (allocate inventory|create allocation)/u),
    });
    expect(await placement.consumer(server.id, never)).toEqual(before);
  });

  test('a provider goes when nothing is allocated and nothing is below it', async ({ connect, admin }) => {
    const placement = createPlacementClient(connect());
    const [top, child, consumer] = [
      '10000000-0000-4000-8000-000000000001',
      '10000000-0000-4000-8000-000000000002',
      '10000000-0000-4000-8000-000000000003',
    ];
    await admin.placement('POST', '/resource_providers', { body: { name: 'left-behind', uuid: top } });
    await admin.placement('POST', '/resource_providers', {
      body: { name: 'left-behind-gpu', uuid: child, parent_provider_uuid: top },
    });
    await admin.placement('PUT', `/resource_providers/${child}/inventories`, {
      body: { resource_provider_generation: 0, inventories: { VGPU: { total: 4 } } },
    });
    const allocation = {
      allocations: { [child]: { resources: { VGPU: 1 } } },
      consumer_generation: null,
      consumer_type: 'INSTANCE',
      project_id: 'p',
      user_id: 'u',
    };
    await admin.placement('PUT', `/allocations/${consumer}`, { body: allocation });
    expect((await placement.resourceProviders({ inTree: top }, never)).map(({ uuid }) => uuid).toSorted()).toEqual([
      top,
      child,
    ]);
    await expect(placement.deleteProvider(top, never)).rejects.toMatchObject({
      type: 'ProviderInUse',
      message: expect.stringMatching(/answered 409 .*child/u),
    });
    await expect(placement.deleteProvider(child, never)).rejects.toMatchObject({
      type: 'ProviderInUse',
      message: expect.stringMatching(/answered 409 .*has allocations/u),
    });
    const held = await placement.consumer(consumer, never);
    if (held === null) throw new Error('the consumer has nothing');
    await placement.rewriteConsumer(consumer, { ...held, allocations: {} }, never);
    expect(await placement.consumer(consumer, never)).toBeNull();
    await placement.deleteProvider(child, never);
    await placement.deleteProvider(top, never);
    expect(await placement.providerByUuid(top, never)).toBeNull();
  });
}

function describeMoves(test: ContractTest): void {
  test('while a server migrates, its record holds the share of the source; afterwards there is one share', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const server = await seedScripted(counterpart, 'moving', ['hang']);
    await nova.liveMigrate(server.id, { host: 'node-2' }, never);
    const { id } = await untilMigration(nova, server.id, 'running');
    const [source, target] = [await providerOf(placement, 'node-1'), await providerOf(placement, 'node-2')];
    expect(await placement.consumerAllocations(server.id, never)).toEqual({ [target]: tiny });
    const holders = Object.keys(await placement.providerAllocations(source, never));
    expect(holders).toHaveLength(1);
    expect(holders).not.toContain(server.id);
    await nova.forceCompleteMigration(server.id, id, never);
    await untilMigration(nova, server.id, 'completed');
    await until('the share of the source to go', deadlineMs, async () =>
      Object.keys(await placement.providerAllocations(source, never)).length === 0 ? true : 'still there',
    );
    expect(await placement.consumerAllocations(server.id, never)).toEqual({ [target]: tiny });
  });

  test('a migration that fails gives the server its share back', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const server = await seedScripted(counterpart, 'failing', ['fail']);
    await nova.liveMigrate(server.id, { host: 'node-2' }, never);
    await untilMigration(nova, server.id, 'failed');
    expect(await placement.consumerAllocations(server.id, never)).toEqual({
      [await providerOf(placement, 'node-1')]: tiny,
    });
    expect(await placement.providerAllocations(await providerOf(placement, 'node-2'), never)).toEqual({});
  });

  test('a migration in error leaves both shares', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const server = await seedScripted(counterpart, 'lost', ['error']);
    await nova.liveMigrate(server.id, { host: 'node-2' }, never);
    await untilMigration(nova, server.id, 'error');
    expect(await placement.consumerAllocations(server.id, never)).toEqual({
      [await providerOf(placement, 'node-2')]: tiny,
    });
    expect(Object.keys(await placement.providerAllocations(await providerOf(placement, 'node-1'), never))).toHaveLength(
      1,
    );
  });
}
