import {
  agentsQueue,
  hostChecksQueue,
  hostsQueue,
  kubernetesQueue,
  machinesQueue,
  novaQueue,
  virtualMachinesQueue,
  volumesQueue,
  vsphereQueue,
  workflowQueue,
} from '../contracts/ids.ts';
import { createTemporalActivities } from '../activities/temporal/activities.ts';
import { SlotRequests } from '../activities/temporal/allowance.ts';
import type { Config } from '../runtime/config/config-schema.ts';
import type { VcenterSettings } from '../runtime/config/vsphere-settings.ts';
import { composeActivities } from './activities.ts';
import { composeAgentActivities } from './agent-activities.ts';
import { composeLibraryImageActivities } from './library-image-activities.ts';
import { composeMachineActivities } from './machine-activities.ts';
import { composeResourcePolicyActivities } from './resource-policy-activities.ts';
import type { SharedSystems, Systems } from './systems.ts';
import { composeVirtualMachineActivities } from './virtual-machine-activities.ts';
import { composeVolumeActivities } from './volume-activities.ts';

/** A task queue that this process serves; its activities by their wire names. */
export interface ServedQueue {
  taskQueue: string;
  maxConcurrentActivityTaskExecutions: number;
  activities: object;
}

/** The queue of the workflows comes first. */
export interface ServedQueues {
  queues: [ServedQueue, ...ServedQueue[]];
  close: () => Promise<void>;
}

/**
 * How many activities of Machines run at once: each namespace holds two places for as long as it is watched, and a third
 * one is for its sweep, however few the settings give. Pure.
 */
export const placesForMachines = ({
  worker: { concurrency },
  machines: { namespaces },
}: {
  worker: { concurrency: Pick<Config['worker']['concurrency'], 'machines'> };
  machines: Pick<Config['machines'], 'namespaces'>;
}): number => Math.max(concurrency.machines, 3 * namespaces.length);

/**
 * How many activities of hosts run at once: each shard of the guest watch holds a place for as long as it watches, and
 * none of those that the settings give, so that the guest watch never keeps a failed host from being observed and
 * fenced. Pure.
 */
export const placesForHosts = ({
  worker: { concurrency },
  nodeFailure: { mode, guestEvents },
}: {
  worker: { concurrency: Pick<Config['worker']['concurrency'], 'hosts'> };
  nodeFailure: Pick<Config['nodeFailure'], 'mode'> & { guestEvents: { shards: number } | null };
}): number => concurrency.hosts + (mode === 'off' ? 0 : (guestEvents?.shards ?? 0));

/**
 * How many activities at a vCenter run at once: the watch over its VMs holds one place for as long as it is wanted, and
 * there is another for all else, however few the settings give. Pure.
 */
export const placesForVcenter = ({ vsphere }: Pick<Config['worker']['concurrency'], 'vsphere'>): number =>
  Math.max(vsphere, 2);

/**
 * What this process serves, by what it can reach: Kubernetes and observations of virtual machines always, Nova and its
 * hosts where there is an OpenStack, each vCenter.
 *
 * @param cloud null: there is no OpenStack
 * @throws InvalidConfiguration
 */
export function composeQueues(
  shared: SharedSystems,
  cloud: Pick<Systems, 'openstack' | 'onObserved'> | null,
  vcenters: readonly VcenterSettings[],
): ServedQueues {
  const {
    cluster,
    worker: { concurrency },
  } = shared.config;
  const ofCloud =
    cloud === null ? null : { region: cloud.openstack.region, ...composeActivities({ ...shared, ...cloud }) };
  const ofVms = composeVirtualMachineActivities(shared, vcenters);
  const ofMachines = composeMachineActivities(shared);
  const ofAgents = composeAgentActivities(shared, vcenters);
  const { temporal: client, clock, random } = shared;
  const slotRequests = new SlotRequests({ client, cluster, clock, random });
  const ofVolumes = composeVolumeActivities(shared, slotRequests);
  const queue = (taskQueue: string, maxConcurrentActivityTaskExecutions: number, activities: object): ServedQueue => ({
    taskQueue,
    maxConcurrentActivityTaskExecutions,
    activities,
  });
  return {
    queues: [
      queue(
        workflowQueue(cluster),
        concurrency.drover,
        createTemporalActivities({
          client,
          cluster,
          clock,
          slotRequests,
          publishQueued: {
            publishVirtualMachine: (request) => ofVms.kubernetes.publishVirtualMachine(request as never),
            publishDataVolume: (request) => ofVolumes.publishDataVolume(request as never),
            publishVsphereAgent: (request) => ofAgents.activities.publishVsphereAgent(request as never),
          },
        }),
      ),
      queue(kubernetesQueue(cluster), concurrency.kubernetes, {
        ...ofCloud?.kubernetes,
        ...ofVms.kubernetes,
        ...composeLibraryImageActivities(shared, vcenters),
        ...composeResourcePolicyActivities(shared, vcenters),
      }),
      ...(ofCloud === null
        ? []
        : [
            queue(novaQueue(ofCloud.region, cluster), concurrency.nova, ofCloud.nova),
            queue(hostsQueue(cluster), placesForHosts(shared.config), ofCloud.hosts),
            queue(hostChecksQueue(cluster), concurrency.hosts, ofCloud.hosts),
          ]),
      queue(machinesQueue(cluster), placesForMachines(shared.config), ofMachines.activities),
      queue(agentsQueue(cluster), concurrency.agents, ofAgents.activities),
      queue(volumesQueue(cluster), concurrency.volumes, ofVolumes),
      queue(virtualMachinesQueue(cluster), concurrency.vsphere, ofVms.observers),
      ...ofVms.vcenters.map(({ name, activities }) =>
        queue(vsphereQueue(name, cluster), placesForVcenter(concurrency), activities),
      ),
    ],
    close: async () => {
      const opened = [...ofVms.vcenters, ofMachines, ofAgents, ...(ofCloud === null ? [] : [ofCloud])];
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}
