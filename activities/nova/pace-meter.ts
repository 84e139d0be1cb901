import type { MigrationPace } from '../../contracts/allowance.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NovaClient } from './types.ts';

/**
 * How fast live migrations copy, by the counters that the waits of this process read anyway: a sample of the region,
 * without a request of its own.
 */
export interface PaceMeter {
  observe(migration: Migration): void;
  /** Null: too little was observed within the last minute. */
  read(): MigrationPace | null;
}

interface Sample {
  atMs: number;
  processedBytes: number;
  remainingBytes: number;
}

const windowMs = 60_000;
/** One that was not read for so long has most likely ended. */
const currentMs = 20_000;
/**
 * Nova renews its counters every few seconds; less time than this between the first sample and the last says little.
 */
const leastMs = 5_000;

export function createPaceMeter(clock: Pick<Clock, 'monotonicMs'>): PaceMeter {
  const samples = new Map<number, { host: string; taken: Sample[] }>();
  const forget = (): void => {
    const fromMs = clock.monotonicMs() - windowMs;
    for (const [id, { taken }] of samples) {
      taken.splice(0, taken.filter(({ atMs }) => atMs < fromMs).length);
      if (taken.length === 0) samples.delete(id);
    }
  };
  return {
    observe({ id, type, status, sourceHost, memoryProcessedBytes, memoryRemainingBytes }) {
      if (type !== 'live-migration' || status !== 'running' || memoryRemainingBytes === null) return;
      const known = samples.get(id) ?? { host: sourceHost, taken: [] };
      samples.set(id, known);
      known.taken.push({
        atMs: clock.monotonicMs(),
        processedBytes: memoryProcessedBytes ?? 0,
        remainingBytes: memoryRemainingBytes,
      });
    },
    read() {
      forget();
      const fromMs = clock.monotonicMs() - currentMs;
      const measured = [...samples.values()].flatMap(({ host, taken }) => {
        const rate = (taken.at(-1)?.atMs ?? 0) < fromMs ? null : rateOf(taken);
        return rate === null ? [] : [{ host, rate }];
      });
      if (measured.length === 0) return null;
      const rates = measured.map(({ rate }) => rate).toSorted((a, b) => a - b);
      return {
        bytesPerSecond: rates[Math.floor((rates.length - 1) / 2)]!,
        migrations: measured.length,
        hosts: new Set(measured.map(({ host }) => host)).size,
      };
    },
  };
}

/**
 * Pages of zeros get less without being sent, and pages that a guest writes again are sent without what remains getting
 * less: the larger of both is what the copy has dealt with.
 */
function rateOf(taken: readonly Sample[]): number | null {
  const [first, last] = [taken[0], taken.at(-1)];
  if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return null;
  const bytes = Math.max(last.processedBytes - first.processedBytes, first.remainingBytes - last.remainingBytes, 0);
  return Math.round((bytes / (last.atMs - first.atMs)) * 1_000);
}

/** The same client, whose counted reads the meter is told of. */
export const meterPace = (nova: NovaClient, pace: PaceMeter): NovaClient => ({
  ...nova,
  async serverMigration(...request) {
    const migration = await nova.serverMigration(...request);
    if (migration !== null) pace.observe(migration);
    return migration;
  },
});
