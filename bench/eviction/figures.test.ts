import { evictionSuite, figuresOfResults } from './figures.ts';
import type { Pair } from './overhead.ts';
import { middlePair } from './overhead.ts';

const machine = {
  recordedAt: '2026-01-31T12:00:00Z',
  cores: 2,
  cpu: 'a processor',
  memoryGiB: 8,
  load: 0.5,
  versions: { drover: '0.1.0' },
};
const side = { spanMs: 10_400, novaMs: 10_100, gapMs: 300, requests: 40 };
const events = { servers: 24, window: 4, parent: 200, child: 20 };
const pair = (ratio: number, spanMs = 10_400): Pair => ({
  window: 4,
  servers: 24,
  seconds: 10,
  machine,
  ratio,
  nominalMs: 10_000,
  first: 'drover',
  script: side,
  drover: { ...side, spanMs, beforeMs: 1_000, afterMs: 12_000, gapParts: null, events },
});

test('of several pairs the middle one is recorded, with every ratio', () => {
  expect(middlePair([pair(1.5, 3), pair(1.1, 1), pair(1.2, 2)])).toEqual({ ...pair(1.2, 2), ratios: [1.5, 1.1, 1.2] });
  expect(() => middlePair([])).toThrow('no pair');
});

test('results become figures that can be compared', () => {
  const figures = figuresOfResults({
    overhead: [{ ...pair(1.2), ratios: [1.1, 1.2, 1.4] }],
    history: [
      { ...events, machine },
      { ...events, window: 2, parent: 250, machine },
      { ...events, servers: 6, parent: 900, machine },
    ],
    latency: {
      machine,
      changes: 40,
      toSignalMs: { p50: 1, p99: 2 },
      toActivityMs: { p50: 3, p99: 4 },
      wholeMs: { p50: 5, p99: 6 },
    },
  });
  const values = Object.fromEntries(Object.entries(figures).map(([id, { value }]) => [id, value]));
  expect(values).toEqual({
    'eviction.ratio-4': 1.2,
    'eviction.gap-4': 300,
    'eviction.events': 250,
    'eviction.signal-p50': 1,
    'eviction.signal-p99': 2,
    'eviction.activity-p50': 5,
    'eviction.activity-p99': 6,
  });
  expect(figures['eviction.ratio-4']).toMatchObject({ min: 1.1, max: 1.4, samples: 3, load: 0.5 });
  const known = new Set(evictionSuite.figures.map(({ id }) => id));
  expect(Object.keys(values).filter((id) => !known.has(id))).toEqual([]);
});

test('results of before there were several pairs are read', () => {
  expect(figuresOfResults({ overhead: [pair(1.04)] })['eviction.ratio-4']).toMatchObject({ value: 1.04, samples: 1 });
});
