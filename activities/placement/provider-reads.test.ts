import { stubClient, testClock } from '../../test/fixtures/activities/nova.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { createProviderReads } from './provider-reads.ts';
import type { PlacementClient } from './types.ts';

const signal = new AbortController().signal;

/** A provider that the test changes, and the requests that were sent. */
function open() {
  const provider = { generation: 1, traits: ['CUSTOM_A'], consumers: ['a'], isGone: false };
  const asked: string[] = [];
  const answer = <Answer>(what: string, value: Answer): Answer => {
    asked.push(what);
    if (provider.isGone) throw droverFailure('HostNotFound', 'gone');
    return value;
  };
  const clock = testClock();
  const reads = createProviderReads(
    stubClient<PlacementClient>({
      allocationsWithGeneration: async () =>
        answer('allocations', {
          generation: provider.generation,
          allocations: Object.fromEntries(provider.consumers.map((id) => [id, { VCPU: 1 }])),
        }),
      traitsWithGeneration: async () =>
        answer('traits', { generation: provider.generation, traits: [...provider.traits] }),
    }),
    clock,
  );
  return { clock, provider, asked, observe: (serviceId: string | null = 's') => reads.observe('p', serviceId, signal) };
}

test('one request while nothing changes, and always who has something of it', async () => {
  const { provider, asked, observe } = open();
  expect(await observe()).toEqual({ generation: 1, traits: ['CUSTOM_A'], consumers: ['a'] });
  provider.consumers = [];
  expect(await observe()).toEqual({ generation: 1, traits: ['CUSTOM_A'], consumers: [] });
  expect(asked).toEqual(['allocations', 'traits', 'allocations']);
});

test('traits are read again when the provider has changed', async () => {
  const { provider, asked, observe } = open();
  await observe();
  Object.assign(provider, { generation: 2, traits: ['COMPUTE_STATUS_DISABLED', 'CUSTOM_A'] });
  expect(await observe()).toMatchObject({ generation: 2, traits: ['COMPUTE_STATUS_DISABLED', 'CUSTOM_A'] });
  expect(asked).toEqual(['allocations', 'traits', 'allocations', 'traits']);
});

test('a provider that was made again, and counts anew, is noticed in the end', async () => {
  const { clock, provider, observe } = open();
  await observe();
  provider.traits = [];
  await clock.sleep(10 * 60_000, signal);
  expect(await observe()).toMatchObject({ traits: [] });
});

test('a host that has registered anew may have a provider of the same id', async () => {
  const { provider, observe } = open();
  await observe('s');
  provider.traits = [];
  expect(await observe('new')).toMatchObject({ traits: [] });
  provider.traits = ['CUSTOM_C'];
  expect(await observe(null)).toMatchObject({ traits: ['CUSTOM_C'] });
});

test('a provider that is gone, and one that came back', async () => {
  const { provider, observe } = open();
  await observe();
  provider.isGone = true;
  expect(await observe()).toBeNull();
  Object.assign(provider, { isGone: false, traits: ['CUSTOM_B'] });
  expect(await observe()).toMatchObject({ traits: ['CUSTOM_B'] });
});
