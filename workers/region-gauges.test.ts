import { createMetrics } from '../runtime/telemetry/metrics.ts';
import { showRegions } from './region-gauges.ts';

test('a look is shown while it is fresh: another worker looks now, or none does', async () => {
  const metrics = createMetrics('worker', '1');
  let nowMs = 0;
  const show = showRegions(metrics, { monotonicMs: () => nowMs });
  show('RegionOne', { limit: 8, checkMs: 30_000, silentMs: 150_000, inProgress: { 'node-1': 2, 'node-2': 1 } });
  expect(await metrics.page()).toMatch(
    /^drover_region_migrations\{region="RegionOne"\} 3$[^]*^drover_region_migrations_limit\{region="RegionOne"\} 8$/mu,
  );
  nowMs = 90_000;
  expect(await metrics.page()).not.toContain('RegionOne');
});
