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

test('words of very different lengths are not compared', () => {
  const known = {
    length: 'perSource'.length,
    toLowerCase: (): string => {
      throw new Error('it was compared letter by letter');
    },
  } as unknown as string;
  expect(nearest('a'.repeat(1_000_000), [known])).toBeNull();
  expect(() => nearest('perSorce', [known])).toThrow('letter by letter');
});
