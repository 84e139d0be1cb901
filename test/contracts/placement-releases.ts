import { createInstance, listServers } from '../../lab/openstack/seed.ts';
import {
  asTemporalWould,
  isoNow,
  never,
  newHost,
  openHypervisorActivities,
  unknownId,
} from './nova-hypervisor-context.ts';
import type { ContractTest } from './openstack.ts';

/** @param test on a counterpart to which a host may be added for good */
export function describeReleases(test: ContractTest): void {
  test('by consent, what consumers still have of a provider is taken away: a server’s share elsewhere stays, and the server runs', async (counterpart) => {
    const { drover, audited, placement } = openHypervisorActivities(counterpart);
    const { hypervisor } = await newHost(counterpart, drover);
    const { id: server } = await createInstance(counterpart.admin, { name: 'moved', host: 'node-1' });
    type Held = {
      allocations: Record<string, { resources: object }>;
      consumer_generation: number;
      project_id: string;
      user_id: string;
    };
    const held = (consumer: string): Promise<Held> =>
      counterpart.admin.placement<Held>('GET', `/allocations/${consumer}`);
    const { allocations: elsewhere, consumer_generation, project_id, user_id } = await held(server);
    // As an aborted move leaves it: the server has a share of this host too; and as one whose server is gone does.
    const resources = { VCPU: 1, MEMORY_MB: 64 };
    const double = { ...elsewhere, [hypervisor.id]: { resources } };
    await counterpart.admin.placement('PUT', `/allocations/${server}`, {
      body: { allocations: double, consumer_generation, consumer_type: 'INSTANCE', project_id, user_id },
    });
    const gone = unknownId;
    await counterpart.admin.placement('PUT', `/allocations/${gone}`, {
      body: {
        allocations: { [hypervisor.id]: { resources } },
        consumer_generation: null,
        consumer_type: 'INSTANCE',
        project_id,
        user_id,
      },
    });

    const consentBy = `jane ${isoNow()}`;
    const release = { providerId: hypervisor.id, consentBy };
    // Of two at once, one may find a consumer that the other has just written.
    await Promise.all([1, 2].map(() => asTemporalWould(() => drover.releaseAllocations(release))));
    // The provider's generation goes up with every change of what it holds.
    const resourcesOf = (allocations: Held['allocations']) =>
      Object.entries(allocations).map(([provider, { resources: its }]) => [provider, its]);
    expect(resourcesOf((await held(server)).allocations)).toEqual(resourcesOf(elsewhere));
    expect((await held(gone)).allocations).toEqual({});
    expect(await placement.providerAllocations(hypervisor.id, never)).toEqual({});
    const written = audited.filter(({ action }) => action === 'releaseAllocations');
    expect(new Set(written.map(({ object }) => object))).toEqual(
      new Set([`allocations/${server}`, `allocations/${gone}`]),
    );
    for (const { cause, before } of written)
      expect([cause, before]).toEqual([
        expect.stringContaining(`consented by ${consentBy}`),
        { [hypervisor.id]: resources },
      ]);
    expect((await listServers(counterpart.admin)).find(({ id }) => id === server)).toMatchObject({ status: 'ACTIVE' });
  });

  test('a provider that Nova left behind goes with those below it, once nothing is allocated or a user consents', async (counterpart) => {
    const { drover, audited } = openHypervisorActivities(counterpart);
    const [top, child, consumer] = [
      '20000000-0000-4000-8000-000000000001',
      '20000000-0000-4000-8000-000000000002',
      '20000000-0000-4000-8000-000000000003',
    ];
    await counterpart.admin.placement('POST', '/resource_providers', { body: { name: 'left-behind', uuid: top } });
    await counterpart.admin.placement('POST', '/resource_providers', {
      body: { name: 'left-behind-gpu', uuid: child, parent_provider_uuid: top },
    });
    await counterpart.admin.placement('PUT', `/resource_providers/${child}/inventories`, {
      body: { resource_provider_generation: 0, inventories: { VGPU: { total: 4 } } },
    });
    const allocation = {
      allocations: { [child]: { resources: { VGPU: 1 } } },
      consumer_generation: null,
      consumer_type: 'INSTANCE',
      project_id: 'p',
      user_id: 'u',
    };
    await counterpart.admin.placement('PUT', `/allocations/${consumer}`, { body: allocation });

    await expect(drover.ensureProviderGone({ providerId: top })).rejects.toMatchObject({
      type: 'ProviderInUse',
      message: expect.stringContaining(consumer),
    });
    // A person's consent frees it: what the consumer has below counts as what it has.
    const consented = { providerId: top, consentBy: `jane ${isoNow()}` };
    await Promise.all([1, 2].map(() => asTemporalWould(() => drover.ensureProviderGone(consented))));
    expect(audited.find(({ action }) => action === 'releaseAllocations')).toMatchObject({
      object: `allocations/${consumer}`,
      before: { [child]: { VGPU: 1 } },
      after: null,
    });
    const { resource_providers: left } = await counterpart.admin.placement<{ resource_providers: unknown[] }>(
      'GET',
      `/resource_providers?in_tree=${top}`,
    );
    expect(left).toEqual([]);
  });
}
