import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRecord, parseRecord, readRecords, writeRecord } from './record.ts';
import type { Run } from './record.ts';
import { series, seriesNames } from './series.ts';
import { checkout, countBeyond, digestNow, digestOf, git, isCheckout, pathspecs, selectFiles } from './sources.ts';

const directory = mkdtempSync(join(tmpdir(), 'drover-evidence-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run: Run = {
  series: 'chaos',
  title: '3 minutes',
  seed: 7,
  command: 'npm run chaos -- --seed 7',
  startedMs: Date.parse('2026-01-31T12:00:00Z'),
  counts: { faults: 5, failed: 0 },
  failures: [],
  details: { minutes: 3 },
};

test('every record in evidence/ can be read, and lies in the folder of its series', () => {
  const folders = readdirSync(join(checkout, 'evidence'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.filter((name) => !(seriesNames as string[]).includes(name))).toEqual([]);
  for (const name of seriesNames) for (const { series } of readRecords(name)) expect(series).toBe(name);
});

test('a record says what was run, of which sources, and how often they were tried', () => {
  const first = makeRecord(run, []);
  writeRecord(first, directory);
  expect(readRecords('chaos', directory)).toEqual([first]);
  expect(first).toMatchObject({
    series: 'chaos',
    seed: 7,
    attempts: 1,
    sources: { digest: digestNow(first.sources.globs) },
  });
  expect(makeRecord({ ...run, failures: [{ what: 'it', complaints: ['bad'] }] }, [first])).toMatchObject({
    attempts: 2,
    failures: [{ what: 'it', complaints: ['bad'], attempt: 2, passedLater: false }],
  });
  expect(makeRecord({ ...run, command: 'npm run chaos -- --seed 8' }, [first]).attempts).toBe(1);
});

test('sources that change while it runs are not said to be known', () => {
  expect(makeRecord({ ...run, digestBefore: `sha256:${'0'.repeat(64)}` }, []).sources.digest).toBe('unknown');
});

test('what is no record is refused with its problems', () => {
  const text = readFileSync(join(directory, 'chaos', readdirSync(join(directory, 'chaos'))[0]!), 'utf8');
  expect(parseRecord(text)).toMatchObject({ series: 'chaos' });
  expect(() => parseRecord(text.replace('"attempts": 1', '"attempts": 0'))).toThrow('attempts');
  expect(() => parseRecord(text.replace('"seed"', '"sead"'))).toThrow('sead');
});

test('a digest is that of paths and contents, in whatever order', () => {
  const files = [
    ['a', '1'],
    ['b', '2'],
  ] as const;
  expect(digestOf(new Map(files))).toBe(digestOf(new Map(files.toReversed())));
  expect(
    digestOf(
      new Map([
        ['a', '2'],
        ['b', '1'],
      ]),
    ),
  ).not.toBe(digestOf(new Map(files)));
  expect(() => digestNow(['no/such/**'])).toThrow('name no tracked file');
});

test('globs mean the same with git and without', () => {
  if (!isCheckout) return;
  const list = (args: string[]): string[] =>
    git(['ls-files', '-z', ...args])
      .split('\0')
      .filter((path) => path !== '');
  const all = list([]);
  for (const { globs } of Object.values(series))
    expect(selectFiles(all, globs).toSorted()).toEqual(list(['--', ...pathspecs(globs)]).toSorted());
});

test('files are counted that other globs do not name, of which some may name what is gone', () => {
  if (!isCheckout) return;
  const sources = ['test/evidence/*.ts', '!test/evidence/*.test.ts'];
  expect(countBeyond(sources, ['test/evidence/**', '>test/evidence/gone.ts', '|test/evidence/old.ts'])).toBe(0);
  expect(countBeyond(['test/evidence/judge.ts', 'test/evidence/keep.ts'], ['>test/evidence/judge.ts'])).toBe(1);
  expect(countBeyond(['test/evidence/record.ts'], ['>test/evidence/judge.ts'])).toBe(0);
});
