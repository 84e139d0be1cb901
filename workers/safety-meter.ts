import type { SafetyMeter } from '../activities/kubernetes/machines/tools.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/**
 * For the longest pause of a run, and the attempt after it, which may be another worker's: this one does not learn that
 * it has succeeded.
 */
const keptMs = 12 * 60_000;

/**
 * Shows which Machines are frozen, as far as this worker probes their API servers or has tried to thaw them: what
 * another worker has taken over is not shown any more. Where several show something, the one that shows 0 is right, as
 * only what is watched is known to be thawed.
 */
export function meterSafety(metrics: Metrics, clock: Pick<Clock, 'monotonicMs'>): SafetyMeter {
  const shown = new Map<string, { isFrozen: boolean; untilMs: number }>();
  metrics.beforePage(() => {
    for (const [namespace, { untilMs }] of shown) if (clock.monotonicMs() >= untilMs) shown.delete(namespace);
    metrics.replace(
      'machinesFrozen',
      [...shown].map(([namespace, { isFrozen }]) => ({ labels: { namespace }, value: isFrozen ? 1 : 0 })),
    );
  });
  return {
    show: (namespace, isFrozen) => void shown.set(namespace, { isFrozen, untilMs: Infinity }),
    hide: (namespace) => void shown.delete(namespace),
    keepFrozen: (namespace) => void shown.set(namespace, { isFrozen: true, untilMs: clock.monotonicMs() + keptMs }),
  };
}
