import type { AllowanceObservation } from '../../contracts/allowance.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';

/** What drover starts, and what counts against the region's limit whoever started it. */
const counted: readonly string[] = ['live-migration', 'migration'];

/** Migrations in progress by source host. One that waits for its confirmation uses the network no more. */
export function countBySource(migrations: readonly Migration[]): AllowanceObservation['inProgress'] {
  const inProgress: AllowanceObservation['inProgress'] = {};
  for (const { type, status, sourceHost } of migrations) {
    if (counted.includes(type) && status !== 'finished') inProgress[sourceHost] = (inProgress[sourceHost] ?? 0) + 1;
  }
  return inProgress;
}
