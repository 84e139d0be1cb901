import {
  endVcenterWatches,
  startGuestWatches,
  startMachineSafety,
  startVcenterWatches,
} from '../runtime/temporal/system-workflows.ts';
import { wordsOf } from '../runtime/temporal/temporal.ts';
import type { VcenterSettings } from '../runtime/config/vsphere-settings.ts';
import { deleteOtherSweepSchedules, driftSchedule, ensureSchedule, sweepSchedule } from './schedules.ts';
import type { SharedSystems } from './systems.ts';

type SystemTools = Pick<SharedSystems, 'temporal' | 'config' | 'clock' | 'leaving' | 'logger'>;

/** What a user has ended or deleted, or what could not be started, is begun again after so long. */
const renewalMs = 5 * 60_000;

/**
 * Sees to it that what no event begins is under way: the search for drift, the sweeps of orphan VMs, the safety of
 * Machines, and the watches over guests and over the VMs of every vCenter.
 * Nothing waits for it, and a worker serves without.
 *
 * @param region null: there is no OpenStack
 */
export function startSystemWorkflows(
  tools: SystemTools,
  region: string | null,
  vcenters: readonly Pick<VcenterSettings, 'name' | 'places'>[],
): void {
  deleteOtherSchedules(tools);
  void renew(tools, region, vcenters);
}

/** Until the worker leaves. */
async function renew(
  tools: SystemTools,
  region: string | null,
  vcenters: readonly Pick<VcenterSettings, 'name' | 'places'>[],
): Promise<void> {
  while (!tools.leaving.aborted) {
    if (region !== null) {
      renewDriftSchedule(tools, region);
      renewGuestWatches(tools);
    }
    renewSweepSchedules(tools);
    renewVcenterWatches(tools, vcenters);
    renewMachineSafety(tools);
    await tools.clock.sleep(renewalMs, tools.leaving).catch(() => undefined);
  }
}

const unless =
  ({ logger, leaving }: SystemTools, why: string) =>
  (error: unknown): void => {
    if (!leaving.aborted) logger.warn({ error: wordsOf(error) }, why);
  };

/** Only where drover acts is any drift repaired. */
function renewDriftSchedule(tools: SystemTools, region: string): void {
  const { cluster, modes, hypervisor } = tools.config;
  void ensureSchedule(
    { client: tools.temporal, ...tools },
    driftSchedule(region, cluster, hypervisor.driftMs),
    modes.Hypervisor === 'act',
  ).catch(unless(tools, 'Drift of Nova and Placement is not detected: the Schedule could not be made'));
}

/** Also where drover only observes: a sweep then says what it would delete. */
function renewSweepSchedules(tools: SystemTools): void {
  const { cluster, modes, machines } = tools.config;
  for (const namespace of machines.namespaces)
    void ensureSchedule(
      { client: tools.temporal, ...tools },
      sweepSchedule(namespace, cluster, machines.sweep),
      modes.Machine !== 'off',
    ).catch(unless(tools, `Orphan VMs of ${namespace} are not swept: the Schedule could not be made`));
}

/**
 * Namespaces that the settings name no more have none. Only at the start: a worker with older settings, while others
 * start with newer ones, would delete theirs again and again.
 */
function deleteOtherSchedules(tools: SystemTools): void {
  const { cluster, modes, machines } = tools.config;
  // Where the settings name no Machines, Temporal need not be asked.
  if (modes.Machine === 'off' && machines.namespaces.length === 0) return;
  void deleteOtherSweepSchedules({ client: tools.temporal, ...tools }, machines.namespaces, cluster).catch(
    unless(tools, 'Schedules that request sweeps of namespaces that the settings name no more could not be deleted'),
  );
}

function renewGuestWatches(tools: SystemTools): void {
  const {
    temporal,
    clock,
    config: {
      cluster,
      nodeFailure: { mode, guestEvents },
    },
  } = tools;
  if (mode !== 'off' && guestEvents !== null)
    void startGuestWatches(temporal, { shards: guestEvents.shards, cluster }, { clock }).catch(
      unless(tools, 'Guests are not watched: the runs could not be started'),
    );
}

/** Has the VMs of every vCenter watched, or none, where drover does not reconcile them or gets no events. */
function renewVcenterWatches(tools: SystemTools, vcenters: readonly Pick<VcenterSettings, 'name' | 'places'>[]): void {
  const {
    temporal,
    clock,
    config: { cluster, modes, virtualMachine, vsphere },
  } = tools;
  const wanted =
    modes.VirtualMachine !== 'off' && virtualMachine.asyncSignal
      ? vcenters.filter(({ places }) => Object.keys(places.zones).length > 0).map(({ name }) => name)
      : [];
  const others = Object.keys(vsphere.vcenters).filter((name) => !wanted.includes(name));
  void startVcenterWatches(temporal, { vcenters: wanted, cluster }, { clock }).catch(
    unless(tools, 'VMs are not watched: the runs could not be started'),
  );
  // Where the kind is off, no worker serves their queues: they would wait for ever.
  void endVcenterWatches(temporal, { vcenters: others, cluster }, { clock }).catch(
    unless(tools, 'Watches over VMs that are not wanted any more could not be ended'),
  );
}

/** Runs of a namespace that the settings name no more end by themselves. */
function renewMachineSafety(tools: SystemTools): void {
  const {
    temporal,
    clock,
    config: { cluster, modes, machines },
  } = tools;
  if (modes.Machine === 'off') return;
  void startMachineSafety(temporal, { namespaces: machines.namespaces, cluster }, { clock }).catch(
    unless(tools, 'API servers are not probed, and no orphan VM is swept: the runs could not be started'),
  );
}
