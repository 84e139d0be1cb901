import type { Figure, SuiteFigures } from './benchmark.ts';
import { compareFigure, findLast, meetsGoal } from './compare.ts';
import type { MachineKind } from '../machine.ts';
import type { BenchRecord, RecordedFigure } from './records.ts';
import type { Spread } from './spread.ts';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
export const markdownTable = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map(row).join('\n');

/** `12 ms (10 to 15)`; the spread where there is one. */
export function formatSpread({ unit }: Figure, { value, min, max, samples }: Spread): string {
  const amount = unit === '' ? `${value}` : `${value} ${unit}`;
  return samples > 1 && min !== max ? `${amount} (${min} to ${max})` : amount;
}

export const formatGoal = ({ goal, better, unit }: Figure): string =>
  goal === null ? '' : `${better === 'lower' ? 'at most' : 'at least'} ${goal}${unit === '' ? '' : ` ${unit}`}`;

const formatVerdict = (figure: Figure, spread: Spread): string =>
  ({ true: 'met', false: '**missed**', null: '' })[`${meetsGoal(figure, spread)}`];

/** What was measured now, beside the goal and the last record. */
export function renderMeasured(
  { figures }: SuiteFigures,
  now: Readonly<Record<string, RecordedFigure>>,
  records: readonly BenchRecord[],
  machine: MachineKind,
): string {
  const rows = figures.flatMap((figure) => {
    const measured = now[figure.id];
    if (measured === undefined) return [];
    const last = findLast(records, figure.id, machine);
    const change = last === null ? null : compareFigure(figure, measured, last);
    const before =
      last === null
        ? 'none'
        : `${formatSpread(figure, last)}, ${last.commit}${last.alike ? '' : ', on another machine'}`;
    return [
      [
        figure.title,
        formatSpread(figure, measured),
        formatGoal(figure),
        formatVerdict(figure, measured),
        before,
        change === null ? '' : `× ${change.ratio.toFixed(2)}, ${change.verdict}`,
        `${measured.load}`,
      ],
    ];
  });
  return `${markdownTable(['figure', 'measured', 'goal', '', 'last record', 'now ÷ last', 'load'], rows)}\n`;
}

/** What is recorded, newest of each figure, with the machine where it is another than `machine`. */
export function renderRecorded(
  { figures }: SuiteFigures,
  records: readonly BenchRecord[],
  machine: MachineKind,
): string {
  const rows = figures.map((figure) => {
    const last = findLast(records, figure.id, machine);
    if (last === null) return [figure.title, 'not measured', formatGoal(figure), '', '', ''];
    return [
      figure.title,
      formatSpread(figure, last),
      formatGoal(figure),
      formatVerdict(figure, last),
      `${last.recordedAt.slice(0, 10)}, ${last.commit}${last.alike ? '' : ', on another machine'}`,
      `${last.load}`,
    ];
  });
  return `${markdownTable(['figure', 'measured', 'goal', '', 'recorded', 'load'], rows)}\n`;
}
