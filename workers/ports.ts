import { openHttpIsoSource } from '../activities/agents/iso/http-iso-source.ts';
import { openHostPorts } from '../activities/hypervisor/host-ports.ts';
import { openSession } from '../activities/keystone/client.ts';
import { hashSecret } from '../activities/kubernetes/virtual-machine/hash-secret.ts';
import { createRedfishClient } from '../activities/redfish/client.ts';
import { openVcenter } from '../activities/vsphere/client.ts';
import { openPortProber } from '../activities/virtual-machine/probe-port.ts';
import { openDatastoreHttp } from '../activities/vsphere/datastore-http.ts';
import { openRest } from '../activities/vsphere/rest/client.ts';
import type { Clock } from '../runtime/clock.ts';
import { connectKubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { ObserveCall } from '../runtime/telemetry/outside-calls.ts';
import type { Ports } from './systems.ts';

/** For all of one file that goes into a datastore. */
const transferMs = 30 * 60_000;

/** The real systems. @param of `observe` is called for every call */
export const openPorts = (of: { clock: Clock; observe?: ObserveCall }): Ports => ({
  ...openHostPorts(of),
  openVcenter: (settings) => openVcenter(settings, of),
  openRest: (settings) => openRest(settings, of),
  hashSecret,
  probePort: openPortProber(of),
  openIsoSource: (settings) => openHttpIsoSource(settings, of),
  openDatastoreHttp: (settings, vim) => openDatastoreHttp(settings, vim, { ...of, transferMs }),
  connectBmc: (settings) => createRedfishClient(settings, of),
  openCloud: (settings) => openSession(settings, of),
  openCluster: (kubeconfig) => connectKubernetes({ kubeconfig, ...(of.observe && { observe: of.observe }) }),
  openForeignCluster: (content) => connectKubernetes({ content, ...(of.observe && { observe: of.observe }) }),
});
