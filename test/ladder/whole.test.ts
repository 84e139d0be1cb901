import type { EvidenceRecord } from '../evidence/record.ts';
import { readSeconds } from './longest-first.ts';
import { type EndedStage, filesToKeep, type IsOf, recordOf, stagesToKeep, withKept } from './whole.ts';

const lab = {
  what: 'lab',
  path: 'test/flows/lab.test.ts',
  seconds: 30,
  passed: 3,
  failed: 0,
  skipped: [],
  retried: [],
};
const crds = { ...lab, what: 'crds', path: 'test/flows/crds.test.ts', seconds: 20, passed: 2 };
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
  took: [lab],
  ...more,
});
const soFar = (stages: readonly EndedStage[], isOver = false): Parameters<typeof recordOf>[0] => ({
  stages,
  underWay: null,
  passed: 3 * stages.length,
  skipped: 0,
  failures: stages.flatMap(({ failed }) => failed),
  isOver,
});
/** @param sources stands for the commit, and for the globs whose files are what they were in it */
const recordWith = (sources: string, stages: readonly EndedStage[], isOver = false): EvidenceRecord =>
  ({
    ...recordOf(soFar(stages, isOver), isOver ? stages.length : 3),
    sources: { globs: ['**'], digest: sources },
  }) as unknown as EvidenceRecord;
const isOf: IsOf = ({ sources }, globs) => globs.some((glob) => sources.digest.includes(glob));

test('a ladder is complete when each of its stages has ended, and evidence has been judged', () => {
  const missing = (stages: readonly EndedStage[], isOver: boolean): number | undefined =>
    recordOf(soFar(stages, isOver), 2).counts['missing'];
  expect(missing([stage('unit tests')], false)).toBe(2);
  expect(missing([stage('unit tests'), stage('flows')], false)).toBe(1);
  expect(missing([stage('unit tests'), stage('flows')], true)).toBe(0);
});

const wanted = (title: string, ...sources: string[]) => ({
  rung: 'unit' as const,
  title,
  sources: sources.map((glob) => [glob]),
});

test('a stage whose sources are what they were is kept as it was, one that failed too; checks are not', () => {
  const stages = [stage('unit tests'), stage('chaos', { failed: ['invariant 4'] })];
  const records = [recordWith('units chaos', [stage('lint'), ...stages])];
  const checks = { ...wanted('lint', 'units'), rung: 'checks' as const };
  expect(stagesToKeep(records, [checks, wanted('unit tests', 'units'), wanted('chaos', 'chaos')], isOf)).toEqual(
    stages,
  );
});

test('a stage is not kept where any of its sources is another, or where no record has it', () => {
  const records = [recordWith('units', [stage('unit tests'), stage('chaos')])];
  expect(stagesToKeep(records, [wanted('chaos', 'chaos', 'units'), wanted('matrix', 'units')], isOf)).toEqual([]);
  expect(stagesToKeep([], [wanted('unit tests', 'units')], isOf)).toEqual([]);
});

test('of these sources the last run of a stage counts, whatever was interrupted after it', () => {
  const [first, again] = [stage('unit tests'), stage('unit tests', { failed: ['a queue keeps order'] })];
  const records = [recordWith('units', [first]), recordWith('others', [again]), recordWith('units', [])];
  const units = [wanted('unit tests', 'units')];
  expect(stagesToKeep(records, units, isOf)).toEqual([first]);
  expect(stagesToKeep([...records, recordWith('units', [again])], units, isOf)).toEqual([again]);
});

