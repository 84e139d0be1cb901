import { createVirtualMachineClient } from '../activities/kubernetes/virtual-machine-client.ts';
import { createVirtualMachineObjectActivities } from '../activities/kubernetes/virtual-machine-activities.ts';
import { createVirtualMachineVsphereActivities } from '../activities/vsphere/activities.ts';
import { openVcenter } from '../activities/vsphere/client.ts';
import { openGateway } from '../activities/vsphere/gateway.ts';
import { openRest } from '../activities/vsphere/rest/client.ts';
import type { VirtualMachineObjectActivities, VirtualMachineVsphereActivities } from '../contracts/virtual-machine-activities.ts';
import { unseenChange } from '../contracts/messages.ts';
import { createStopGate, type StopGate } from '../runtime/stop.ts';
import { signalWithStartVirtualMachine } from '../runtime/temporal.ts';
import { virtualMachineSettings } from '../runtime/virtual-machine-config.ts';
import type { VcenterSettings } from '../runtime/vsphere-settings.ts';
import type { SharedSystems } from './systems.ts';

/** One vCenter, as a queue of its own serves it. */
export interface ServedVcenter {
  name: string;
  activities: VirtualMachineVsphereActivities;
  close(): Promise<void>;
}

/**
 * The activities of the lifecycle of virtual machines: on their objects, and by vCenter. Where the kind is switched off, whoever asks is told.
 *
 * @param vcenters none where the kind is switched off
 * @throws InvalidConfiguration where it is not clear which vCenter has the VMs
 */
export function composeVirtualMachineActivities(systems: SharedSystems, vcenters: readonly VcenterSettings[]): { kubernetes: VirtualMachineObjectActivities; vcenters: ServedVcenter[] } {
  const { config, temporal, kubernetes, audit } = systems;
  const { cluster, modes } = config;
  const { systemNamespace } = config.kubernetes;
  const stopGate = createStopGate(kubernetes, systemNamespace, { kind: 'VirtualMachine', cluster, region: null });
  const mode = modes.VirtualMachine === 'act' ? 'act' : 'observe';
  return {
    kubernetes: createVirtualMachineObjectActivities({
      client: createVirtualMachineClient(kubernetes),
      settings: modes.VirtualMachine === 'off' ? null : virtualMachineSettings(config.virtualMachine, { vcenters: vcenters.map(({ name }) => name), cluster, mode }),
      imageCacheNamespace: systemNamespace,
      signalWithStart: async ({ namespace, name }, startedBy) => {
        const signal = unseenChange('started by hand');
        await signalWithStartVirtualMachine(temporal, { namespace, name, cluster, signal, ...(startedBy === null ? {} : { startedBy }) });
      },
      stopGate,
      audit,
    }),
    vcenters: vcenters.map((vcenter) => serve(systems, vcenter, stopGate)),
  };
}

function serve({ audit, observe }: SharedSystems, vcenter: VcenterSettings, stopGate: StopGate): ServedVcenter {
  const observing = observe === undefined ? {} : { observe };
  const vim = openVcenter(vcenter, observing);
  const rest = openRest(vcenter, observing);
  return {
    name: vcenter.name,
    activities: createVirtualMachineVsphereActivities({ gateway: openGateway(vim, vcenter.budget), rest, places: vcenter.places, stopGate, audit }),
    close: async () => void (await Promise.allSettled([vim.close(), rest.close()])),
  };
}
