import { mostSignalsWithin } from '../flows/read-signals.ts';

test.each([
  [[], 0],
  [[0], 1],
  [[0, 200, 400, 600, 800, 1_000], 5],
  [[0, 999, 1_000, 1_001, 1_998], 4],
])('%j: at most %d in a second', (times, most) => {
  expect(
    mostSignalsWithin(
      times.map((atMs) => ({ atMs })),
      1_000,
    ),
  ).toBe(most);
});
