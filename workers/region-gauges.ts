import type { AllowanceObservation } from '../contracts/allowance.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/** A look that is this many intervals old says nothing any more: another worker looks now, or nobody needs to. */
const staleAfterChecks = 3;

/** Shows what the last look at a region found, while it is fresh. */
export function showRegions(
  metrics: Metrics,
  clock: Pick<Clock, 'monotonicMs'>,
): (region: string, world: AllowanceObservation) => void {
  const looks = new Map<string, { world: AllowanceObservation; staleMs: number }>();
  metrics.beforePage(() => {
    const fresh = [...looks].filter(([, { staleMs }]) => clock.monotonicMs() < staleMs);
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
    void looks.set(region, { world, staleMs: clock.monotonicMs() + staleAfterChecks * world.checkMs });
}
