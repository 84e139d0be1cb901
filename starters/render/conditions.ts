import type { Condition } from '../../contracts/conditions.ts';
import { formatAge } from './duration.ts';
import { oneLine, renderTable } from './table.ts';

/** The conditions of an object, one per line. */
export function renderConditions(conditions: readonly Condition[], nowMs: number, widthColumns: number): string[] {
  const titles = ['TYPE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'].map((title) => ({ title }));
  const rows = conditions.map(({ type, status, reason, message, lastTransitionTime }) => [
    type,
    status,
    reason,
    formatAge(lastTransitionTime, nowMs),
    oneLine(message),
  ]);
  return rows.length === 0 ? ['none yet'] : renderTable(titles, rows, Math.max(widthColumns, 120));
}
