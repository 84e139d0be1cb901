import { stripVTControlCharacters } from 'node:util';
import type { Condition } from '../../contracts/conditions.ts';
import type { Finding } from '../checks/finding.ts';
import type { NextCommand } from '../command/next-commands.ts';
import { formatAge } from './duration.ts';
import type { Paint } from './paint.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/**
 * Lines of a table: columns two spaces apart, as wide as their widest cell. Cells may carry colours.
 *
 * @param widthColumns of the terminal; what does not fit is cut off the last column, so that a line never wraps
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  widthColumns = Infinity,
): string[] {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, index) => Math.max(...lines.map((cells) => visibleLength(cells[index] ?? ''))));
  return lines.map((cells) =>
    clip(
      columns
        .map((column, index) => pad(cells[index] ?? '', widths[index] ?? 0, column.align ?? 'left'))
        .join('  ')
        .trimEnd(),
      widthColumns,
    ),
  );
}

/** A column of a table of objects. */
export interface Fact<Row> extends Column {
  cell: (row: Row, nowMs: number, paint: Paint) => string;
}

export interface TableOfFacts<Row> {
  facts: readonly Fact<Row>[];
  /** The last column. */
  why: Fact<Row>;
  /** Titles of those that are left out where the window is too narrow to say why, one after the other. */
  spare: readonly string[];
}

const roomForWhy = 40;

/** A table whose last column says why. */
export function renderFacts<Row>(
  rows: readonly Row[],
  { facts, why, spare }: TableOfFacts<Row>,
  { nowMs, paint, widthColumns }: { nowMs: number; paint: Paint; widthColumns: number },
): string[] {
  const render = (left: number, isWhole: boolean): string[] => {
    const columns = [...facts.filter(({ title }) => !spare.slice(0, left).includes(title)), ...(isWhole ? [why] : [])];
    return renderTable(
      columns,
      rows.map((row) => columns.map(({ cell }) => cell(row, nowMs, paint))),
      isWhole ? widthColumns : Infinity,
    );
  };
  const fits = (left: number): boolean =>
    Math.max(...render(left, false).map(visibleLength)) + 2 + roomForWhy <= widthColumns;
  return render([...spare.keys()].find(fits) ?? spare.length, true);
}

/** How many columns `text` takes on a terminal. */
export const visibleLength = (text: string): number => stripVTControlCharacters(text).length;

/** Shortens `text` to the width, with `…` at its end. A coloured line that is too long loses its colours. */
export function clip(text: string, widthColumns: number): string {
  if (visibleLength(text) <= widthColumns) return text;
  return `${stripVTControlCharacters(text).slice(0, Math.max(0, widthColumns - 1))}…`;
}

/**
 * Text of another system (a server's name, an error of Nova) made fit for one line of a terminal: no escape sequences,
 * no line breaks.
 */
export const oneLine = (text: string): string =>
  stripVTControlCharacters(text)
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const gap = ' '.repeat(Math.max(0, width - visibleLength(text)));
  return align === 'left' ? text + gap : gap + text;
}

/** The conditions of an object, one per line. */
export function renderConditions(conditions: readonly Condition[], nowMs: number, widthColumns: number): string[] {
  const titles = ['TYPE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'].map((title) => ({ title }));
  const rows = conditions.map(({ type, status, reason, message, lastTransitionTime }) => [
    oneLine(type),
    oneLine(status),
    oneLine(reason),
    formatAge(lastTransitionTime, nowMs),
    oneLine(message),
  ]);
  return rows.length === 0 ? ['none yet'] : renderTable(titles, rows, Math.max(widthColumns, 120));
}

/** Commands to type, one per line, indented, with what each does. */
export const renderNextCommands = (commands: readonly NextCommand[], paint: Paint): string[] =>
  renderTable(
    [{ title: '' }, { title: '' }],
    commands.map(({ command, why }) => [`  ${paint('strong', oneLine(command))}`, paint('quiet', oneLine(why))]),
  ).slice(1);

const styles = { ok: 'good', warn: 'warning', fail: 'bad' } as const;

/** One line per check, and under what is not ok what to do about it. */
export function renderFindings(findings: readonly Finding[], paint: Paint): string[] {
  const width = Math.min(40, Math.max(...findings.map(({ check }) => check.length)));
  return findings.flatMap(({ check, status, message, advice }) => [
    `${paint(styles[status], status.padEnd(4))}  ${check.padEnd(width)}  ${oneLine(message)}`,
    ...(advice === null ? [] : [`${' '.repeat(6 + width + 2)}→ ${oneLine(advice)}`]),
  ]);
}
