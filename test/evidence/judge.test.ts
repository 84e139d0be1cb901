import type { JudgedSeries, Judgement, Now } from './judge.ts';
import { judge, listNotFresh, sampleOf } from './judge.ts';
import type { EvidenceRecord } from './record.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const record = (more: Partial<EvidenceRecord> = {}): EvidenceRecord => ({
  series: 'chaos',
  title: '30 minutes',
  commit: '0123456789',
  changed: false,
  sources: { globs: ['workflows/**'], digest: digest('a') },
  seed: 7,
  command: 'npm run chaos -- --seed 7',
  machine: { cores: 2, cpu: 'a processor', memoryGiB: 8 },
  startedAt: '2026-01-31T12:00:00Z',
  endedAt: '2026-01-31T12:30:00Z',
  attempts: 1,
  counts: { faults: 5, failed: 0 },
  failures: [],
  details: {},
  ...more,
});
const now: Now = { globs: ['workflows/**'], digest: digest('a'), countChanged: () => 3, countBeyond: () => 0 };
const narrowed: Now = { ...now, globs: ['workflows/eviction/**'], digest: digest('b'), countChanged: () => 0 };
const failure = { what: 'chaos', complaints: ['invariant 4'], attempt: 1, passedLater: false };
const failed = record({ counts: { failed: 1 }, failures: [failure] });

test.each<[what: string, records: EvidenceRecord[], now: Now, state: Judgement['state'], why: string]>([
  ['no record', [], now, 'none', 'there is no record'],
  ['the same sources', [record()], now, 'fresh', 'the record of 2026-01-31 (0123456789): 5 faults, 0 failed'],
  [
    'other sources',
    [record({ sources: { globs: ['workflows/**'], digest: digest('b') } })],
    now,
    'stale',
    '3 files of its sources changed since',
  ],
  [
    'other sources, of a commit that is not here',
    [record({ sources: { globs: ['workflows/**'], digest: digest('b') } })],
    { ...now, countChanged: () => null },
    'stale',
    'its sources have changed since',
  ],
  [
    'unknown sources',
    [record({ commit: 'unknown', recordedIn: 'abcdef0123', sources: { globs: ['workflows/**'], digest: 'unknown' } })],
    now,
    'stale',
    '(in abcdef0123): it does not say which sources it is of; 3 files',
  ],
  [
    'other paths',
    [record()],
    { ...now, globs: ['workflows/**', 'contracts/**'] },
    'stale',
    'it is about other paths; 3 files',
  ],
  ['fewer paths, which are as in its commit', [record()], narrowed, 'fresh', '5 faults'],
  ['fewer paths, and a failure', [failed], narrowed, 'failed', '--seed 7'],
  ['fewer paths, some of which changed', [record()], { ...narrowed, countChanged: () => 1 }, 'stale', '1 file of'],
  [
    'fewer paths, of a commit that is not here',
    [record()],
    { ...narrowed, countChanged: () => null },
    'stale',
    'other',
  ],
  ['paths that it was not made of', [record()], { ...narrowed, countBeyond: () => 1 }, 'stale', 'it is about other'],
  ['fewer paths, changed when it was made', [record({ changed: true })], narrowed, 'stale', 'it is about other paths'],
  [
    'fewer paths, and it changed while it was made',
    [record({ sources: { globs: ['workflows/**'], digest: 'unknown' } })],
    narrowed,
    'stale',
    'it does not say which',
  ],
  [
    'a newer record of other sources',
    [record(), record({ sources: { globs: ['workflows/**'], digest: digest('b') } })],
    now,
    'stale',
    '3 files',
  ],
  ['a failure', [failed], now, 'failed', 'npm run chaos -- --seed 7: 1 failed'],
  [
    'a failure that a later run of the same command does not have',
    [failed, record({ attempts: 2 })],
    now,
    'fresh',
    '5 faults',
  ],
  [
    'a failure, and another seed that passes',
    [failed, record({ command: 'npm run chaos -- --seed 8', seed: 8 })],
    now,
    'failed',
    '--seed 7',
  ],
  [
    'a failure of older sources',
    [record({ ...failed, sources: { globs: ['workflows/**'], digest: digest('b') } }), record()],
    now,
    'fresh',
    '5 faults',
  ],
  [
    'a failure that passed later in the same run',
    [record({ failures: [{ ...failure, passedLater: true }] })],
    now,
    'fresh',
    '5 faults',
  ],
  ['missing cells', [record({ counts: { passed: 3, failed: 0, missing: 2 } })], now, 'incomplete', '2 missing'],
  ['an event that never happened', [record({ counts: { missingKinds: 1 } })], now, 'incomplete', '1 missingKinds'],
])('%s', (_, records, at, state, why) => {
  expect(judge(records, at)).toEqual({ state, why: expect.stringContaining(why) });
});

test.each<[counts: EvidenceRecord['counts'], sample: string | null]>([
  [{ passed: 73, failed: 0, missing: 0, notSampled: 655 }, 'a sample: 73 of 728 cells'],
  [{ passed: 728, failed: 0, missing: 0, notSampled: 0 }, null],
  [{ passed: 728, failed: 0, missing: 0 }, null],
  [{ passed: 70, failed: 2, missing: 1, notSampled: 27 }, 'a sample: 72 of 100 cells'],
])('%o: of how much', (counts, sample) => expect(sampleOf(counts)).toBe(sample));

test('a record of a sample is fresh, and says of how much it is', () => {
  const { state, why, sample } = judge([record({ counts: { passed: 73, notSampled: 655 } })], now);
  expect({ state, why, sample }).toEqual({
    state: 'fresh',
    why: 'the record of 2026-01-31 (0123456789): 73 passed, 655 notSampled',
    sample: 'a sample: 73 of 728 cells',
  });
});

test('what is not fresh is due, but for what is exempt, which says why and how old it is', () => {
  const series = (name: string, more: Partial<JudgedSeries>): { name: string } & JudgedSeries => ({
    name,
    state: 'stale',
    why: 'its sources have changed since',
    command: `npm run ${name}`,
    exempt: null,
    startedAt: '2026-01-31T12:00:00Z',
    ...more,
  });
  const judged = [
    series('chaos', {}),
    series('matrix', { state: 'fresh' }),
    series('simulation', { state: 'none', why: 'there is no record', startedAt: null }),
    series('bench', { exempt: 'it is measured apart' }),
  ];
  expect(listNotFresh(judged, Date.parse('2026-02-10T13:00:00Z'))).toEqual({
    due: [
      'evidence chaos is stale; 10 days old; its sources have changed since',
      'evidence simulation is none; there is no record',
    ],
    exempt: [
      'evidence bench is stale; 10 days old; its sources have changed since; exempt, as it is measured apart: npm run bench',
    ],
  });
});
