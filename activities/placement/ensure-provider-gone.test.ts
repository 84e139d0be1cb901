import {
  openActivitiesOnFake,
  type ActivitiesOnFake,
  type ActivitiesOnFakeOptions,
} from '../../test/fakes/openstack/activities.ts';
import { leavesFirst } from './ensure-provider-gone.ts';

const deletion = 'DELETE /resource_providers/{id}';
const [top, numa, gpu, elsewhere] = ['p0', 'p1', 'p2', 'p9'];

type Allocations = Record<string, Record<string, Record<string, number>>>;

/**
 * Providers that Nova has left behind: the first is the root, each next one is below the one before it.
 * Another is elsewhere.
 * @param allocations by consumer and provider
 */
async function open(
  below: readonly string[],
  allocations: Allocations = {},
  options: ActivitiesOnFakeOptions = {},
): Promise<ActivitiesOnFake> {
  const opened = openActivitiesOnFake(options);
  const { admin } = opened.fake;
  const create = async (uuid: string, parent: string | null): Promise<void> => {
    await admin.placement('POST', '/resource_providers', {
      body: { name: `name-${uuid}`, uuid, parent_provider_uuid: parent },
    });
    await admin.placement('PUT', `/resource_providers/${uuid}/inventories`, {
      body: { resource_provider_generation: 0, inventories: { VCPU: { total: 64 } } },
    });
  };
  for (const [index, uuid] of below.entries()) await create(uuid, below[index - 1] ?? null);
  await create(elsewhere, null);
  for (const consumer of Object.keys(allocations)) await allocate(opened, consumer, allocations[consumer] ?? {});
  return opened;
}

async function allocate(
  { fake: { admin } }: ActivitiesOnFake,
  consumer: string,
  held: Allocations[string],
): Promise<void> {
  const { consumer_generation: generation = null } = await admin.placement<{ consumer_generation?: number }>(
    'GET',
    `/allocations/${consumer}`,
  );
  const shares = Object.fromEntries(Object.entries(held).map(([uuid, resources]) => [uuid, { resources }]));
  await admin.placement('PUT', `/allocations/${consumer}`, {
    body: {
      allocations: shares,
      consumer_generation: generation,
      consumer_type: 'INSTANCE',
      project_id: 'p',
      user_id: 'u',
    },
  });
}

test('a provider goes, with those below it first, and a second request finds it gone', async () => {
  const { activities, audited, changes, run } = await open([top, numa, gpu]);
  await run(() => activities.ensureProviderGone({ providerId: top }));
  await run(() => activities.ensureProviderGone({ providerId: top }));
  expect(changes('placement')).toEqual([gpu, numa, top].map((uuid) => `DELETE /resource_providers/${uuid}`));
  expect(audited.map(({ object }) => object)).toEqual([gpu, numa, top].map((uuid) => `resource-provider/${uuid}`));
});

test('one that is not there is gone', async () => {
  const { activities, changes, run } = await open([]);
  await run(() => activities.ensureProviderGone({ providerId: top }));
  expect(changes('placement')).toEqual([]);
});

test.each([[top], [numa]])('allocations of %s keep all of them', async (used) => {
  const consumers = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((consumer) => [consumer, { [used]: { VCPU: 1 } }]),
  );
  const { activities, changes, run } = await open([top, numa], consumers);
  await run(() =>
    expect(activities.ensureProviderGone({ providerId: top })).rejects.toMatchObject({
      type: 'ProviderInUse',
      nonRetryable: true,
      message: expect.stringMatching(/has allocations of 6: a, b, c, d, e, …/u),
    }),
  );
  expect(changes('placement')).toEqual([]);
});

const consentBy = 'jane 2026-01-31T12:00:00Z';

