import type { Client } from '@temporalio/client';
import type { IsoSource, IsoSourceSettings } from '../activities/agents/iso/iso-source.ts';
import type { HostPorts } from '../activities/hypervisor/host-ports.ts';
import type { KeystoneSession } from '../activities/keystone/types.ts';
import type { HashSecret } from '../activities/kubernetes/virtual-machine/hash-secret.ts';
import type { ProbePort } from '../activities/virtual-machine/probe-port.ts';
import type { ConnectBmc } from '../activities/redfish/types.ts';
import type { Vim } from '../activities/vsphere/client.ts';
import type { DatastoreHttp } from '../activities/vsphere/datastore-http.ts';
import type { VcenterRest } from '../activities/vsphere/rest/client.ts';
import type { SafetyMeter } from '../activities/kubernetes/machines/tools.ts';
import type { WatchMeter } from '../activities/vsphere/watch/tools.ts';
import type { AllowanceObservation } from '../contracts/allowance.ts';
import type { Audit } from '../runtime/telemetry/audit.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Config } from '../runtime/config/config-schema.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import type { Random } from '../runtime/random.ts';
import type { OpenStackSettings } from '../runtime/config/openstack-settings.ts';
import type { VcenterSettings } from '../runtime/config/vsphere-settings.ts';
import type { AgentMeter } from './agent-meter.ts';
import type { VolumeMeter } from './volume-meter.ts';

/**
 * How the systems are reached that are neither Temporal, Kubernetes nor OpenStack: there are many of each, and they are
 * opened at use.
 */
export interface Ports extends HostPorts {
  openVcenter: (settings: VcenterSettings) => Vim;
  openRest: (settings: VcenterSettings) => VcenterRest;
  connectBmc: ConnectBmc;
  /** OpenStack by the credential of a MachineClass, which need not be drover's own. */
  openCloud: (settings: OpenStackSettings) => KeystoneSession;
  /** The cluster of the Nodes, where it is not drover's own. @param kubeconfig a file */
  openCluster: (kubeconfig: string) => Kubernetes;
  /** A cluster that others run. @param kubeconfig itself, as `foreignKubeConfig` gives it */
  openForeignCluster: (kubeconfig: string) => Kubernetes;
  hashSecret: HashSecret;
  /** Of guests, for readiness probes. */
  probePort: ProbePort;
  /** The servers of discovery ISOs, for one worker. */
  openIsoSource: (settings: IsoSourceSettings) => IsoSource;
  openDatastoreHttp: (settings: VcenterSettings, vim: Vim) => DatastoreHttp;
}

/** What all activities of one worker process share. */
export interface SharedSystems {
  config: Config;
  temporal: Client;
  kubernetes: Kubernetes;
  audit: Audit;
  clock: Clock;
  random: Random;
  logger: Logger;
  ports: Ports;
  watchMeter: WatchMeter;
  safetyMeter: SafetyMeter;
  agentMeter: AgentMeter;
  volumeMeter: VolumeMeter;
  /** Aborted when this worker is about to stop. */
  leaving: AbortSignal;
}

/** What those share that speak to OpenStack. */
export interface Systems extends SharedSystems {
  openstack: KeystoneSession;
  /** Called with each observation of a region's migrations. */
  onObserved?: (region: string, world: AllowanceObservation) => void;
}
