import { openHostPorts } from '../activities/hypervisor/host-ports.ts';
import { openSession } from '../activities/keystone/client.ts';
import { hashSecret } from '../activities/kubernetes/virtual-machine/hash-secret.ts';
import { createRedfishClient } from '../activities/redfish/client.ts';
import { openVcenter } from '../activities/vsphere/client.ts';
import { openRest } from '../activities/vsphere/rest/client.ts';
import type { Clock } from '../runtime/clock.ts';
import { connectKubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { ObserveCall } from '../runtime/telemetry/outside-calls.ts';
import type { Ports } from './systems.ts';

/** The real systems. @param of `observe` is called for every call */
export const openPorts = (of: { clock: Clock; observe?: ObserveCall }): Ports => ({
  ...openHostPorts(of),
  openVcenter: (settings) => openVcenter(settings, of),
  openRest: (settings) => openRest(settings, of),
  hashSecret,
  connectBmc: (settings) => createRedfishClient(settings, of),
  openCloud: (settings) => openSession(settings, of),
  openCluster: (kubeconfig) => connectKubernetes({ kubeconfig, ...(of.observe && { observe: of.observe }) }),
});
