import type { WatchMeter } from '../activities/vsphere/watch/tools.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/**
 * Shows how the watches of this worker get on. The last value of one that another worker has taken over stays: the
 * newest of all workers counts.
 */
export function meterWatches(metrics: Metrics, clock: Pick<Clock, 'now'>): WatchMeter {
  const lastContacts = new Map<string, { atMs: number; owned: number | null }>();
  metrics.beforePage(() => {
    metrics.replace(
      'vcenterWatchLastContact',
      [...lastContacts].map(([vcenter, { atMs }]) => ({ labels: { vcenter }, value: atMs / 1_000 })),
    );
    metrics.replace(
      'vcenterWatchVms',
      [...lastContacts].flatMap(([vcenter, { owned }]) =>
        owned === null ? [] : [{ labels: { vcenter }, value: owned }],
      ),
    );
  });
  return {
    began(vcenter) {
      if (!lastContacts.has(vcenter)) lastContacts.set(vcenter, { atMs: clock.now(), owned: null });
    },
    answered: (vcenter, changes, owned) => {
      lastContacts.set(vcenter, { atMs: clock.now(), owned });
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
