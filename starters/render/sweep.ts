import type { JudgedCandidate, SweptClass } from '../../contracts/machine-safety/sweep.ts';
import type { SweepKeep } from '../../runtime/sweep-keeps.ts';
import type { SweepView } from '../machines/read-sweep.ts';
import { formatAge } from './duration.ts';
import { oneLine, renderTable } from './table.ts';

/** A sweep for people: what was found for each class, what holds each orphan, what was deleted. */

const columns = (...titles: string[]) => titles.map((title) => ({ title }));

const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

export function renderSweep(view: SweepView, nowMs: number, widthColumns: number): string[] {
  const { report, namespace, outcome, message, startedAt, endedAt } = view;
  const when =
    outcome === null
      ? `runs since ${formatAge(startedAt, nowMs)}`
      : `ended ${formatAge(endedAt, nowMs)} ago: ${outcome}`;
  const head = [`Sweep of ${namespace}, ${when}. ${oneLine(message)}`];
  if (report === null) return head;
  const { classes, candidates, orphans, deleted, deletedCount, leftovers, leftoverCount } = report;
  const classRows = classes.map((swept) =>
    swept.failure === null
      ? [
          oneLine(swept.name),
          oneLine(swept.provider),
          String(swept.listed),
          String(sumOf(swept.kept)),
          String(swept.orphans),
          '',
        ]
      : [oneLine(swept.name), oneLine(swept.provider), '?', '?', '?', oneLine(swept.failure.message)],
  );
  const orphanRows = candidates.map(({ machineName, machineClass, why, firstMs, gates, providerId }) => [
    oneLine(machineName),
    oneLine(machineClass),
    why,
    formatAge(new Date(firstMs).toISOString(), nowMs),
    oneLine(providerId),
    oneLine(heldBackBy(gates)),
  ]);
  const deletedRows = deleted.map(({ machineName, machineClass, why, atMs, providerId }) => [
    oneLine(machineName),
    oneLine(machineClass),
    why,
    formatAge(new Date(atMs).toISOString(), nowMs),
    oneLine(providerId),
  ]);
  const leftoverRows = leftovers.map(({ name, machineClass, kind, id, createdMs }) => [
    oneLine(name),
    oneLine(machineClass),
    kind,
    oneLine(id),
    createdMs === null ? '?' : formatAge(new Date(createdMs).toISOString(), nowMs),
  ]);
  return [
    ...head,
    ...section(columns('CLASS', 'PROVIDER', 'VMS', 'WITH A MACHINE', 'ORPHANS', 'NOT SWEPT'), classRows, widthColumns),
    ...section(columns('ORPHAN', 'CLASS', 'WHY', 'FOUND', 'ID', 'HELD BACK BY'), orphanRows, widthColumns),
    ...(orphans > candidates.length ? [`… and ${String(orphans - candidates.length)} more orphans.`] : []),
    ...section(columns('DELETED', 'CLASS', 'WHY', 'AGO', 'ID'), deletedRows, widthColumns),
    ...(deletedCount > deleted.length ? [`… and ${String(deletedCount - deleted.length)} more before.`] : []),
    ...section(columns('LEFTOVER', 'CLASS', 'KIND', 'ID', 'AGE'), leftoverRows, widthColumns),
    ...(leftoverCount > leftovers.length ? [`… and ${String(leftoverCount - leftovers.length)} more leftovers.`] : []),
    ...classes.flatMap(unlisted),
  ];
}

/** The first gate decides, and says why; the others fit by name. `--json` has all of them whole. */
function heldBackBy([first, ...others]: JudgedCandidate['gates']): string {
  if (first === undefined) return 'nothing: it is being deleted';
  const also = others.length === 0 ? '' : ` (also ${others.map(({ gate }) => gate).join(', ')})`;
  return `${first.gate}: ${first.message}${also}`;
}

function unlisted(swept: SweptClass): string[] {
  if (swept.failure !== null || swept.leftovers.failure === null) return [];
  return [`Leftovers of ${oneLine(swept.name)} cannot be listed: ${oneLine(swept.leftovers.failure.message)}`];
}

const section = (titles: { title: string }[], rows: string[][], widthColumns: number): string[] =>
  rows.length === 0 ? [] : ['', ...renderTable(titles, rows, widthColumns)];

export const renderKeeps = (keeps: readonly SweepKeep[], widthColumns: number): string[] =>
  section(
    columns('KEPT', 'BY', 'AT', 'REASON'),
    keeps.map(({ providerId, by, at, reason }) => [providerId, by, at, reason].map(oneLine)),
    widthColumns,
  );
