import type { Pair } from './overhead.ts';
import { mergeResults, renderMarkdown } from './results.ts';

const machine = {
  recordedAt: '2026-01-31T12:00:00Z',
  cores: 2,
  cpu: 'a processor',
  memoryGiB: 8,
  load: 0.5,
  versions: { drover: '0.1.0' },
};
const side = { spanMs: 10_400, novaMs: 10_100, gapMs: 300, requests: 40 };
const pair = (window: number, ratio: number): Pair => ({
  window,
  servers: 24,
  seconds: 10,
  machine,
  ratio,
  nominalMs: 10_000,
  first: 'drover',
  script: side,
  drover: {
    ...side,
    beforeMs: 1_000,
    afterMs: 12_000,
    gapParts: null,
    events: { servers: 24, window, parent: 200, child: 20 },
  },
});

test('a part that is measured again replaces its own figures and no others', () => {
  const recorded = mergeResults(
    { overhead: [pair(4, 1.2), pair(1, 1.1)] },
    {
      start: {
        machine,
        firstMoveSeconds: 30,
        wholeSeconds: 60,
        worker: { residentMiB: 300, peakMiB: 500 },
        bridge: { residentMiB: 100, peakMiB: 200 },
      },
    },
  );
  const merged = mergeResults(recorded, { overhead: [pair(4, 1.01)] });
  expect(merged.overhead?.map(({ window, ratio }) => [window, ratio])).toEqual([
    [1, 1.1],
    [4, 1.01],
  ]);
  expect(merged.start?.firstMoveSeconds).toBe(30);
});

test('the JSON key `ratio` means figure 1 only', () => {
  const all = mergeResults(
    { overhead: [pair(1, 1)], history: [{ ...pair(1, 1).drover.events, machine }] },
    {
      start: {
        machine,
        firstMoveSeconds: 30,
        wholeSeconds: 60,
        worker: { residentMiB: 300, peakMiB: 500 },
        bridge: { residentMiB: 100, peakMiB: 200 },
      },
      latency: {
        machine,
        changes: 40,
        toSignalMs: { p50: 1, p99: 2 },
        toActivityMs: { p50: 1, p99: 2 },
        wholeMs: { p50: 1, p99: 2 },
      },
    },
  );
  expect(JSON.stringify(all).match(/"ratio"/gu)).toHaveLength(1);
});

test('the printed table has a row for each window', () => {
  const text = renderMarkdown({ overhead: [pair(1, 1.04), pair(2, 1.02)] });
  expect(text).toContain(
    '| 1 | 24 × 10 s | 10.4 | 10.4 | 1.040 | 10.0 | 1.0 | 12.0 | 10.10, 10.10 | 300, 300 | 40, 40 | 0.5 |',
  );
  expect(text).toContain('2 × a processor, 8 GiB; drover 0.1.0');
  expect(renderMarkdown({})).toBe('\n');
});
