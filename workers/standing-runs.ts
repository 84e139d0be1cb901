import type { Client } from '@temporalio/client';
import type { Config } from '../runtime/config-schema.ts';
import type { Logger } from '../runtime/logging.ts';
import { endVcenterWatches, startGuestWatches, startVcenterWatches } from '../runtime/standing-runs.ts';
import { wordsOf } from '../runtime/temporal.ts';
import type { VcenterSettings } from '../runtime/vsphere-settings.ts';
import { ensureDriftSchedule } from './drift-schedule.ts';

const unless = (logger: Logger, why: string) => (error: unknown) => logger.warn({ error: wordsOf(error) }, why);

/**
 * Sees to it that what no event begins is under way: the look for drift, and the watches over guests. Nothing waits for it, and a worker
 * serves without; the next one that starts tries again.
 */
export function startStandingRuns(temporal: Client, { cluster, modes, hypervisor, nodeFailure }: Config, region: string, logger: Logger): void {
  void ensureDriftSchedule(temporal, { mode: modes.Hypervisor, region, cluster, driftMs: hypervisor.driftMs }).catch(
    unless(logger, 'Nobody looks for what changes in Nova and Placement behind drover’s back: the Schedule could not be made'),
  );
  const { mode, guestEvents } = nodeFailure;
  if (mode !== 'off' && guestEvents !== null) void startGuestWatches(temporal, { shards: guestEvents.shards, cluster }).catch(unless(logger, 'Guests are not watched: the runs could not be started'));
}

/** Has the VMs of every vCenter watched, or nobody's, where they are not driven or not told of. Nothing waits for it either. */
export function settleVcenterWatches(temporal: Client, { cluster, modes, virtualMachine, vsphere }: Config, vcenters: readonly Pick<VcenterSettings, 'name' | 'places'>[], logger: Logger): void {
  const wanted = modes.VirtualMachine !== 'off' && virtualMachine.asyncSignal ? vcenters.filter(({ places }) => Object.keys(places.zones).length > 0).map(({ name }) => name) : [];
  const others = Object.keys(vsphere.vcenters).filter((name) => !wanted.includes(name));
  void startVcenterWatches(temporal, { vcenters: wanted, cluster }).catch(unless(logger, 'VMs are not watched: the runs could not be started'));
  // Where the kind is off, nobody serves their queues: they would wait for ever.
  void endVcenterWatches(temporal, { vcenters: others, cluster }).catch(unless(logger, 'Watches over VMs that nobody wants any more could not be ended'));
}
