import { figuresOf } from '../harness/benchmark.ts';
import { quickCounts, usualCounts } from './figures.ts';
import { clonesSuite } from './main.ts';

const ids = (counts: readonly number[]): string[] => figuresOf(clonesSuite(counts)).figures.map(({ id }) => id);

test('each figure has an id of its own, with the driver and the number of clones that it is about', () => {
  const usual = ids(usualCounts);
  expect(new Set(usual).size).toBe(usual.length);
  expect(usual).toEqual(
    expect.arrayContaining(['clones-directories-20.slow-ratio', 'clones-rbd-100.p99', 'clones-rbd-1.all']),
  );
  expect(usual.filter((id) => id.endsWith('.ratio'))).toEqual(['clones-directories-20.ratio', 'clones-rbd-20.ratio']);
});

test('with other numbers the script makes as many as the most', () => {
  expect(ids(quickCounts).filter((id) => id.endsWith('.script'))).toEqual([
    'clones-directories-4.script',
    'clones-rbd-4.script',
  ]);
});
