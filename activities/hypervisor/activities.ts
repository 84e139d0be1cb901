import type { HypervisorCheckActivities, HypervisorHostActivities } from '../../contracts/hypervisor/activities.ts';
import type { HypervisorSettings } from '../../contracts/hypervisor/hypervisor.ts';
import type { HypervisorConfig } from '../../runtime/config/hypervisor-config.ts';
import type { KubernetesObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import type { Random } from '../../runtime/random.ts';
import { createCertificateReader } from '../kubernetes/hypervisor/certificate.ts';
import { observeKubernetes } from '../kubernetes/hypervisor/observe-kubernetes.ts';
import type { CephClient } from '../ceph/types.ts';
import { currentScope } from '../lib/context.ts';
import type { SharedSessions } from '../lib/shared-sessions.ts';
import type { NovaDependencies } from '../nova/dependencies.ts';
import type { RegionReads } from '../nova/region-reads.ts';
import type { ProviderReads } from '../placement/provider-reads.ts';
import type { HostPorts } from './host-ports.ts';
import { observeHypervisor } from './observe-hypervisor.ts';
import { runChecks } from './run-checks.ts';

/** What the composition root gives to what asks several systems about one host. */
export interface HypervisorHostDependencies extends NovaDependencies {
  region: RegionReads;
  providers: ProviderReads;
  client: KubernetesObjects;
  config: HypervisorConfig;
  settings: HypervisorSettings;
  /** The kind Hypervisor is switched off. */
  isOff: boolean;
  signalWithStart: (hypervisor: string, startedBy: string | null) => Promise<void>;
  isFailureRunOpen: (hypervisor: string, signal: AbortSignal) => Promise<boolean>;
  ports: HostPorts;
  ceph: SharedSessions<CephClient>;
  random: Random;
}

/** The activities on the queues `hosts` and `host-checks`. */
export function createHypervisorHostActivities(
  deps: HypervisorHostDependencies,
): HypervisorHostActivities & HypervisorCheckActivities {
  const { client, config, settings, ports, ceph, random, scope = currentScope, clock } = deps;
  const { copiedLabels, agentNamespaces, guardsDrain } = config;
  const readCertificate = createCertificateReader(client, config.certificates, () => clock.now());
  const tools = { client, copiedLabels, agentNamespaces, guardsDrain, readCertificate };
  return {
    observeHypervisor: (input, extent) =>
      observeHypervisor(
        {
          ...deps,
          settings,
          scope: scope(clock),
          observeKubernetes: (name, signal) => observeKubernetes({ ...tools, scope: { signal } }, name),
        },
        input,
        extent,
      ),
    runHypervisorChecks: (request) =>
      runChecks(
        {
          config,
          addressOf: (name) => addressOf(client, name, scope(clock).signal),
          nova: { ...deps, clock, scope: scope(clock) },
          ports,
          ceph,
          random,
        },
        request,
      ),
  };
}

/** The address of the Node's internal network, or its name where none is known. */
export async function addressOf(client: KubernetesObjects, name: string, signal: AbortSignal): Promise<string> {
  return (await client.get(resources.Hypervisor, { name }, signal))?.status?.internalIp || name;
}
