import { metricMeter } from '@temporalio/workflow';
import type { MigrationEnd } from '../../contracts/eviction/migrate-instance.ts';
import { metrics } from '../../contracts/metrics.ts';
import type { CounterKey, HistogramKey, LabelsOf } from '../../contracts/metrics.ts';

/*
 * Workflow code may be run again at any time: Temporal's meter leaves out what is replayed. It adds `_total` to
 * counters by itself, and namespace, task queue and workflow type as labels.
 */

export const count = <Key extends CounterKey>(key: Key, labels: LabelsOf<Key>, many = 1): void => {
  const { name, help } = metrics[key];
  metricMeter.createCounter(name.replace(/_total$/u, ''), undefined, help).add(many, labels);
};

export const observe = <Key extends HistogramKey>(key: Key, labels: LabelsOf<Key>, value: number): void => {
  const { name, help } = metrics[key];
  metricMeter.createHistogram(name, 'float', undefined, help).record(value, labels);
};

/** How the wait for a migration ended, in few words. Pure. */
export function outcomeOf({
  stuck,
  status,
}: Pick<MigrationEnd, 'stuck' | 'status'>): 'completed' | 'failed' | 'cancelled' | 'stuck' | 'gone' {
  if (stuck !== null) return 'stuck';
  // A cold one ends its copy in `finished`.
  if (status === 'completed' || status === 'finished' || status === 'confirmed') return 'completed';
  return status === 'cancelled' || status === 'gone' ? status : 'failed';
}
