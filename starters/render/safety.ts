import type { ListedSafety } from '../machines/listed-safety.ts';
import { formatAge } from './duration.ts';
import type { Paint, Style } from './paint.ts';
import { oneLine, renderTable } from './table.ts';

const styles: Readonly<Record<ListedSafety['state'], Style>> = { thawed: 'good', frozen: 'bad', unknown: 'warning' };

const columns = ['NAMESPACE', 'STATE', 'SINCE', 'LAST PROBE', 'CONTROL', 'TARGET', 'FROZEN MACHINESETS', 'WHY'].map(
  (title) => ({ title }),
);

/** A line for each namespace. Pure. */
export const renderSafety = (
  listed: readonly ListedSafety[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] =>
  renderTable(
    columns,
    listed.map(({ namespace, state, since, lastProbe, control, target, frozenMachineSets, reason }) => [
      namespace,
      paint(styles[state], state),
      formatAge(since, nowMs),
      formatAge(lastProbe, nowMs),
      renderServer(control, paint),
      renderServer(target, paint),
      frozenMachineSets === null
        ? paint('quiet', 'not known')
        : frozenMachineSets.length === 0
          ? '-'
          : paint('warning', oneLine(frozenMachineSets.join(','))),
      oneLine(reason ?? ''),
    ]),
    widthColumns,
  );

const renderServer = (answers: boolean | null, paint: Paint): string =>
  answers === null ? '-' : answers ? paint('good', 'up') : paint('bad', 'down');
