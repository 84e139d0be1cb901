import type { EvidenceRecord, Run } from '../../test/evidence/record.ts';
import type { SuiteFigures } from './benchmark.ts';
import type { Measured, RecordedFigure } from './records.ts';
import { mergeRecord } from './records.ts';

const figure = (value: number): RecordedFigure => ({
  value,
  min: value,
  max: value,
  samples: 1,
  recordedAt: '2026-01-31T12:00:00Z',
  load: 0.5,
  versions: {},
});
const suite: SuiteFigures = {
  name: 'load',
  title: 'Some load',
  figures: ['one', 'two'].map((id) => ({ id, title: id, unit: '', better: 'lower', goal: null })),
};
const measured = (figures: Record<string, number>, more: Partial<Measured> = {}): Measured => ({
  figures: Object.fromEntries(Object.entries(figures).map(([id, value]) => [id, figure(value)])),
  failures: [],
  startedMs: Date.parse('2026-01-31T12:00:00Z'),
  ...more,
});
const make =
  (digest: string) =>
  (run: Run): EvidenceRecord => ({
    ...run,
    commit: '0123456789',
    changed: false,
    sources: { globs: ['bench/**'], digest: `sha256:${digest.repeat(64)}` },
    machine: { cores: 2, cpu: 'a processor', memoryGiB: 8 },
    startedAt: new Date(run.startedMs).toISOString(),
    endedAt: new Date(run.startedMs + 1_000).toISOString(),
    attempts: 1,
    failures: run.failures.map((failure) => ({ attempt: 1, passedLater: false, ...failure })),
  });
const values = ({ details }: EvidenceRecord): object =>
  Object.fromEntries(
    Object.entries(details['figures'] as Record<string, RecordedFigure>).map(([id, { value }]) => [id, value]),
  );

test('a part that is measured again replaces its own figures and no others; what was not measured is missing', () => {
  const first = mergeRecord(suite, measured({ one: 1 }), [], make('a'));
  expect(first).toMatchObject({ series: 'bench-load', counts: { figures: 1, missing: 1 }, attempts: 1 });
  const later = Date.parse('2026-02-01T12:00:00Z');
  const second = mergeRecord(suite, measured({ two: 2 }, { startedMs: later }), [first], make('a'));
  const third = mergeRecord(suite, measured({ one: 3 }, { startedMs: later }), [second], make('a'));
  expect(values(third)).toEqual({ one: 3, two: 2 });
  expect(third).toMatchObject({ startedAt: first.startedAt, counts: { figures: 2, missing: 0 }, attempts: 2 });
});

test('figures of other sources stay in a record of their own', () => {
  const first = mergeRecord(suite, measured({ one: 1 }), [], make('a'));
  const second = mergeRecord(suite, measured({ two: 2 }), [first], make('b'));
  expect(values(second)).toEqual({ two: 2 });
});

test('what could not be measured stays in the record', () => {
  const first = mergeRecord(suite, measured({}, { failures: ['two: no lab'] }), [], make('a'));
  expect(first.failures).toEqual([{ what: 'two: no lab', complaints: [], attempt: 1, passedLater: false }]);
  expect(mergeRecord(suite, measured({ one: 1 }), [first], make('a')).failures).toMatchObject([
    { what: 'two: no lab', passedLater: false },
  ]);
  expect(mergeRecord(suite, measured({ one: 1, two: 2 }), [first], make('a')).failures).toMatchObject([
    { what: 'two: no lab', passedLater: true },
  ]);
});
