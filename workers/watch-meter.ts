import type { WatchMeter } from '../activities/vsphere/watch/tools.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/** Shows how the watches of this worker get on. Of one that has gone to another worker the last word stays: the newest of all workers counts. */
export function meterWatches(metrics: Metrics, clock: Pick<Clock, 'now'>): WatchMeter {
  const heard = new Map<string, { atMs: number; owned: number }>();
  metrics.beforePage(() => {
    metrics.replace(
      'vcenterWatchLastContact',
      [...heard].map(([vcenter, { atMs }]) => ({ labels: { vcenter }, value: atMs / 1_000 })),
    );
    metrics.replace(
      'vcenterWatchVms',
      [...heard].map(([vcenter, { owned }]) => ({ labels: { vcenter }, value: owned })),
    );
  });
  return {
    answered: (vcenter, changes, owned) => {
      heard.set(vcenter, { atMs: clock.now(), owned });
      if (changes > 0) metrics.count('vcenterWatchUpdates', { vcenter }, changes);
    },
    inventoried: (vcenter) => metrics.count('vcenterWatchObservations', { vcenter }),
    signalled: (vcenter, seconds) => {
      metrics.count('vcenterWatchChanges', { vcenter, outcome: 'signalled' });
      metrics.observe('vcenterWatchSignalSeconds', { vcenter }, seconds);
    },
    skipped: (vcenter) => metrics.count('vcenterWatchChanges', { vcenter, outcome: 'observed' }),
  };
}
