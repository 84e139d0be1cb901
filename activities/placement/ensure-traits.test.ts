import {
  openActivitiesOnFake,
  type ActivitiesOnFake,
  type ActivitiesOnFakeOptions,
} from '../../test/fakes/openstack/activities.ts';
import { computeTraits } from '../../test/fakes/openstack/seed-model.ts';
import { judgeTraits } from './ensure-traits.ts';

const write = 'PUT /resource_providers/{id}/traits';

interface Fixture extends ActivitiesOnFake {
  providerId: string;
  /** Sorted, without those of the hardware. */
  traits: () => string[];
  generation: () => number;
}

/** The provider of node-1, with those traits. */
function open({
  traits = [],
  known = [],
  ...options
}: { traits?: string[]; known?: string[] } & ActivitiesOnFakeOptions = {}): Fixture {
  const opened = openActivitiesOnFake(options);
  const { placement } = opened.fake.model;
  const provider = [...placement.providers.values()].find(({ name }) => name === 'node-1.lab.drover.dev');
  if (provider === undefined) throw new Error('node-1 has no provider');
  for (const trait of [...traits, ...known]) placement.traits.add(trait);
  provider.traits = new Set([...provider.traits, ...traits]);
  return {
    ...opened,
    providerId: provider.uuid,
    traits: () => [...provider.traits].filter((trait) => !computeTraits.includes(trait)).toSorted(),
    generation: () => provider.generation,
  };
}

/** Another client of Placement gives the provider one more trait. */
async function addTrait({ admin }: ActivitiesOnFake['fake'], providerId: string, trait: string): Promise<void> {
  const path = `/resource_providers/${providerId}/traits`;
  const { traits, ...rest } = await admin.placement<{ traits: string[] }>('GET', path);
  await admin.placement('PUT', `/traits/${trait}`);
  await admin.placement('PUT', path, { body: { ...rest, traits: [...traits, trait] } });
}

test('adds what is wanted, makes what does not exist, takes away what was drover’s, and leaves the rest', async () => {
  const { activities, audited, changes, providerId, run, traits } = open({
    traits: ['CUSTOM_THEIRS', 'CUSTOM_OLD'],
    known: ['CUSTOM_KNOWN'],
  });
  const result = await run(() =>
    activities.ensureTraits({ providerId, wanted: ['CUSTOM_NEW', 'CUSTOM_KNOWN'], owned: ['CUSTOM_OLD'] }),
  );
  expect(traits()).toEqual(['CUSTOM_KNOWN', 'CUSTOM_NEW', 'CUSTOM_THEIRS']);
  expect(result).toEqual([...computeTraits, ...traits()].toSorted());
  expect(changes('placement')).toEqual(['PUT /traits/CUSTOM_NEW', `PUT /resource_providers/${providerId}/traits`]);
  expect(audited).toMatchObject([
    { action: 'createTrait', object: 'trait/CUSTOM_NEW' },
    {
      action: 'ensureTraits',
      object: `resource-provider/${providerId}`,
      after: { added: ['CUSTOM_KNOWN', 'CUSTOM_NEW'], removed: ['CUSTOM_OLD'] },
      requestId: expect.stringMatching(/^req-/u),
    },
  ]);
});

test('what is as wanted costs no change', async () => {
  const { activities, changes, providerId, run } = open({ traits: ['CUSTOM_A'] });
  await run(() => activities.ensureTraits({ providerId, wanted: ['CUSTOM_A'], owned: ['CUSTOM_GONE'] }));
  expect(changes('placement')).toEqual([]);
});

test('a write that another one overtook reads again, and keeps what the other has written', async () => {
  let writes = 0;
  const { activities, changes, providerId, run, traits } = open({
    traits: ['CUSTOM_OLD'],
    onCall: ({ verb }, fake) => {
      if (verb === write && (writes += 1) === 1) void addTrait(fake, providerId, 'CUSTOM_THEIRS');
      return 'works';
    },
  });
  await run(() => activities.ensureTraits({ providerId, wanted: ['CUSTOM_NEW'], owned: ['CUSTOM_OLD'] }));
  expect(traits()).toEqual(['CUSTOM_NEW', 'CUSTOM_THEIRS']);
  expect(changes('placement').filter((change) => change.includes('resource_providers'))).toHaveLength(2);
});

