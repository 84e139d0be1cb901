import type { EvidenceRecord } from '../evidence/record.ts';
import { readSeconds } from './longest-first.ts';
import { type EndedStage, recordOf, stagesToKeep } from './whole.ts';

const stage = (title: string, more: Partial<EndedStage> = {}): EndedStage => ({
  rung: 'flows',
  title,
  endedAt: '2026-11-27T01:30:00.000Z',
  seed: 7,
  seconds: 60,
  passed: 3,
  failed: [],
  skipped: [],
  retried: [],
  took: [{ what: 'lab', path: 'test/flows/lab.test.ts', seconds: 30, passed: 3, failed: 0 }],
  ...more,
});
const soFar = (stages: readonly EndedStage[], isOver = false): Parameters<typeof recordOf>[0] => ({
  stages,
  passed: 3 * stages.length,
  skipped: 0,
  failures: stages.flatMap(({ failed }) => failed),
  isOver,
});
const recordWith = (digest: string, stages: readonly EndedStage[], isOver = false): EvidenceRecord =>
  ({
    ...recordOf(soFar(stages, isOver), isOver ? stages.length : 3),
    sources: { globs: ['**'], digest },
  }) as unknown as EvidenceRecord;

test('a ladder is complete when each of its stages has ended, and evidence has been judged', () => {
  const missing = (stages: readonly EndedStage[], isOver: boolean): number | undefined =>
    recordOf(soFar(stages, isOver), 2).counts['missing'];
  expect(missing([stage('unit tests')], false)).toBe(2);
  expect(missing([stage('unit tests'), stage('flows')], false)).toBe(1);
  expect(missing([stage('unit tests'), stage('flows')], true)).toBe(0);
});

test('stages of these very sources are kept as they were, those that failed too', () => {
  const stages = [stage('unit tests'), stage('flows', { failed: ['an eviction is cancelled'] })];
  const records = [recordWith('sha256:a', [stage('lint', { rung: 'checks' }), ...stages])];
  expect(stagesToKeep(records, 'sha256:a')).toEqual(stages);
});

test('a run that was interrupted soon does not hide what an earlier one has of these sources', () => {
  const [first, again] = [stage('unit tests'), stage('unit tests', { failed: ['a queue keeps order'] })];
  const records = [recordWith('sha256:a', [first]), recordWith('sha256:b', [stage('flows')])];
  expect(stagesToKeep([...records, recordWith('sha256:a', [])], 'sha256:a')).toEqual([first]);
  expect(stagesToKeep([...records, recordWith('sha256:a', [again])], 'sha256:a')).toEqual([again]);
});

test.each([
  ['of other sources', [recordWith('sha256:a', [stage('flows')])], 'sha256:b'],
  ['of sources that changed meanwhile', [recordWith('unknown', [stage('flows')])], 'unknown'],
  ['of a ladder that was complete', [recordWith('sha256:a', [stage('flows')], true)], 'sha256:a'],
  ['of flows that found no lab', [recordWith('sha256:a', [stage('flows', { took: [] })])], 'sha256:a'],
  ['without a record', [], 'sha256:a'],
])('nothing is kept %s', (_, records, digest) => {
  expect(stagesToKeep(records, digest)).toEqual([]);
});

test('files that took a second or more are kept with a stage, by their path below the checkout', () => {
  const file = { what: 'lab', passed: 1, failed: 0 };
  const took = [
    { ...file, path: `${process.cwd()}/test/flows/lab.test.ts`, seconds: 2 },
    { ...file, path: `${process.cwd()}/test/flows/crds.test.ts`, seconds: 0.5 },
  ];
  const record = recordOf(soFar([stage('flows', { took })]), 3);
  expect(record.details).toMatchObject({ stages: [{ took: [{ path: 'test/flows/lab.test.ts' }] }] });
});

test('what a record says of the files decides their order in the next run', () => {
  const file = { what: 'lab', path: 'test/flows/lab.test.ts', passed: 1, failed: 0 };
  const stages = [
    stage('flows on the real counterparts', { took: [{ ...file, seconds: 90 }] }),
    stage('simulator: flows', { took: [{ ...file, seconds: 2 }] }),
  ];
  expect(readSeconds(recordWith('sha256:a', stages))).toEqual(new Map([['lab', 90]]));
});
