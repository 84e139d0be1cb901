import { openScriptedOpenStack, placementRefusal, type ScriptedOpenStack } from '../../test/scripted-openstack.ts';
import type { Received, Reply } from '../../test/scripted-service.ts';
import { leavesFirst } from './provider-tree.ts';

const open: ScriptedOpenStack[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const wireProvider = (uuid: string, parent: string | null = null): { uuid: string } & Record<string, unknown> => ({ uuid, name: `name-${uuid}`, parent_provider_uuid: parent, root_provider_uuid: 'p' });
const missing = placementRefusal(404, 'No resource provider with uuid p found');

/** By consumer and provider. */
type Consumers = Record<string, Record<string, Record<string, number>>>;

/** @param allocations by provider, its consumers */
async function stage(
  providers: ReturnType<typeof wireProvider>[],
  allocations: Record<string, string[]> = {},
  deletion: (uuid: string) => Reply | null = () => null,
  consumers: Consumers = {},
  writing: () => Reply | null = () => null,
): Promise<ScriptedOpenStack> {
  const held = (uuid: string): string[] => (allocations[uuid] ?? []).filter((consumer) => consumers[consumer] === undefined || consumers[consumer][uuid] !== undefined);
  const consumerCalls = (consumer: string): Record<string, (request: Received) => Reply> => ({
    [`GET /allocations/${consumer}`]: () => ({
      json: { allocations: Object.fromEntries(Object.entries(consumers[consumer] ?? {}).map(([uuid, resources]) => [uuid, { resources }])), consumer_generation: 3, project_id: 'p', user_id: 'u' },
    }),
    [`PUT /allocations/${consumer}`]: ({ body }) => {
      const refusal = writing();
      if (refusal !== null) return refusal;
      const wanted = (body as { allocations: Record<string, { resources: Record<string, number> }> }).allocations;
      consumers[consumer] = Object.fromEntries(Object.entries(wanted).map(([uuid, { resources }]) => [uuid, resources]));
      return { status: 204, text: '' };
    },
  });
  const there = new Map(providers.map((provider) => [provider.uuid, provider]));
  const one = ({ uuid }: { uuid: string }) => ({
    [`GET /resource_providers/${uuid}`]: (): Reply => (there.has(uuid) ? { json: there.get(uuid) } : missing),
    [`GET /resource_providers/${uuid}/allocations`]: (): Reply => ({ json: { allocations: Object.fromEntries(held(uuid).map((consumer) => [consumer, { resources: { VCPU: 1 } }])) } }),
    [`DELETE /resource_providers/${uuid}`]: (): Reply => {
      const given = deletion(uuid);
      there.delete(uuid);
      return given ?? { status: 204, text: '' };
    },
  });
  const opened = await openScriptedOpenStack({
    'GET /resource_providers': () => ({ json: { resource_providers: [...there.values()] } }),
    ...Object.assign({ 'GET /resource_providers/p': () => missing }, ...providers.map(one), ...Object.keys(consumers).map(consumerCalls)),
  });
  open.push(opened);
  return opened;
}

test('a provider goes, with those below it first, and a second request finds it gone', async () => {
  const { activities, changes, audited } = await stage([wireProvider('p'), wireProvider('numa', 'p'), wireProvider('gpu', 'numa')]);
  await activities.ensureProviderGone({ providerId: 'p' });
  await activities.ensureProviderGone({ providerId: 'p' });
  expect(changes()).toEqual(['DELETE /resource_providers/gpu', 'DELETE /resource_providers/numa', 'DELETE /resource_providers/p']);
  expect(audited.map(({ object }) => object)).toEqual(['resource-provider/gpu', 'resource-provider/numa', 'resource-provider/p']);
});

test('one that is not there is gone', async () => {
  const { activities, changes } = await stage([]);
  await activities.ensureProviderGone({ providerId: 'p' });
  expect(changes()).toEqual([]);
});

test.each([['p'], ['gpu']])('allocations of %s keep all of them', async (used) => {
  const { activities, changes } = await stage([wireProvider('p'), wireProvider('gpu', 'p')], { [used]: ['a', 'b', 'c', 'd', 'e', 'f'] });
  await expect(activities.ensureProviderGone({ providerId: 'p' })).rejects.toMatchObject({ type: 'ProviderInUse', nonRetryable: true, message: expect.stringMatching(/has allocations of 6: a, b, c, d, e, …/u) });
  expect(changes()).toEqual([]);
});

const consentBy = 'jane 2026-01-31T12:00:00Z';

test('by consent what consumers have of them goes first, what they have elsewhere stays, and each is named', async () => {
  const consumers = { gone: { numa: { VCPU: 1 } }, alive: { numa: { VCPU: 1 }, elsewhere: { VCPU: 2 } } };
  const { activities, changes, audited, received } = await stage([wireProvider('p'), wireProvider('numa', 'p')], { numa: ['gone', 'alive'] }, () => null, consumers);
  await activities.ensureProviderGone({ providerId: 'p', consentBy });
  expect(changes()).toEqual(['PUT /allocations/gone', 'PUT /allocations/alive', 'DELETE /resource_providers/numa', 'DELETE /resource_providers/p']);
  const bodies = received().flatMap(({ method, body }) => (method === 'PUT' ? [body] : []));
  expect(bodies).toEqual([expect.objectContaining({ allocations: {}, consumer_generation: 3 }), expect.objectContaining({ allocations: { elsewhere: { resources: { VCPU: 2 } } }, consumer_generation: 3 })]);
  expect(audited.slice(0, 2)).toMatchObject([
    { action: 'releaseAllocations', object: 'allocations/gone', before: { numa: { VCPU: 1 } }, after: null, cause: expect.stringContaining(`consented by ${consentBy}`) },
    { action: 'releaseAllocations', object: 'allocations/alive', before: { numa: { VCPU: 1 } }, after: { elsewhere: { VCPU: 2 } } },
  ]);
  expect(audited.slice(2).map(({ action }) => action)).toEqual(['ensureProviderGone', 'ensureProviderGone']);
});

test('a consumer that somebody writes meanwhile is read again, and no provider is deleted', async () => {
  const { activities, changes } = await stage([wireProvider('p')], { p: ['busy'] }, () => null, { busy: { p: { VCPU: 1 } } }, () => placementRefusal(409, 'consumer generation conflict'));
  await expect(activities.ensureProviderGone({ providerId: 'p', consentBy })).rejects.toMatchObject({ type: 'ConsumerConflict', nonRetryable: false });
  expect(changes()).toEqual(['PUT /allocations/busy']);
});

test('without the provider: only what consumers have of it goes', async () => {
  const { activities, changes } = await stage([wireProvider('p')], { p: ['gone'] }, () => null, { gone: { p: { VCPU: 1 } } });
  await activities.releaseAllocations({ providerId: 'p', consentBy });
  await activities.releaseAllocations({ providerId: 'p', consentBy });
  expect(changes()).toEqual(['PUT /allocations/gone']);
});

test('an allocation that comes between the look and the deletion: Placement refuses', async () => {
  const { activities, audited } = await stage([wireProvider('p')], {}, () => placementRefusal(409, 'Unable to delete resource provider p: Resource provider has allocations.'));
  await expect(activities.ensureProviderGone({ providerId: 'p' })).rejects.toMatchObject({ type: 'ProviderInUse', message: expect.stringMatching(/has allocations/u) });
  expect(audited).toEqual([]);
});

test('two that delete at once: the second finds it gone', async () => {
  const { activities, audited } = await stage([wireProvider('p')], {}, () => placementRefusal(404, 'No resource provider with uuid p found for delete'));
  await activities.ensureProviderGone({ providerId: 'p' });
  expect(audited).toEqual([]);
});

test('a lost answer is tried again', async () => {
  const { activities, changes } = await stage([wireProvider('p')], {}, () => 'cut');
  await expect(activities.ensureProviderGone({ providerId: 'p' })).rejects.toMatchObject({ type: 'PlacementUnavailable', nonRetryable: false });
  await activities.ensureProviderGone({ providerId: 'p' });
  expect(changes()).toHaveLength(1);
});

test('of a tree, only what lies below goes along', () => {
  const provider = (uuid: string, parentUuid: string | null) => ({ uuid, name: uuid, parentUuid, rootUuid: 'root' });
  const tree = [provider('root', null), provider('p', 'root'), provider('b', 'p'), provider('c', 'b'), provider('elsewhere', 'root'), provider('loop', 'loop')];
  expect(leavesFirst(provider('p', 'root'), tree).map(({ uuid }) => uuid)).toEqual(['c', 'b', 'p']);
});
