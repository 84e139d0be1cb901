import type { Clock } from '../../runtime/clock.ts';
import { type ReadText, readTextFile } from '../../runtime/read-text.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { openCeph } from '../ceph/client.ts';
import type { OpenCeph } from '../ceph/types.ts';
import { connectLibvirt } from '../libvirt/client.ts';
import type { ConnectLibvirt } from '../libvirt/types.ts';
import { openOvs } from '../ovs/client.ts';
import type { OpenOvs } from '../ovs/types.ts';

/** How what runs on hypervisors, and the Ceph that they use, is reached. A simulation gives others. */
export interface HostPorts {
  connectLibvirt: ConnectLibvirt;
  openOvs: OpenOvs;
  openCeph: OpenCeph;
  readText: ReadText;
}

/** The real ones. @param of `observe` is called for every call */
export const openHostPorts = (of: { clock: Clock; observe?: ObserveCall }): HostPorts => ({
  connectLibvirt: (endpoint, access, options, signal) =>
    connectLibvirt(endpoint, access, { ...of, ...options }, signal),
  openOvs: (remote, options, signal) => openOvs(remote, { ...of, ...options }, signal),
  openCeph: (settings) => openCeph(settings, of),
  readText: readTextFile,
});
