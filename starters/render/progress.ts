import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { formatDuration } from './duration.ts';
import type { Style } from './paint.ts';

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
