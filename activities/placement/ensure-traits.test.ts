import { openScriptedOpenStack, placementRefusal, type ScriptedOpenStack } from '../../test/scripted-openstack.ts';
import type { Reply } from '../../test/scripted-service.ts';
import { judgeTraits } from './judge-traits.ts';

const open: ScriptedOpenStack[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const overtaken = placementRefusal(409, "Resource provider's generation already changed. Please update the generation and try again.");

interface Provider {
  traits: string[];
  known?: string[];
  /** What happens at the nth change; null: it is taken as it is. */
  change?: (attempt: number) => { reply: Reply; others?: string[] } | null;
}

async function stage({ traits, known = [], change = () => null }: Provider) {
  const provider = { generation: 1, traits };
  const exist = new Set([...traits, ...known]);
  let attempt = 0;
  const made = (name: string) => ({
    [`PUT /traits/${name}`]: (): Reply => {
      exist.add(name);
      return { status: 201, text: '' };
    },
  });
  const opened = await openScriptedOpenStack({
    'GET /resource_providers/p/traits': () => ({ json: { traits: provider.traits, resource_provider_generation: provider.generation } }),
    'GET /traits': ({ query }) => ({ json: { traits: (query.get('name') ?? '').replace('in:', '').split(',').filter((name) => exist.has(name)) } }),
    ...made('CUSTOM_NEW'),
    ...made('CUSTOM_OTHER'),
    'PUT /resource_providers/p/traits': ({ body }) => {
      const wanted = body as { resource_provider_generation: number; traits: string[] };
      attempt += 1;
      const given = change(attempt);
      if (given !== null) {
        if (given.others !== undefined) Object.assign(provider, { generation: provider.generation + 1, traits: given.others });
        return given.reply;
      }
      if (wanted.resource_provider_generation !== provider.generation) return overtaken;
      const unknown = wanted.traits.filter((name) => !exist.has(name));
      if (unknown.length > 0) return placementRefusal(400, `No such trait ${unknown.join(', ')}`);
      Object.assign(provider, { generation: provider.generation + 1, traits: wanted.traits });
      return { headers: { 'x-openstack-request-id': 'req-1' }, json: { traits: wanted.traits, resource_provider_generation: provider.generation } };
    },
  });
  open.push(opened);
  return { ...opened, provider };
}

const p = 'p';

test('adds what is wanted, makes what does not exist, takes away what was drover’s, and leaves the rest', async () => {
  const { activities, provider, changes, audited } = await stage({ traits: ['HW_CPU_X86_AVX', 'CUSTOM_THEIRS', 'CUSTOM_OLD'], known: ['CUSTOM_KNOWN'] });
  const traits = ['CUSTOM_KNOWN', 'CUSTOM_NEW', 'CUSTOM_THEIRS', 'HW_CPU_X86_AVX'];
  await expect(activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_NEW', 'CUSTOM_KNOWN'], owned: ['CUSTOM_OLD'] })).resolves.toEqual(traits);
  expect(provider.traits).toEqual(traits);
  expect(changes()).toEqual(['PUT /traits/CUSTOM_NEW', 'PUT /resource_providers/p/traits']);
  expect(audited).toMatchObject([
    { action: 'createTrait', object: 'trait/CUSTOM_NEW' },
    { action: 'ensureTraits', object: 'resource-provider/p', after: { added: ['CUSTOM_KNOWN', 'CUSTOM_NEW'], removed: ['CUSTOM_OLD'] }, requestId: 'req-1' },
  ]);
});

test('what is as wanted costs no change', async () => {
  const { activities, changes } = await stage({ traits: ['CUSTOM_A'] });
  await activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_A'], owned: ['CUSTOM_GONE'] });
  expect(changes()).toEqual([]);
});

test('a write that somebody else overtook reads again, and keeps what they wrote', async () => {
  const { activities, provider } = await stage({ traits: ['CUSTOM_OLD'], known: ['COMPUTE_STATUS_DISABLED'], change: (attempt) => (attempt === 1 ? { reply: overtaken, others: ['CUSTOM_OLD', 'COMPUTE_STATUS_DISABLED'] } : null) });
  await activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_NEW'], owned: ['CUSTOM_OLD'] });
  expect(provider.traits).toEqual(['COMPUTE_STATUS_DISABLED', 'CUSTOM_NEW']);
});

test('who is overtaken again and again leaves it to a later attempt', async () => {
  const { activities, changes } = await stage({ traits: [], known: ['CUSTOM_NEW'], change: () => ({ reply: overtaken, others: [] }) });
  await expect(activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_NEW'], owned: [] })).rejects.toMatchObject({ type: 'ProviderConflict', nonRetryable: false });
  expect(changes()).toHaveLength(5);
});

test('a lost answer converges', async () => {
  const { activities, provider } = await stage({ traits: [], known: ['CUSTOM_NEW'], change: (attempt) => (attempt === 1 ? { reply: 'cut', others: ['CUSTOM_NEW'] } : null) });
  const request = { providerId: p, wanted: ['CUSTOM_NEW'], owned: [] };
  await expect(activities.ensureTraits(request)).rejects.toMatchObject({ type: 'PlacementUnavailable' });
  await expect(activities.ensureTraits(request)).resolves.toEqual(['CUSTOM_NEW']);
  expect(provider.generation).toBe(2);
});

test('two at once both end with both wishes', async () => {
  const { activities, provider } = await stage({ traits: [] });
  await Promise.all([activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_NEW'], owned: [] }), activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_OTHER'], owned: [] })]);
  expect(provider.traits).toEqual(['CUSTOM_NEW', 'CUSTOM_OTHER']);
});

