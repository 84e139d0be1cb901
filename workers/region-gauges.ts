import type { AllowanceObservation } from '../contracts/allowance.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/** An observation that is this many intervals old is stale: another worker observes now, or no eviction runs. */
const staleAfterChecks = 3;

/** Exports the last observation of a region, while it is fresh. */
export function showRegions(
  metrics: Metrics,
  clock: Pick<Clock, 'monotonicMs'>,
): (region: string, world: AllowanceObservation) => void {
  const observations = new Map<string, { world: AllowanceObservation; staleMs: number }>();
  metrics.beforePage(() => {
    const fresh = [...observations].filter(([, { staleMs }]) => clock.monotonicMs() < staleMs);
    metrics.replace(
      'regionMigrations',
      fresh.map(([region, { world }]) => ({
        labels: { region },
        value: Object.values(world.inProgress).reduce((sum, count) => sum + count, 0),
      })),
    );
    metrics.replace(
      'regionMigrationsLimit',
      fresh.map(([region, { world }]) => ({ labels: { region }, value: world.limit })),
    );
  });
  return (region, world) =>
    void observations.set(region, { world, staleMs: clock.monotonicMs() + staleAfterChecks * world.checkMs });
}
