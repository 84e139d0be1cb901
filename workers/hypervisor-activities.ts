import { createHypervisorHostActivities } from '../activities/hypervisor/activities.ts';
import { createHypervisorRegionActivities } from '../activities/hypervisor/region-activities.ts';
import { createHypervisorObjectActivities } from '../activities/kubernetes/hypervisor-activities.ts';
import { createHypervisorClient } from '../activities/kubernetes/hypervisor-client.ts';
import type { NovaClient } from '../activities/nova/types.ts';
import type { PlacementClient } from '../activities/placement/types.ts';
import { hypervisorSettings } from '../runtime/hypervisor-config.ts';
import { createStopGate } from '../runtime/stop.ts';
import { signalWithStartHypervisor } from '../runtime/temporal.ts';
import type { Systems } from './systems.ts';

/** The activities of the hypervisor lifecycle, by task queue. */
export function composeHypervisorActivities({ config, temporal, kubernetes, openstack, audit, observe }: Systems, nova: NovaClient, placement: PlacementClient) {
  const { cluster, modes, hypervisor } = config;
  const { region } = openstack;
  const client = createHypervisorClient(kubernetes);
  const stopGate = createStopGate(kubernetes, config.kubernetes.systemNamespace, { kind: 'Hypervisor', cluster, region });
  return {
    kubernetes: createHypervisorObjectActivities({ client, stopGate, audit, guardImage: hypervisor.guardImage }),
    nova: createHypervisorRegionActivities({ nova, placement, stopGate, audit }),
    hosts: createHypervisorHostActivities({
      nova,
      placement,
      client,
      stopGate,
      audit,
      config: hypervisor,
      settings: hypervisorSettings(hypervisor, { region, cluster, mode: modes.Hypervisor === 'act' ? 'act' : 'observe' }),
      isOff: modes.Hypervisor === 'off',
      signalWithStart: async (name, startedBy) => {
        const signal = { uid: '', generation: 0, resourceVersion: '', cause: 'started by hand' };
        await signalWithStartHypervisor(temporal, { hypervisor: name, cluster, signal, ...(startedBy === null ? {} : { startedBy }) });
      },
      ...(observe === undefined ? {} : { observe }),
    }),
  };
}
