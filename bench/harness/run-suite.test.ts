import type { Benchmark, Samples } from './benchmark.ts';
import type { RecordedFigure } from './records.ts';
import { runSuite } from './run-suite.ts';

const benchmark = (name: string, measure: () => Promise<Samples>): Benchmark<null> => ({
  name,
  title: name,
  minutes: 1,
  figures: [],
  measure,
});

test('what fails is named, and what was measured before and after is kept', async () => {
  const recorded: Record<string, RecordedFigure> = {};
  const suite = {
    name: 'some',
    title: 'Some',
    benchmarks: [
      benchmark('one', () => Promise.resolve({ a: [1, 2, 3] })),
      benchmark('two', () => Promise.reject(new Error('no server'))),
      benchmark('three', () => Promise.resolve({ b: [Number.NaN] })),
      benchmark('four', () => Promise.resolve({ c: [4] })),
      benchmark('five', () => Promise.resolve({ d: [5] })),
    ],
  };
  const failures = await runSuite(suite, null, {
    only: ['one', 'two', 'three', 'four'],
    report: () => undefined,
    take: (figures) => void Object.assign(recorded, figures),
    signal: new AbortController().signal,
  });
  expect(failures).toEqual(['two: no server', 'three: nothing was measured: [null]']);
  expect(Object.keys(recorded)).toEqual(['a', 'c']);
  expect(recorded['a']).toMatchObject({ value: 2, min: 1, max: 3, samples: 3 });
});

test('an interrupted suite ends, and reports no failure of what was interrupted', async () => {
  const controller = new AbortController();
  const interrupted = benchmark('one', () => {
    controller.abort(new Error('interrupted'));
    return Promise.reject(new Error('cut off'));
  });
  const run = runSuite({ name: 'some', title: 'Some', benchmarks: [interrupted] }, null, {
    only: ['one'],
    report: () => undefined,
    take: () => undefined,
    signal: controller.signal,
  });
  await expect(run).rejects.toThrow('interrupted');
});
