import {
  createReadBackup,
  createReadBootstrap,
  createVirtualMachineObjectActivities,
} from '../activities/kubernetes/virtual-machine/activities.ts';
import { listRecordedVms } from '../activities/kubernetes/virtual-machine/list-recorded-vms.ts';
import { currentScope } from '../activities/lib/context.ts';
import { releaseSlot } from '../activities/temporal/allowance.ts';
import { goAlong } from '../activities/virtual-machine/along.ts';
import { createVirtualMachineObserverActivities } from '../activities/virtual-machine/observe.ts';
import { createVirtualMachineVsphereActivities } from '../activities/vsphere/activities.ts';
import { openGateway } from '../activities/vsphere/gateway.ts';
import { createSlotActivities } from '../activities/vsphere/observe-slots.ts';
import { createContentLibraryActivities } from '../activities/vsphere/rest/content-library.ts';
import { createResourcePolicyVsphereActivities } from '../activities/vsphere/resource-policy/activities.ts';
import { openRecentObservations } from '../activities/vsphere/watch/recent-observations.ts';
import { watchVcenter } from '../activities/vsphere/watch/watch-vcenter.ts';
import type { SlotLimit } from '../contracts/allowance.ts';
import type { SlotActivities } from '../contracts/eviction/activities.ts';
import { kindTable } from '../contracts/kinds/table.ts';
import { unseenChange } from '../contracts/messages.ts';
import type { ResourcePolicyVsphereActivities } from '../contracts/resource-policy/resource-policy.ts';
import type {
  VirtualMachineObjectActivities,
  VirtualMachineObserverActivities,
  VirtualMachineVsphereActivities,
} from '../contracts/virtual-machine/activities.ts';
import type { ContentLibraryActivities } from '../contracts/virtual-machine/content-library.ts';
import type { VcenterWatchActivities } from '../contracts/virtual-machine/vcenter-watch.ts';
import { virtualMachineSettings } from '../runtime/config/virtual-machine-config.ts';
import type { VcenterSettings } from '../runtime/config/vsphere-settings.ts';
import { droverFailure } from '../runtime/failure.ts';
import { type KubernetesObjects, openObjects } from '../runtime/kubernetes/objects.ts';
import { type StopGate, createStopGate } from '../runtime/stop.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import { resourcePolicyGate } from './resource-policy-activities.ts';
import type { SharedSystems } from './systems.ts';

/** One vCenter, as a queue of its own serves it. */
export interface ServedVcenter {
  name: string;
  activities: VirtualMachineVsphereActivities &
    VcenterWatchActivities &
    SlotActivities<Extract<SlotLimit, { vcenter: string }>> &
    ContentLibraryActivities &
    ResourcePolicyVsphereActivities;
  close(): Promise<void>;
}

/**
 * The activities of the lifecycle of virtual machines: on their objects, and by vCenter. Where the kind is switched
 * off, they answer so.
 *
 * @param vcenters none where the kind is switched off
 * @throws InvalidConfiguration where it is not clear which vCenter has the VMs
 */
export function composeVirtualMachineActivities(
  systems: SharedSystems,
  vcenters: readonly VcenterSettings[],
): {
  kubernetes: VirtualMachineObjectActivities;
  observers: VirtualMachineObserverActivities;
  vcenters: ServedVcenter[];
} {
  const { config, temporal, kubernetes, audit, clock, ports } = systems;
  const { cluster, modes } = config;
  const { systemNamespace } = config.kubernetes;
  const stopGate = createStopGate(
    kubernetes,
    systemNamespace,
    { kind: 'VirtualMachine', cluster, region: null },
    clock,
  );
  const client = openObjects(kubernetes);
  const mode = modes.VirtualMachine === 'act' ? 'act' : 'observe';
  const objects = createVirtualMachineObjectActivities({
    client,
    settings:
      modes.VirtualMachine === 'off'
        ? null
        : virtualMachineSettings(config.virtualMachine, { vcenters: vcenters.map(({ name }) => name), cluster, mode }),
    imageCacheNamespace: systemNamespace,
    hashSecret: ports.hashSecret,
    signalWithStart: async ({ namespace, name }, startedBy) => {
      const signal = unseenChange('started by hand');
      await signalWithStart(
        temporal,
        kindTable.VirtualMachine,
        { subject: `${namespace}/${name}`, cluster, signal, startedBy },
        { clock },
      );
    },
    stopGate,
    audit,
    clock,
  });
  const served = vcenters.map((vcenter) => serve(systems, vcenter, stopGate, { client, objects }));
  return {
    kubernetes: objects,
    observers: createVirtualMachineObserverActivities({
      readVirtualMachine: (input) => objects.readVirtualMachine(input),
      observeVirtualMachineInVcenter: (name, request) =>
        served.find((vcenter) => vcenter.name === name)?.activities.observeVirtualMachineInVcenter(request) ??
        Promise.reject(notServed(name)),
      probePort: ports.probePort,
      clock,
    }),
    vcenters: served,
  };
}

const notServed = (vcenter: string): Error =>
  droverFailure('InvalidConfiguration', `This worker speaks to no vCenter ${vcenter}: describe it in vsphere.vcenters`);

function serve(
  { config, temporal, kubernetes, audit, clock, random, ports, watchMeter, leaving }: SharedSystems,
  vcenter: VcenterSettings,
  stopGate: StopGate,
  { client, objects }: { client: KubernetesObjects; objects: VirtualMachineObjectActivities },
): ServedVcenter {
  const vim = ports.openVcenter(vcenter);
  const rest = ports.openRest(vcenter);
  const gateway = openGateway(vim, vcenter.budget, clock);
  const { name, places } = vcenter;
  const { cluster, modes, virtualMachine } = config;
  const { creates, destroys } = virtualMachine;
  const { checkMs, silentMs } = config.limits;
  const recent = openRecentObservations();
  return {
    name,
    activities: {
      ...goAlong(
        createVirtualMachineVsphereActivities({
          gateway,
          rest,
          places,
          readBootstrap: createReadBootstrap({ client, hashSecret: ports.hashSecret }),
          readBackup: createReadBackup(client),
          recent,
          stopGate,
          audit,
          clock,
        }),
        { objects, releaseSlot: (slot) => releaseSlot(temporal, { ...slot, cluster }), clock },
      ),
      ...createSlotActivities({ gateway, limits: { creates, destroys }, checkMs, silentMs, clock }),
      ...createContentLibraryActivities({ rest, clock }),
      ...createResourcePolicyVsphereActivities({
        gateway,
        rest,
        places,
        stopGate: resourcePolicyGate({ config, kubernetes, clock }),
        audit,
        clock,
      }),
      watchVcenter: (request) =>
        watchVcenter(
          {
            vcenter: name,
            wanted: modes.VirtualMachine !== 'off' && virtualMachine.asyncSignal,
            places,
            open: () => ports.openVcenter(vcenter),
            listRecordedVms: (signal) => listRecordedVms(kubernetes, signal),
            signalRun: async ({ namespace, name: object }, signal) =>
              void (await signalWithStart(
                temporal,
                kindTable.VirtualMachine,
                { subject: `${namespace}/${object}`, cluster, signal, startedBy: `the watch over vCenter ${name}` },
                { clock },
              )),
            stopGate,
            recent,
            meter: watchMeter,
            leaving,
            scope: currentScope(clock),
            clock,
            random,
          },
          request,
        ),
    },
    close: async () => void (await Promise.allSettled([vim.close(), rest.close()])),
  };
}
