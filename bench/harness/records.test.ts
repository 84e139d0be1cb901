import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRecord, RecordedFigure } from './records.ts';
import { addToRecord, readRecords } from './records.ts';

const directory = mkdtempSync(join(tmpdir(), 'drover-bench-records-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const machine = { cores: 2, cpu: 'a processor', memoryGiB: 8 };
const figure = (value: number): RecordedFigure => ({ value, min: value, max: value, samples: 1, recordedAt: '2026-01-31T12:00:00Z', load: 0.5, versions: {} });
const record = (commit: string, figures: Record<string, number>, more: Partial<BenchRecord> = {}): BenchRecord => ({
  machine,
  commit,
  changed: false,
  figures: Object.fromEntries(Object.entries(figures).map(([id, value]) => [id, figure(value)])),
  ...more,
});

test('one file for each machine and commit; a part that is measured again replaces its own figures and no others', () => {
  expect(readRecords('some', directory)).toEqual([]);
  addToRecord('some', record('aaaa', { one: 1, two: 2 }), directory);
  addToRecord('some', record('aaaa', { two: 20 }), directory);
  addToRecord('some', record('bbbb', { one: 3 }), directory);
  addToRecord('some', record('bbbb', { one: 4 }, { changed: true }), directory);
  addToRecord('some', record('bbbb', { one: 5 }, { machine: { ...machine, cpu: 'another' } }), directory);
  const read = readRecords('some', directory);
  expect(read).toHaveLength(4);
  expect(read.find(({ commit }) => commit === 'aaaa')).toEqual(record('aaaa', { one: 1, two: 20 }));
  expect(readdirSync(join(directory, 'some')).every((file) => /^2-cores-8-gib-[\da-f]{6}-[ab]{4}(-changed)?\.json$/u.test(file))).toBe(true);
});
