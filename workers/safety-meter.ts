import type { SafetyMeter } from '../activities/kubernetes/machines/tools.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/**
 * Shows which Machines are frozen, as far as this worker probes their API servers: what another worker has taken over
 * is not shown any more.
 */
export function meterSafety(metrics: Metrics): SafetyMeter {
  const frozen = new Map<string, boolean>();
  metrics.beforePage(() =>
    metrics.replace(
      'machinesFrozen',
      [...frozen].map(([namespace, isFrozen]) => ({ labels: { namespace }, value: isFrozen ? 1 : 0 })),
    ),
  );
  return {
    show: (namespace, isFrozen) => void frozen.set(namespace, isFrozen),
    hide: (namespace) => void frozen.delete(namespace),
  };
}
