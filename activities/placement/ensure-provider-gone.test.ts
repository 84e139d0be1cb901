import { openScriptedOpenStack, placementRefusal, type ScriptedOpenStack } from '../../test/scripted-openstack.ts';
import type { Reply } from '../../test/scripted-service.ts';
import { leavesFirst } from './ensure-provider-gone.ts';

const open: ScriptedOpenStack[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const wireProvider = (uuid: string, parent: string | null = null): { uuid: string } & Record<string, unknown> => ({ uuid, name: `name-${uuid}`, parent_provider_uuid: parent, root_provider_uuid: 'p' });
const missing = placementRefusal(404, 'No resource provider with uuid p found');

async function stage(providers: ReturnType<typeof wireProvider>[], allocations: Record<string, string[]> = {}, deletion: (uuid: string) => Reply | null = () => null): Promise<ScriptedOpenStack> {
  const there = new Map(providers.map((provider) => [provider.uuid, provider]));
  const one = ({ uuid }: { uuid: string }) => ({
    [`GET /resource_providers/${uuid}`]: (): Reply => (there.has(uuid) ? { json: there.get(uuid) } : missing),
    [`GET /resource_providers/${uuid}/allocations`]: (): Reply => ({ json: { allocations: Object.fromEntries((allocations[uuid] ?? []).map((consumer) => [consumer, { resources: { VCPU: 1 } }])) } }),
    [`DELETE /resource_providers/${uuid}`]: (): Reply => {
      const given = deletion(uuid);
      there.delete(uuid);
      return given ?? { status: 204, text: '' };
    },
  });
  const opened = await openScriptedOpenStack({
    'GET /resource_providers': () => ({ json: { resource_providers: [...there.values()] } }),
    ...Object.assign({ 'GET /resource_providers/p': () => missing }, ...providers.map(one)),
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
