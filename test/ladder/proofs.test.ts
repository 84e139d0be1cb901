import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openGraph, reach } from '../evidence/imports.ts';
import { series } from '../evidence/series.ts';
import { checkout, selectFiles } from '../evidence/sources.ts';
import { suiteGroups, suitesOf } from '../simulated-suites.ts';
import { flowProofs, readProof, simulatedFlowProofs, suiteProofs } from './proofs.ts';

const proof = { series: 'suites-machines', files: ['test/a/one.test.ts', 'test/b/one.test.ts'] } as const;
const ran = (file: string, passed: number, failed = 0, skipped: string[] = []) => ({
  what: 'one',
  path: join(checkout, file),
  seconds: 20,
  passed,
  failed,
  skipped,
  retried: [],
});

test('every file that makes evidence is there, and in one proof', () => {
  const files = [...flowProofs, ...suiteProofs, ...simulatedFlowProofs].flatMap((one) => one.files);
  expect(files.filter((file) => !existsSync(join(checkout, file)))).toEqual([]);
  expect(files).toHaveLength(new Set(files).size);
});

test('where not all files have been run there is nothing to record', () => {
  expect(readProof(proof, { took: [ran('test/a/one.test.ts', 3), ran('test/c/one.test.ts', 1)] })).toBeNull();
});

test('one that fails is recorded, however few were run', () => {
  expect(readProof(proof, { took: [ran('test/a/one.test.ts', 3, 1)] })).toMatchObject({
    counts: { passed: 3, failed: 1, missing: 1 },
    failures: [{ what: 'test/a/one.test.ts' }],
  });
});

test('the evidence of flows over the fakes is about what they lead to', () => {
  const files = simulatedFlowProofs.flatMap((one) => one.files);
  const reached = reach(files, openGraph(checkout), () => true);
  expect(reached.length).toBeGreaterThan(files.length);
  expect(selectFiles(reached, series['suites-flows'].globs).toSorted()).toEqual(reached.toSorted());
});

test.each(suiteGroups)('the evidence of %s is about its suites, and that of all about what they lead to', (group) => {
  const { globs } = series[`suites-${group}`];
  const suites = suitesOf(group);
  const reached = group === 'all' ? reach(suites, openGraph(checkout), () => true) : suites;
  expect(selectFiles(reached, globs).toSorted()).toEqual(reached.toSorted());
});

test('what all of them came to is recorded, and what failed by its file', () => {
  expect(
    readProof(proof, { took: [ran('test/b/one.test.ts', 2, 1), ran('test/a/one.test.ts', 3), ran('other', 9)] }),
  ).toEqual({
    counts: { passed: 5, failed: 1, missing: 0 },
    failures: [{ what: 'test/b/one.test.ts', complaints: ['1 failed'] }],
    details: {
      files: [
        { name: 'one', seconds: 20, passed: 3, failed: 0 },
        { name: 'one', seconds: 20, passed: 2, failed: 1 },
      ],
    },
  });
});

test('a file whose tests were all skipped shows nothing', () => {
  expect(readProof(proof, { took: proof.files.map((file, index) => ran(file, index)) })?.counts).toMatchObject({
    missing: 1,
  });
});

test('a file of which some tests were skipped is missing, as they fail where they may not be', () => {
  const took = [ran('test/a/one.test.ts', 3), ran('test/b/one.test.ts', 2, 0, ['Ceph a'])];
  expect(readProof(proof, { took })).toMatchObject({
    counts: { passed: 5, failed: 0, missing: 1 },
    details: { files: [{ passed: 3 }, { passed: 2, skipped: ['Ceph a'] }] },
  });
});