test('by consent what consumers have of them goes first, what they have elsewhere stays, and each is named', async () => {
  const { activities, audited, changes, fake, run } = await open([top, numa], {
    gone: { [numa]: { VCPU: 1 } },
    alive: { [numa]: { VCPU: 1 }, [elsewhere]: { VCPU: 2 } },
  });
  await run(() => activities.ensureProviderGone({ providerId: top, consentBy }));
  expect(changes('placement')).toEqual([
    'PUT /allocations/gone',
    'PUT /allocations/alive',
    `DELETE /resource_providers/${numa}`,
    `DELETE /resource_providers/${top}`,
  ]);
  expect([...fake.model.placement.consumers]).toEqual([
    ['alive', expect.objectContaining({ allocations: { [elsewhere]: { VCPU: 2 } } })],
  ]);
  expect(audited.slice(0, 2)).toMatchObject([
    {
      action: 'releaseAllocations',
      object: 'allocations/gone',
      before: { [numa]: { VCPU: 1 } },
      after: null,
      cause: expect.stringContaining(`consented by ${consentBy}`),
    },
    {
      action: 'releaseAllocations',
      object: 'allocations/alive',
      before: { [numa]: { VCPU: 1 } },
      after: { [elsewhere]: { VCPU: 2 } },
    },
  ]);
  expect(audited.slice(2).map(({ action }) => action)).toEqual(['ensureProviderGone', 'ensureProviderGone']);
});

test('a consumer that is written meanwhile ends the attempt, and no provider is deleted', async () => {
  const opened = await open(
    [top],
    { busy: { [top]: { VCPU: 1 } } },
    {
      onCall: ({ verb }) => {
        if (verb === 'PUT /allocations/{id}') void allocate(opened, 'busy', { [top]: { VCPU: 2 } });
        return 'works';
      },
    },
  );
  const { activities, changes, run } = opened;
  await run(() =>
    expect(activities.ensureProviderGone({ providerId: top, consentBy })).rejects.toMatchObject({
      type: 'ConsumerConflict',
      nonRetryable: false,
    }),
  );
  expect(changes('placement')).toEqual(['PUT /allocations/busy']);
});

test('without the provider: only what consumers have of it goes', async () => {
  const { activities, changes, run } = await open([top], { gone: { [top]: { VCPU: 1 } } });
  await run(() => activities.releaseAllocations({ providerId: top, consentBy }));
  await run(() => activities.releaseAllocations({ providerId: top, consentBy }));
  expect(changes('placement')).toEqual(['PUT /allocations/gone']);
});

test('an allocation that comes between the check and the deletion: Placement refuses', async () => {
  const opened = await open(
    [top],
    {},
    {
      onCall: ({ verb }) => {
        if (verb === deletion) void allocate(opened, 'late', { [top]: { VCPU: 1 } });
        return 'works';
      },
    },
  );
  const { activities, audited, run } = opened;
  await run(() =>
    expect(activities.ensureProviderGone({ providerId: top })).rejects.toMatchObject({
      type: 'ProviderInUse',
      message: expect.stringMatching(/has allocations/u),
    }),
  );
  expect(audited).toMatchObject([{ after: { asked: null, failed: expect.stringContaining('409') } }]);
});

test('two that delete at once: the second finds it gone', async () => {
  const { activities, audited, run } = await open([top]);
  await run(() => Promise.all([1, 2].map(() => activities.ensureProviderGone({ providerId: top }))));
  expect(audited.map(({ after }) => after)).toEqual([
    null,
    { asked: null, failed: expect.stringContaining('404') as string },
  ]);
});

test('a lost answer is tried again', async () => {
  const { activities, changes, run } = await open(
    [top],
    {},
    { onCall: ({ verb }) => (verb === deletion ? 'failAfter' : 'works') },
  );
  await run(() =>
    expect(activities.ensureProviderGone({ providerId: top })).rejects.toMatchObject({
      type: 'PlacementUnavailable',
      nonRetryable: false,
    }),
  );
  await run(() => activities.ensureProviderGone({ providerId: top }));
  expect(changes('placement')).toHaveLength(1);
});

test('of a tree, only what lies below goes along', () => {
  const provider = (uuid: string, parentUuid: string | null) => ({ uuid, name: uuid, parentUuid, rootUuid: 'root' });
  const tree = [
    provider('root', null),
    provider('p', 'root'),
    provider('b', 'p'),
    provider('c', 'b'),
    provider('elsewhere', 'root'),
    provider('loop', 'loop'),
  ];
  expect(leavesFirst(provider('p', 'root'), tree).map(({ uuid }) => uuid)).toEqual(['c', 'b', 'p']);
});
