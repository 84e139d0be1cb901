import { addressOf } from '../activities/hypervisor/activities.ts';
import { createEvictionObjectActivities } from '../activities/kubernetes/eviction/activities.ts';
import { createMigrationReporter } from '../activities/kubernetes/eviction/report-migration.ts';
import { share } from '../activities/lib/share.ts';
import { listGuests } from '../activities/libvirt/list-guests.ts';
import {
  createAllowanceActivities,
  createHostActivities,
  createInstanceActivities,
} from '../activities/nova/activities.ts';
import { createNovaClient } from '../activities/nova/client.ts';
import { createPaceMeter } from '../activities/nova/pace-meter.ts';
import { plannedWithMs, shareRegion } from '../activities/nova/region-reads.ts';
import { createPlacementClient } from '../activities/placement/client.ts';
import { createProviderReads, sharePlacement } from '../activities/placement/provider-reads.ts';
import { createCandidateReads } from '../activities/preflight/ask-placement.ts';
import type {
  AllowanceActivities,
  EvictionHostActivities,
  EvictionObjectActivities,
  InstanceActivities,
} from '../contracts/eviction/activities.ts';
import type {
  HypervisorCheckActivities,
  HypervisorHostActivities,
  HypervisorObjectActivities,
  HypervisorRegionActivities,
} from '../contracts/hypervisor/activities.ts';
import { kindTable } from '../contracts/kinds/table.ts';
import { unseenChange } from '../contracts/messages.ts';
import type {
  NodeFailureHostActivities,
  NodeFailureObjectActivities,
  NodeFailureRegionActivities,
} from '../contracts/node-failure/activities.ts';
import type { GuestWatchActivities } from '../contracts/node-failure/guest-watch.ts';
import type { PowerActivities } from '../contracts/node-failure/power.ts';
import { evictionSettings } from '../runtime/config/config-schema.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { resources } from '../runtime/kubernetes/resources.ts';
import { type StopPlace, createStopGate, findStop, readStops } from '../runtime/stop.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import { createCallersGate } from './callers-gate.ts';
import { composeHypervisorActivities } from './hypervisor-activities.ts';
import type { Systems } from './systems.ts';

/** Of what there is an OpenStack for, by task queue. */
export interface ActivitiesByQueue {
  kubernetes: EvictionObjectActivities & HypervisorObjectActivities & NodeFailureObjectActivities;
  nova: EvictionHostActivities &
    InstanceActivities &
    AllowanceActivities &
    HypervisorRegionActivities &
    NodeFailureRegionActivities;
  /** Of `hosts`, and of `host-checks`. */
  hosts: HypervisorHostActivities &
    HypervisorCheckActivities &
    NodeFailureHostActivities &
    GuestWatchActivities &
    PowerActivities;
  /** Logs out of what they have opened. */
  close: () => Promise<void>;
}

/** Gives every activity what it needs, and nothing else. */
export function composeActivities(systems: Systems): ActivitiesByQueue {
  const { config, temporal, kubernetes, openstack, audit, clock, logger, onObserved } = systems;
  const { cluster, modes, kubernetes: names, limits } = config;
  const { region } = openstack;
  const client = openObjects(kubernetes);
  const { nova, region: reads } = shareRegion(createNovaClient(openstack), clock);
  const placement = sharePlacement(createPlacementClient(openstack), clock);
  const providers = createProviderReads(placement, clock);
  const hypervisor = composeHypervisorActivities(systems, { nova, placement, region: reads, providers });
  const hypervisors = share(clock, (signal) => client.listValid(resources.Hypervisor, {}, signal));
  const evictions = share(clock, (signal) => client.listValid(resources.Eviction, {}, signal));
  const pace = createPaceMeter(clock);
  const place: StopPlace = { kind: 'Eviction', cluster, region };
  const stopGate = createStopGate(kubernetes, names.systemNamespace, place, clock);
  const callersGate = createCallersGate({
    Eviction: stopGate,
    Hypervisor: createStopGate(kubernetes, names.systemNamespace, { ...place, kind: 'Hypervisor' }, clock),
  });
  return {
    kubernetes: {
      ...hypervisor.kubernetes,
      ...createEvictionObjectActivities({
        client,
        settings: evictionSettings(config, region),
        mode: modes.Eviction,
        migrationNamespace: names.migrationNamespace,
        signalWithStartEviction: async (hypervisor, startedBy) => {
          const signal = unseenChange('started by hand');
          await signalWithStart(
            temporal,
            kindTable.Eviction,
            { subject: hypervisor, cluster, signal, startedBy },
            { clock },
          );
        },
        findStop: async (signal) => findStop(await readStops(kubernetes, names.systemNamespace, signal), place),
        audit,
        clock,
      }),
    },
    nova: {
      ...hypervisor.nova,
      ...createHostActivities({
        nova,
        region: reads,
        providers,
        candidates: createCandidateReads(placement, clock),
        listHypervisors: (signal) => hypervisors.read(plannedWithMs, signal),
        listEvictions: (signal) => evictions.read(0, signal),
        listGuests: (name, signal) =>
          listGuests(
            {
              ...systems.ports,
              libvirt: config.hypervisor.libvirt,
              addressOf: (host, bound) => addressOf(client, host, bound),
              clock,
              warn: (message) => logger.warn(message),
            },
            name,
            signal,
          ),
        localDisks: config.openstack.localDisks,
        stopGate: callersGate,
        audit,
        clock,
      }),
      ...createInstanceActivities({
        nova,
        stopGate,
        audit,
        clock,
        report: createMigrationReporter(client, names.migrationNamespace, (message) => logger.warn(message), clock),
        pace,
      }),
      ...createAllowanceActivities({
        nova,
        limit: limits.migrationsPerRegion,
        leastLimit: limits.leastMigrationsPerRegion,
        pace,
        checkMs: limits.checkMs,
        silentMs: limits.silentMs,
        clock,
        ...(onObserved === undefined ? {} : { onObserved }),
      }),
    },
    hosts: hypervisor.hosts,
    close: hypervisor.close,
  };
}
