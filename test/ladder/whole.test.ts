import type { EvidenceRecord } from '../evidence/record.ts';
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
  took: [],
  ...more,
});
const soFar = (stages: readonly EndedStage[], isOver = false): Parameters<typeof recordOf>[0] => ({
  stages,
  passed: 3 * stages.length,
  skipped: 0,
  failures: stages.flatMap(({ failed }) => failed),
  isOver,
});
const recordWith = (digest: string, stages: readonly EndedStage[]): EvidenceRecord =>
  ({ ...recordOf(soFar(stages), 3), sources: { globs: ['**'], digest } }) as unknown as EvidenceRecord;

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

test('of other sources nothing is kept, even if an earlier record was of these', () => {
  const records = [recordWith('sha256:a', [stage('unit tests')]), recordWith('sha256:b', [stage('flows')])];
  expect(stagesToKeep(records, 'sha256:c')).toEqual([]);
  expect(stagesToKeep(records, 'sha256:a')).toEqual([]);
  expect(stagesToKeep([], 'sha256:a')).toEqual([]);
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
