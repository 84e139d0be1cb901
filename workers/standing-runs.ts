import type { Client } from '@temporalio/client';
import type { Config } from '../runtime/config-schema.ts';
import type { Logger } from '../runtime/logging.ts';
import { startGuestWatches, wordsOf } from '../runtime/temporal.ts';
import { ensureDriftSchedule } from './drift-schedule.ts';

/**
 * Sees to it that what no event begins is under way: the look for drift, and the watches over guests. Nothing waits for it, and a worker
 * serves without; the next one that starts tries again.
 */
export function startStandingRuns(temporal: Client, { cluster, modes, hypervisor, nodeFailure }: Config, region: string, logger: Logger): void {
  const unless = (why: string) => (error: unknown) => logger.warn({ error: wordsOf(error) }, why);
  void ensureDriftSchedule(temporal, { mode: modes.Hypervisor, region, cluster, driftMs: hypervisor.driftMs }).catch(
    unless('Nobody looks for what changes in Nova and Placement behind drover’s back: the Schedule could not be made'),
  );
  const { mode, guestEvents } = nodeFailure;
  if (mode !== 'off' && guestEvents !== null) void startGuestWatches(temporal, { shards: guestEvents.shards, cluster }).catch(unless('Guests are not watched: the runs could not be started'));
}
