import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { metrics as table } from '../../contracts/metrics.ts';
import type { CounterKey, GaugeKey, HistogramKey, LabelsOf, MetricKey } from '../../contracts/metrics.ts';

/** What a process counts and measures, by the rows of contracts/metrics.ts. */
export interface Metrics {
  count<Key extends CounterKey>(key: Key, labels: LabelsOf<Key>, by?: number): void;
  /** One value of a histogram, in the unit of its name. */
  observe<Key extends HistogramKey>(key: Key, labels: LabelsOf<Key>, value: number): void;
  /** All values that a gauge has now; others that it had are no more. */
  replace<Key extends GaugeKey>(key: Key, samples: readonly Sample<Key>[]): void;
  /** Called before each page is made: where gauges are replaced. */
  beforePage(collect: () => void): void;
  /** In the text format of Prometheus. */
  page(): Promise<string>;
}

export interface Sample<Key extends GaugeKey> {
  labels: LabelsOf<Key>;
  value: number;
}

export const pageContentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** A registry of its own for each process, so that two in one test do not share any. */
export function createMetrics(component: 'worker' | 'bridge', version: string): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = new Map<MetricKey, Counter>();
  const gauges = new Map<MetricKey, Gauge>();
  const histograms = new Map<MetricKey, Histogram>();
  for (const [key, row] of Object.entries(table) as [MetricKey, (typeof table)[MetricKey]][]) {
    if (!(row.from as readonly string[]).includes(component)) continue;
    const { name, help } = row;
    const options = { name, help, labelNames: [...row.labels], registers: [registry] };
    if (row.kind === 'counter') counters.set(key, new Counter(options));
    else if (row.kind === 'gauge') gauges.set(key, new Gauge(options));
    else histograms.set(key, new Histogram({ ...options, buckets: [...row.buckets] }));
  }
  const collectors: (() => void)[] = [];
  const metrics: Metrics = {
    count: (key, labels, by = 1) => known(counters, key).inc(labels, by),
    observe: (key, labels, value) => known(histograms, key).observe(labels, value),
    replace(key, samples) {
      const gauge = known(gauges, key);
      gauge.reset();
      for (const { labels, value } of samples) gauge.set(labels, value);
    },
    beforePage: (collect) => void collectors.push(collect),
    page() {
      for (const collect of collectors) collect();
      return registry.metrics();
    },
  };
  metrics.replace('info', [{ labels: { component, version }, value: 1 }]);
  return metrics;

  function known<Metric>(of: ReadonlyMap<MetricKey, Metric>, key: MetricKey): Metric {
    const metric = of.get(key);
    if (metric === undefined)
      throw new Error(`${table[key].name} is no metric of the ${component}: see contracts/metrics.ts`);
    return metric;
  }
}
