import type { RunProgress } from '../../contracts/runs.ts';
import type { ObjectRun } from '../command/object-run.ts';
import type { RunStep } from '../command/run-steps.ts';
import { formatAge, formatDuration } from './duration.ts';
import type { Paint, Style } from './paint.ts';
import { oneLine, renderTable } from './table.ts';

/** The run of an object: its ids, and how it ended. */
export function renderRun(
  { workflowId, runId, status, endedAt, progress, ending }: ObjectRun<RunProgress>,
  nowMs: number,
): string {
  const id = `${workflowId} ${runId}`;
  if (status === 'Running') return progress === null ? `${id}, and no worker answers for it` : id;
  const words = ending === null || ending.message === '' ? '' : `: ${oneLine(ending.message)}`;
  return `${id}, ${ending?.outcome ?? status} ${formatAge(endedAt, nowMs)} ago${words}`;
}

const styles: Record<NonNullable<RunStep['end']>, Style> = {
  done: 'quiet',
  failed: 'bad',
  'timed out': 'bad',
  cancelled: 'warning',
};

/** What it did last, the first one first. */
export const renderSteps = (steps: readonly RunStep[], nowMs: number, paint: Paint, widthColumns: number): string[] =>
  steps.length === 0
    ? []
    : renderTable(
        [
          { title: 'BEGAN' },
          { title: 'TOOK', align: 'right' },
          { title: 'ATTEMPTS', align: 'right' },
          { title: 'END' },
          { title: 'STEP' },
        ],
        steps.map(({ summary, at, endedAt, end, attempts, message }) => [
          `${formatAge(at, nowMs)} ago`,
          endedAt === null ? '-' : formatTook(Date.parse(endedAt) - Date.parse(at)),
          String(attempts),
          end === null ? paint('busy', 'under way') : paint(styles[end], end),
          `${oneLine(summary)}${message === null ? '' : `: ${oneLine(message)}`}`,
        ]),
        Math.max(widthColumns, 120),
      );

/** Most calls take less than a second. */
const formatTook = (durationMs: number): string =>
  durationMs < 1_000 ? `${String(durationMs)}ms` : formatDuration(durationMs);