test('names that are no custom traits are all named, and nothing is done', async () => {
  const { activities, changes } = await stage({ traits: [] });
  await expect(activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_NEW', 'HW_CPU_X86_AVX', 'custom_small', 'CUSTOM_'], owned: [] })).rejects.toMatchObject({
    type: 'InvalidInput',
    message: expect.stringContaining('CUSTOM_, HW_CPU_X86_AVX, custom_small'),
  });
  expect(changes()).toEqual([]);
});

test('a provider that is not there is the host’s', async () => {
  const { activities } = await stage({ traits: [], change: () => ({ reply: placementRefusal(404, 'No resource provider with uuid p found') }) });
  await expect(activities.ensureTraits({ providerId: p, wanted: ['CUSTOM_NEW'], owned: [] })).rejects.toMatchObject({ type: 'HostNotFound' });
});

type Row = [what: string, current: string[], wanted: string[], owned: string[], traits: string[]];
const rows: Row[] = [
  ['nothing wanted, nothing owned', ['CUSTOM_A', 'HW_X'], [], [], ['CUSTOM_A', 'HW_X']],
  ['a trait of somebody else stays', ['CUSTOM_A'], ['CUSTOM_B'], ['CUSTOM_C'], ['CUSTOM_A', 'CUSTOM_B']],
  ['all of drover’s go', ['CUSTOM_A', 'CUSTOM_B', 'HW_X'], [], ['CUSTOM_A', 'CUSTOM_B'], ['HW_X']],
  ['a trait that is not custom is never taken away, whoever says that it is drover’s', ['HW_X', 'COMPUTE_STATUS_DISABLED'], [], ['HW_X', 'COMPUTE_STATUS_DISABLED'], ['COMPUTE_STATUS_DISABLED', 'HW_X']],
  ['wanted and owned stays', ['CUSTOM_A'], ['CUSTOM_A'], ['CUSTOM_A'], ['CUSTOM_A']],
  ['wanted twice is put there once', [], ['CUSTOM_A', 'CUSTOM_A'], [], ['CUSTOM_A']],
];
test.each(rows)('%s', (_, current, wanted, owned, traits) => {
  expect(judgeTraits(current, wanted, owned).traits).toEqual(traits);
});
