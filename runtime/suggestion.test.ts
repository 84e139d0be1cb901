import { nearest } from './suggestion.ts';

const words: [word: string, suggestion: string | null][] = [
  ['perSorce', 'perSource'],
  ['persource', 'perSource'],
  ['perTargets', 'perTarget'],
  ['pol', 'poll'],
  ['parallelism', null],
  ['', null],
];

test.each(words)('%j is near to %j', (word, suggestion) => {
  expect(nearest(word, ['perSource', 'perTarget', 'poll'])).toBe(suggestion);
});

test('a word without end is near to none, and that is known at once', () => {
  const before = process.cpuUsage();
  expect(nearest('a'.repeat(1_000_000), ['perSource'])).toBeNull();
  expect(process.cpuUsage(before).user).toBeLessThan(100_000);
});
