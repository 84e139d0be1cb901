import type { InstanceProgress, InstanceState } from '../../contracts/eviction/eviction.ts';
import { formatAge, formatDuration } from './duration.ts';
import { formatMemory } from './memory.ts';
import type { Paint, Style } from './paint.ts';
import { renderProgressBar } from './progress-bar.ts';
import { oneLine, renderTable } from './table.ts';

/** What needs a person first, what is over last. */
const order: readonly InstanceState[] = ['blocked', 'busy', 'moving', 'pending', 'skipped', 'moved', 'gone'];

const styles: Record<InstanceState, Style> = {
  blocked: 'bad',
  busy: 'warning',
  moving: 'busy',
  pending: 'quiet',
  skipped: 'warning',
  moved: 'good',
  gone: 'good',
};

/** Whether the instance is off the host. */
export const isDone = (instance: Pick<InstanceProgress, 'state'>): boolean =>
  instance.state === 'moved' || instance.state === 'gone';

/** Every instance not moved first, the worst of them at the top, those of one state by age. */
export const worstFirst = (instances: readonly InstanceProgress[]): InstanceProgress[] =>
  instances.toSorted(
    (a, b) =>
      order.indexOf(a.state) - order.indexOf(b.state) ||
      Date.parse(a.since) - Date.parse(b.since) ||
      a.name.localeCompare(b.name),
  );

/** How long a move will still take at the pace so far; null when nothing tells. */
export function estimateMs({ state, percent, since }: InstanceProgress, nowMs: number): number | null {
  if (state !== 'moving' || percent === null || percent <= 0) return null;
  return ((nowMs - Date.parse(since)) * (100 - Math.min(100, percent))) / percent;
}

const columns = [
  { title: 'INSTANCE' },
  { title: 'STATE' },
  { title: 'ATTEMPT', align: 'right' as const },
  { title: 'TARGET' },
  { title: 'PROGRESS' },
  { title: 'ETA', align: 'right' as const },
  { title: 'MEMORY', align: 'right' as const },
  { title: 'SINCE', align: 'right' as const },
  { title: 'MESSAGE' },
];

/** The table that people watch: a head line and one line per instance, in the order given. */
export const renderInstances = (
  instances: readonly InstanceProgress[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] =>
  renderTable(
    columns,
    instances.map((instance) => renderInstance(instance, nowMs, paint)),
    widthColumns,
  );

function renderInstance(instance: InstanceProgress, nowMs: number, paint: Paint): string[] {
  const etaMs = estimateMs(instance, nowMs);
  return [
    instanceName(instance),
    paint(styles[instance.state], instance.state),
    instance.attempt === 0 ? '-' : String(instance.attempt),
    oneLine(instance.target ?? '-'),
    instance.state === 'moving' ? renderProgressBar(instance.percent) : '',
    etaMs === null ? '-' : formatDuration(etaMs),
    formatMemory(instance.memoryMiB),
    formatAge(instance.since, nowMs),
    oneLine(instance.message ?? ''),
  ];
}

/** The name, or the id of a server without one. */
export const instanceName = ({ id, name }: Pick<InstanceProgress, 'id' | 'name'>): string => {
  const printable = oneLine(name);
  return printable === '' ? id : printable;
};
