import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SuiteFigures } from './benchmark.ts';
import { findLast } from './compare.ts';
import type { BenchRecord } from './records.ts';
import { isAlike } from '../machine.ts';
import { replaceFile } from './records.ts';
import { formatGoal, formatSpread, markdownTable } from './table.ts';

const page = fileURLToPath(new URL('../../docs/limits.md', import.meta.url));

/** The newest figures of the machine that was measured last, for docs/limits.md. */
export function renderLimits({ figures }: SuiteFigures, records: readonly BenchRecord[]): string {
  const newestOf = ({ figures: recorded }: BenchRecord): string =>
    Object.values(recorded)
      .map(({ recordedAt }) => recordedAt)
      .toSorted()
      .at(-1) ?? '';
  const machine = records.toSorted((a, b) => newestOf(a).localeCompare(newestOf(b))).at(-1)?.machine ?? {
    cores: 0,
    cpu: '',
    memoryGiB: 0,
  };
  const mine = records.filter((record) => isAlike(record.machine, machine));
  const found = figures.map((figure) => ({ figure, last: findLast(mine, figure.id, machine) }));
  const table = markdownTable(
    ['figure', 'goal', 'measured'],
    found.map(({ figure, last }) => [
      figure.title,
      formatGoal(figure),
      last === null ? 'not yet' : formatSpread(figure, last),
    ]),
  );
  const measured = found.flatMap(({ last }) => (last === null ? [] : [last]));
  if (measured.length === 0) return table;
  const [loads, days] = [
    measured.map(({ load }) => load),
    measured.map(({ recordedAt }) => recordedAt.slice(0, 10)).toSorted(),
  ];
  const when = days[0] === days.at(-1) ? `${days[0]}` : `${days[0]} to ${days.at(-1)}`;
  return `${table}\n\nMedian (least to most of the repetitions) on ${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB; load average before each ${Math.min(...loads)} to ${Math.max(...loads)}; ${when}.`;
}

const begin = ({ name }: SuiteFigures): string => `<!-- written by npm run bench -- ${name} -->`;
const end = '<!-- end -->';

/** The part of a page that a suite writes. @throws where the page has none */
export function splitPage(text: string, suite: SuiteFigures): { before: string; written: string; after: string } {
  const from = text.indexOf(begin(suite));
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`the page has no "${begin(suite)}" … "${end}"`);
  const start = from + begin(suite).length;
  return { before: text.slice(0, start), written: text.slice(start, to).trim(), after: text.slice(to) };
}

export const readLimitsPage = (): string => readFileSync(page, 'utf8');

/** Puts the recorded figures of a suite into docs/limits.md. */
export function writeLimitsPage(suite: SuiteFigures, records: readonly BenchRecord[]): void {
  const { before, after } = splitPage(readLimitsPage(), suite);
  replaceFile(page, `${before}\n${renderLimits(suite, records)}\n${after}`);
}