test('one that is overtaken again and again leaves it to a later attempt', async () => {
  let writes = 0;
  const { activities, changes, providerId, run } = open({
    known: ['CUSTOM_NEW'],
    onCall: ({ verb }, fake) => {
      if (verb === write) void addTrait(fake, providerId, `CUSTOM_THEIRS_${(writes += 1)}`);
      return 'works';
    },
  });
  await run(() =>
    expect(activities.ensureTraits({ providerId, wanted: ['CUSTOM_NEW'], owned: [] })).rejects.toMatchObject({
      type: 'ProviderConflict',
      nonRetryable: false,
    }),
  );
  expect(changes('placement')).toHaveLength(5);
});

test('a lost answer converges', async () => {
  let writes = 0;
  const { activities, generation, providerId, run, traits } = open({
    known: ['CUSTOM_NEW'],
    onCall: ({ verb }) => (verb === write && (writes += 1) === 1 ? 'failAfter' : 'works'),
  });
  const before = generation();
  const request = { providerId, wanted: ['CUSTOM_NEW'], owned: [] };
  await run(() => expect(activities.ensureTraits(request)).rejects.toMatchObject({ type: 'PlacementUnavailable' }));
  await run(() => activities.ensureTraits(request));
  expect(traits()).toEqual(['CUSTOM_NEW']);
  expect(generation()).toBe(before + 1);
});

test('two at once both end with both wishes', async () => {
  const { activities, providerId, run, traits } = open();
  await run(() =>
    Promise.all(
      ['CUSTOM_NEW', 'CUSTOM_OTHER'].map((trait) =>
        activities.ensureTraits({ providerId, wanted: [trait], owned: [] }),
      ),
    ),
  );
  expect(traits()).toEqual(['CUSTOM_NEW', 'CUSTOM_OTHER']);
});

test('names that are no custom traits are all named, and nothing is done', async () => {
  const { activities, changes, providerId, run } = open();
  const wanted = ['CUSTOM_NEW', 'HW_CPU_X86_AVX', 'custom_small', 'CUSTOM_'];
  await run(() =>
    expect(activities.ensureTraits({ providerId, wanted, owned: [] })).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('CUSTOM_, HW_CPU_X86_AVX, custom_small'),
    }),
  );
  expect(changes('placement')).toEqual([]);
});

test('a provider that goes before the write is the host’s', async () => {
  const { activities, providerId, run } = open({
    onCall: ({ verb }, fake) => {
      if (verb === write) fake.model.placement.providers.delete(providerId);
      return 'works';
    },
  });
  await run(() =>
    expect(activities.ensureTraits({ providerId, wanted: ['CUSTOM_NEW'], owned: [] })).rejects.toMatchObject({
      type: 'HostNotFound',
    }),
  );
});

type Row = [what: string, current: string[], wanted: string[], owned: string[], traits: string[]];
const rows: Row[] = [
  ['nothing wanted, nothing owned', ['CUSTOM_A', 'HW_X'], [], [], ['CUSTOM_A', 'HW_X']],
  ['a trait of another user stays', ['CUSTOM_A'], ['CUSTOM_B'], ['CUSTOM_C'], ['CUSTOM_A', 'CUSTOM_B']],
  ['all of drover’s go', ['CUSTOM_A', 'CUSTOM_B', 'HW_X'], [], ['CUSTOM_A', 'CUSTOM_B'], ['HW_X']],
  [
    'a trait that is not custom is never taken away, though it is called drover’s',
    ['HW_X', 'COMPUTE_STATUS_DISABLED'],
    [],
    ['HW_X', 'COMPUTE_STATUS_DISABLED'],
    ['COMPUTE_STATUS_DISABLED', 'HW_X'],
  ],
  ['wanted and owned stays', ['CUSTOM_A'], ['CUSTOM_A'], ['CUSTOM_A'], ['CUSTOM_A']],
  ['wanted twice is put there once', [], ['CUSTOM_A', 'CUSTOM_A'], [], ['CUSTOM_A']],
];
test.each(rows)('%s', (_, current, wanted, owned, traits) => {
  expect(judgeTraits(current, wanted, owned).traits).toEqual(traits);
});
