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
