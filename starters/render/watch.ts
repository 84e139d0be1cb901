import type { EvictionProgress, InstanceProgress } from '../../contracts/eviction/eviction.ts';
import { formatAge, formatDuration, formatRelative } from './duration.ts';
import {
  deadlineMarginMs,
  formatMargin,
  formatMemory,
  instanceName,
  isDone,
  phaseStyle,
  phaseWord,
  renderInstances,
  summarizeCounts,
  worstFirst,
} from './progress.ts';
import type { Paint } from './paint.ts';
import { clip, oneLine } from './table.ts';

interface Screen {
  widthColumns: number;
  heightRows: number;
  paint: Paint;
}

/** What `drover watch` draws on a terminal: never more lines than it has, never wider. */
export function renderFrame(
  progress: EvictionProgress,
  nowMs: number,
  { widthColumns, heightRows, paint }: Screen,
): string[] {
  const head = renderHead(progress, nowMs, paint).map((line) => clip(line, widthColumns));
  // One row for the table's head, one for what does not fit, one for the cursor.
  const room = Math.max(1, heightRows - head.length - 3);
  const sorted = worstFirst(progress.instances);
  const shown = sorted.length <= room + 1 ? sorted : sorted.slice(0, room);
  const hidden = sorted.slice(shown.length);
  return [
    ...head,
    ...(shown.length === 0 ? [] : renderInstances(shown, nowMs, paint, widthColumns)),
    ...(hidden.length === 0
      ? []
      : [clip(paint('quiet', `… and ${String(hidden.length)} more: ${describeHidden(hidden)}`), widthColumns)]),
  ];
}

function renderHead(progress: EvictionProgress, nowMs: number, paint: Paint): string[] {
  const marginMs = deadlineMarginMs(progress, nowMs);
  const figures = [
    ...(progress.outstandingRamMb > 0 ? [`${formatMemory(progress.outstandingRamMb)} to go`] : []),
    ...(progress.etaMs === null ? [] : [`ETA ${formatDuration(progress.etaMs)}`]),
    ...(marginMs === null
      ? []
      : [
          marginMs < 0
            ? paint('bad', `${formatMargin(-marginMs)} late`)
            : `${formatMargin(marginMs)} before the deadline`,
        ]),
  ];
  const phase = paint(phaseStyle(progress.phase), phaseWord(progress));
  return [
    `${paint('strong', progress.hypervisor)}  ${phase} for ${formatAge(progress.since, nowMs)}  ${summarizeCounts(progress.counts)}`,
    ...(figures.length === 0 ? [] : [figures.join(', ')]),
    ...(progress.waitingFor === null ? [] : [waitingLine(progress.waitingFor, progress.nextWakeUp, nowMs)]),
  ];
}

export const waitingLine = (waitingFor: string, nextWakeUp: string | null, nowMs: number): string =>
  `waiting for ${oneLine(waitingFor)}${nextWakeUp === null ? '' : `; observes again ${formatRelative(nextWakeUp, nowMs)}`}`;

/** For {@link waitingLine}. */
export const untilOf = ({ untilMs }: { untilMs: number | null }): string | null =>
  untilMs === null ? null : new Date(untilMs).toISOString();

function describeHidden(hidden: readonly InstanceProgress[]): string {
  const counts = new Map<string, number>();
  for (const { state } of hidden) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${String(count)} ${state}`).join(', ');
}

/** What happened between two answers, one line each, for logs and pipes. The first answer is compared with nothing. */
export function describeChanges(before: EvictionProgress | null, after: EvictionProgress): string[] {
  const known = new Map((before?.instances ?? []).map((instance) => [instance.id, instance]));
  return [
    ...(before !== null && phaseWord(before) === phaseWord(after) && before.waitingFor === after.waitingFor
      ? []
      : [describePhase(after)]),
    ...after.instances
      .map((instance) => describeInstance(known.get(instance.id), instance))
      .filter((line) => line !== null),
  ];
}

const describePhase = (progress: EvictionProgress): string =>
  [
    phaseWord(progress),
    summarizeCounts(progress.counts),
    ...(progress.waitingFor === null ? [] : [`waiting for ${oneLine(progress.waitingFor)}`]),
  ].join(': ');

function describeInstance(before: InstanceProgress | undefined, after: InstanceProgress): string | null {
  if (before === undefined && after.state === 'pending') return null;
  if (
    before?.state === after.state &&
    before.attempt === after.attempt &&
    before.target === after.target &&
    before.message === after.message
  )
    return null;
  const facts = [
    ...(after.state === 'moving' && after.attempt > 1 ? [`attempt ${String(after.attempt)}`] : []),
    ...(after.target === null ? [] : [`→ ${oneLine(after.target)}`]),
    ...(isDone(after) && before !== undefined
      ? [`after ${formatDuration(Date.parse(after.since) - Date.parse(before.since))}`]
      : []),
    ...(after.message === null ? [] : [`(${oneLine(after.message)})`]),
  ];
  return [instanceName(after), after.state, ...facts].join(' ');
}
