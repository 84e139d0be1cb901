import { createHypervisorHostActivities } from '../activities/hypervisor/activities.ts';
import { createImageCalls } from '../activities/glance/images.ts';
import { createNodeFailureHostActivities } from '../activities/hypervisor/node-failure-activities.ts';
import { createHypervisorRegionActivities } from '../activities/hypervisor/region-activities.ts';
import { watchShard } from '../activities/hypervisor/watch-shard.ts';
import { createHypervisorObjectActivities } from '../activities/kubernetes/hypervisor/activities.ts';
import { createNodeFailureObjectActivities } from '../activities/kubernetes/node-failure/activities.ts';
import { readFencingLog } from '../activities/kubernetes/node-failure/claim-fencing.ts';
import type { CephClient } from '../activities/ceph/types.ts';
import { currentScope } from '../activities/lib/context.ts';
import { shareSessions } from '../activities/lib/shared-sessions.ts';
import { createNodeFailureRegionActivities } from '../activities/nova/node-failure-activities.ts';
import type { RegionReads } from '../activities/nova/region-reads.ts';
import type { NovaClient } from '../activities/nova/types.ts';
import type { ProviderReads } from '../activities/placement/provider-reads.ts';
import type { PlacementClient } from '../activities/placement/types.ts';
import { createPowerActivities } from '../activities/redfish/activities.ts';
import { findBmc } from '../activities/redfish/find-bmc.ts';
import { workflowTypes } from '../contracts/ids.ts';
import { nodeFailureRun } from '../contracts/kinds/node-failure.ts';
import { kindTable } from '../contracts/kinds/table.ts';
import { messages, unseenChange } from '../contracts/messages.ts';
import type { GuestWatchActivities } from '../contracts/node-failure/guest-watch.ts';
import { hypervisorSettings } from '../runtime/config/hypervisor-config.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { resources } from '../runtime/kubernetes/resources.ts';
import { createStopGate } from '../runtime/stop.ts';
import { isRunOpen } from '../runtime/temporal/is-run-open.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import type { Systems } from './systems.ts';

/** How one region is asked, by all activities of a worker. */
interface OpenStackReads {
  nova: NovaClient;
  placement: PlacementClient;
  region: RegionReads;
  providers: ProviderReads;
}

/** The activities of the hypervisor lifecycle, by task queue. */
export function composeHypervisorActivities(
  { config, temporal, kubernetes, openstack, audit, clock, random, ports }: Systems,
  { nova, placement, region: reads, providers }: OpenStackReads,
) {
  const { cluster, modes, hypervisor, nodeFailure } = config;
  const { systemNamespace } = config.kubernetes;
  const { region } = openstack;
  const client = openObjects(kubernetes);
  const listHypervisors = (signal: AbortSignal) => client.listValid(resources.Hypervisor, {}, signal);
  const stopGate = createStopGate(kubernetes, systemNamespace, { kind: 'Hypervisor', cluster, region }, clock);
  const isFailureRunOpen = (name: string, abort: AbortSignal) =>
    isRunOpen(temporal, nodeFailureRun.workflowId(name, cluster), { clock, abort });
  const power = createPowerActivities({
    bmcOf: (host, signal) => findBmc(nodeFailure.bmc, host, ports.readText, signal),
    stopGate,
    audit,
    clock,
    connect: ports.connectBmc,
  });
  const failures = createNodeFailureHostActivities({
    nova,
    placement,
    client,
    config: nodeFailure,
    libvirt: hypervisor.libvirt,
    cluster,
    region,
    power,
    readFencingLog: (signal) => readFencingLog(kubernetes, systemNamespace, clock.now(), signal),
    signalWithStart: async (name, startedBy, cause) => {
      const signal = unseenChange(cause);
      await signalWithStart(temporal, nodeFailureRun, { subject: name, cluster, signal, startedBy }, { clock });
    },
    clock,
    ports,
  });
  const guests: GuestWatchActivities = {
    watchGuests: (request) =>
      watchShard(
        {
          listHypervisors,
          nova,
          events: client,
          signalGuestsFailing: async (name, message) =>
            void (await signalWithStart(
              temporal,
              nodeFailureRun,
              {
                subject: name,
                cluster,
                startedBy: 'the guest watch',
                message: messages.guestsFailing,
                signal: { message },
              },
              { clock },
            )),
          settings: nodeFailure.mode === 'off' ? null : nodeFailure.guestEvents,
          libvirt: hypervisor.libvirt,
          scope: currentScope(clock),
          clock,
          random,
          ports,
        },
        request,
      ),
  };
  // The settings name one cluster; there is another one only while its password is renewed.
  const ceph = shareSessions<CephClient>(1);
  const lifecycle = createHypervisorHostActivities({
    nova,
    region: reads,
    providers,
    client,
    stopGate,
    audit,
    clock,
    config: hypervisor,
    settings: hypervisorSettings(hypervisor, {
      region,
      cluster,
      mode: modes.Hypervisor === 'act' ? 'act' : 'observe',
      handlesNodeFailure: nodeFailure.mode !== 'off',
    }),
    isOff: modes.Hypervisor === 'off',
    signalWithStart: async (name, startedBy) => {
      const signal = unseenChange('started by hand');
      await signalWithStart(temporal, kindTable.Hypervisor, { subject: name, cluster, signal, startedBy }, { clock });
    },
    isFailureRunOpen,
    random,
    ports,
    ceph,
  });
  return {
    kubernetes: {
      ...createHypervisorObjectActivities({
        client,
        stopGate,
        audit,
        clock,
        guardImage: hypervisor.guardImage,
        certificates: hypervisor.certificates,
      }),
      ...createNodeFailureObjectActivities({ kubernetes, client, systemNamespace, stopGate, audit, clock }),
    },
    nova: {
      ...createHypervisorRegionActivities({
        nova,
        placement,
        stopGate,
        audit,
        clock,
        mode: modes.Hypervisor,
        listHypervisors,
        isFailureRunOpen: nodeFailure.mode === 'off' ? null : isFailureRunOpen,
        signal: async ({ hypervisor: name, why }) => {
          const signal = unseenChange(`drift: ${why}`);
          await signalWithStart(
            temporal,
            kindTable.Hypervisor,
            { subject: name, cluster, signal, startedBy: workflowTypes.findDrift },
            { clock },
          );
        },
      }),
      ...createNodeFailureRegionActivities({
        nova,
        placement,
        stopGate,
        audit,
        clock,
        images: createImageCalls(openstack),
        localDisks: config.openstack.localDisks,
      }),
    },
    hosts: { ...lifecycle, ...failures, ...guests, ...power },
    close: () => ceph.close(),
  };
}
