import type { Figure, SuiteFigures } from './benchmark.ts';
import type { BenchRecord, RecordedFigure } from './records.ts';
import { renderMeasured, renderRecorded } from './table.ts';

const machine = { cores: 2, cpu: 'a processor', memoryGiB: 8 };
const latency: Figure = { id: 'latency', title: 'Latency', unit: 'ms', better: 'lower', goal: 100 };
const rate: Figure = { id: 'rate', title: 'Rate', unit: 'signals/s', better: 'higher', goal: null };
const suite: SuiteFigures = { name: 'some', title: 'Some', figures: [latency, rate] };
const measured = (value: number, min = value, max = value): RecordedFigure => ({
  value,
  min,
  max,
  samples: 3,
  recordedAt: '2026-01-31T12:00:00Z',
  load: 0.5,
  versions: {},
});
const record: BenchRecord = { machine, commit: 'abcd', changed: false, figures: { latency: measured(80) } };

test('a measurement stands beside its goal and the last record; what was not measured is left out', () => {
  const text = renderMeasured(suite, { latency: measured(120, 110, 130) }, [record], machine);
  expect(text.split('\n')[2]).toBe(
    '| Latency | 120 ms (110 to 130) | at most 100 ms | **missed** | 80 ms, abcd | × 1.50, worse | 0.5 |',
  );
  expect(text).not.toContain('Rate');
});

test('without a record there is nothing to compare with', () => {
  expect(renderMeasured(suite, { rate: measured(50) }, [], machine)).toContain(
    '| Rate | 50 signals/s |  |  | none |  | 0.5 |',
  );
});

test('another machine is named as one', () => {
  expect(renderMeasured(suite, { latency: measured(80) }, [record], { ...machine, cores: 8 })).toContain(
    '80 ms, abcd, on another machine',
  );
});

test('what is recorded, and what is not', () => {
  const text = renderRecorded(suite, [record], machine);
  expect(text).toContain('| Latency | 80 ms | at most 100 ms | met | 2026-01-31, abcd | 0.5 |');
  expect(text).toContain('| Rate | not measured |  |  |  |  |');
});
