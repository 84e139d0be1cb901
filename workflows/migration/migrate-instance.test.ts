import { readMigrateInput } from './migrate-instance.ts';

const input = {
  instance: { id: 'a', name: 'vm-1' },
  sourceHost: 'node-1',
  eviction: { name: 'node-1', uid: 'u' },
  consent: [],
  accepted: false,
  settings: { region: 'RegionOne', maxAttempts: 3, stuck: {}, poll: {} },
};

test('what the parent gives is taken as it is', () => expect(readMigrateInput(input)).toBe(input));

test.each<[given: unknown, words: string]>([
  [undefined, 'no instance.id'],
  [null, 'no instance.id'],
  ['vm-1', 'no instance.id'],
  [{ ...input, instance: { id: 7, name: 'vm-1' } }, 'no instance.id'],
  [{ ...input, sourceHost: null }, 'no sourceHost'],
  [{ ...input, consent: null }, 'no consent'],
  [{ ...input, settings: { ...input.settings, region: undefined } }, 'no settings.region'],
])('%j is refused, with what to start instead', (given, words) => {
  expect(() => readMigrateInput(given)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', message: expect.stringContaining(words) }),
  );
  expect(() => readMigrateInput(given)).toThrow(/start that one/u);
});
