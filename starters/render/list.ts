import type { ListedEviction } from '../eviction/listed-eviction.ts';
import { formatAge, formatDuration } from './duration.ts';
import type { Paint } from './paint.ts';
import { formatMargin, phaseStyle } from './progress.ts';
import { oneLine, renderTable } from './table.ts';

const columns = [
  { title: 'HOST' },
  { title: 'KIND' },
  { title: 'DONE', align: 'right' as const },
  { title: 'BLOCKED', align: 'right' as const },
  { title: 'OLDEST WAIT', align: 'right' as const },
  { title: 'ETA', align: 'right' as const },
  { title: 'MARGIN', align: 'right' as const },
  { title: 'STARTED BY' },
  { title: 'PHASE' },
  { title: 'WHY' },
];

/** The table of `drover ls`. */
export function renderList(
  evictions: readonly ListedEviction[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  if (evictions.length === 0)
    return ['Nothing is being evicted, and nothing was in the last day. `drover ls --all` looks further back.'];
  return renderTable(
    columns,
    evictions.map((eviction) => renderRow(eviction, nowMs, paint)),
    widthColumns,
  );
}

function renderRow(eviction: ListedEviction, nowMs: number, paint: Paint): string[] {
  const { counts, etaMs, deadlineMarginMs: marginMs } = eviction;
  const blocked = counts?.blocked ?? 0;
  return [
    oneLine(eviction.host),
    eviction.kind,
    counts === null ? '-' : `${String(counts.done)}/${String(counts.total)}`,
    counts === null ? '-' : blocked > 0 ? paint('bad', String(blocked)) : '0',
    formatAge(eviction.oldestWaitSince, nowMs),
    etaMs === null ? '-' : formatDuration(etaMs),
    marginMs === null ? '-' : marginMs < 0 ? paint('bad', formatMargin(marginMs)) : formatMargin(marginMs),
    oneLine(eviction.startedBy ?? '-'),
    paint(phaseStyle(eviction.phase.split(' ')[0] ?? ''), eviction.phase),
    oneLine(renderWhy(eviction, nowMs)),
  ];
}

function renderWhy({ phase, reason, endedAt }: ListedEviction, nowMs: number): string {
  const said = reason === phase ? null : reason;
  return [said, endedAt === null ? null : `${formatAge(endedAt, nowMs)} ago`]
    .filter((part) => part !== null)
    .join(', ');
}
