import type { Figure } from './benchmark.ts';
import { compareFigure, findLast, meetsGoal } from './compare.ts';
import type { BenchRecord } from './records.ts';
import type { Spread } from './spread.ts';

const lower: Figure = { id: 'one', title: 'One', unit: 'ms', better: 'lower', goal: 100 };
const higher: Figure = { ...lower, better: 'higher' };
const spread = (value: number, min = value, max = value): Spread => ({ value, min, max, samples: 3 });

test.each([
  [lower, 100, true],
  [lower, 101, false],
  [higher, 100, true],
  [higher, 99, false],
  [{ ...lower, goal: null }, 1, null],
])('goal: %j with %d', (figure, value, met) => {
  expect(meetsGoal(figure, spread(value))).toBe(met);
});

test.each([
  ['less is better', lower, spread(80), spread(100), 'better'],
  ['more is worse', lower, spread(120), spread(100), 'worse'],
  ['more is better', higher, spread(120), spread(100), 'better'],
  ['less is worse', higher, spread(80), spread(100), 'worse'],
  ['within a twentieth', lower, spread(104), spread(100), 'same'],
  ['within what was before', lower, spread(120), spread(100, 90, 130), 'same'],
  ['what was before is within', lower, spread(120, 95, 130), spread(100), 'same'],
])('%s', (_what, figure, now, before, verdict) => {
  expect(compareFigure(figure, now, before)?.verdict).toBe(verdict);
});

test('nothing is divided by nothing', () => {
  expect(compareFigure(lower, spread(1), spread(0))).toBeNull();
});

describe('the last record', () => {
  const machine = { cores: 2, cpu: 'a processor', memoryGiB: 8 };
  const record = (commit: string, value: number, day: number, cores = 2, changed = false): BenchRecord => ({
    machine: { ...machine, cores },
    commit,
    changed,
    figures: { one: { ...spread(value), recordedAt: `2026-01-0${day}T00:00:00Z`, load: 0, versions: {} } },
  });

  test('is the newest of a machine like this', () => {
    const records = [record('b', 2, 2), record('c', 3, 3, 2, true), record('a', 1, 1), record('d', 4, 4, 8)];
    expect(findLast(records, 'one', machine)).toMatchObject({ value: 3, commit: 'c and changes', alike: true });
  });

  test('is another machine’s where there is no other, and says so', () => {
    expect(findLast([record('d', 4, 4, 8), record('e', 5, 5, 8)], 'one', machine)).toMatchObject({
      value: 5,
      commit: 'e',
      alike: false,
    });
  });

  test('may be none', () => {
    expect(findLast([record('a', 1, 1)], 'two', machine)).toBeNull();
  });
});