describe('files of the flows', () => {
  const flows = { title: 'flows', files: [lab.path, crds.path] };
  const keep = (records: readonly EvidenceRecord[]): EndedStage | null =>
    filesToKeep(records, flows, { globsOf: (file) => [file], isOf });

  test('a file that was mended is run again, and the others are not', () => {
    const failed = { ...lab, passed: 2, failed: 1 };
    const ended = stage('flows', { passed: 4, failed: ['the lab stops'], took: [failed, crds] });
    expect(keep([recordWith(crds.path, [ended])])).toMatchObject({ passed: 2, failed: [], took: [crds] });
    const both = keep([recordWith(`${lab.path} ${crds.path}`, [ended])]);
    expect(both).toMatchObject({ passed: 4, failed: ['test/flows/lab.test.ts: 1 failed'], took: [failed, crds] });
  });

  test('of flows that were interrupted those that had ended are kept, and the stage is missing', () => {
    const underWay = stage('flows', { passed: 2, took: [crds] });
    const part = recordOf({ ...soFar([]), underWay }, 2);
    expect(part.counts['missing']).toBe(3);
    const record = { ...part, sources: { globs: ['**'], digest: crds.path } } as unknown as EvidenceRecord;
    expect(keep([record])).toMatchObject({ passed: 2, took: [crds] });
  });

  test('each is as the last run of it was', () => {
    const later = stage('flows', { endedAt: '2026-11-27T02:30:00.000Z', took: [{ ...lab, passed: 9 }] });
    const records = [recordWith(crds.path, [stage('flows', { took: [lab, crds] })]), recordWith(lab.path, [later])];
    expect(keep(records)).toMatchObject({ endedAt: later.endedAt, passed: 11, took: [{ passed: 9 }, crds] });
  });

  test('what was retried is counted with its file; where a record does not say which, it is counted', () => {
    const retried = ['the lab stops'];
    const told = stage('flows', { retried, took: [{ ...lab, retried }, crds] });
    expect(keep([recordWith(crds.path, [told])])?.retried).toEqual([]);
    expect(keep([recordWith(lab.path, [told])])?.retried).toEqual(retried);
    expect(keep([recordWith(crds.path, [stage('flows', { retried, took: [lab, crds] })])])?.retried).toEqual(retried);
  });

  test('what was skipped is told of the files that are kept', () => {
    const skipped = ['Ceph a'];
    const told = stage('flows', { skipped, took: [{ ...lab, skipped }, crds] });
    expect(keep([recordWith(crds.path, [told])])?.skipped).toEqual([]);
    expect(keep([recordWith(lab.path, [told])])).toMatchObject({ skipped, took: [{ skipped }] });
    expect(keep([recordWith(crds.path, [stage('flows', { skipped, took: [lab, crds] })])])?.skipped).toEqual(skipped);
  });

  test('flows that found no lab, or are of other sources, have shown nothing', () => {
    expect(keep([recordWith(lab.path, [stage('flows', { took: [] })])])).toBeNull();
    expect(keep([recordWith('others', [stage('flows')])])).toBeNull();
  });

  test('what was run now is added to what was kept', () => {
    const kept = stage('flows', { failed: ['a'], retried: ['b'], took: [crds] });
    const now = stage('flows', { failed: ['c'], skipped: ['d'], took: [lab] });
    expect(withKept(now, kept)).toMatchObject({
      passed: 6,
      failed: ['a', 'c'],
      skipped: ['d'],
      retried: ['b'],
      took: [lab, crds],
    });
    expect(withKept(now, null)).toBe(now);
  });
});

test('files that took a second or more are kept with a stage, by their path below the checkout', () => {
  const file = { what: 'lab', passed: 1, failed: 0, skipped: [], retried: [] };
  const took = [
    { ...file, path: `${process.cwd()}/test/flows/lab.test.ts`, seconds: 2 },
    { ...file, path: `${process.cwd()}/test/flows/crds.test.ts`, seconds: 0.5 },
  ];
  const record = recordOf(soFar([stage('flows', { took })]), 3);
  expect(record.details).toMatchObject({ stages: [{ took: [{ path: 'test/flows/lab.test.ts' }] }] });
});

test('what a record says of the files decides their order in the next run', () => {
  const file = { what: 'lab', path: 'test/flows/lab.test.ts', passed: 1, failed: 0, skipped: [], retried: [] };
  const stages = [
    stage('flows on the real counterparts', { took: [{ ...file, seconds: 90 }] }),
    stage('simulator: flows', { took: [{ ...file, seconds: 2 }] }),
  ];
  expect(readSeconds(recordWith('sha256:a', stages))).toEqual(new Map([['lab', 90]]));
});
