import { metrics as table } from '../../contracts/metrics.ts';
import { createMetrics } from './metrics.ts';

const linesOf = async (page: Promise<string>, name: string): Promise<string[]> =>
  (await page).split('\n').filter((line) => line.startsWith(name));

test('a page has what was counted, and the process itself', async () => {
  const metrics = createMetrics('worker', '1.2.3');
  metrics.count('steps', { step: 'observeHost', outcome: 'completed' });
  metrics.count('steps', { step: 'observeHost', outcome: 'completed' }, 2);
  expect(await linesOf(metrics.page(), 'drover_steps_total')).toEqual([
    'drover_steps_total{step="observeHost",outcome="completed"} 3',
  ]);
  expect(await linesOf(metrics.page(), 'drover_info')).toEqual(['drover_info{component="worker",version="1.2.3"} 1']);
  expect(await linesOf(metrics.page(), 'process_resident_memory_bytes')).toHaveLength(1);
});

test('a histogram counts into the buckets of the table', async () => {
  const metrics = createMetrics('bridge', '1');
  metrics.observe('bridgeSignalSeconds', { kind: 'Eviction' }, 0.02);
  const buckets = await linesOf(metrics.page(), 'drover_bridge_signal_seconds_bucket');
  expect(buckets).toHaveLength(table.bridgeSignalSeconds.buckets.length + 1);
  expect(buckets).toContain('drover_bridge_signal_seconds_bucket{le="0.01",kind="Eviction"} 0');
  expect(buckets).toContain('drover_bridge_signal_seconds_bucket{le="0.025",kind="Eviction"} 1');
});

test('a gauge is what it was replaced with before the page: what is no more is not shown', async () => {
  const metrics = createMetrics('bridge', '1');
  const left = [
    { labels: { object: 'a', host: 'node-1' }, value: 3 },
    { labels: { object: 'b', host: 'node-2' }, value: 1 },
  ];
  metrics.beforePage(() => metrics.replace('evictionInstances', left));
  expect(await linesOf(metrics.page(), 'drover_eviction_outstanding_instances')).toHaveLength(2);
  left.pop();
  expect(await linesOf(metrics.page(), 'drover_eviction_outstanding_instances')).toEqual([
    'drover_eviction_outstanding_instances{object="a",host="node-1"} 3',
  ]);
});

test('two registries share nothing', async () => {
  const [one, other] = [createMetrics('worker', '1'), createMetrics('worker', '1')];
  one.count('steps', { step: 'a', outcome: 'completed' });
  expect(await linesOf(other.page(), 'drover_steps_total')).toEqual([]);
});

test('what belongs to another process is a defect', () => {
  expect(() => createMetrics('bridge', '1').count('steps', { step: 'a', outcome: 'completed' })).toThrow(
    'drover_steps_total is no metric of the bridge',
  );
});

describe('the table', () => {
  test.each(Object.values(table).map((row) => [row.name, row] as const))(
    '%s: unit and kind go together',
    (name, row) => {
      expect(name).toMatch(/^drover_[a-z]+(_[a-z]+)*$/u);
      expect(name.endsWith('_total')).toBe(row.kind === 'counter');
      if (row.kind !== 'histogram') return;
      const sorted = [...row.buckets].sort((a, b) => a - b);
      expect(row.buckets).toEqual(sorted);
    },
  );

  test('no name twice', () => {
    const names = Object.values(table).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
