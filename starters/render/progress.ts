import type { EvictionProgress, InstanceProgress, InstanceState } from '../../contracts/eviction/eviction.ts';
import type { Ending } from '../eviction/eviction-objects.ts';
import { formatAge, formatDuration } from './duration.ts';
import type { Paint, Style } from './paint.ts';
import { oneLine, renderTable } from './table.ts';

/** `9 of 24 done, 2 moving, 11 pending, 1 blocked, 1 skipped`: what is zero is left out. */
export function summarizeCounts(counts: EvictionProgress['counts']): string {
  const rest = (['moving', 'pending', 'blocked', 'skipped'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${String(counts[name])} ${name}`);
  return [`${String(counts.done)} of ${String(counts.total)} done`, ...rest].join(', ');
}

/** Since when the instance that waits longest has been waiting; RFC 3339, null when none waits. */
export function oldestWait(progress: EvictionProgress): string | null {
  const waiting = progress.instances.filter(
    ({ state }) => state === 'pending' || state === 'busy' || state === 'blocked',
  );
  return waiting.map(({ since }) => since).sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;
}

/** How long before the deadline the host will be empty; negative when it will be late. Null without a deadline. */
export const deadlineMarginMs = (
  { deadline, etaMs }: Pick<EvictionProgress, 'deadline' | 'etaMs'>,
  nowMs: number,
): number | null => (deadline === null ? null : Date.parse(deadline) - nowMs - (etaMs ?? 0));

/** `2h 13m`, or `-5m` where it will be late. */
export const formatMargin = (marginMs: number): string =>
  marginMs < 0 ? `-${formatDuration(-marginMs)}` : formatDuration(marginMs);

/** The phase in a word, with what a person must know of it. */
export function phaseWord({ phase, paused, mode }: Pick<EvictionProgress, 'phase' | 'paused' | 'mode'>): string {
  if (paused !== null) return `${phase} (paused)`;
  return mode === 'observe' ? `${phase} (observing)` : phase;
}

export function phaseStyle(phase: string): Style {
  switch (phase) {
    case 'Succeeded':
    case 'Observed':
      return 'good';
    case 'Failed':
    case 'Terminated':
    case 'TimedOut':
      return 'bad';
    case 'Stopped':
    case 'Stopping':
    case 'Waiting':
      return 'warning';
    default:
      return 'busy';
  }
}

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

/** How long a move will still take at the pace so far; null when it cannot be estimated. */
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

/** An amount of memory as people read it: `512 MiB`, `4 GiB`, `1.5 TiB`. */
export function formatMemory(memoryMiB: number): string {
  if (memoryMiB < 1024) return `${String(Math.round(memoryMiB))} MiB`;
  if (memoryMiB < 1024 * 1024) return `${oneDecimal(memoryMiB / 1024)} GiB`;
  return `${oneDecimal(memoryMiB / (1024 * 1024))} TiB`;
}

const oneDecimal = (value: number): string => String(Math.round(value * 10) / 10);

/** A bar of fixed width and its figure: `█████░░░░░  50%`; only spaces when unknown. */
export function renderProgressBar(percent: number | null, widthColumns = 10): string {
  if (percent === null) return ' '.repeat(widthColumns + 5);
  const bounded = Math.min(100, Math.max(0, percent));
  const filled = Math.floor((bounded / 100) * widthColumns);
  return `${'█'.repeat(filled)}${'░'.repeat(widthColumns - filled)} ${String(Math.floor(bounded)).padStart(3)}%`;
}

/** How an eviction ended: one sentence, then every instance that did not move, as far as the result names them. */
export const renderEnding = ({ outcome, message, result }: Ending, paint: Paint): string[] => [
  `${paint(phaseStyle(outcome), outcome)}: ${oneLine(message)}`,
  ...(result?.notMoved ?? []).map(
    (instance) =>
      `  ${instanceName(instance)} ${instance.state}${instance.message === null ? '' : `: ${oneLine(instance.message)}`}`,
  ),
];
